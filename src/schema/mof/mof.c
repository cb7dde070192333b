/* SPDX-License-Identifier: MIT */
/* A MOF file as a whole: its encoding, and the two passes over it. */
#include "schema/mof/mof.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf.h"
#include "schema/mof/mof_internal.h"

int etw_mof_complain(struct mof_reader *reader, uint64_t line, const char *sentence)
{
	struct etw_definition *definition = reader->definition;
	struct etw_complaint *complaint;

	definition->complaint_total++;
	if (!reader->complaints)
		reader->complaints = etw_arena_array(&reader->scratch, ETW_COMPLAINTS_MAX,
						     sizeof(*reader->complaints));
	if (!reader->complaints)
		return -ENOMEM;
	if (definition->complaint_count == ETW_COMPLAINTS_MAX)
		return 0;
	complaint = &reader->complaints[definition->complaint_count++];
	complaint->line = line;
	complaint->sentence = sentence;
	return etw_mof_keep(reader, reader->current ? reader->current->name : NULL,
			    &complaint->name);
}

int etw_mof_keep(struct mof_reader *reader, const char *text, const char **ret)
{
	*ret = text ? etw_arena_strdup(reader->arena, text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

static void append_swapped(struct etw_text *text, const uint8_t *at, size_t units)
{
	uint8_t piece[512];

	/* A pair of surrogates may not be cut. */
	while (units) {
		size_t count = units < sizeof(piece) / 2 ? units : sizeof(piece) / 2;

		if (count < units && (at[2 * count - 2] & 0xfc) == 0xd8)
			count--;
		for (size_t i = 0; i < count; i++) {
			piece[2 * i] = at[2 * i + 1];
			piece[2 * i + 1] = at[2 * i];
		}
		etw_text_utf16(text, piece, count);
		at += 2 * count;
		units -= count;
	}
}

/* The text as UTF-8 without byte order mark. */
static int decode(const uint8_t *at, size_t bytes, struct etw_text *ret)
{
	if (bytes >= 2 && at[0] == 0xfe && at[1] == 0xff)
		append_swapped(ret, at + 2, bytes / 2 - 1);
	else if (bytes >= 2 && at[0] == 0xff && at[1] == 0xfe)
		etw_text_utf16(ret, at + 2, bytes / 2 - 1);
	else if (bytes >= 2 && at[0] && !at[1])
		etw_text_utf16(ret, at, bytes / 2);
	else if (bytes >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
		etw_text_ansi(ret, at + 3, bytes - 3);
	else
		etw_text_ansi(ret, at, bytes);
	return etw_text_error(ret);
}

static int read_text(struct mof_reader *reader, const struct etw_text *text)
{
	struct mof_lexer lexer = {
		.at = etw_text_string(text),
		.line = 1,
		.arena = &reader->scratch,
		.reterr = reader->reterr,
	};
	int r;

	lexer.end = lexer.at + text->bytes;
	if (memchr(lexer.at, 0, text->bytes))
		return etw_fault_set(reader->reterr, -EBADMSG, 1, "MOF", NULL,
				     "the text holds a NUL");
	r = etw_mof_read_tree(reader, &lexer);
	etw_text_done(&lexer.text);
	TRY(r);
	TRY(etw_mof_read_classes(reader));
	reader->definition->complaints =
		etw_arena_copy(reader->arena, reader->complaints,
			       reader->definition->complaint_count * sizeof(*reader->complaints));
	return reader->definition->complaints ? 0 : -ENOMEM;
}

int etw_mof_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_definition **ret, struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct mof_reader reader = {
		.arena = arena, .fields_left = ETW_SCHEMA_FIELDS_MAX + bytes / 8, .reterr = reterr};
	CLEANUP(etw_text_done) struct etw_text decoded = {0};
	int r;

	if (bytes > ETW_MOF_BYTES_MAX)
		return etw_fault_set(reterr, -EBADMSG, 1, "MOF", NULL, "the file is too large");
	reader.definition = etw_arena_alloc(arena, sizeof(*reader.definition));
	r = reader.definition ? decode((const uint8_t *)text, bytes, &decoded) : -ENOMEM;
	if (r == 0)
		r = read_text(&reader, &decoded);
	etw_table_done(&reader.names);
	etw_table_done(&reader.events);
	etw_arena_done(&reader.scratch);
	if (r < 0) {
		etw_arena_release(arena, mark);
		return r;
	}
	*ret = reader.definition;
	return 0;
}
