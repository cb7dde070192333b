/* SPDX-License-Identifier: MIT */
/* Sessions that a host starts from files of configuration, without a process of its own. */
#include "unit/daemon/fixture.h"

#include <sys/stat.h>

#include "autologger/status.h"
#include "wire/well_known.h"

static char home[64], config_folder[96], status_folder[96];

static void put(const char *name, const char *more)
{
	static unsigned number;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", config_folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "Guid={%08x-2222-3333-4444-555555555555}\nLogFileMode=0x100\n%s", ++number,
		more);
	fclose(file);
	assert_int_equal(chmod(path, 0644), 0);
}

static int make_folders(void)
{
	snprintf(home, sizeof(home), "/tmp/etwd-autologger-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	snprintf(config_folder, sizeof(config_folder), "%s/conf", home);
	snprintf(status_folder, sizeof(status_folder), "%s/status", home);
	return mkdir(config_folder, 0755) || setenv("ETW_AUTOLOGGER_DIR", config_folder, 1) ||
	       setenv("ETW_AUTOLOGGER_STATE", status_folder, 1);
}

static int set_up(void **state)
{
	if (make_folders())
		return -1;
	put("runs", "Start=1\n[{00000007-1234-4567-0102-030405060708}]\nEnabled=1\nEnableLevel=2\n"
		    "[{00000008-1234-4567-0102-030405060708}]\nEnabled=0\n");
	put("held", "Start=1\nLogFileMode=0x140\n");
	put("off", "Start=0\n");
	return fixture_set_up(state);
}

static int tear_down(void **state)
{
	char command[96];

	fixture_tear_down(state);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command);
}

static bool is_running(void *context)
{
	const char *key = context;

	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = fixture_host->sessions.table[i];

		if (session && !strcmp(session->key, key))
			return session->state == ETWD_SESSION_RUNNING && session->autologger;
	}
	return false;
}

static uint64_t handle_of(const char *key)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		const struct etwd_session *session = fixture_host->sessions.table[i];

		if (session && !strcmp(session->key, key))
			return session->id;
	}
	return 0;
}

static void test_autologgers__enables_what_is_enabled(void **state)
{
	struct fake_peer *process = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	fixture_run_until(is_running, "RUNS");
	assert_int_equal(handle_of("OFF"), 0);
	assert_int_equal(fake_peer_register(process, 1, fixture_guid(8)), 0);
	assert_int_equal(fake_peer_register(process, 2, fixture_guid(7)), 0);
	fake_peer_take_enable(process, &enable, &sets);
	assert_int_equal(enable.registration, 2);
	assert_int_equal(enable.slots[0].level, 2);
	assert_int_equal(enable.slots[0].session_id, handle_of("RUNS"));
	fake_peer_leave(process);
}

/* As for a controller: nothing is noted, whether the session is refused or has the kernel's events by its flags. */
static void test_autologgers__the_kernels_guid_is_no_provider(void **state)
{
	const GUID kernel = WIRE_KERNEL_LOGGER_GUID;

	(void)state;
	fixture_run_until(is_running, "KERNEL");
	assert_null(etwd_providers_find(&fixture_host->providers, &kernel));
}

static int set_up_kernel(void **state)
{
	if (make_folders())
		return -1;
	put("kernel", "Start=1\n[{9e814aad-3204-11d2-9a82-006008a86939}]\nEnableLevel=2\n");
	return fixture_set_up(state);
}

static void test_autologgers__status_says_who_stopped_it(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct etw_autologger_status status;

	(void)state;
	fixture_run_until(is_running, "RUNS");
	fixture_run_until(is_running, "HELD");
	assert_int_equal(etw_autologger_status_read(status_folder, "runs", &status), 0);
	assert_int_equal(status.status, 0);
	assert_string_equal(status.stopped_in, "");
	assert_int_equal(fake_peer_control(controller, handle_of("RUNS"), WIRE_CONTROL_STOP), 0);
	assert_int_equal(etw_autologger_status_read(status_folder, "runs", &status), 0);
	assert_string_not_equal(status.stopped_in, "");
	assert_int_equal(fake_peer_control(controller, handle_of("HELD"), WIRE_CONTROL_STOP),
			 -EACCES);
	assert_int_equal(etw_autologger_status_read(status_folder, "held", &status), 0);
	assert_string_equal(status.stopped_in, "");
	fake_peer_leave(controller);
}

static bool is_stopping(void *context)
{
	return etwd_sessions_find(&fixture_host->sessions, *(uint64_t *)context)->state ==
	       ETWD_SESSION_STOPPING;
}

/* A stop that is asked for may fail yet, and then the session is to run in this boot as before. */
static void test_autologgers__a_stop_is_noted_when_it_has_succeeded(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct wire_message head = fake_peer_head(controller, WIRE_CONTROL);
	static struct wire_control control = {.code = WIRE_CONTROL_STOP};
	struct etw_autologger_status status;

	(void)state;
	fixture_run_until(is_running, "RUNS");
	control.handle = handle_of("RUNS");
	fake_peer_send(controller, wire_message_encode_control(&head, &control, controller->room));
	fixture_run_until(is_stopping, &control.handle);
	assert_int_equal(etw_autologger_status_read(status_folder, "runs", &status), 0);
	assert_string_equal(status.stopped_in, "");
	fake_peer_expect(controller, WIRE_SESSION);
	assert_int_equal(etw_autologger_status_read(status_folder, "runs", &status), 0);
	assert_string_not_equal(status.stopped_in, "");
	fake_peer_leave(controller);
}

static void test_autologgers__a_name_is_of_one_file(void **state)
{
	struct etw_autologger_status status;

	(void)state;
	fixture_run_until(is_running, "RUNS");
	assert_int_equal(etw_autologger_status_read(status_folder, "Runs", &status), 0);
	assert_int_equal(etw_autologger_status_read(status_folder, "runs", &status), 0);
	assert_int_equal(status.status, 183); /* ERROR_ALREADY_EXISTS */
	assert_string_equal(status.reason, "another session has this name");
	fixture_run_until(is_running, "HELD");
}

/* The first in the order of bytes has the name. */
static int set_up_two(void **state)
{
	if (make_folders())
		return -1;
	put("Runs", "Start=1\n");
	put("runs", "Start=1\n");
	put("held", "Start=1\n");
	return fixture_set_up(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_autologgers__enables_what_is_enabled, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_autologgers__status_says_who_stopped_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_autologgers__a_name_is_of_one_file, set_up_two,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_autologgers__a_stop_is_noted_when_it_has_succeeded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_autologgers__the_kernels_guid_is_no_provider,
						set_up_kernel, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
