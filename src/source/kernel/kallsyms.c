/* SPDX-License-Identifier: MIT */
/* The kernel's list of its functions. See kallsyms.h. */
#include "source/kernel/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define LINE_BYTES  1024
#define FILE_BUFFER (256 << 10) /* the kernel looks for its place anew with each read */
#define PEEK_LINES  64
#define RANK_MARK   100 /* names that are marks, not functions */

/* "ffffffff81000000 T name", and behind a tab "[owner]". */
struct line {
	uint64_t address;
	char type;
	const char *name, *owner;
	size_t name_bytes, owner_bytes;
};

static bool parse_line(char *text, struct line *ret)
{
	char *end, *bracket;

	*ret = (struct line){0};
	ret->address = strtoull(text, &end, 16);
	if (end == text || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	ret->type = end[1];
	ret->name = end + 3;
	ret->name_bytes = strcspn(ret->name, " \t\n");
	bracket = strchr(ret->name + ret->name_bytes, '[');
	if (bracket) {
		ret->owner = bracket + 1;
		ret->owner_bytes = strcspn(ret->owner, "]\n");
	}
	return ret->name_bytes && ret->name_bytes < ETW_KALLSYMS_NAME_MAX &&
	       ret->owner_bytes < ETW_KALLSYMS_OWNER_BYTES;
}

/* t: local, T: global, w and W: weak. */
static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static bool is_name(const struct line *line, const char *name)
{
	return line->name_bytes == strlen(name) && memcmp(line->name, name, line->name_bytes) == 0;
}

/* Of the names at one address people know the global one with the fewest underscores. */
static uint16_t rank_of(const struct line *line)
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
static int find_owner(struct etw_kallsyms *symbols, const struct line *line, uint16_t *ret)
{
	uint32_t count = symbols->owner_count;
	void *more;

	*ret = 0;
	if (!line->owner_bytes)
		return 0;
	for (uint32_t i = count; i-- > 1;) {
		if (strlen(symbols->owners[i]) == line->owner_bytes &&
		    memcmp(symbols->owners[i], line->owner, line->owner_bytes) == 0) {
			*ret = (uint16_t)i;
			return 0;
		}
	}
	if (count >= ETW_KALLSYMS_OWNERS_MAX)
		return -E2BIG;
	more = reallocarray(symbols->owners, count + 1, sizeof(symbols->owners[0]));
	if (!more)
		return -ENOMEM;
	symbols->owners = more;
	memset(symbols->owners[count], 0, sizeof(symbols->owners[0]));
	memcpy(symbols->owners[count], line->owner, line->owner_bytes);
	*ret = (uint16_t)count;
	symbols->owner_count++;
	return 0;
}

/* Room for one more symbol with its name. Returns 0, -E2BIG or -ENOMEM. */
static int make_room(struct etw_kallsyms *symbols, size_t name_bytes)
{
	if (symbols->count >= ETW_KALLSYMS_MAX ||
	    symbols->name_bytes + name_bytes + 1 > ETW_KALLSYMS_NAMES_MAX)
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

static int add_symbol(struct etw_kallsyms *symbols, const struct line *line)
{
	uint16_t owner;

	TRY(make_room(symbols, line->name_bytes));
	TRY(find_owner(symbols, line, &owner));
	symbols->at[symbols->count++] = (struct etw_kallsym){
		.address = line->address,
		.name_at = symbols->name_bytes,
		.owner = owner,
		.rank = rank_of(line),
	};
	memcpy(symbols->names + symbols->name_bytes, line->name, line->name_bytes);
	symbols->name_bytes += (uint32_t)line->name_bytes;
	symbols->names[symbols->name_bytes++] = '\0';
	return 0;
}

/* Returns 0, or -ENOMEM. */
static int take_line(struct etw_kallsyms *symbols, const struct line *line, bool *has_symbols)
{
	int r;

	*has_symbols = true;
	if (!line->address)
		return 0;
	if (!line->owner_bytes && is_name(line, "_stext"))
		symbols->text_start = line->address;
	if (!line->owner_bytes && is_name(line, "_etext")) {
		symbols->text_end = line->address;
		return 0;
	}
	if (!is_text(line->type))
		return 0;
	r = add_symbol(symbols, line);
	return r == -E2BIG ? 0 : r;
}

static int compare(const void *left, const void *right)
{
	const struct etw_kallsym *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->rank != b->rank)
		return (int)a->rank - (int)b->rank;
	return (a->name_at > b->name_at) - (a->name_at < b->name_at);
}

static void sort(struct etw_kallsyms *symbols)
{
	uint32_t kept = 0;

	if (symbols->count)
		qsort(symbols->at, symbols->count, sizeof(symbols->at[0]), compare);
	for (uint32_t i = 0; i < symbols->count; i++)
		if (!kept || symbols->at[kept - 1].address != symbols->at[i].address)
			symbols->at[kept++] = symbols->at[i];
	symbols->count = kept;
}

int etw_kallsyms_read(const char *path, struct etw_kallsyms *ret)
{
	FILE *file = fopen(path, "re");
	bool has_symbols = false;
	char text[LINE_BYTES];
	struct line line;
	int r = 0;

	*ret = (struct etw_kallsyms){0};
	if (!file)
		return -errno;
	(void)setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
	ret->owners = calloc(1, sizeof(ret->owners[0]));
	ret->owner_count = 1;
	if (!ret->owners)
		r = -ENOMEM;
	while (!r && fgets(text, sizeof(text), file))
		if (parse_line(text, &line))
			r = take_line(ret, &line, &has_symbols);
	if (!r && ferror(file))
		r = -EIO;
	(void)fclose(file);
	sort(ret);
	ret->is_hidden = has_symbols && !ret->count;
	return r;
}

void etw_kallsyms_done(struct etw_kallsyms *symbols)
{
	free(symbols->at);
	free(symbols->names);
	free(symbols->owners);
	*symbols = (struct etw_kallsyms){0};
}

uint32_t etw_kallsyms_find(const struct etw_kallsyms *symbols, uint64_t address)
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

/* All are hidden, or none; absolute ones at the front may be 0 in either case. */
bool etw_kallsyms_are_hidden(const char *path)
{
	FILE *file = fopen(path, "re");
	bool has_symbols = false, has_address = false;
	char text[LINE_BYTES];
	struct line line;

	if (!file)
		return false;
	for (int left = PEEK_LINES; left && fgets(text, sizeof(text), file);) {
		if (!parse_line(text, &line) || !is_text(line.type))
			continue;
		has_symbols = true;
		has_address |= line.address != 0;
		left--;
	}
	(void)fclose(file);
	return has_symbols && !has_address;
}
