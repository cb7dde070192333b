/* SPDX-License-Identifier: MIT */
/* Which process an event is about, and when that needs decoding. */
#include "support.h"

#include "process/processes.h"

static void test_who__is_in_the_header(void **state)
{
	static const struct test_row rows[] = {
		{"pid = 10", true},           {"tid = 20", true},     {"has tid", true},
		{"pid in (1..9, 11)", false}, {"has process", false}, {"process != x", false},
		{"not process = x", true}};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	assert_int_equal(event.decodings, 0);
	test_end(&event);
}

static void test_who__has_a_name(void **state)
{
	static const struct test_row rows[] = {{"process = system", true},
					       {"process exactly = system", false},
					       {"process like 'sys*'", true},
					       {"process != x", true},
					       {"has process", true}};
	struct etw_processes *processes;
	struct test_event event;

	(void)state;
	assert_int_equal(etw_processes_create(&processes), 0);
	test_begin(&event, &test_schema);
	event.record->EventHeader.ProcessId = 4;
	event.subject.processes = processes;
	TEST_ROWS(&event, rows);
	assert_int_equal(event.decodings, 0);
	test_end(&event);
	etw_processes_free(processes);
}

/* Samples of the kernel: the header has no ids, the payload names the thread. */
static void test_who__is_in_the_payload_of_some_kinds(void **state)
{
	static const GUID perf_info = {
		0xCE1DBFB4, 0x137E, 0x4DA6, {0x87, 0xB0, 0x3F, 0x59, 0xAA, 0x10, 0x2C, 0xBC}};
	static const struct test_row rows[] = {{"pid = 10", false},
					       {"has pid", false},
					       {"not has tid", true},
					       {"header_pid = 10", false}};
	struct test_event event;

	(void)state;
	test_begin(&event, NULL);
	event.record->EventHeader.ProviderId = perf_info;
	event.record->EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
	event.record->EventHeader.EventDescriptor.Opcode = 46;
	event.record->EventHeader.ProcessId = UINT32_MAX;
	event.record->EventHeader.ThreadId = UINT32_MAX;
	TEST_ROWS(&event, rows);
	assert_int_not_equal(event.decodings, 0);
	test_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who__is_in_the_header),
		cmocka_unit_test(test_who__has_a_name),
		cmocka_unit_test(test_who__is_in_the_payload_of_some_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
