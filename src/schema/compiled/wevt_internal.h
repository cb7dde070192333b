/* SPDX-License-Identifier: MIT */
/*
 * What the wevt_*.c share: the state of one reading, and the parts that several of them need. What returns int and
 * says no more returns 0, -EBADMSG with the reader's fault filled, or -ENOMEM. Context: the one thread that reads.
 */
#ifndef ETW_SCHEMA_WEVT_INTERNAL_H
#define ETW_SCHEMA_WEVT_INTERNAL_H

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "schema/compiled/wevt.h"
#include "wire/wevt.h"

struct wevt_template {
	uint32_t offset;
	uint32_t flags; /* TEMPLATE_FLAGS */
	uint16_t field_count;
	uint16_t top_count;
	const struct etw_field *fields;
};

struct wevt_reader {
	struct etw_arena *arena;  /* of the result */
	struct etw_arena scratch; /* of the reading */
	const uint8_t *at;
	size_t bytes;
	size_t left;        /* bytes that may still be read: parts may overlap only so much */
	size_t joined_left; /* bytes of text that may still be put together for events */
	const struct etw_message_table *tables;
	size_t table_count;
	const char ***messages; /* per table and entry: the text, once it was asked for */
	uint64_t seed;
	struct etw_table strings;   /* by offset */
	struct etw_table templates; /* by offset; of this provider */
	struct etw_table maps;      /* by offset; of this provider */
	struct etw_table keywords;  /* by the offsets of the list; of this provider */
	struct etw_text text;       /* for conversions */
	struct etw_provider_schema *provider;
	uint32_t lists[WIRE_WEVT_KINDS]; /* offsets; 0: none */
	struct etw_fault *reterr;
};

/* The entries of a list. */
struct wevt_list {
	const uint8_t *at;
	uint32_t offset; /* of the first entry */
	uint32_t count;
};

/* etw_wevt_refuse() - fills the fault. Returns -EBADMSG. */
int etw_wevt_refuse(struct wevt_reader *reader, uint64_t offset, const char *structure,
		    const char *field, const char *sentence);

/*
 * etw_wevt_peek() - @bytes at @offset after a check of the bounds.
 *
 * For what each event may look at again and again; etw_wevt_take() is for all else, and sees to it that
 * parts that overlap do not make the reading longer than the resource.
 */
int etw_wevt_peek(struct wevt_reader *reader, uint64_t offset, size_t bytes, const char *structure,
		  const uint8_t **ret);
int etw_wevt_take(struct wevt_reader *reader, uint64_t offset, size_t bytes, const char *structure,
		  const uint8_t **ret);

/*
 * etw_wevt_list() - the list of a kind, after a check of its bounds.
 *
 * @magic:      its first four bytes
 * @head_bytes: from its start to the first entry
 *
 * A kind that is not there has no entries.
 */
int etw_wevt_list(struct wevt_reader *reader, enum wire_wevt_kind kind, const char *magic,
		  size_t head_bytes, size_t entry_bytes, struct wevt_list *ret);

/* etw_wevt_name() - a sized string; NULL for offset 0. What has the same offset is the same text. */
int etw_wevt_name(struct wevt_reader *reader, uint32_t offset, const char **ret);

/* etw_wevt_string() - the same for a string that ends with NUL. */
int etw_wevt_string(struct wevt_reader *reader, uint32_t offset, const char **ret);

/* etw_wevt_message() - the text of a message; NULL when no table has it. Returns 0 or -ENOMEM. */
int etw_wevt_message(struct wevt_reader *reader, uint32_t id, const char **ret);

/*
 * etw_wevt_keep_joined() - the contents of the reader's text, for texts that are put together of others.
 *
 * Returns 0; -EBADMSG when all of them together have grown out of proportion; -ENOMEM.
 */
int etw_wevt_keep_joined(struct wevt_reader *reader, uint32_t offset, const char *structure,
			 const char **ret);

/* wevt_lists.c: traits, levels, tasks, opcodes, keywords and channels of the provider. */
int etw_wevt_read_traits(struct wevt_reader *reader);
int etw_wevt_read_names(struct wevt_reader *reader);

/* wevt_maps.c: value maps and bit maps, pattern maps. */
int etw_wevt_read_maps(struct wevt_reader *reader);
int etw_wevt_read_pattern_maps(struct wevt_reader *reader);

/* etw_wevt_find_map() - the map at an offset, or NULL. */
const struct etw_map *etw_wevt_find_map(const struct wevt_reader *reader, uint32_t offset);

/* wevt_template.c: a template, which is read once; and the filters. */
int etw_wevt_read_template(struct wevt_reader *reader, uint32_t offset,
			   const struct wevt_template **ret);
int etw_wevt_read_filters(struct wevt_reader *reader);

/* wevt_events.c: the events as schemas. */
int etw_wevt_read_events(struct wevt_reader *reader);

#endif
