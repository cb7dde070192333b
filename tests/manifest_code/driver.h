/* SPDX-License-Identifier: MIT */
/*
 * What generated drivers share: they write events whose arguments they take from a file of values. It is
 * compiled as C and as C++, with what users have: the public headers.
 */
#ifndef ETW_TESTS_MANIFEST_CODE_DRIVER_H
#define ETW_TESTS_MANIFEST_CODE_DRIVER_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* usleep() */
#endif

#include <evntprov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <winerror.h>

#define DRIVER_NULL  0xffffffffffffffffull
#define DRIVER_WAITS 600000 /* of a millisecond */

#define DRIVER_FUNCTION static __attribute__((__unused__))

/* Which macro of an event is used. */
enum {
	DRIVER_PLAIN,
	DRIVER_ASSUMED,
	DRIVER_CONTEXT,
	DRIVER_CONTEXT_ASSUMED
};

static unsigned char *driver_values, *driver_end;
static GUID driver_activity;
static unsigned driver_events, driver_callouts;

DRIVER_FUNCTION void driver_fail(const char *what, unsigned long number)
{
	(void)fprintf(stderr, "FAILED: %s: %lu\n", what, number);
	exit(1);
}

DRIVER_FUNCTION void driver_open(const char *path)
{
	FILE *file = fopen(path, "rb");
	long bytes = 0;

	if (!file || fseek(file, 0, SEEK_END) || (bytes = ftell(file)) < 0)
		driver_fail("the file of values", 0);
	driver_values = (unsigned char *)malloc((size_t)bytes + 8);
	if (!driver_values)
		driver_fail("memory", (unsigned long)bytes);
	rewind(file);
	if (fread(driver_values, 1, (size_t)bytes, file) != (size_t)bytes)
		driver_fail("reading values", (unsigned long)bytes);
	driver_end = driver_values + bytes;
	(void)fclose(file);
}

DRIVER_FUNCTION ULONGLONG driver_number(void)
{
	ULONGLONG number;

	memcpy(&number, driver_values, sizeof(number));
	driver_values += sizeof(number);
	return number;
}

DRIVER_FUNCTION const void *driver_take(void)
{
	ULONGLONG bytes = driver_number();
	const void *at = driver_values;

	if (bytes == DRIVER_NULL)
		return NULL;
	driver_values += (bytes + 7) & ~7ull;
	return at;
}

DRIVER_FUNCTION ULONG driver_length(void)
{
	return (ULONG)driver_number();
}

DRIVER_FUNCTION void driver_written(ULONG error)
{
	if (error != ERROR_SUCCESS)
		driver_fail("an event was not written", error);
}

DRIVER_FUNCTION void driver_registered(ULONG error)
{
	if (error != ERROR_SUCCESS)
		driver_fail("a provider was not registered", error);
}

DRIVER_FUNCTION void driver_await(const ULONG *is_enabled)
{
	for (int i = 0; i < DRIVER_WAITS; i++) {
		if (__atomic_load_n(is_enabled, __ATOMIC_RELAXED))
			return;
		(void)usleep(1000);
	}
	driver_fail("a provider is not enabled", 0);
}

/*
 * driver_run() - writes all events of the file. Each is known by its activity, which is the thread's, or an
 * argument where the macros take one.
 */
DRIVER_FUNCTION void driver_run(void (*const *writers)(unsigned form), int has_activity)
{
	static GUID none;

	for (ULONG i = 1; driver_values < driver_end; i++) {
		ULONGLONG event = driver_number();
		unsigned form = (unsigned)driver_number();
		int is_argument = has_activity && (form == DRIVER_PLAIN || form == DRIVER_CONTEXT);
		GUID activity;

		memset(&driver_activity, 0, sizeof(driver_activity));
		driver_activity.Data1 = i;
		activity = is_argument ? none : driver_activity;
		(void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &activity);
		writers[event](form);
		driver_events++;
	}
}

DRIVER_FUNCTION void driver_count(int has_callout)
{
	if (driver_callouts != (has_callout ? driver_events : 0))
		driver_fail("callouts", driver_callouts);
}

DRIVER_FUNCTION void driver_callout(REGHANDLE handle, const EVENT_DESCRIPTOR *descriptor,
				    ULONG count, const EVENT_DATA_DESCRIPTOR *data)
{
	if (!handle || !descriptor || !count || !data)
		driver_fail("a callout without arguments", count);
	driver_callouts++;
}

#endif
