/* SPDX-License-Identifier: MIT */
/* TMF line by line, shared by files and the annotations of a PDB. Private to src/schema. */
#ifndef ETW_SCHEMA_TMF_INTERNAL_H
#define ETW_SCHEMA_TMF_INTERNAL_H

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "schema/wpp/tmf.h"

/* A run of characters within a line. */
struct tmf_span {
	const char *at;
	size_t bytes;
};

/* A table of enumerators ("#enumv"). */
struct tmf_enum {
	const char *name;
	struct etw_map map; /* its entries are the arena's */
};

enum tmf_state {
	TMF_OUTSIDE,
	TMF_BEFORE_ARGUMENTS, /* behind "#typev" */
	TMF_ARGUMENTS,
	TMF_BEFORE_ENUM, /* behind "#enumv" */
	TMF_ENUM,
};

/* Where a reader stands. */
struct tmf_reader {
	struct etw_arena *arena; /* borrowed */
	enum tmf_state state;
	bool has_section;
	struct etw_wpp_message section; /* what the header line says; copied into each message */
	struct etw_text header; /* the header line itself: PDBs repeat it for every message */
	struct etw_wpp_message *message;    /* the one whose arguments come */
	struct etw_wpp_argument *arguments; /* owned; ETW_WPP_ARGUMENTS_MAX of them */
	struct etw_wpp_message **messages;  /* owned */
	size_t count, room;
	struct tmf_enum *enumeration;  /* the one whose entries come */
	struct etw_map_entry *entries; /* owned */
	size_t entry_count, entry_room;
	struct etw_table enums; /* struct tmf_enum by name */
};

/* etw_tmf_reader_init() - a reader at the start of a file. Returns 0 or -ENOMEM. */
int etw_tmf_reader_init(struct tmf_reader *reader, struct etw_arena *arena);
void etw_tmf_reader_done(struct tmf_reader *reader);

/*
 * etw_tmf_reader_line() - takes one line, without its end.
 *
 * @at:     UTF-8
 * @number: of the line, for @reterr
 *
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int etw_tmf_reader_line(struct tmf_reader *reader, const char *at, size_t bytes, uint64_t number,
			struct etw_fault *reterr);

/* etw_tmf_reader_drop() - forgets the message that is being read, after a bad line of an annotation. */
void etw_tmf_reader_drop(struct tmf_reader *reader);

/*
 * etw_tmf_reader_end() - all messages, once there are no more lines.
 *
 * Returns 0, -EBADMSG when a message is not complete, or -ENOMEM.
 */
int etw_tmf_reader_end(struct tmf_reader *reader, uint64_t number, struct etw_wpp_messages *ret,
		       struct etw_fault *reterr);

/* etw_tmf_copy() - the span as a string of the arena, or NULL without memory. */
char *etw_tmf_copy(struct etw_arena *arena, struct tmf_span span);

/* etw_tmf_trim() - the span without blanks around it. */
struct tmf_span etw_tmf_trim(struct tmf_span span);

/* etw_tmf_argument() - reads "expression, Item(list) -- 10". Returns NULL, or a sentence; *ret_memory
 * tells that it was memory that ran out. */
const char *etw_tmf_argument(struct etw_arena *arena, struct tmf_span line,
			     struct etw_wpp_argument *ret, bool *ret_memory);

#endif
