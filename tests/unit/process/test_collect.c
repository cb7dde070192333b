/* SPDX-License-Identifier: MIT */
#include "process/collect.h"

#include "kernel_event.h"

static void test_collect__puts_events_into_order_of_time(UNUSED_STATE)
{
	const struct made_process first = {40, 30, 0, 1, "first.exe", ""};
	const struct made_process second = {40, 30, 0, 2, "second.exe", ""};
	struct etw_process_collector *collector;
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	assert_int_equal(etw_process_collector_create(&collector), 0);
	/* As buffers of two processors lie in a file. */
	made_process(&made, ETW_OPCODE_START, &second);
	assert_int_equal(etw_process_collector_keep(collector, &made.record, 0, 300), 0);
	made_process(&made, ETW_OPCODE_START, &first);
	assert_int_equal(etw_process_collector_keep(collector, &made.record, 0, 100), 0);
	made_process(&made, ETW_OPCODE_END, &first);
	assert_int_equal(etw_process_collector_keep(collector, &made.record, 0, 200), 0);
	assert_int_equal(etw_process_collector_teach(collector, fixture.decoder, fixture.processes),
			 0);
	assert_string_equal(etw_processes_name(fixture.processes, 40, 150), "first.exe");
	assert_string_equal(etw_processes_name(fixture.processes, 40, 350), "second.exe");
	assert_int_equal(etw_process_collector_left_out(collector), 0);
	etw_process_collector_free(collector);
	fixture_done(&fixture);
}

static void test_collect__ignores_events_that_tell_nothing(UNUSED_STATE)
{
	struct etw_process_collector *collector;
	struct fixture fixture;
	struct made_event made;

	fixture_init(&fixture);
	assert_int_equal(etw_process_collector_create(&collector), 0);
	made_begin(&made, &etw_class_thread, ETW_OPCODE_SWITCH, 2);
	assert_int_equal(etw_process_collector_keep(collector, &made.record, 0, 1), 0);
	/* One that is cut is kept and tells nothing. */
	made_begin(&made, &etw_class_thread, ETW_OPCODE_START, 2);
	assert_int_equal(etw_process_collector_keep(collector, &made.record, 0, 1), 0);
	assert_int_equal(etw_process_collector_teach(collector, fixture.decoder, fixture.processes),
			 0);
	assert_int_equal(etw_processes_threads(fixture.processes), 0);
	etw_process_collector_free(collector);
	fixture_done(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect__puts_events_into_order_of_time),
		cmocka_unit_test(test_collect__ignores_events_that_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
