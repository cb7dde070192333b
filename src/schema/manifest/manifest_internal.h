/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the manifest reader share: manifest.c (document, providers), manifest_strings.c,
 * manifest_winmeta.c, manifest_names.c (levels, tasks, opcodes, keywords), manifest_channels.c,
 * manifest_lists.c, manifest_types.c, manifest_map.c, manifest_template.c, manifest_filter.c,
 * manifest_event.c and manifest_check.c. What returns int and says no more returns 0, -EBADMSG with the
 * reader's fault filled, or -ENOMEM. Context: the one thread that reads.
 */
#ifndef ETW_SCHEMA_MANIFEST_INTERNAL_H
#define ETW_SCHEMA_MANIFEST_INTERNAL_H

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_types.h"
#include "schema/manifest/manifest_winmeta.h"
#include "schema/manifest/manifest_xml.h"

#define MANIFEST_NAME_BYTES_MAX 255 /* that a name should have */

/* What is taken, besides names. */
enum symbol_part {
	PART_VALUE = 1 * SYMBOL_KINDS,
	PART_C_NAME = 2 * SYMBOL_KINDS, /* `symbol` attributes */
	PART_GUID = 3 * SYMBOL_KINDS,
};

/* etw_part_of() - the kind of symbol under which a part of another kind is taken. */
static inline unsigned etw_part_of(enum symbol_kind kind, enum symbol_part part)
{
	return (unsigned)kind + (unsigned)part;
}

/* A string as the results have it, and what its inserts ask for. */
struct manifest_message {
	const char *text;
	unsigned insert_max; /* the highest number of an insert; 0: there is none */
	bool is_open;        /* the format of an insert does not end */
};

/* A name and what it stands for, within a scope: a provider, a task, or NULL for the document. */
struct manifest_symbol {
	unsigned kind; /* enum symbol_kind, or etw_part_of() one */
	const void *scope;
	const char *name;
	uint64_t value;
	const char *text;
	const void *object;
	struct manifest_symbol *string; /* of a message, once `text` was followed and cleared */
	const struct manifest_message *message; /* of a string, once something refers to it */
};

/* A level, task, opcode or keyword: defined, or one of winmeta's that an event uses. */
struct manifest_name {
	struct manifest_name *next;
	struct etw_named named;
	GUID event_guid;                       /* of a task */
	const struct etw_xml_element *element; /* of a task: scope of its own opcodes */
	const struct manifest_name *task;      /* of an opcode; NULL: every task's */
};

struct manifest_channel {
	struct manifest_channel *next;
	struct etw_channel channel;
};

/* In the order in which they were found. */
struct manifest_names {
	struct manifest_name *first;
	struct manifest_name *last;
	size_t count;
};

struct manifest_channels {
	struct manifest_channel *first;
	struct manifest_channel *last;
	size_t count;
};

/* What a list is sorted by: the number, then the text, then the order in the document. */
struct manifest_key {
	uint64_t number;
	const char *text; /* NULL only where all are */
	const void *item;
	size_t order;
};

struct manifest_template {
	const struct etw_field *fields;
	uint16_t field_count;
	uint16_t top_count;
	uint32_t flags; /* TEMPLATE_FLAGS */
	const struct etw_xml_element *element;
	const struct etw_field *odd_field; /* the first that no filter should have; NULL: none */
};

struct manifest_reader {
	struct etw_arena *arena;  /* results */
	struct etw_arena scratch; /* document and symbols, owned */
	struct etw_table symbols; /* struct manifest_symbol, owned */
	uint64_t seed;            /* of their hashes, so that a manifest cannot choose collisions */
	struct etw_text text;     /* scratch, owned */
	const char *winmeta;      /* prefix of winmeta's names in this document, without colon */
	size_t winmeta_bytes;     /* of it */
	size_t culture_count;     /* string tables, as many as there are `resources` */
	const struct etw_xml_element *provider; /* the one being read: scope of its names */
	struct etw_provider_schema *schema;     /* what is being filled */
	struct manifest_names levels, tasks, opcodes, keywords;
	struct manifest_channels channels;
	struct etw_complaint *complaints; /* in scratch; room for ETW_COMPLAINTS_MAX, or NULL */
	size_t complaint_count;
	size_t complaint_total;
	struct etw_fault *reterr;
};

/* etw_manifest_refuse() - fills the fault with the element's line and returns -EBADMSG. */
int etw_manifest_refuse(struct manifest_reader *reader, const struct etw_xml_element *element,
			const char *field, const char *sentence);

/*
 * etw_manifest_define() - adds a symbol; the first of a name counts.
 *
 * Returns 0; MANIFEST_TAKEN when the name was there already; -ENOMEM.
 */
#define MANIFEST_TAKEN 1
int etw_manifest_define(struct manifest_reader *reader, const struct manifest_symbol *symbol);

/* etw_manifest_find() - a symbol, or NULL. */
struct manifest_symbol *etw_manifest_find(const struct manifest_reader *reader, unsigned kind,
					  const void *scope, const char *name);

/* etw_manifest_number() - decimal or 0x-hexadecimal up to @max; false when it is neither. */
bool etw_manifest_number(const char *text, uint64_t max, uint64_t *ret);

/* etw_manifest_flag() - "true" or "1"; anything else and NULL are false. */
bool etw_manifest_flag(const char *text);

/* etw_manifest_winmeta() - the name behind winmeta's prefix ("Start" of "win:Start"), or NULL. */
const char *etw_manifest_winmeta(const struct manifest_reader *reader, const char *name);

/* etw_manifest_keep() - a copy of a string in the results; NULL gives NULL. Returns 0 or -ENOMEM. */
int etw_manifest_keep(struct manifest_reader *reader, const char *text, const char **ret);

/* etw_manifest_keep_attribute() - the same for an attribute of an element. Returns 0 or -ENOMEM. */
int etw_manifest_keep_attribute(struct manifest_reader *reader,
				const struct etw_xml_element *element, const char *name,
				const char **ret);

/* etw_manifest_sort() - puts keys into order; equal ones keep theirs. */
void etw_manifest_sort(struct manifest_key *keys, size_t count);

/*
 * manifest_check.c: complaints, which cost nothing but a line in a list.
 *
 * @name: what the complaint is about, UTF-8, borrowed; may be NULL
 *
 * Returns 0 or -ENOMEM.
 */
int etw_manifest_complain(struct manifest_reader *reader, const struct etw_xml_element *element,
			  const char *sentence, const char *name);

/* The same when the name, number or GUID is taken already; NULL takes nothing. */
int etw_manifest_claim(struct manifest_reader *reader, const struct etw_xml_element *element,
		       unsigned kind, const void *scope, const char *name, const char *sentence);
int etw_manifest_claim_number(struct manifest_reader *reader, const struct etw_xml_element *element,
			      unsigned kind, const void *scope, uint64_t number,
			      const char *sentence);

/* etw_manifest_claim_guid() - the same for a GUID. Returns 0 or -ENOMEM. */
int etw_manifest_claim_guid(struct manifest_reader *reader, const struct etw_xml_element *element,
			    unsigned kind, const void *scope, const GUID *guid,
			    const char *sentence);

/* The rules for a provider, a channel's name, a field, a template and an event as a whole. */
int etw_manifest_check_provider(struct manifest_reader *reader);
int etw_manifest_check_channel(struct manifest_reader *reader,
			       const struct etw_xml_element *element);
int etw_manifest_check_field(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const struct etw_field *fields, uint16_t index);
int etw_manifest_check_template(struct manifest_reader *reader,
				const struct manifest_template *template);
int etw_manifest_check_event(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const struct etw_schema *schema, const struct etw_channel *channel,
			     const struct manifest_message *message);

/* etw_manifest_note_inserts() - fills what follows the text of a message. */
void etw_manifest_note_inserts(struct manifest_message *message);

/* manifest_strings.c: string tables of the best culture, and message tables. */
int etw_manifest_read_strings(struct manifest_reader *reader, const struct etw_xml_element *root);

/*
 * etw_manifest_find_message() - what an element's `message` attribute refers to.
 *
 * *ret becomes NULL when there is none: no attribute, or a string that the tables lack.
 */
int etw_manifest_find_message(struct manifest_reader *reader, const struct etw_xml_element *element,
			      const struct manifest_message **ret);

/* etw_manifest_message() - the same, its text alone. All that refer to a string share it. */
int etw_manifest_message(struct manifest_reader *reader, const struct etw_xml_element *element,
			 const char **ret);

/* manifest_names.c: levels, tasks, opcodes and keywords of one provider. */
int etw_manifest_read_names(struct manifest_reader *reader);

/*
 * etw_manifest_use() - what an event's reference stands for.
 *
 * @task: whose opcodes come first, or NULL
 *
 * Winmeta's become part of the provider. *ret is NULL when there is nothing of that name.
 */
int etw_manifest_use(struct manifest_reader *reader, const struct etw_xml_element *element,
		     enum symbol_kind kind, const struct manifest_name *task, const char *name,
		     const struct manifest_name **ret);

/* manifest_channels.c: the same for channels. */
int etw_manifest_read_channels(struct manifest_reader *reader);
int etw_manifest_use_channel(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const char *name, const struct etw_channel **ret);

/* manifest_lists.c: the names and channels that were found, as lists of the provider. */
int etw_manifest_finish_names(struct manifest_reader *reader);

/* manifest_map.c, manifest_template.c: the maps and templates of one provider. */
int etw_manifest_read_maps(struct manifest_reader *reader);
int etw_manifest_read_templates(struct manifest_reader *reader);

/* etw_manifest_find_template() - the provider's template of this id, or NULL. */
const struct manifest_template *etw_manifest_find_template(const struct manifest_reader *reader,
							   const char *tid);

/* manifest_filter.c: pattern maps and filters. */
int etw_manifest_read_pattern_maps(struct manifest_reader *reader);
int etw_manifest_read_filters(struct manifest_reader *reader);

/* manifest_event.c: the events of one provider as schemas. */
int etw_manifest_read_events(struct manifest_reader *reader);

#endif
