/* SPDX-License-Identifier: MIT */
#include "api/friendly/error.h"

#include <etw/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SENTENCE_BYTES 1024

static _Thread_local char sentence[SENTENCE_BYTES];

const char *libetw_error(void)
{
	return sentence;
}

int etw_friendly_fail(int error, const char *format, ...)
{
	char text[SENTENCE_BYTES];
	va_list arguments;

	/* The old sentence may be one of the arguments. */
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	memcpy(sentence, text, sizeof(sentence));
	return error;
}
