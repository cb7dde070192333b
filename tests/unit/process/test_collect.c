/* SPDX-License-Identifier: MIT */
#include "process/collect.h"

#include "told.h"

static void test_collect__puts_events_into_order_of_time(UNUSED_STATE)
{
	const struct told_process first = {40, 30, 0, 1, "first.exe", ""};
	const struct told_process second = {40, 30, 0, 2, "second.exe", ""};
	struct etw_process_collector *collector;
	struct listener listener;
	struct told told;

	listener_init(&listener);
	assert_int_equal(etw_process_collector_create(&collector), 0);
	/* As buffers of two processors lie in a file. */
	told_process(&told, ETW_OPCODE_START, &second);
	assert_int_equal(etw_process_collector_keep(collector, &told.record, 0, 300), 0);
	told_process(&told, ETW_OPCODE_START, &first);
	assert_int_equal(etw_process_collector_keep(collector, &told.record, 0, 100), 0);
	told_process(&told, ETW_OPCODE_END, &first);
	assert_int_equal(etw_process_collector_keep(collector, &told.record, 0, 200), 0);
	assert_int_equal(
		etw_process_collector_teach(collector, listener.decoder, listener.processes), 0);
	assert_string_equal(etw_processes_name(listener.processes, 40, 150), "first.exe");
	assert_string_equal(etw_processes_name(listener.processes, 40, 350), "second.exe");
	assert_int_equal(etw_process_collector_left_out(collector), 0);
	etw_process_collector_free(collector);
	listener_done(&listener);
}

static void test_collect__ignores_events_that_tell_nothing(UNUSED_STATE)
{
	struct etw_process_collector *collector;
	struct listener listener;
	struct told told;

	listener_init(&listener);
	assert_int_equal(etw_process_collector_create(&collector), 0);
	told_begin(&told, &etw_class_thread, ETW_OPCODE_SWITCH, 2);
	assert_int_equal(etw_process_collector_keep(collector, &told.record, 0, 1), 0);
	/* One that is cut is kept and tells nothing. */
	told_begin(&told, &etw_class_thread, ETW_OPCODE_START, 2);
	assert_int_equal(etw_process_collector_keep(collector, &told.record, 0, 1), 0);
	assert_int_equal(
		etw_process_collector_teach(collector, listener.decoder, listener.processes), 0);
	assert_int_equal(etw_processes_threads(listener.processes), 0);
	etw_process_collector_free(collector);
	listener_done(&listener);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect__puts_events_into_order_of_time),
		cmocka_unit_test(test_collect__ignores_events_that_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
