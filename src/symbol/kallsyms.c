/* SPDX-License-Identifier: MIT */
/* /proc/kallsyms. See kallsyms.h. */
#include "symbol/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"

#define LINES_MAX ((size_t)1 << 23)

static void closep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

int etw_symbol_kallsyms_line(const char *line, struct etw_symbol_entry *ret, size_t *ret_name_bytes,
			     size_t *ret_module_bytes)
{
	uint64_t address = 0;
	size_t digits = 0;
	char kind;
	int digit;

	while (digits < 17 && (digit = etw_hex_digit(line[digits])) >= 0) {
		address = address << 4 | (uint64_t)digit;
		digits++;
	}
	if (!digits || digits > 16 || line[digits] != ' ')
		return -EBADMSG;
	line += digits + 1;
	kind = line[0];
	if (!isalpha((unsigned char)kind) || line[1] != ' ')
		return -EBADMSG;
	line += 2;
	*ret_name_bytes = strcspn(line, "\t ");
	if (!*ret_name_bytes)
		return -EBADMSG;
	*ret = (struct etw_symbol_entry){.start = address, .name = line, .rank = ETW_SYMBOL_LOCAL};
	if (kind == 'T')
		ret->rank = ETW_SYMBOL_GLOBAL;
	else if (kind == 'W' || kind == 'w')
		ret->rank = ETW_SYMBOL_WEAK;
	line += *ret_name_bytes;
	line += strspn(line, "\t ");
	*ret_module_bytes = strcspn(line, "\t ");
	ret->module = *ret_module_bytes ? line : NULL;
	return strchr("tTwW", kind) != NULL;
}

int etw_symbol_kallsyms_read(const char *path, struct etw_symbol_strings *strings,
			     struct etw_symbol_table *table)
{
	CLEANUP(closep) FILE *file = fopen(path, "re");
	CLEANUP(freep) char *line = NULL;
	size_t room = 0, name_bytes, module_bytes, lines = 0;
	bool has_address = false, has_symbol = false;
	ssize_t got;

	if (!file)
		return -errno;
	while ((got = getline(&line, &room, file)) > 0 && lines++ < LINES_MAX) {
		struct etw_symbol_entry entry;
		int r;

		line[strcspn(line, "\n")] = '\0';
		r = etw_symbol_kallsyms_line(line, &entry, &name_bytes, &module_bytes);
		if (r < 0)
			return r;
		has_symbol = true;
		has_address |= entry.start != 0;
		/* Those of the processors' own areas are no addresses of code. */
		if (!r || !(entry.start >> 63))
			continue;
		if (entry.module) {
			entry.module = etw_symbol_strings_keep(strings, entry.module, module_bytes);
			if (!entry.module)
				return -ENOMEM;
		}
		TRY(etw_symbol_table_add(table, &entry, name_bytes));
	}
	if (!has_symbol)
		return -EBADMSG;
	return has_address ? 0 : -EACCES;
}
