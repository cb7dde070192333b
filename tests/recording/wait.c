/* SPDX-License-Identifier: MIT */
/* See wait.h. */
#include "recording/wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WAIT_STEP_US 1000

void fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "FAILED: ");
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	exit(1);
}

double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct wait wait_for(const char *what)
{
	return (struct wait){.what = what, .end = seconds() + WAIT_SECONDS};
}

void wait_on(const struct wait *wait)
{
	if (seconds() > wait->end)
		fail("%s within %d s", wait->what, WAIT_SECONDS);
	usleep(WAIT_STEP_US);
}
