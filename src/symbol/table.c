/* SPDX-License-Identifier: MIT */
/* Sorted symbols. See table.h. */
#include "symbol/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"
#include "symbol/strings.h"

#define FIRST_ROOM 64
#define PAGE_BYTES 4096
/* Symbols that lie in others are few; hostile tables may have any number. */
#define BACK_STEPS_MAX 256

void etw_symbol_table_done(struct etw_symbol_table *table)
{
	if (table->left)
		*table->left += table->count;
	free(table->at);
	free(table->reach);
	etw_arena_done(&table->names);
	etw_symbol_table_init(table, table->left);
}

static int grow(struct etw_symbol_table *table)
{
	size_t room = table->room ? 2 * table->room : FIRST_ROOM;
	struct etw_symbol_entry *at = reallocarray(table->at, room, sizeof(*at));

	if (!at)
		return -ENOMEM;
	table->at = at;
	table->room = room;
	return 0;
}

int etw_symbol_table_add(struct etw_symbol_table *table, const struct etw_symbol_entry *entry,
			 size_t name_bytes)
{
	struct etw_symbol_entry copy = *entry;

	if (name_bytes > ETW_SYMBOL_NAME_BYTES_MAX)
		name_bytes = ETW_SYMBOL_NAME_BYTES_MAX;
	if (!name_bytes || entry->name[0] == '\0')
		return 0;
	if (table->left && !*table->left)
		return -E2BIG;
	if (table->count == table->room)
		TRY(grow(table));
	copy.name = etw_arena_strndup(&table->names, entry->name, name_bytes);
	if (!copy.name)
		return -ENOMEM;
	copy.shown = NULL;
	table->at[table->count++] = copy;
	table->is_sorted = false;
	if (table->left)
		--*table->left;
	return 0;
}

int etw_symbol_table_merge(struct etw_symbol_table *table, struct etw_symbol_table *from)
{
	int r = 0;

	if (table->left)
		*table->left += from->count;
	for (size_t i = 0; i < from->count && !r; i++)
		r = etw_symbol_table_add(table, &from->at[i], strlen(from->at[i].name));
	if (from->left)
		*from->left -= from->count;
	etw_symbol_table_done(from);
	return r;
}

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

static int compare_values(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

/* By address, then the better one first: docs/symbols.md has the rule. */
static int compare_entries(const void *left_item, const void *right_item)
{
	const struct etw_symbol_entry *left = left_item, *right = right_item;
	int r = compare_values(left->start, right->start);

	if (!r)
		r = compare_values(!left->bytes, !right->bytes);
	if (!r)
		r = compare_values(left->rank, right->rank);
	if (!r)
		r = compare_values(leading_underscores(left->name),
				   leading_underscores(right->name));
	if (!r)
		r = compare_values(strlen(left->name), strlen(right->name));
	if (!r)
		r = strcmp(left->name, right->name);
	return r ? r : compare_values(left->bytes, right->bytes);
}

/* Drops what is at the address of a better one, and marks of no size that lie within something of a size. */
static void drop_covered(struct etw_symbol_table *table)
{
	uint64_t reach = 0;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct etw_symbol_entry *entry = &table->at[i];
		uint64_t end = etw_sum_saturated(entry->start, entry->bytes);

		if (kept && table->at[kept - 1].start == entry->start)
			continue;
		if (!entry->bytes && entry->start < reach)
			continue;
		if (end > reach)
			reach = end;
		table->at[kept++] = *entry;
	}
	if (table->left)
		*table->left += table->count - kept;
	table->count = kept;
}

static uint64_t end_of_gap(const struct etw_symbol_table *table, size_t place)
{
	const struct etw_symbol_entry *entry = &table->at[place];
	uint64_t page_end = (entry->start | (PAGE_BYTES - 1)) + 1;

	if (place + 1 < table->count && entry[1].module == entry->module)
		return entry[1].start;
	if (place + 1 < table->count && entry[1].start < page_end)
		return entry[1].start;
	if (table->end > entry->start)
		return table->end;
	return page_end ? page_end : UINT64_MAX;
}

static uint64_t end_of_open(const struct etw_symbol_table *table, size_t place)
{
	const uint64_t own = table->at[place].open_end, end = end_of_gap(table, place);

	return own && own < end ? own : end;
}

static int sort(struct etw_symbol_table *table)
{
	uint64_t reach = 0, *reaches;

	reaches = reallocarray(table->reach, table->count + 1, sizeof(*reaches));
	if (!reaches)
		return -ENOMEM;
	table->reach = reaches;
	qsort(table->at, table->count, sizeof(table->at[0]), compare_entries);
	drop_covered(table);
	for (size_t i = 0; i < table->count; i++) {
		struct etw_symbol_entry *entry = &table->at[i];
		uint64_t end = entry->bytes ? etw_sum_saturated(entry->start, entry->bytes)
					    : end_of_open(table, i);

		if (end > reach)
			reach = end;
		reaches[i] = reach;
	}
	table->is_sorted = true;
	return 0;
}

/* How many begin at or before the address. */
static size_t count_up_to(const struct etw_symbol_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct etw_symbol_entry *etw_symbol_table_find(struct etw_symbol_table *table, uint64_t address)
{
	size_t place;

	if (!table->count || (!table->is_sorted && sort(table)))
		return NULL;
	place = count_up_to(table, address);
	for (unsigned steps = 0; place-- > 0 && steps < BACK_STEPS_MAX; steps++) {
		struct etw_symbol_entry *entry = &table->at[place];
		uint64_t bytes = entry->bytes;

		if (table->reach[place] <= address)
			return NULL;
		if (!bytes)
			bytes = end_of_open(table, place) - entry->start;
		if (address - entry->start < bytes)
			return entry;
	}
	return NULL;
}
