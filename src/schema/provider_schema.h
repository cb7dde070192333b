/* SPDX-License-Identifier: MIT */
/*
 * What one definition (a manifest, a WEVT_TEMPLATE resource, a MOF file ...) says of a provider: its events
 * as schemas, and the names of levels, tasks, opcodes, keywords and channels with their numbers. Every reader
 * builds it; the store looks events up in it; TDH's enumerations and the dumps show it.
 *
 * Text is UTF-8; NULL is "not given". Names are those that decoding shows, prefix included ("win:Error");
 * messages are localised texts without the blank that TDH appends. Everything lives in the arena that the
 * reader was given, and is immutable once the reader has returned, but for `index` of the schemas.
 */
#ifndef ETW_SCHEMA_PROVIDER_SCHEMA_H
#define ETW_SCHEMA_PROVIDER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "schema/model.h"

/* A number with a name. */
struct etw_named {
	uint64_t value; /* level, task, opcode, channel, or a keyword's mask */
	const char *name;
	const char *message;
	const char *symbol; /* the C name that the message compiler was asked for */
};

struct etw_task {
	struct etw_named named;
	GUID event_guid; /* null: none */
};

struct etw_opcode {
	struct etw_named named;
	uint16_t task;      /* whose own it is; 0: every task's */
	bool is_task_given; /* the task may have the number 0 */
};

enum etw_channel_type {
	ETW_CHANNEL_ADMIN,
	ETW_CHANNEL_OPERATIONAL,
	ETW_CHANNEL_ANALYTIC,
	ETW_CHANNEL_DEBUG,
	ETW_CHANNEL_TYPE_UNKNOWN, /* compiled resources do not say */
};

/* Events of the first channels of a provider have a bit of their keywords for theirs. */
#define ETW_CHANNEL_KEYWORDS_MAX 8

struct etw_channel {
	struct etw_named named;
	const char *chid;
	const char *access;    /* SDDL */
	const char *isolation; /* Application, System, Custom */
	enum etw_channel_type type;
	bool is_imported;
	bool is_enabled;
	uint64_t keyword; /* its bit in the keywords of events; 0: none */
};

/* etw_channel_keyword() - the bit of the channel at this place in the list, from the highest down; 0: none. */
static inline uint64_t etw_channel_keyword(size_t place)
{
	return place < ETW_CHANNEL_KEYWORDS_MAX ? UINT64_C(1) << (63 - place) : 0;
}

/* A named query: patterns and what they stand for. */
struct etw_pattern {
	const char *name;
	const char *value;
};

struct etw_pattern_map {
	const char *name;
	const char *format;
	uint32_t count;
	const struct etw_pattern *patterns;
};

struct etw_filter_schema {
	const char *name;
	const char *message;
	uint8_t value;
	uint8_t version;
	uint16_t field_count; /* all, struct members included */
	uint16_t top_count;   /* top-level ones; they come first */
	const struct etw_field *fields;
};

struct etw_provider_schema {
	GUID guid;         /* that decodes */
	GUID control_guid; /* that enables; null: the same */
	GUID group_guid;   /* trait; null: none */
	DECODING_SOURCE source;
	const char *name;
	const char *symbol;
	const char *message;
	const char *resource_file; /* as the definition names them */
	const char *message_file;
	const char *parameter_file;
	const char *help_link;
	struct etw_schema *schemas; /* manifests: by id; others: in the order of the definition */
	size_t schema_count;
	const struct etw_map *maps;
	size_t map_count;
	const struct etw_named *levels;
	size_t level_count;
	const struct etw_task *tasks;
	size_t task_count;
	const struct etw_opcode *opcodes;
	size_t opcode_count;
	const struct etw_named *keywords;
	size_t keyword_count;
	const struct etw_channel *channels;
	size_t channel_count;
	const struct etw_pattern_map *pattern_maps;
	size_t pattern_map_count;
	const struct etw_filter_schema *filters;
	size_t filter_count;
};

/* A rule that a definition breaks, though decoding does not need it. */
struct etw_complaint {
	uint64_t line;        /* or where it lies in a blob */
	const char *sentence; /* static, one clear sentence without a full stop */
	const char *name; /* what it is about, cut when too long; NULL: nothing that has a name */
};

#define ETW_COMPLAINTS_MAX           256 /* that are kept; the others are counted */
#define ETW_COMPLAINT_NAME_BYTES_MAX 255

/* One file's worth. */
struct etw_definition {
	struct etw_provider_schema *providers;
	size_t provider_count;
	size_t schema_count; /* of all providers */
	const struct etw_complaint *complaints;
	size_t complaint_count; /* kept */
	size_t complaint_total;
};

/*
 * etw_definition_create() - a definition with room for @count providers, of which it has none yet.
 *
 * @ret: lives in @arena
 *
 * Returns 0 or -ENOMEM.
 */
int etw_definition_create(struct etw_arena *arena, size_t count, struct etw_definition **ret);

/* etw_provider_schema_event() - its event of this id and version; NULL: it has none. */
const struct etw_schema *etw_provider_schema_event(const struct etw_provider_schema *provider,
						   uint16_t id, uint8_t version);

/* etw_provider_schema_show_control() - a controlGuid stands where the event's GUID would. */
void etw_provider_schema_show_control(const struct etw_provider_schema *provider,
				      struct etw_schema *schema);

#endif
