/* SPDX-License-Identifier: MIT */
/*
 * Jitdumps of any kind give functions that cover the addresses that they are found for, or a fault. Input: the file.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/jitdump.h"
#include "target.h"

struct input {
	const uint8_t *at;
	size_t bytes;
};

static size_t read_input(void *context, uint64_t offset, void *to, size_t bytes)
{
	const struct input *input = context;

	if (offset >= input->bytes)
		return 0;
	if (bytes > input->bytes - offset)
		bytes = input->bytes - (size_t)offset;
	memcpy(to, input->at + offset, bytes);
	return bytes;
}

static void ask(const struct etw_symbol_jitdump *dump, uint64_t address, uint64_t time_ns)
{
	const struct etw_symbol_jit_function *function = etw_symbol_jitdump_find(dump, address,
										 time_ns);
	const struct etw_symbol_jit_line *line;

	if (!function)
		return;
	CHECK(function->start <= address && address - function->start < function->bytes);
	CHECK(length_of(function->name) <= ETW_SYMBOL_NAME_BYTES_MAX);
	line = etw_symbol_jitdump_line(dump, function, address);
	CHECK(!line || length_of(line->file) <= ETW_SYMBOL_NAME_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = {data, bytes};
	struct etw_symbol_strings strings;
	struct etw_symbol_jitdump dump;
	struct etw_fault fault = {0};
	int r;

	etw_symbol_strings_init(&strings);
	r = etw_symbol_jitdump_parse(read_input, &input, &strings, &dump, &fault);
	CHECK(r == 0 || (r == -EBADMSG && fault.sentence && !dump.count));
	/* A record has 16 bytes at least, and so has a line. */
	CHECK(dump.count <= bytes / 16 && dump.line_count <= bytes / 16);
	for (size_t i = 0; i < dump.count && i < 256; i++) {
		ask(&dump, dump.at[i].start, dump.at[i].from_ns);
		ask(&dump, dump.at[i].start + dump.at[i].bytes - 1, dump.at[i].to_ns);
		ask(&dump, dump.at[i].start - 1, ETW_SYMBOL_JIT_LATEST);
	}
	etw_symbol_jitdump_done(&dump);
	etw_symbol_strings_done(&strings);
	return 0;
}
