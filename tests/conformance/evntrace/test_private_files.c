/* SPDX-License-Identifier: MIT */
/*
 * The files of private sessions: their modes, and what happens when one is full.
 * Sources: as in private_session.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/private_session.h"

static off_t size_of(const char *name)
{
	struct stat status;

	return stat(private_path_of(name), &status) ? -1 : status.st_size;
}

static void write_many(REGHANDLE provider, uint32_t count, uint32_t *ret_lost)
{
	static const char text[1000] = "text";
	EVENT_DATA_DESCRIPTOR data[2];

	for (uint32_t i = 0; i < count; i++) {
		ULONG error;

		EventDataDescCreate(&data[0], &i, sizeof(i));
		EventDataDescCreate(&data[1], text, sizeof(text));
		error = EventWrite(provider, &private_event, 2, data);
		assert_true(error == ERROR_SUCCESS || error == ERROR_NOT_ENOUGH_MEMORY);
		*ret_lost += error != ERROR_SUCCESS;
	}
}

/* [MSD] a circular file keeps its size, and the newest events. */
static void private__circular(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = private_start("circular", EVENT_TRACE_FILE_MODE_CIRCULAR,
					   "circular.etl");
	uint32_t lost = 0;
	struct private_block block;

	(void)state;
	private_enable(handle, &private_provider_guid);
	write_many(provider, 3000, &lost);
	assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_STOP, &block), ERROR_SUCCESS);
	assert_int_equal(block.properties.EventsLost, lost);
	assert_true(size_of("circular.etl") <= 1024 * 1024);
	assert_in_range(private_read_file("circular.etl").count, 1, 1100);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a series of files. */
static void private__series(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = private_start("series", EVENT_TRACE_FILE_MODE_NEWFILE,
					   "series-%d.etl");
	uint32_t lost = 0, found = 0;
	char name[64];

	(void)state;
	private_enable(handle, &private_provider_guid);
	write_many(provider, 3000, &lost);
	private_stop(handle);
	for (int i = 1;; i++) {
		(void)snprintf(name, sizeof(name), "series-%d.etl", i);
		if (size_of(name) < 0)
			break;
		found += private_read_file(name).count;
	}
	assert_true(size_of("series-2.etl") > 0);
	assert_int_equal(found + lost, 3000);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a sequential file stops at its greatest size, and the session with it. */
static void private__full(void **state)
{
	struct private_told told = {0};
	REGHANDLE provider = private_register_with(&told);
	TRACEHANDLE handle = 0;
	struct private_block block;
	uint32_t lost = 0;

	(void)state;
	private_init_block(&block, PRIVATE_IN_PROC | EVENT_TRACE_FILE_MODE_SEQUENTIAL, "full.etl");
	block.properties.MaximumFileSize = 1;
	assert_int_equal(StartTraceA(&handle, "full", &block.properties), ERROR_SUCCESS);
	private_enable(handle, &private_provider_guid);
	write_many(provider, 3000, &lost);
	while (EventProviderEnabled(provider, PRIVATE_LEVEL, 0x10))
		(void)usleep(1000);
	while (private_control(handle, EVENT_TRACE_CONTROL_QUERY, &block) == ERROR_SUCCESS)
		(void)usleep(1000);
	assert_true(size_of("full.etl") <= 1024 * 1024);
	while (((volatile struct private_told *)&told)->code != EVENT_CONTROL_CODE_DISABLE_PROVIDER)
		(void)usleep(1000);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [MSD] a session that keeps its buffers in memory until a flush names a file. */
static void private__buffering(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = 0;
	struct private_block block;

	(void)state;
	private_init_block(&block, PRIVATE_IN_PROC | EVENT_TRACE_BUFFERING_MODE, NULL);
	block.properties.LogFileNameOffset = 0;
	assert_int_equal(StartTraceA(&handle, "memory", &block.properties), ERROR_SUCCESS);
	private_enable(handle, &private_provider_guid);
	private_write_number(provider, 9);
	private_init_block(&block, 0, "memory.etl");
	assert_int_equal(ControlTraceA(handle, NULL, &block.properties, EVENT_TRACE_CONTROL_FLUSH),
			 ERROR_SUCCESS);
	private_stop(handle);
	assert_int_equal(private_read_file("memory.etl").sum, 9);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(private__circular),
		cmocka_unit_test(private__series),
		cmocka_unit_test(private__full),
		cmocka_unit_test(private__buffering),
	};

	return cmocka_run_group_tests(tests, private_make_folder, private_remove_folder);
}
