/* SPDX-License-Identifier: MIT */
/* The narrow printf functions, and the names that fortified builds call them by. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "compat/crt/checked.h"
#include "compat/crt/format.h"

#define POSITIONAL (ETW_FORMAT_POSITIONAL | ETW_FORMAT_STRICT)

/* The function with variable arguments that calls the one with a list. */
#define FORWARD(result, last, call)   \
	do {                          \
		va_list list;         \
		va_start(list, last); \
		(result) = call;      \
		va_end(list);         \
	} while (0)

int vprintf(const char *format, va_list list)
{
	return etw_print_file(stdout, false, format, list, 0);
}

int printf(const char *format, ...)
{
	int result;

	FORWARD(result, format, vprintf(format, list));
	return result;
}

int vfprintf(FILE *file, const char *format, va_list list)
{
	return etw_print_file(file, false, format, list, 0);
}

int fprintf(FILE *file, const char *format, ...)
{
	int result;

	FORWARD(result, format, vfprintf(file, format, list));
	return result;
}

int vprintf_s(const char *format, va_list list)
{
	return etw_print_file(stdout, false, format, list, ETW_FORMAT_STRICT);
}

int printf_s(const char *format, ...)
{
	int result;

	FORWARD(result, format, vprintf_s(format, list));
	return result;
}

int vfprintf_s(FILE *file, const char *format, va_list list)
{
	return etw_print_file(file, false, format, list, ETW_FORMAT_STRICT);
}

int fprintf_s(FILE *file, const char *format, ...)
{
	int result;

	FORWARD(result, format, vfprintf_s(file, format, list));
	return result;
}

int _vprintf_p(const char *format, va_list list)
{
	return etw_print_file(stdout, false, format, list, POSITIONAL);
}

int _printf_p(const char *format, ...)
{
	int result;

	FORWARD(result, format, _vprintf_p(format, list));
	return result;
}

int _vfprintf_p(FILE *file, const char *format, va_list list)
{
	return etw_print_file(file, false, format, list, POSITIONAL);
}

int _fprintf_p(FILE *file, const char *format, ...)
{
	int result;

	FORWARD(result, format, _vfprintf_p(file, format, list));
	return result;
}

int vsprintf(char *buffer, const char *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_UNLIMITED, false, buffer, SIZE_MAX, format, list);
}

int sprintf(char *buffer, const char *format, ...)
{
	int result;

	FORWARD(result, format, vsprintf(buffer, format, list));
	return result;
}

int vsnprintf(char *buffer, size_t count, const char *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_C99, false, buffer, count, format, list);
}

int snprintf(char *buffer, size_t count, const char *format, ...)
{
	int result;

	FORWARD(result, format, vsnprintf(buffer, count, format, list));
	return result;
}

int _vsnprintf(char *buffer, size_t count, const char *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_OLD, false, buffer, count, format, list);
}

int _snprintf(char *buffer, size_t count, const char *format, ...)
{
	int result;

	FORWARD(result, format, _vsnprintf(buffer, count, format, list));
	return result;
}

int _vscprintf(const char *format, va_list list)
{
	return etw_print_buffer(ETW_RULE_COUNT, false, NULL, 0, format, list);
}

int _scprintf(const char *format, ...)
{
	int result;

	FORWARD(result, format, _vscprintf(format, list));
	return result;
}

int vsprintf_s(char *buffer, size_t size, const char *format, va_list list)
{
	return etw_print_secure(false, buffer, size, 0, false, format, list);
}

int sprintf_s(char *buffer, size_t size, const char *format, ...)
{
	int result;

	FORWARD(result, format, vsprintf_s(buffer, size, format, list));
	return result;
}

int _vsnprintf_s(char *buffer, size_t size, size_t count, const char *format, va_list list)
{
	return etw_print_secure(false, buffer, size, count, true, format, list);
}

int _snprintf_s(char *buffer, size_t size, size_t count, const char *format, ...)
{
	int result;

	FORWARD(result, format, _vsnprintf_s(buffer, size, count, format, list));
	return result;
}

int vsnprintf_s(char *buffer, size_t size, size_t count, const char *format, va_list list)
{
	return etw_print_secure(false, buffer, size, count, true, format, list);
}

int snprintf_s(char *buffer, size_t size, size_t count, const char *format, ...)
{
	int result;

	FORWARD(result, format, vsnprintf_s(buffer, size, count, format, list));
	return result;
}

int __vprintf_chk(int flag, const char *format, va_list list)
{
	(void)flag;
	return vprintf(format, list);
}

int __printf_chk(int flag, const char *format, ...)
{
	int result;

	FORWARD(result, format, __vprintf_chk(flag, format, list));
	return result;
}

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list list)
{
	(void)flag;
	return vfprintf(file, format, list);
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	int result;

	FORWARD(result, format, __vfprintf_chk(file, flag, format, list));
	return result;
}

int __vsprintf_chk(char *buffer, int flag, size_t room, const char *format, va_list list)
{
	int result;

	(void)flag;
	result = vsnprintf(buffer, room, format, list);
	if (result >= 0 && (size_t)result >= room)
		abort(); /* the buffer is smaller than the text */
	return result;
}

int __sprintf_chk(char *buffer, int flag, size_t room, const char *format, ...)
{
	int result;

	FORWARD(result, format, __vsprintf_chk(buffer, flag, room, format, list));
	return result;
}

int __vsnprintf_chk(char *buffer, size_t count, int flag, size_t room, const char *format,
		    va_list list)
{
	(void)flag;
	if (count > room)
		abort(); /* the buffer is smaller than the program says */
	return vsnprintf(buffer, count, format, list);
}

int __snprintf_chk(char *buffer, size_t count, int flag, size_t room, const char *format, ...)
{
	int result;

	FORWARD(result, format, __vsnprintf_chk(buffer, count, flag, room, format, list));
	return result;
}
