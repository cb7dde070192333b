/* SPDX-License-Identifier: MIT */
/* What the reader of message text files shares: text.c (statements and messages), text_names.c (lists of names). */
#ifndef ETW_COMPILE_TEXT_INTERNAL_H
#define ETW_COMPILE_TEXT_INTERNAL_H

#include "compile/text.h"

struct mc_text_reader {
	struct mc_text_file *file;
	const char *at, *end; /* what is left */
	uint64_t line;        /* that @at is in, from 1 */
	const char *line_at;  /* its start */
};

/* etw_compile_text_complain() - at the reader's place. Returns 0 or -ENOMEM. */
int etw_compile_text_complain(struct mc_text_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* etw_compile_text_skip() - blanks, and with @is_across ends of lines too. */
void etw_compile_text_skip(struct mc_text_reader *reader, bool is_across);

/* etw_compile_text_word() - the next word of letters, digits and _, in the arena; "" when there is none; NULL: no memory. */
const char *etw_compile_text_word(struct mc_text_reader *reader);

/* etw_compile_text_names() - "(name=number:symbol ...)" behind the =, added to a list; same names are replaced. */
int etw_compile_text_names(struct mc_text_reader *reader, struct mc_text_name **list, uint32_t max,
			   const char *what);

/* etw_compile_text_default() - adds a name that every file has. Returns 0 or -ENOMEM. */
int etw_compile_text_default(struct mc_text_reader *reader, struct mc_text_name **list,
			     const char *name, uint32_t number, const char *symbol);

/* etw_compile_text_find() - by name, case ignored; NULL: none. */
struct mc_text_name *etw_compile_text_find(struct mc_text_name *list, const char *name);

#endif
