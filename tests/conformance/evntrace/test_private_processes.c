/* SPDX-License-Identifier: MIT */
/*
 * Private sessions and the process that they are in: when it forks, ends, is killed, or closes its descriptors.
 * Sources: as in private_session.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>

#include "conformance/evntrace/private_session.h"

/* [HERE] the file of a program that is killed has what was written to it. */
static void private__killed(void **state)
{
	pid_t child = fork();
	struct private_contents contents;
	int status = 0;

	(void)state;
	if (child == 0) {
		REGHANDLE provider = private_register(&private_provider_guid);
		TRACEHANDLE handle = private_start("killed", 0, "killed.etl");
		struct private_block block;

		private_enable(handle, &private_provider_guid);
		private_write_number(provider, 30);
		assert_int_equal(private_control(handle, EVENT_TRACE_CONTROL_FLUSH, &block),
				 ERROR_SUCCESS);
		private_write_number(provider, 31);
		(void)raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	contents = private_read_file("killed.etl");
	assert_int_equal(contents.sum, 30);
	/* Nobody holds the file any more. */
	private_stop(private_start("killed", 0, "killed.etl"));
}

static int child_status(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* [HERE] a child has none of its parent's sessions, can have its own, and leaves the parent's file alone. */
static void private__fork(void **state)
{
	REGHANDLE provider = private_register(&private_provider_guid);
	TRACEHANDLE handle = private_start("parent", 0, "parent.etl");
	struct private_contents contents;
	struct private_block block;
	pid_t child;

	(void)state;
	private_enable(handle, &private_provider_guid);
	private_write_number(provider, 1);
	child = fork();
	if (child == 0) {
		bool is_good = !EventProviderEnabled(provider, PRIVATE_LEVEL, 0x10);
		TRACEHANDLE own = 0;

		private_write_number(provider, 100);
		is_good &= private_control(handle, EVENT_TRACE_CONTROL_STOP, &block) ==
			   ERROR_WMI_INSTANCE_NOT_FOUND;
		own = private_start("parent", 0, "child.etl");
		private_enable(own, &private_provider_guid);
		private_write_number(provider, 200);
		exit(is_good ? 0 : 1); /* which ends the file */
	}
	assert_int_equal(child_status(child), 0);
	private_write_number(provider, 2);
	private_stop(handle);
	contents = private_read_file("parent.etl");
	assert_int_equal(contents.count, 2);
	assert_int_equal(contents.sum, 3);
	assert_int_equal(contents.events_lost, 0);
	contents = private_read_file("child.etl");
	assert_int_equal(contents.sum, 200);
	assert_int_equal(contents.process_id, child);
	assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

/* [HERE] the end of the program ends its sessions. */
static void private__exit(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		REGHANDLE provider = private_register(&private_provider_guid);
		TRACEHANDLE handle = private_start("exit", 0, "exit.etl");

		private_enable(handle, &private_provider_guid);
		private_write_number(provider, 77);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_int_equal(private_read_file("exit.etl").sum, 77);
}

/* [HERE] a program that closes all of its descriptors harms no session. */
static void private__closed_descriptors(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		REGHANDLE provider = private_register(&private_provider_guid);
		TRACEHANDLE handle = private_start("closed", 0, "closed.etl");

		private_enable(handle, &private_provider_guid);
		for (int i = 3; i < 1024; i++)
			(void)close(i);
		private_write_number(provider, 78);
		private_stop(handle);
		exit(0);
	}
	assert_int_equal(child_status(child), 0);
	assert_int_equal(private_read_file("closed.etl").sum, 78);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(private__killed),
		cmocka_unit_test(private__fork),
		cmocka_unit_test(private__exit),
		cmocka_unit_test(private__closed_descriptors),
	};

	return cmocka_run_group_tests(tests, private_make_folder, private_remove_folder);
}
