/* SPDX-License-Identifier: MIT */
/* jitdump files. See jitdump.h. */
#include "symbol/jitdump.h"

#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/number.h"

#define MAGIC               UINT32_C(0x4A695444) /* "JiTD" */
#define HEADER_BYTES        40
#define FLAG_ARCH_TIMESTAMP UINT64_C(1)
#define RECORD_HEADER_BYTES 16
#define LOAD_BYTES          40 /* before the name */
#define MOVE_BYTES          48
#define DEBUG_BYTES         16 /* before the entries */
#define DEBUG_ENTRY_BYTES   16 /* before the name of the file */
#define BACK_STEPS_MAX      4096
#define FIRST_ROOM          64
#define FUNCTION_LINES_MAX  65536 /* that are searched */
#define RECORDS_MAX         ((size_t)1 << 22)

enum record_kind {
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
};

struct reader {
	etw_symbol_jit_read *read;
	void *context;
	struct etw_symbol_strings *strings;
	struct etw_symbol_jitdump *dump;
	bool is_swapped;
	uint8_t *body; /* owned */
	size_t body_room, body_bytes;
	/* Lines that came last, of the code that is loaded next. */
	uint64_t lines_origin;
	size_t first_line, line_count;
};

void etw_symbol_jitdump_done(struct etw_symbol_jitdump *dump)
{
	free(dump->at);
	free(dump->reach);
	free(dump->lines);
	*dump = (struct etw_symbol_jitdump){0};
}

static uint32_t load32(const struct reader *reader, const uint8_t *at)
{
	uint32_t value = etw_load32(at);

	return reader->is_swapped ? bswap_32(value) : value;
}

static uint64_t load64(const struct reader *reader, const uint8_t *at)
{
	uint64_t value = etw_load64(at);

	return reader->is_swapped ? bswap_64(value) : value;
}

static struct etw_symbol_jit_function *add_function(struct etw_symbol_jitdump *dump)
{
	struct etw_symbol_jit_function *function;

	if (dump->count == dump->room) {
		size_t room = dump->room ? 2 * dump->room : FIRST_ROOM;

		function = reallocarray(dump->at, room, sizeof(*function));
		if (!function)
			return NULL;
		dump->at = function;
		dump->room = room;
	}
	function = &dump->at[dump->count];
	*function = (struct etw_symbol_jit_function){
		.to_ns = UINT64_MAX,
		.number = dump->count,
	};
	dump->count++;
	return function;
}

static bool is_full(struct etw_symbol_jitdump *dump)
{
	if (dump->count < ETW_SYMBOL_JIT_FUNCTIONS_MAX)
		return false;
	dump->is_cut = true;
	return true;
}

static int take_load(struct reader *reader, uint64_t time_ns)
{
	const uint8_t *at = reader->body;
	struct etw_symbol_jit_function *function;
	size_t bytes;

	if (reader->body_bytes <= LOAD_BYTES)
		return -EBADMSG;
	if (is_full(reader->dump))
		return 0;
	bytes = strnlen((const char *)at + LOAD_BYTES, reader->body_bytes - LOAD_BYTES);
	function = add_function(reader->dump);
	if (!function)
		return -ENOMEM;
	function->start = load64(reader, at + 16);
	function->bytes = load64(reader, at + 24);
	function->index = load64(reader, at + 32);
	function->from_ns = time_ns;
	function->origin = function->start;
	function->name = etw_symbol_strings_keep(reader->strings, (const char *)at + LOAD_BYTES,
						 bytes);
	if (!function->name)
		return -ENOMEM;
	if (reader->line_count && reader->lines_origin == function->start) {
		function->first_line = reader->first_line;
		function->line_count = reader->line_count;
	}
	reader->line_count = 0;
	return 0;
}

/* The code that has an index, as it was told of last. Those that are moved are mostly young. */
static size_t find_index(const struct etw_symbol_jitdump *dump, uint64_t index)
{
	size_t steps = 0;

	for (size_t i = dump->count; i-- > 0 && steps++ < BACK_STEPS_MAX;)
		if (dump->at[i].index == index)
			return i;
	return SIZE_MAX;
}

static int take_move(struct reader *reader, uint64_t time_ns)
{
	struct etw_symbol_jitdump *dump = reader->dump;
	const uint8_t *at = reader->body;
	struct etw_symbol_jit_function *function;
	size_t old, number;

	if (reader->body_bytes < MOVE_BYTES)
		return -EBADMSG;
	old = find_index(dump, load64(reader, at + 40));
	if (old == SIZE_MAX || is_full(dump))
		return 0;
	function = add_function(dump);
	if (!function)
		return -ENOMEM;
	number = function->number;
	*function = dump->at[old];
	function->number = number;
	function->start = load64(reader, at + 24);
	function->bytes = load64(reader, at + 32);
	function->from_ns = time_ns;
	function->to_ns = UINT64_MAX;
	dump->at[old].to_ns = time_ns;
	return 0;
}

static int add_line(struct etw_symbol_jitdump *dump, const struct etw_symbol_jit_line *line)
{
	if (dump->line_count == dump->line_room) {
		size_t room = dump->line_room ? 2 * dump->line_room : FIRST_ROOM;
		struct etw_symbol_jit_line *lines;

		lines = reallocarray(dump->lines, room, sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		dump->lines = lines;
		dump->line_room = room;
	}
	dump->lines[dump->line_count++] = *line;
	return 0;
}

/* Lines, in order of address; a file's name of one byte 0xFF is that of the line before. */
static int take_lines(struct reader *reader)
{
	struct etw_bytes left = {reader->body, reader->body_bytes};
	struct etw_symbol_jit_line line = {0};
	const uint8_t *at = etw_bytes_take(&left, DEBUG_BYTES);
	uint64_t count;

	if (!at)
		return -EBADMSG;
	reader->lines_origin = load64(reader, at);
	count = load64(reader, at + 8);
	reader->first_line = reader->dump->line_count;
	reader->line_count = 0;
	while (count-- && (at = etw_bytes_take(&left, DEBUG_ENTRY_BYTES))) {
		size_t bytes = strnlen((const char *)left.at, left.left);
		const char *file = (const char *)left.at;

		if (bytes == left.left)
			return -EBADMSG;
		if (reader->dump->line_count >= ETW_SYMBOL_JIT_LINES_MAX) {
			reader->dump->is_cut = true;
			return 0;
		}
		line.address = load64(reader, at);
		line.line = load32(reader, at + 8);
		if (bytes != 1 || (uint8_t)file[0] != 0xFF)
			line.file = etw_symbol_strings_keep(reader->strings, file, bytes);
		if (!line.file && (bytes != 1 || (uint8_t)file[0] != 0xFF))
			return -ENOMEM;
		TRY(add_line(reader->dump, &line));
		reader->line_count++;
		(void)etw_bytes_take(&left, bytes + 1);
	}
	return 0;
}

/* As much of a record's body as the file has. */
static int read_body(struct reader *reader, uint64_t offset, size_t bytes)
{
	if (bytes > reader->body_room) {
		uint8_t *body = realloc(reader->body, bytes);

		if (!body)
			return -ENOMEM;
		reader->body = body;
		reader->body_room = bytes;
	}
	reader->body_bytes = bytes ? reader->read(reader->context, offset, reader->body, bytes) : 0;
	return reader->body_bytes < bytes ? -EBADMSG : 0;
}

/*
 * Reads one record. Of its body as much as is needed: the code itself is not.
 *
 * Returns its bytes; 0 at the end; -EBADMSG; -ENOMEM.
 */
static int64_t take_record(struct reader *reader, uint64_t offset)
{
	uint8_t head[RECORD_HEADER_BYTES];
	size_t got = reader->read(reader->context, offset, head, sizeof(head)), wanted;
	uint32_t kind, bytes;
	uint64_t time_ns;
	int r = 0;

	if (got == 0)
		return 0;
	if (got < sizeof(head))
		return -EBADMSG;
	kind = load32(reader, head);
	bytes = load32(reader, head + 4);
	time_ns = load64(reader, head + 8);
	if (bytes < sizeof(head))
		return -EBADMSG;
	wanted = bytes - sizeof(head);
	if (kind == CODE_LOAD && wanted > LOAD_BYTES + ETW_SYMBOL_NAME_BYTES_MAX)
		wanted = LOAD_BYTES + ETW_SYMBOL_NAME_BYTES_MAX;
	if (wanted > ETW_SYMBOL_JIT_DEBUG_BYTES || kind > CODE_DEBUG_INFO)
		return bytes;
	TRY(read_body(reader, offset + sizeof(head), wanted));
	if (kind == CODE_LOAD)
		r = take_load(reader, time_ns);
	else if (kind == CODE_MOVE)
		r = take_move(reader, time_ns);
	else
		r = take_lines(reader);
	return r ? r : (int64_t)bytes;
}

static int compare_functions(const void *left_item, const void *right_item)
{
	const struct etw_symbol_jit_function *left = left_item, *right = right_item;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int sort(struct etw_symbol_jitdump *dump)
{
	uint64_t reach = 0;

	dump->reach = calloc(dump->count + 1, sizeof(*dump->reach));
	if (!dump->reach)
		return -ENOMEM;
	if (dump->count)
		qsort(dump->at, dump->count, sizeof(dump->at[0]), compare_functions);
	for (size_t i = 0; i < dump->count; i++) {
		uint64_t end = etw_sum_saturated(dump->at[i].start, dump->at[i].bytes);

		if (end > reach)
			reach = end;
		dump->reach[i] = reach;
	}
	return 0;
}

static int take_header(struct reader *reader, uint64_t *ret_bytes, struct etw_fault *reterr)
{
	uint8_t header[HEADER_BYTES];
	uint32_t magic;

	if (reader->read(reader->context, 0, header, sizeof(header)) < sizeof(header))
		return etw_fault_set(reterr, -EBADMSG, 0, "jitdump", "header",
				     "the file is too short");
	magic = etw_load32(header);
	reader->is_swapped = magic == bswap_32(MAGIC);
	if (magic != MAGIC && !reader->is_swapped)
		return etw_fault_set(reterr, -EBADMSG, 0, "jitdump", "magic", "not a jitdump");
	if (load32(reader, header + 4) != 1)
		return etw_fault_set(reterr, -EBADMSG, 4, "jitdump", "version", "not version 1");
	*ret_bytes = load32(reader, header + 8);
	if (*ret_bytes < sizeof(header))
		return etw_fault_set(reterr, -EBADMSG, 8, "jitdump", "total_size",
				     "shorter than the header");
	reader->dump->has_monotonic_time = !(load64(reader, header + 32) & FLAG_ARCH_TIMESTAMP);
	return 0;
}

int etw_symbol_jitdump_parse(etw_symbol_jit_read *read, void *context,
			     struct etw_symbol_strings *strings, struct etw_symbol_jitdump *ret,
			     struct etw_fault *reterr)
{
	struct reader reader = {.read = read, .context = context, .strings = strings, .dump = ret};
	uint64_t offset;
	int64_t bytes = 1;

	*ret = (struct etw_symbol_jitdump){0};
	TRY(take_header(&reader, &offset, reterr));
	for (size_t records = 0; bytes > 0 && records < RECORDS_MAX; records++) {
		bytes = take_record(&reader, offset);
		if (bytes <= 0)
			continue;
		offset += (uint64_t)bytes;
		ret->record_count++;
	}
	free(reader.body);
	if (bytes == -ENOMEM)
		return -ENOMEM;
	if (bytes)
		ret->is_cut = true;
	return sort(ret);
}

/* Of two that were at an address: the later one that was there at the time, else the first that came after it. */
static bool is_better(const struct etw_symbol_jit_function *function,
		      const struct etw_symbol_jit_function *than, uint64_t time_ns)
{
	bool is_there = function->from_ns <= time_ns && time_ns < function->to_ns;
	bool was_there = than && than->from_ns <= time_ns && time_ns < than->to_ns;

	if (!than || is_there != was_there)
		return !than || is_there;
	if (is_there)
		return function->from_ns > than->from_ns ||
		       (function->from_ns == than->from_ns && function->number > than->number);
	if ((function->from_ns > time_ns) != (than->from_ns > time_ns))
		return function->from_ns > time_ns;
	return function->from_ns < than->from_ns ||
	       (function->from_ns == than->from_ns && function->number < than->number);
}

const struct etw_symbol_jit_function *etw_symbol_jitdump_find(const struct etw_symbol_jitdump *dump,
							      uint64_t address, uint64_t time_ns)
{
	const struct etw_symbol_jit_function *best = NULL;
	size_t low = 0, high = dump->count;

	if (time_ns == ETW_SYMBOL_JIT_LATEST)
		time_ns--;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dump->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t steps = 0; low-- > 0 && steps < BACK_STEPS_MAX; steps++) {
		const struct etw_symbol_jit_function *function = &dump->at[low];

		if (dump->reach[low] <= address)
			break;
		if (address - function->start < function->bytes &&
		    is_better(function, best, time_ns))
			best = function;
	}
	return best;
}

const struct etw_symbol_jit_line *etw_symbol_jitdump_line(
	const struct etw_symbol_jitdump *dump, const struct etw_symbol_jit_function *function,
	uint64_t address)
{
	const struct etw_symbol_jit_line *best = NULL;
	uint64_t place = address - function->start + function->origin;

	for (size_t i = 0; i < function->line_count && i < FUNCTION_LINES_MAX; i++) {
		const struct etw_symbol_jit_line *line = &dump->lines[function->first_line + i];

		if (line->address <= place && (!best || line->address >= best->address))
			best = line;
	}
	return best && best->file ? best : NULL;
}
