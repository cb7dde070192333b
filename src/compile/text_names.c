/* SPDX-License-Identifier: MIT */
/* Words and lists of names in message text files. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/number.h"
#include "compile/read_internal.h"
#include "compile/text_internal.h"

#define NAMES_MAX 4096 /* of a list: each name is looked for in all before it */

int etw_compile_text_complain(struct mc_text_reader *reader, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return etw_compile_complain_at(reader->file->manifest, reader->line,
				       (uint64_t)(reader->at - reader->line_at) + 1,
				       /* is_warning= */ false, text);
}

void etw_compile_text_skip(struct mc_text_reader *reader, bool is_across)
{
	while (reader->at < reader->end) {
		if (*reader->at == '\n' && is_across) {
			reader->line++;
			reader->line_at = reader->at + 1;
		} else if (*reader->at != ' ' && *reader->at != '\t' && *reader->at != '\r') {
			return;
		}
		reader->at++;
	}
}

const char *etw_compile_text_word(struct mc_text_reader *reader)
{
	const char *start = reader->at;

	while (reader->at < reader->end &&
	       (isalnum((unsigned char)*reader->at) || *reader->at == '_'))
		reader->at++;
	return etw_arena_strndup(&reader->file->manifest->arena, start,
				 (size_t)(reader->at - start));
}

struct mc_text_name *etw_compile_text_find(struct mc_text_name *list, const char *name)
{
	while (list && strcasecmp(list->name, name) != 0)
		list = list->next;
	return list;
}

int etw_compile_text_default(struct mc_text_reader *reader, struct mc_text_name **list,
			     const char *name, uint32_t number, const char *symbol)
{
	struct mc_text_name *at = etw_compile_text_find(*list, name);
	size_t index = 0;

	if (!at) {
		at = etw_arena_alloc(&reader->file->manifest->arena, sizeof(*at));
		if (!at)
			return -ENOMEM;
		for (; *list; list = &(*list)->next)
			index++;
		*list = at;
		at->index = index;
	}
	at->name = name;
	at->number = number;
	at->symbol = symbol;
	return 0;
}

static bool is_full(const struct mc_text_name *list)
{
	size_t count = 0;

	for (; list; list = list->next)
		count++;
	return count >= NAMES_MAX;
}

/* name=number[:symbol]; what is wrong ends the list. */
static int read_name(struct mc_text_reader *reader, struct mc_text_name **list, uint32_t max,
		     const char *what, bool *ret_good)
{
	const char *name = etw_compile_text_word(reader);
	const char *number_text, *symbol = NULL;
	uint64_t number;

	*ret_good = false;
	etw_compile_text_skip(reader, true);
	if (!name)
		return -ENOMEM;
	if (is_full(*list))
		return etw_compile_text_complain(
			reader, "a file has at most %d names of the kind %s", NAMES_MAX, what);
	if (!*name || reader->at == reader->end || *reader->at != '=')
		return etw_compile_text_complain(reader, "the list of %s wants name=number", what);
	reader->at++;
	etw_compile_text_skip(reader, true);
	number_text = etw_compile_text_word(reader);
	if (!number_text)
		return -ENOMEM;
	if (!etw_number_parse(number_text, max, &number))
		return etw_compile_text_complain(
			reader, "the number %s of the %s %s is none from 0 to 0x%X", number_text,
			what, name, max);
	etw_compile_text_skip(reader, true);
	if (reader->at < reader->end && *reader->at == ':') {
		reader->at++;
		etw_compile_text_skip(reader, true);
		symbol = etw_compile_text_word(reader);
		if (!symbol)
			return -ENOMEM;
	}
	*ret_good = true;
	return etw_compile_text_default(reader, list, name, (uint32_t)number, symbol);
}

int etw_compile_text_names(struct mc_text_reader *reader, struct mc_text_name **list, uint32_t max,
			   const char *what)
{
	bool is_good = true;

	etw_compile_text_skip(reader, true);
	if (reader->at == reader->end || *reader->at != '(')
		return etw_compile_text_complain(reader,
						 "the list of %s wants to be in parentheses", what);
	reader->at++;
	for (;;) {
		etw_compile_text_skip(reader, true);
		if (reader->at < reader->end && *reader->at == ')') {
			reader->at++;
			return 0;
		}
		if (reader->at == reader->end)
			return etw_compile_text_complain(reader, "the list of %s has no end", what);
		TRY(read_name(reader, list, max, what, &is_good));
		if (is_good)
			continue;
		/* On to its end, so that the rest is read. */
		while (reader->at < reader->end && *reader->at != ')' && *reader->at != '\n')
			reader->at++;
		reader->at += reader->at < reader->end && *reader->at == ')';
		return 0;
	}
}
