/* SPDX-License-Identifier: MIT */
/* The command line in one piece, as Windows has it, and split again by Windows' rules. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <shellapi.h>

#include "base/text.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *line_narrow;
static WCHAR *line_wide;

/* An argument as the rules of CommandLineToArgvW() read it back: quotes where there are blanks, and backslashes doubled before quotes. */
static void put_argument(struct etw_text *line, const char *argument)
{
	const bool is_quoted = !*argument || argument[strcspn(argument, " \t\"")] != '\0';
	size_t backslashes = 0;

	if (is_quoted)
		etw_text_putc(line, '"');
	for (const char *at = argument; *at; at++) {
		if (*at == '"') {
			for (size_t i = 0; i <= backslashes; i++)
				etw_text_putc(line, '\\');
		}
		backslashes = *at == '\\' ? backslashes + 1 : 0;
		etw_text_putc(line, *at);
	}
	for (size_t i = 0; is_quoted && i < backslashes; i++)
		etw_text_putc(line, '\\');
	if (is_quoted)
		etw_text_putc(line, '"');
}

static void read_line(void)
{
	struct etw_text line;
	size_t bytes = 0;
	char *arguments = etw_proc_read("/proc/self/cmdline", &bytes);

	etw_text_init(&line);
	for (size_t at = 0; arguments && at < bytes; at += strlen(arguments + at) + 1) {
		if (at)
			etw_text_putc(&line, ' ');
		put_argument(&line, arguments + at);
	}
	free(arguments);
	line_narrow = strdup(etw_text_string(&line));
	line_wide = etw_widen(etw_text_string(&line));
	etw_text_done(&line);
}

LPSTR GetCommandLineA(void)
{
	(void)pthread_once(&once, read_line);
	return line_narrow;
}

LPWSTR GetCommandLineW(void)
{
	(void)pthread_once(&once, read_line);
	return line_wide;
}

static bool is_blank(WCHAR unit)
{
	return unit == ' ' || unit == '\t';
}

/* The first argument: a path, in which a backslash is one. Returns where the rest begins. */
static const WCHAR *copy_program(const WCHAR *at, WCHAR **to)
{
	if (*at == '"') {
		for (at++; *at && *at != '"'; at++)
			*(*to)++ = *at;
		if (*at)
			at++;
	} else {
		while (*at && !is_blank(*at))
			*(*to)++ = *at++;
	}
	*(*to)++ = 0;
	return at;
}

static const WCHAR *copy_argument(const WCHAR *at, WCHAR **to)
{
	bool is_quoted = false;

	while (*at && (is_quoted || !is_blank(*at))) {
		size_t backslashes = 0;

		while (*at == '\\') {
			backslashes++;
			at++;
		}
		for (size_t i = 0; i < (*at == '"' ? backslashes / 2 : backslashes); i++)
			*(*to)++ = '\\';
		if (*at == '"' && backslashes % 2) {
			*(*to)++ = *at++;
		} else if (*at == '"') {
			at++;
			/* A doubled quote within quotes is one, and ends them. */
			if (is_quoted && *at == '"')
				*(*to)++ = *at++;
			is_quoted = !is_quoted;
		} else if (*at && (is_quoted || !is_blank(*at))) {
			*(*to)++ = *at++;
		}
	}
	*(*to)++ = 0;
	return at;
}

static WCHAR **split(const WCHAR *line, int *ret_count)
{
	const size_t length = (size_t)lstrlenW(line), most = length / 2 + 3;
	WCHAR **arguments = LocalAlloc(LMEM_FIXED,
				       most * sizeof(WCHAR *) + (length + most) * sizeof(WCHAR));
	WCHAR *to;
	int count = 0;

	if (!arguments)
		return NULL;
	to = (WCHAR *)(arguments + most);
	arguments[count++] = to;
	line = copy_program(line, &to);
	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line)
			break;
		arguments[count++] = to;
		line = copy_argument(line, &to);
	}
	arguments[count] = NULL;
	*ret_count = count;
	return arguments;
}

/* What an empty line stands for: the program's path, as it is, blanks and all. */
static WCHAR **split_nothing(int *ret_count)
{
	char *path = etw_process_path(getpid());
	WCHAR *wide = etw_widen(path);
	const size_t bytes = ((size_t)lstrlenW(wide) + 1) * sizeof(WCHAR);
	WCHAR **arguments = wide ? LocalAlloc(LMEM_FIXED, 2 * sizeof(WCHAR *) + bytes) : NULL;

	if (arguments) {
		arguments[0] = (WCHAR *)(arguments + 2);
		arguments[1] = NULL;
		memcpy(arguments[0], wide, bytes);
		*ret_count = 1;
	}
	free(path);
	free(wide);
	return arguments;
}

LPWSTR *CommandLineToArgvW(LPCWSTR lpCmdLine, int *pNumArgs)
{
	if (!lpCmdLine || !pNumArgs)
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	return *lpCmdLine ? split(lpCmdLine, pNumArgs) : split_nothing(pNumArgs);
}
