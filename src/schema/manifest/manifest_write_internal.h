/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the writer share: manifest_write.c (document, providers, events),
 * manifest_write_names.c (levels to channels), manifest_write_template.c (fields).
 */
#ifndef ETW_SCHEMA_MANIFEST_WRITE_INTERNAL_H
#define ETW_SCHEMA_MANIFEST_WRITE_INTERNAL_H

#include "base/arena.h"
#include "base/table.h"
#include "schema/manifest/manifest_write.h"

/* Fields that one or more events and filters share. */
struct written_template {
	struct written_template *next;
	const struct etw_field *fields;
	uint16_t field_count;
	uint16_t top_count;
	bool is_user_data;
	size_t number; /* from 1 */
};

/* Where fields lie that are already known to be those of a template. */
struct written_place {
	struct written_template key;
	const struct written_template *template;
};

struct manifest_writer {
	struct etw_text *text;
	struct etw_text strings; /* owned; the elements of the string table */
	size_t string_count;
	const struct etw_provider_schema *schema; /* the one being written */
	struct etw_arena arena;                   /* owned; templates and lists of the provider */
	struct etw_table templates; /* owned; struct written_template, by their fields */
	struct etw_table places;    /* owned; struct written_place: those of the fields in memory */
	uint64_t seed; /* of their hashes, so that a definition cannot choose collisions */
	struct written_template *first_template;
	struct written_template *last_template;
};

/* etw_write_attribute() - ` name="value"`, or nothing when the value is NULL. */
void etw_write_attribute(struct etw_text *text, const char *name, const char *value);

/* etw_write_number() - ` name="12"`. */
void etw_write_number(struct etw_text *text, const char *name, uint64_t value);

/* etw_write_guid() - ` name="{...}"`, or nothing when the GUID is null. */
void etw_write_guid(struct etw_text *text, const char *name, const GUID *guid);

/* etw_write_message() - a reference, and the string in the table; nothing when @message is NULL. */
void etw_write_message(struct manifest_writer *writer, const char *message);

/* Channels, levels, tasks, opcodes and keywords of the provider. Returns 0 or -ENOMEM. */
int etw_write_names(struct manifest_writer *writer);

/* etw_write_add_template() - takes fields in; 0 fields without flags are no template. Returns 0 or -ENOMEM. */
int etw_write_add_template(struct manifest_writer *writer, const struct written_template *template);

/* etw_write_find_template() - the one with these fields, or NULL. */
const struct written_template *etw_write_find_template(const struct manifest_writer *writer,
						       const struct written_template *template);

/* etw_write_templates() - all that were taken in. Returns 0 or -EOPNOTSUPP. */
int etw_write_templates(struct manifest_writer *writer);

#endif
