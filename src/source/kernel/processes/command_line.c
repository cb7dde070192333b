/* SPDX-License-Identifier: MIT */
/* Arguments as one line. See command_line.h. */
#include "source/kernel/processes/command_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf.h"

static bool needs_quotes(const char *at, size_t bytes)
{
	if (!bytes)
		return true;
	for (size_t i = 0; i < bytes; i++)
		if (strchr(" \t\n\v\"", at[i]))
			return true;
	return false;
}

static void append_valid(struct etw_text *text, const char *at, size_t bytes)
{
	const uint8_t *from = (const uint8_t *)at;

	while (bytes) {
		size_t used;

		if (etw_utf8_decode(from, bytes, &used) == UINT32_MAX)
			etw_text_puts(text, "\xEF\xBF\xBD");
		else
			etw_text_append(text, (const char *)from, used);
		from += used;
		bytes -= used;
	}
}

/* Backslashes count only before a quote: there each is doubled, and the quote gets one of its own. */
static void append_quoted(struct etw_text *text, const char *at, size_t bytes)
{
	size_t backslashes = 0, start = 0;

	etw_text_putc(text, '"');
	for (size_t i = 0; i <= bytes; i++) {
		if (i < bytes && at[i] == '\\') {
			backslashes++;
			continue;
		}
		if (i == bytes || at[i] == '"') {
			append_valid(text, at + start, i - start);
			for (size_t k = 0; k < backslashes; k++)
				etw_text_putc(text, '\\');
			if (i < bytes)
				etw_text_putc(text, '\\');
			start = i;
		}
		backslashes = 0;
	}
	etw_text_putc(text, '"');
}

/* The name ends at the next quote, or at the first blank when it does not begin with one. */
static void append_program(struct etw_text *text, const char *at, size_t bytes)
{
	bool is_quoted = !bytes || memchr(at, ' ', bytes) || memchr(at, '\t', bytes);

	if (is_quoted)
		etw_text_putc(text, '"');
	append_valid(text, at, bytes);
	if (is_quoted)
		etw_text_putc(text, '"');
}

void etw_kernel_command_line(struct etw_text *text, const char *arguments, size_t byte_count)
{
	bool is_first = true;

	while (byte_count) {
		size_t bytes = strnlen(arguments, byte_count);
		size_t whole = bytes < byte_count ? bytes + 1 : bytes;

		if (is_first)
			append_program(text, arguments, bytes);
		else
			etw_text_putc(text, ' ');
		if (!is_first && needs_quotes(arguments, bytes))
			append_quoted(text, arguments, bytes);
		else if (!is_first)
			append_valid(text, arguments, bytes);
		is_first = false;
		arguments += whole;
		byte_count -= whole;
	}
}
