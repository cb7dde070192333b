/* SPDX-License-Identifier: MIT */
#include "tools/common/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES_MAX 128

void etw_program_error(const char *format, ...)
{
	va_list arguments;

	(void)fflush(stdout);
	(void)fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;

	return smaller < c ? smaller : c;
}

static bool is_same_letter(char left, char right)
{
	return tolower((unsigned char)left) == tolower((unsigned char)right);
}

/* Letters to insert, drop or replace; both words at most WORD_BYTES_MAX long. */
static unsigned count_errors(const char *left, const char *right)
{
	size_t right_bytes = strlen(right);
	unsigned row[WORD_BYTES_MAX + 1];

	for (unsigned i = 0; i <= right_bytes; i++)
		row[i] = i;
	for (; *left; left++) {
		unsigned diagonal = row[0]++;

		for (size_t j = 1; j <= right_bytes; j++) {
			unsigned above = row[j];
			unsigned replaced = diagonal + !is_same_letter(*left, right[j - 1]);

			row[j] = least(above + 1, row[j - 1] + 1, replaced);
			diagonal = above;
		}
	}
	return row[right_bytes];
}

const char *etw_program_nearest(const char *typed, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	unsigned fewest = 3;

	if (strlen(typed) > WORD_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!words[i] || strlen(words[i]) > WORD_BYTES_MAX)
			continue;

		unsigned errors = count_errors(typed, words[i]);

		if (errors < fewest && errors < strlen(words[i])) {
			fewest = errors;
			nearest = words[i];
		}
	}
	return nearest;
}
