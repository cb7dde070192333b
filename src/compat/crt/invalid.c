/* SPDX-License-Identifier: MIT */
#include "compat/crt/invalid.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic(_invalid_parameter_handler) process_handler;
static _Thread_local _invalid_parameter_handler thread_handler;

_invalid_parameter_handler _set_invalid_parameter_handler(_invalid_parameter_handler handler)
{
	return atomic_exchange(&process_handler, handler);
}

_invalid_parameter_handler _get_invalid_parameter_handler(void)
{
	return atomic_load(&process_handler);
}

_invalid_parameter_handler _set_thread_local_invalid_parameter_handler(
	_invalid_parameter_handler handler)
{
	_invalid_parameter_handler old = thread_handler;

	thread_handler = handler;
	return old;
}

_invalid_parameter_handler _get_thread_local_invalid_parameter_handler(void)
{
	return thread_handler;
}

static void say(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

	(void)ignored;
}

int etw_invalid_parameter(int error, const char *function)
{
	_invalid_parameter_handler handler = thread_handler ? thread_handler
							    : atomic_load(&process_handler);

	if (!handler) {
		(void)fflush(stdout);
		say(function);
		say("(): invalid parameter; the program ends, as it has set no handler for that "
		    "with _set_invalid_parameter_handler()\n");
		abort();
	}
	handler(NULL, NULL, NULL, 0, 0);
	errno = error;
	return error;
}
