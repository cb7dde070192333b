/* SPDX-License-Identifier: MIT */
/* The kernel's functions in a table of symbols. See kallsyms.h. */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/kallsyms.h"
#include "base/macros.h"

struct reading {
	struct etw_symbol_strings *strings;
	struct etw_symbol_table *table;
	bool has_address, has_symbol;
};

static enum etw_symbol_rank rank_of(const struct etw_kallsyms_line *line)
{
	if (line->type == 'T')
		return ETW_SYMBOL_GLOBAL;
	return line->type == 't' ? ETW_SYMBOL_LOCAL : ETW_SYMBOL_WEAK;
}

/* As the kernel's images have it: "[ext4]". */
static const char *keep_module(struct etw_symbol_strings *strings, const char *owner)
{
	char name[ETW_KALLSYMS_OWNER_BYTES + 2];
	int bytes = snprintf(name, sizeof(name), "[%s]", owner);

	return etw_symbol_strings_keep(strings, name, (size_t)bytes);
}

static int take_line(void *context, const struct etw_kallsyms_line *line)
{
	struct reading *reading = context;
	struct etw_symbol_entry entry = {.start = line->address, .name = line->name};

	reading->has_symbol = true;
	reading->has_address |= line->address != 0;
	/* Those of the processors' own areas are no addresses of code. */
	if (!etw_kallsyms_is_function(line) || !(line->address >> 63))
		return 0;
	entry.rank = rank_of(line);
	if (line->owner) {
		entry.module = keep_module(reading->strings, line->owner);
		if (!entry.module)
			return -ENOMEM;
	}
	return etw_symbol_table_add(reading->table, &entry, line->name_bytes);
}

int etw_symbol_kallsyms_read(const char *path, struct etw_symbol_strings *strings,
			     struct etw_symbol_table *table)
{
	struct reading reading = {.strings = strings, .table = table};

	TRY(etw_kallsyms_read(path, take_line, &reading));
	if (!reading.has_symbol)
		return -EBADMSG;
	return reading.has_address ? 0 : -EACCES;
}
