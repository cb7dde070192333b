/* SPDX-License-Identifier: MIT */
/* The nodes of a tree, and the parts of the evaluator. Private to src/filter. */
#ifndef ETW_FILTER_FILTER_INTERNAL_H
#define ETW_FILTER_FILTER_INTERNAL_H

#include "decode/path.h"
#include "filter/filter.h"

enum etw_filter_kind {
	ETW_FILTER_ANY,
	ETW_FILTER_AND,
	ETW_FILTER_OR,
	ETW_FILTER_NOT,
	ETW_FILTER_OPERAND,
	ETW_FILTER_FIELD,
	ETW_FILTER_FUNCTION,
};

#define ETW_FILTER_MEMOS 16 /* a power of two */

/* What came out for one kind of event. */
struct etw_filter_memo {
	const struct etw_schema *schema;
	uint64_t serial;
	bool is_there, is_match;
};

/* The same of classic events whose provider is asked for: known without their schema. */
struct etw_filter_class_memo {
	GUID class;
	uint64_t serial;
	uint8_t opcode, version;
	bool is_used, is_there, is_match;
};

struct etw_filter {
	uint8_t kind;
	uint8_t ask;  /* enum etw_filter_ask */
	uint8_t cost; /* enum etw_filter_cost */
	uint16_t depth;
	bool is_negated; /* true where it is there and has none of the values */
	bool shows; /* as the language compares: what is shown counts, and any element of an array */
	bool is_watched;           /* OR: see etw_filter_watch() */
	bool was_true;             /* once, for etw_filter_was_true() */
	bool has_function;         /* here or below */
	bool is_known;             /* FIELD: an event's schema had it */
	size_t at;                 /* in the expression */
	struct etw_filter **parts; /* owned, each of them too */
	size_t part_count, part_room;
	const struct etw_filter_operand *operand;
	char *path;                      /* owned; FIELD; "" means each field */
	struct etw_path_cache *cache;    /* owned; where that leads */
	struct etw_filter_value *values; /* owned, and what they own */
	size_t value_count, value_room;
	uint16_t readings; /* that any of the values has */
	bool (*function)(void *context, void *subject);
	void *context;
	void (*context_done)(void *context); /* NULL: it is borrowed */
	struct etw_filter_memo memos[ETW_FILTER_MEMOS];
	struct etw_filter_class_memo *classes; /* owned; ETW_FILTER_MEMOS of them, once needed */
	struct etw_text text, folded;          /* where texts are made */
};

/* Of one leaf and one event. */
struct etw_filter_asking {
	struct etw_filter *filter;
	struct etw_filter_subject *subject;
	bool is_there; /* what it asks for was there, whatever it is */
};

/* Whether one of the values fits; each sets `is_there`. */
bool etw_filter_ask_names(struct etw_filter_asking *asking);
bool etw_filter_ask_field(struct etw_filter_asking *asking);

/* etw_filter_take_guid() - whether one of the values is this GUID. */
bool etw_filter_take_guid(struct etw_filter_asking *asking, const GUID *guid);

/* etw_filter_ids() - the process and thread that an event is about, as far as it is known. */
struct etw_process_ids etw_filter_ids(struct etw_filter_subject *subject);

/* etw_filter_process_name() - of the process that it is about; NULL when unknown. */
const char *etw_filter_process_name(struct etw_filter_subject *subject);

#endif
