/* SPDX-License-Identifier: MIT */
/* Which tables belong to which template, and in which language. */
#include "schema/compiled/binary.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/compiled/binary_internal.h"
#include "schema/compiled/language.h"
#include "schema/compiled/message_table.h"
#include "schema/compiled/pe.h"
#include "schema/compiled/wevt.h"

/* Message tables that are opened: a file has one a language, and the best languages are enough. */
#define TABLES_MAX 8

struct binary_reader {
	struct etw_arena *arena;
	struct etw_arena scratch;
	const char *const *languages;
	struct etw_message_table tables[2 * TABLES_MAX];
	size_t table_count;
	struct etw_fault *reterr;
};

bool etw_binary_is_template(struct etw_bytes file)
{
	return file.left >= 4 && memcmp(file.at, "CRIM", 4) == 0;
}

bool etw_binary_is(struct etw_bytes file)
{
	return etw_pe_is(file) || etw_binary_is_template(file);
}

/* Adds the start of a resource to the place of a fault, so that it is one in the file. */
static int shift_fault(struct binary_reader *reader, int r, size_t offset)
{
	if (r == -EBADMSG && reader->reterr)
		reader->reterr->offset += offset;
	return r;
}

static int open_table(struct binary_reader *reader, struct etw_bytes file, size_t offset,
		      size_t bytes)
{
	const struct etw_bytes table = {file.at + offset, bytes};

	TRY(shift_fault(reader,
			etw_message_table_open(&reader->scratch, table,
					       &reader->tables[reader->table_count],
					       reader->reterr),
			offset));
	reader->table_count++;
	return 0;
}

/* The best of @pe that come behind the one of @rank and @index; SIZE_MAX when there is none. */
static size_t next_table(const struct binary_reader *reader, const struct etw_pe *pe, size_t *rank,
			 size_t index)
{
	size_t best = SIZE_MAX, best_rank = SIZE_MAX;

	for (size_t i = 0; i < pe->table_count; i++) {
		size_t own = etw_language_rank(pe->tables[i].language, reader->languages);

		if (index != SIZE_MAX && (own < *rank || (own == *rank && i <= index)))
			continue;
		if (own < best_rank) {
			best = i;
			best_rank = own;
		}
	}
	*rank = best_rank;
	return best;
}

static int open_tables(struct binary_reader *reader, struct etw_bytes file, const struct etw_pe *pe)
{
	size_t rank = 0, index = SIZE_MAX;

	for (size_t i = 0; i < TABLES_MAX; i++) {
		index = next_table(reader, pe, &rank, index);
		if (index == SIZE_MAX)
			break;
		TRY(open_table(reader, file, pe->tables[index].offset, pe->tables[index].bytes));
	}
	return 0;
}

/* The messages that the caller has elsewhere. */
static int open_messages(struct binary_reader *reader, struct etw_bytes file)
{
	struct etw_pe pe;

	if (!file.left)
		return 0;
	if (!etw_pe_is(file))
		return open_table(reader, file, 0, file.left);
	TRY(etw_pe_parse(&reader->scratch, file, &pe, reader->reterr));
	return open_tables(reader, file, &pe);
}

static int parse_template(struct binary_reader *reader, struct etw_bytes file, size_t offset,
			  size_t bytes, struct etw_definition **ret)
{
	const struct etw_bytes blob = {file.at + offset, bytes};

	return shift_fault(reader,
			   etw_wevt_parse(reader->arena, blob, reader->tables, reader->table_count,
					  ret, reader->reterr),
			   offset);
}

static int parse_file(struct binary_reader *reader, struct etw_bytes file,
		      struct etw_bytes messages, struct etw_definition **ret)
{
	struct etw_pe pe;

	if (etw_binary_is_template(file)) {
		TRY(open_messages(reader, messages));
		return parse_template(reader, file, 0, file.left, ret);
	}
	TRY(etw_pe_parse(&reader->scratch, file, &pe, reader->reterr));
	if (!pe.template_count)
		return -ENODATA;
	TRY(open_messages(reader, messages));
	TRY(open_tables(reader, file, &pe));
	/* Windows looks for one; so do the compilers see to it that there are no more. */
	return parse_template(reader, file, pe.templates[0].offset, pe.templates[0].bytes, ret);
}

int etw_binary_parse(struct etw_arena *arena, struct etw_bytes file, struct etw_bytes messages,
		     const char *const *languages, struct etw_definition **ret,
		     struct etw_fault *reterr)
{
	struct binary_reader reader = {.arena = arena, .languages = languages, .reterr = reterr};
	int r = parse_file(&reader, file, messages, ret);

	etw_arena_done(&reader.scratch);
	return r;
}
