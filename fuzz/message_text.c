/* SPDX-License-Identifier: MIT */
/*
 * A message text file of any bytes is compiled, or has complaints with a place; the tables of what has none are
 * readable. Input: the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compile/text.h"
#include "schema/compiled/message_table.h"
#include "target.h"

static void check_table(const struct mc_text_file *file, const struct mc_text_name *language)
{
	struct etw_message_table table;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	struct etw_text out = {0};
	int r = etw_compile_text_table(file, language, true, COMPILE_UTF16, &out, &fault);

	CHECK(r == 0 || (r == -EFBIG && fault.sentence));
	if (r == 0) {
		const struct etw_bytes bytes = {(const uint8_t *)out.at, out.bytes};

		etw_arena_init(&arena);
		CHECK(etw_message_table_open(&arena, bytes, &table, &fault) == 0);
		etw_arena_done(&arena);
	}
	etw_text_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct etw_compile_text_options options = {.is_customer = bytes % 2 != 0};
	struct mc_text_file *file = NULL;
	struct etw_text out = {0};

	CHECK(etw_compile_read_text((const char *)data, bytes, &options, &file) == 0);
	for (const struct mc_complaint *at = file->manifest->complaints; at; at = at->next)
		CHECK(at->line && at->column && at->text);
	if (!file->manifest->error_count) {
		CHECK(etw_compile_text_header(file, &options, &out) == 0);
		CHECK(etw_compile_text_debug(file, "base", &out) == 0);
		CHECK(etw_compile_text_rc(file, NULL, &out) == 0);
		for (const struct mc_text_name *at = file->languages; at; at = at->next)
			check_table(file, at);
	}
	etw_text_done(&out);
	etw_compile_free_text(file);
	return 0;
}
