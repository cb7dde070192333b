/* SPDX-License-Identifier: MIT */
/*
 * Perf maps of any kind give tables that answer for every address, with a symbol that covers it. Input: the text.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/perf_map.h"
#include "target.h"

#define ENTRIES_MAX ((size_t)1 << 16)

static void ask(struct etw_symbol_table *table, uint64_t address)
{
	const struct etw_symbol_entry *entry = etw_symbol_table_find(table, address);

	if (!entry)
		return;
	CHECK(entry->start <= address && length_of(entry->name));
	CHECK(!entry->bytes || address - entry->start < entry->bytes);
}

/* Around each symbol, and at both ends of all addresses. */
static void ask_all(struct etw_symbol_table *table)
{
	ask(table, 0);
	ask(table, UINT64_MAX);
	for (size_t i = 0; i < table->count; i++) {
		ask(table, table->at[i].start - 1);
		ask(table, table->at[i].start);
		ask(table, table->at[i].start + table->at[i].bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_symbol_table table;
	size_t left = ENTRIES_MAX;
	char *text = malloc(bytes + 1);
	int r;

	CHECK(text);
	if (bytes)
		memcpy(text, data, bytes);
	text[bytes] = '\0';
	etw_symbol_table_init(&table, &left);
	r = etw_symbol_perf_map_parse(text, bytes, &table);
	CHECK(r == 0 || r == -E2BIG);
	CHECK(left + table.count == ENTRIES_MAX);
	ask_all(&table);
	CHECK(left + table.count == ENTRIES_MAX);
	etw_symbol_table_done(&table);
	CHECK(left == ENTRIES_MAX);
	free(text);
	return 0;
}
