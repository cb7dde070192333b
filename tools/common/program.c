/* SPDX-License-Identifier: MIT */
#include "tools/common/program.h"

#include <stdarg.h>
#include <stdio.h>

void etw_program_error(const char *format, ...)
{
	va_list arguments;

	(void)fputs("etw: ", stderr);
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
}
