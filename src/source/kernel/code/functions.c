/* SPDX-License-Identifier: MIT */
/* The kernel's functions by address. See functions.h. */
#include "source/kernel/code/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define RANK_MARK 100 /* names that are marks, not functions */

/* Of the names at one address people know the global one with the fewest underscores. */
static uint16_t rank_of(const struct etw_kallsyms_line *line)
{
	static const char *const marks[] = {"_text", "_stext", "__pi_", "__cfi_", "__pfx_"};
	uint16_t rank = line->type == 'T' ? 0 : line->type == 't' ? 1 : 2;

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (strncmp(line->name, marks[i], strlen(marks[i])) == 0)
			rank += RANK_MARK;
	for (size_t i = 0; i < line->name_bytes && line->name[i] == '_' && i < 8; i++)
		rank += 3;
	return rank;
}

/* Lines of one owner follow each other. */
static int find_owner(struct etw_kernel_functions *symbols, const struct etw_kallsyms_line *line,
		      uint16_t *ret)
{
	uint32_t count = symbols->owner_count;
	void *more;

	*ret = 0;
	if (!line->owner)
		return 0;
	for (uint32_t i = count; i-- > 1;) {
		if (strcmp(symbols->owners[i], line->owner) == 0) {
			*ret = (uint16_t)i;
			return 0;
		}
	}
	if (count >= ETW_KERNEL_OWNERS_MAX)
		return -E2BIG;
	more = reallocarray(symbols->owners, count + 1, sizeof(symbols->owners[0]));
	if (!more)
		return -ENOMEM;
	symbols->owners = more;
	memset(symbols->owners[count], 0, sizeof(symbols->owners[0]));
	memcpy(symbols->owners[count], line->owner, line->owner_bytes + 1);
	*ret = (uint16_t)count;
	symbols->owner_count++;
	return 0;
}

/* Room for one more symbol with its name. Returns 0, -E2BIG or -ENOMEM. */
static int make_room(struct etw_kernel_functions *symbols, size_t name_bytes)
{
	if (symbols->count >= ETW_KERNEL_FUNCTIONS_MAX ||
	    symbols->name_bytes + name_bytes + 1 > ETW_KERNEL_FUNCTIONS_NAMES_MAX)
		return -E2BIG;
	if (symbols->count == symbols->room) {
		uint32_t room = symbols->room ? symbols->room * 2 : 1024;
		void *more = reallocarray(symbols->at, room, sizeof(symbols->at[0]));

		if (!more)
			return -ENOMEM;
		symbols->at = more;
		symbols->room = room;
	}
	if (symbols->name_bytes + name_bytes + 1 > symbols->name_room) {
		uint32_t room = symbols->name_room ? symbols->name_room * 2 : 32768;
		void *more = realloc(symbols->names, room);

		if (!more)
			return -ENOMEM;
		symbols->names = more;
		symbols->name_room = room;
	}
	return 0;
}

static int add_symbol(struct etw_kernel_functions *symbols, const struct etw_kallsyms_line *line)
{
	uint16_t owner;

	TRY(make_room(symbols, line->name_bytes));
	TRY(find_owner(symbols, line, &owner));
	symbols->at[symbols->count++] = (struct etw_kernel_function){
		.address = line->address,
		.name_at = symbols->name_bytes,
		.owner = owner,
		.rank = rank_of(line),
	};
	memcpy(symbols->names + symbols->name_bytes, line->name, line->name_bytes + 1);
	symbols->name_bytes += (uint32_t)line->name_bytes + 1;
	return 0;
}

struct reading {
	struct etw_kernel_functions *symbols;
	bool has_symbols;
};

/* Returns 0, or -ENOMEM. */
static int take_line(void *context, const struct etw_kallsyms_line *line)
{
	struct reading *reading = context;
	struct etw_kernel_functions *symbols = reading->symbols;
	int r;

	reading->has_symbols = true;
	if (!line->address)
		return 0;
	if (!line->owner && strcmp(line->name, "_stext") == 0)
		symbols->text_start = line->address;
	if (!line->owner && strcmp(line->name, "_etext") == 0) {
		symbols->text_end = line->address;
		return 0;
	}
	if (!etw_kallsyms_is_function(line))
		return 0;
	r = add_symbol(symbols, line);
	return r == -E2BIG ? 0 : r;
}

static int compare(const void *left, const void *right)
{
	const struct etw_kernel_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return (int)a->rank - (int)b->rank;
	return (a->name_at > b->name_at) - (a->name_at < b->name_at);
}

static void sort(struct etw_kernel_functions *symbols)
{
	uint32_t kept = 0;

	if (symbols->count)
		qsort(symbols->at, symbols->count, sizeof(symbols->at[0]), compare);
	for (uint32_t i = 0; i < symbols->count; i++)
		if (!kept || symbols->at[kept - 1].address != symbols->at[i].address)
			symbols->at[kept++] = symbols->at[i];
	symbols->count = kept;
}

int etw_kernel_functions_read(const char *path, struct etw_kernel_functions *ret)
{
	struct reading reading = {.symbols = ret};
	int r;

	*ret = (struct etw_kernel_functions){0};
	ret->owners = calloc(1, sizeof(ret->owners[0]));
	if (!ret->owners)
		return -ENOMEM;
	ret->owner_count = 1;
	r = etw_kallsyms_read(path, take_line, &reading);
	sort(ret);
	ret->is_hidden = reading.has_symbols && !ret->count;
	return r;
}

void etw_kernel_functions_done(struct etw_kernel_functions *symbols)
{
	free(symbols->at);
	free(symbols->names);
	free(symbols->owners);
	*symbols = (struct etw_kernel_functions){0};
}

uint32_t etw_kernel_functions_find(const struct etw_kernel_functions *symbols, uint64_t address)
{
	uint32_t low = 0, high = symbols->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (symbols->at[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : UINT32_MAX;
}
