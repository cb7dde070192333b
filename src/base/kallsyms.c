/* SPDX-License-Identifier: MIT */
/* The text of /proc/kallsyms. See kallsyms.h. */
#include "base/kallsyms.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"

#define FILE_BUFFER (256 << 10) /* the kernel looks for its place anew with each read */
#define DIGITS_MAX  16
#define PEEK_LINES  64

/* Returns how many digits there are; 0: none, or too many. */
static size_t parse_address(const char *text, uint64_t *ret)
{
	uint64_t address = 0;
	size_t digits = 0;
	int digit;

	while (digits <= DIGITS_MAX && (digit = etw_hex_digit(text[digits])) >= 0) {
		address = address << 4 | (uint64_t)digit;
		digits++;
	}
	*ret = address;
	return digits <= DIGITS_MAX ? digits : 0;
}

/* "[owner]" behind spaces or a tab; what is no such thing is nobody's. */
static void parse_owner(char *text, struct etw_kallsyms_line *line)
{
	char *start = text + strspn(text, " \t"), *end;

	if (start[0] != '[')
		return;
	start++;
	end = start + strcspn(start, "]\n");
	if (*end != ']' || end == start)
		return;
	*end = '\0';
	line->owner = start;
	line->owner_bytes = (size_t)(end - start);
}

bool etw_kallsyms_parse(char *text, struct etw_kallsyms_line *ret)
{
	struct etw_kallsyms_line line = {0};
	size_t digits = parse_address(text, &line.address);
	char *name, *end;

	if (!digits || text[digits] != ' ' || !isalpha((unsigned char)text[digits + 1]) ||
	    text[digits + 2] != ' ')
		return false;
	line.type = text[digits + 1];
	name = text + digits + 3;
	end = name + strcspn(name, " \t\n");
	line.name = name;
	line.name_bytes = (size_t)(end - name);
	if (!line.name_bytes || line.name_bytes >= ETW_KALLSYMS_NAME_BYTES)
		return false;
	parse_owner(end, &line);
	*end = '\0';
	if (line.owner_bytes >= ETW_KALLSYMS_OWNER_BYTES)
		return false;
	*ret = line;
	return true;
}

/* The rest of a line that is longer than any of the kernel's would look like another one. */
static bool is_whole(const char *text, FILE *file)
{
	int c;

	if (strchr(text, '\n') || feof(file))
		return true;
	do
		c = getc(file);
	while (c != EOF && c != '\n');
	return false;
}

int etw_kallsyms_read(const char *path, etw_kallsyms_take *take, void *context)
{
	FILE *file = fopen(path, "re");
	char text[ETW_KALLSYMS_LINE_BYTES];
	struct etw_kallsyms_line line;
	int r = 0;

	if (!file)
		return -errno;
	(void)setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
	while (!r && fgets(text, sizeof(text), file))
		if (is_whole(text, file) && etw_kallsyms_parse(text, &line))
			r = take(context, &line);
	if (!r && ferror(file))
		r = -EIO;
	(void)fclose(file);
	return r;
}

struct peek {
	int lines;
	bool has_address;
};

/* All are hidden, or none; absolute symbols at the front may be at 0 in either case. */
static int look(void *context, const struct etw_kallsyms_line *line)
{
	struct peek *peek = context;

	if (!etw_kallsyms_is_function(line))
		return 0;
	peek->has_address |= line->address != 0;
	return ++peek->lines == PEEK_LINES || peek->has_address ? ETW_END : 0;
}

int etw_kallsyms_shows_addresses(const char *path)
{
	struct peek peek = {0};

	TRY(etw_kallsyms_read(path, look, &peek));
	return peek.lines ? peek.has_address : -ENODATA;
}
