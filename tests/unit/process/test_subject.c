/* SPDX-License-Identifier: MIT */
#include "process/subject.h"

#include "kernel_event.h"

static const GUID tcp_ip = {
	0x9a280ac0, 0xc8e0, 0x11d1, {0x84, 0xe2, 0x00, 0xc0, 0x4f, 0xb9, 0x98, 0xa2}};

static void test_subject__is_the_header_s_of_most_events(UNUSED_STATE)
{
	static const GUID some = {0x12345678, 1, 2, {3}};
	struct made_event made;
	struct etw_decoding decoding = {.record = &made.record};

	made_begin(&made, &some, 1, 0);
	made.record.EventHeader.ProcessId = 10;
	made.record.EventHeader.ThreadId = 11;
	assert_false(etw_process_in_payload(&made.record));
	assert_int_equal(etw_process_ids_of(&decoding).pid, 10);
	assert_int_equal(etw_process_ids_of(&decoding).tid, 11);
}

static void test_subject__of_a_start_is_the_new_process(UNUSED_STATE)
{
	const struct made_process process = {40, 30, 0, 0xFFFF800000001000, "a.exe", "a"};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	made_process(&made, ETW_OPCODE_START, &process);
	made.record.EventHeader.ProcessId = 30;
	made.record.EventHeader.ThreadId = 31;

	const struct etw_decoding decoding = fixture_decode(&fixture, &made);

	assert_true(etw_process_in_payload(&made.record));
	assert_int_equal(etw_process_ids_of(&decoding).pid, 40);
	assert_int_equal(etw_process_ids_of(&decoding).tid, ETW_PROCESS_NONE);
	fixture_done(&fixture);
}

static void test_subject__of_its_own_end_keeps_the_thread(UNUSED_STATE)
{
	const struct made_process process = {40, 30, 0, 0xFFFF800000001000, "a.exe", "a"};
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	made_process(&made, ETW_OPCODE_END, &process);
	made.record.EventHeader.ProcessId = 40;
	made.record.EventHeader.ThreadId = 41;

	const struct etw_decoding decoding = fixture_decode(&fixture, &made);

	assert_int_equal(etw_process_ids_of(&decoding).pid, 40);
	assert_int_equal(etw_process_ids_of(&decoding).tid, 41);
	fixture_done(&fixture);
}

static void test_subject__of_a_switch_is_the_thread_that_comes(UNUSED_STATE)
{
	struct fixture fixture;
	struct made_event made;
	struct etw_process_ids ids;

	fixture_init(&fixture);
	made_begin(&made, &etw_class_thread, ETW_OPCODE_SWITCH, 2);
	made_number(&made, 77, 4);
	made_number(&made, 78, 4);
	made_number(&made, 0, 8);
	made_number(&made, 0, 8);

	const struct etw_decoding decoding = fixture_decode(&fixture, &made);

	ids = etw_process_ids_of(&decoding);
	assert_int_equal(ids.pid, ETW_PROCESS_NONE);
	assert_int_equal(ids.tid, 77);
	fixture_thread(&fixture, 5, ETW_OPCODE_DC_END, 70, 77, "");
	etw_processes_resolve(fixture.processes, &ids, 1);
	assert_int_equal(ids.pid, 70);
	fixture_done(&fixture);
}

static void test_subject__of_a_connection_is_its_owner(UNUSED_STATE)
{
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	/* TcpIp/Recv version 2 */
	made_begin(&made, &tcp_ip, 11, 2);
	made_number(&made, 1176, 4);
	made_number(&made, 100, 4);
	made_number(&made, 0, 8);
	made_number(&made, 0, 4);
	made_number(&made, 0, 4);
	made_number(&made, 0, 8);
	made.record.EventHeader.ProcessId = 4;
	made.record.EventHeader.ThreadId = 8;

	struct etw_decoding decoding;

	assert_int_equal(etw_decoder_run(fixture.decoder, &made.record, &decoding), 0);
	assert_int_equal(etw_process_ids_of(&decoding).pid, 1176);
	assert_int_equal(etw_process_ids_of(&decoding).tid, ETW_PROCESS_NONE);
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subject__is_the_header_s_of_most_events),
		cmocka_unit_test(test_subject__of_a_start_is_the_new_process),
		cmocka_unit_test(test_subject__of_its_own_end_keeps_the_thread),
		cmocka_unit_test(test_subject__of_a_switch_is_the_thread_that_comes),
		cmocka_unit_test(test_subject__of_a_connection_is_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
