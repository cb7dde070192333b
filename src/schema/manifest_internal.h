/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the manifest reader share: manifest.c (document, providers), manifest_strings.c,
 * manifest_names.c (levels, tasks, opcodes, keywords, channels), manifest_types.c, manifest_map.c,
 * manifest_template.c and manifest_event.c.
 */
#ifndef ETW_SCHEMA_MANIFEST_INTERNAL_H
#define ETW_SCHEMA_MANIFEST_INTERNAL_H

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "schema/manifest.h"
#include "schema/manifest_xml.h"

enum symbol_kind {
	SYMBOL_STRING,  /* text */
	SYMBOL_MESSAGE, /* text: a string reference */
	SYMBOL_LEVEL,
	SYMBOL_TASK, /* object: struct manifest_task */
	SYMBOL_OPCODE,
	SYMBOL_KEYWORD,
	SYMBOL_CHANNEL,  /* object: struct manifest_channel */
	SYMBOL_MAP,      /* object: struct etw_map */
	SYMBOL_TEMPLATE, /* object: struct manifest_template */
};

/* A name and what it stands for, within a scope: a provider, a task, or NULL for the document. */
struct manifest_symbol {
	enum symbol_kind kind;
	const void *scope;
	const char *name;
	uint64_t value;
	const char *text;
	const void *object;
};

struct manifest_task {
	const struct etw_xml_element *element; /* scope of the task's own opcodes */
	GUID event_guid;                       /* null: none */
};

struct manifest_channel {
	const char *name;
	uint8_t value;
	uint64_t keyword; /* its bit in the keywords of events; 0: none */
};

struct manifest_template {
	const struct etw_field *fields;
	uint16_t field_count;
	uint16_t top_count;
	uint32_t flags; /* TEMPLATE_FLAGS */
};

struct manifest_reader {
	struct etw_arena *arena;  /* results */
	struct etw_arena scratch; /* document and symbols, owned */
	struct etw_table symbols; /* struct manifest_symbol, owned */
	struct etw_text text;     /* scratch, owned */
	const char *winmeta;      /* prefix of winmeta's names in this document, without colon */
	const struct etw_xml_element *provider; /* the one being read: scope of its names */
	GUID provider_guid;
	GUID control_guid; /* null: none */
	const char *provider_name;
	const struct etw_provider_schema *owner; /* of the schemas: what is being filled */
	struct etw_fault *reterr;
};

/* etw_manifest_refuse() - fills the fault with the element's line and returns -EBADMSG. */
int etw_manifest_refuse(struct manifest_reader *reader, const struct etw_xml_element *element,
			const char *field, const char *sentence);

/* etw_manifest_define() - adds a symbol; the first of a name counts. Returns 0 or -ENOMEM. */
int etw_manifest_define(struct manifest_reader *reader, const struct manifest_symbol *symbol);

/* etw_manifest_find() - a symbol, or NULL. */
const struct manifest_symbol *etw_manifest_find(const struct manifest_reader *reader,
						enum symbol_kind kind, const void *scope,
						const char *name);

/* etw_manifest_number() - decimal or 0x-hexadecimal up to @max; false when it is neither. */
bool etw_manifest_number(const char *text, uint64_t max, uint64_t *ret);

/* etw_manifest_winmeta() - the name behind winmeta's prefix ("Start" of "win:Start"), or NULL. */
const char *etw_manifest_winmeta(const struct manifest_reader *reader, const char *name);

/* etw_manifest_keep() - a copy of a string in the results; NULL gives NULL. Returns 0 or -ENOMEM. */
int etw_manifest_keep(struct manifest_reader *reader, const char *text, const char **ret);

/* manifest_strings.c: string tables of the best culture, and message tables. */
int etw_manifest_read_strings(struct manifest_reader *reader, const struct etw_xml_element *root);

/*
 * etw_manifest_message() - the text that a `message` attribute refers to.
 *
 * *ret becomes NULL when there is none: no attribute, or a string that the table lacks.
 */
int etw_manifest_message(struct manifest_reader *reader, const char *reference, const char **ret);

/* manifest_names.c: the names of one provider. */
int etw_manifest_read_names(struct manifest_reader *reader);

/* The same for one reference; the numbers and names of unknown ones stay 0 and NULL. */
void etw_manifest_find_level(const struct manifest_reader *reader, const char *name, uint8_t *ret);
void etw_manifest_find_opcode(const struct manifest_reader *reader, const void *task,
			      const char *name, uint8_t *ret);
void etw_manifest_find_keyword(const struct manifest_reader *reader, const char *name,
			       uint64_t *ret);
void etw_manifest_find_channel(const struct manifest_reader *reader, const char *name,
			       struct manifest_channel *ret);

/* manifest_types.c: 0 and false when the name is unknown. */
bool etw_manifest_in_type(const char *name, uint16_t *ret);
uint16_t etw_manifest_out_type(uint16_t in_type, const char *name);

/* manifest_map.c, manifest_template.c: the maps and templates of one provider. */
int etw_manifest_read_maps(struct manifest_reader *reader, struct etw_provider_schema *provider);
int etw_manifest_read_templates(struct manifest_reader *reader);

/* manifest_event.c: the events of one provider as schemas. */
int etw_manifest_read_events(struct manifest_reader *reader, struct etw_provider_schema *provider);

#endif
