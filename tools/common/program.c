/* SPDX-License-Identifier: MIT */
#include "tools/common/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text.h"
#include "export/export.h"

#define WORD_BYTES_MAX 128

void etw_program_begin(void)
{
	/* The wrong way round, so that reading and writing them fails as it does without. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null",
				   (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	}
}

int etw_program_end(int status)
{
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE && status == ETW_EXIT_OK) {
		etw_program_message("cannot write standard output: %s", strerror(errno));
		return ETW_EXIT_FAILED;
	}
	return status;
}

/* Line by line: a message may have several, but what is in them is often a name out of a file. */
static void put_message(const char *message, struct etw_text *text)
{
	const char *end;

	for (const char *at = message;; at = end + 1) {
		size_t from = text->bytes;

		end = strchrnul(at, '\n');
		etw_text_append(text, at, (size_t)(end - at));
		(void)etw_export_clean(text, from);
		etw_text_putc(text, '\n');
		if (!*end)
			return;
	}
}

void etw_program_message(const char *format, ...)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	CLEANUP(freep) char *message = NULL;
	va_list arguments;

	(void)fflush(stdout);
	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) < 0)
		message = NULL;
	va_end(arguments);
	etw_text_printf(&text, "%s: ", program_invocation_short_name);
	put_message(message ? message : "out of memory", &text);
	(void)fputs(text.error ? "out of memory\n" : etw_text_string(&text), stderr);
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
