/* SPDX-License-Identifier: MIT */
/*
 * Which host is asked, and how often, when hosts leave, answers are lost and processes fork. The linker leads
 * the questions where hosts are to this file.
 */
#include <string.h>

#include <evntrace.h>
#include <winerror.h>

#include "api/control/hosts.h"
#include "control/instance.h"
#include "unit/control/fake_host.h"

#define FILES 64

static char system_directory[sizeof(directory)];
static struct wire_session_info info;

int __wrap_etw_runtime_directory(enum etw_instance instance, char *ret);
size_t __wrap_etw_control_start_order(bool is_kernel, enum etw_instance ret[2],
				      bool ret_may_start[2]);
size_t __wrap_etw_control_lookup_order(enum etw_instance ret[2]);

int __wrap_etw_runtime_directory(enum etw_instance instance, char *ret)
{
	const char *path = instance == ETW_INSTANCE_SYSTEM ? system_directory : directory;

	memcpy(ret, path, strlen(path) + 1);
	return 0;
}

/* As for a user in the group that may control the system's sessions. */
size_t __wrap_etw_control_start_order(bool is_kernel, enum etw_instance ret[2],
				      bool ret_may_start[2])
{
	ret[0] = ETW_INSTANCE_SYSTEM;
	ret[1] = ETW_INSTANCE_USER;
	ret_may_start[0] = false;
	ret_may_start[1] = true;
	return is_kernel ? 1 : 2;
}

size_t __wrap_etw_control_lookup_order(enum etw_instance ret[2])
{
	ret[0] = ETW_INSTANCE_USER;
	ret[1] = ETW_INSTANCE_SYSTEM;
	return 2;
}

static int start(bool is_kernel)
{
	static struct wire_session_config config;

	config = (struct wire_session_config){.name = "one", .buffer_kib = 64};
	if (is_kernel)
		config.log_file_mode = EVENT_TRACE_SYSTEM_LOGGER_MODE;
	return etw_hosts_start(&config, &info);
}

static int control(uint32_t code)
{
	static struct wire_control question;

	question = (struct wire_control){.handle = HANDLE, .code = code};
	return etw_hosts_control(&question, &info);
}

/* The places are made once: lines are kept from test to test, each with the place that it leads to. */
static int setup_places(void **state)
{
	if (setup(state) < 0)
		return -1;
	(void)snprintf(system_directory, sizeof(system_directory), "%s/s", directory);
	return mkdir(system_directory, 0700);
}

static int start_user_host(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	host_start();
	return 0;
}

static int stop_host(void **state)
{
	(void)state;
	host_stop();
	return 0;
}

/* A host in the system's place instead of the user's. */
static void move_to_system(void)
{
	char own[sizeof(directory)];

	host_stop();
	memcpy(own, directory, sizeof(own));
	memcpy(directory, system_directory, sizeof(directory));
	host_start();
	memcpy(directory, own, sizeof(own));
}

/* Another session may have the name by now. */
static void test_hosts__a_stop_by_name_is_not_sent_again(void **state)
{
	static struct wire_control question = {.code = WIRE_CONTROL_STOP, .name = "one"};

	(void)state;
	assert_int_equal(control(WIRE_CONTROL_QUERY), 0);
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(etw_hosts_control(&question, &info), -EPIPE);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 2);
	assert_int_equal(etw_hosts_control(&question, &info), 0);
}

static void test_hosts__a_stop_by_handle_is_sent_again(void **state)
{
	(void)state;
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control(WIRE_CONTROL_STOP), 0);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 2);
	/* What the host had done, but for the answer, is no session that was never there. */
	host.gone = HANDLE;
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control(WIRE_CONTROL_STOP), -EPIPE);
	assert_int_equal(control(WIRE_CONTROL_STOP), -ENOENT);
}

static void test_hosts__what_may_be_repeated_is_asked_twice_at_most(void **state)
{
	(void)state;
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control(WIRE_CONTROL_QUERY), 0);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 2);
	store_relaxed(&host.manner, HANG_UP);
	assert_int_equal(control(WIRE_CONTROL_QUERY), -EPIPE);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 4);
}

static void test_hosts__a_line_whose_host_left_leads_to_the_next_instance(void **state)
{
	(void)state;
	move_to_system();
	assert_int_equal(start(/* is_kernel= */ false), 0);
	host_stop();
	assert_int_equal(start(/* is_kernel= */ true), -EACCES);
	host_start(); /* the user's */
	assert_int_equal(start(/* is_kernel= */ false), 0);
	assert_int_equal(load_relaxed(&host.requests[WIRE_START]), 2);
	host_stop();
	assert_int_equal(control(WIRE_CONTROL_STOP), -ENOENT);
}

/* What a daemon's child does between fork and its first call. */
static int ask_behind_closed_files(void)
{
	struct stat file;
	int files[FILES];
	int result;

	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		(void)close(fd);
	for (unsigned i = 0; i < FILES; i++)
		files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	result = control(WIRE_CONTROL_QUERY);
	for (unsigned i = 0; i < FILES; i++) {
		if (fstat(files[i], &file) < 0 || !S_ISCHR(file.st_mode))
			return 1;
	}
	return result ? 2 : 0;
}

/* The kept line must not hold the parent's connection: the host would not see the parent end. */
static int ask_over_own_line(void)
{
	unsigned before = 0, after = 0;

	for (int fd = 0; fd < 1024; fd++)
		before += fcntl(fd, F_GETFD) >= 0;
	if (control(WIRE_CONTROL_QUERY))
		return 1;
	for (int fd = 0; fd < 1024; fd++)
		after += fcntl(fd, F_GETFD) >= 0;
	return before == after ? 0 : 2;
}

static void expect_good_child(int (*act)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)alarm(600);
		_exit(act());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_hosts__a_forked_child_has_lines_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(control(WIRE_CONTROL_QUERY), 0);
	expect_good_child(ask_over_own_line);
	assert_int_equal(load_relaxed(&host.connections), 2);
	expect_good_child(ask_behind_closed_files);
	assert_int_equal(load_relaxed(&host.connections), 3);
	assert_int_equal(control(WIRE_CONTROL_QUERY), 0);
	assert_int_equal(load_relaxed(&host.connections), 3);
}

static void test_hosts__query_all_counts_the_sessions_that_are_left(void **state)
{
	struct {
		EVENT_TRACE_PROPERTIES block;
		char names[4096];
	} room = {.block = {.Wnode = {.BufferSize = sizeof(room)},
			    .LoggerNameOffset = sizeof(room.block),
			    .LogFileNameOffset = sizeof(room.block) + 2048}};
	EVENT_TRACE_PROPERTIES *blocks[] = {&room.block};
	ULONG count = 0;

	(void)state;
	assert_int_equal(QueryAllTracesA(blocks, 1, &count), ERROR_MORE_DATA);
	assert_int_equal(count, 2);
	host.gone = HANDLE;
	assert_int_equal(QueryAllTracesA(blocks, 1, &count), ERROR_SUCCESS);
	assert_int_equal(count, 1);
}

static int count_parts(void *context, const struct etw_control_answer *part)
{
	(void)part;
	++*(unsigned *)context;
	return 0;
}

/* The host's list is a claim: a part that is not sound is given to nobody, and there is an end of parts. */
static void test_hosts__lists_of_a_host_that_lies(void **state)
{
	static const TRACE_PROVIDER_INSTANCE_INFO endless = {.NextOffset = 0};
	const struct etw_bytes bytes = {(const uint8_t *)&endless, sizeof(endless)};
	const GUID guid = {0};
	unsigned parts = 0;

	(void)state;
	host.enumerated = (struct wire_enumerated){.count = 1, .bytes = bytes};
	assert_int_equal(etw_hosts_enumerate(WIRE_ENUMERATE_INSTANCES, &guid, count_parts, &parts),
			 -EPROTO);
	assert_int_equal(parts, 0);
	assert_int_equal(etw_hosts_enumerate(WIRE_ENUMERATE_MEMBERS, &guid, count_parts, &parts),
			 0);
	assert_int_equal(parts, 1);
	host.enumerated = (struct wire_enumerated){.next = 1};
	assert_int_equal(etw_hosts_enumerate(WIRE_ENUMERATE_PROVIDERS, &guid, count_parts, &parts),
			 -EPROTO);
	assert_true(parts > 1);
}

/* A number has its size, and a list whole GUIDs, or it is not handed on. */
static void test_hosts__information_of_a_host_that_lies(void **state)
{
	static const uint8_t bytes[48];
	uint8_t room[48];
	ULONG count = 0;

	(void)state;
	for (size_t i = 0; i <= sizeof(bytes); i++) {
		host.information.bytes = (struct etw_bytes){bytes, i};
		assert_int_equal(
			TraceQueryInformation(HANDLE, TraceStreamCount, room, sizeof(room), &count),
			i == sizeof(ULONG) ? ERROR_SUCCESS : ERROR_INVALID_DATA);
		assert_int_equal(TraceQueryInformation(HANDLE, TraceDisallowListQuery, room,
						       sizeof(room), &count),
				 i % sizeof(GUID) ? ERROR_INVALID_DATA : ERROR_SUCCESS);
	}
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, start_user_host, stop_host)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_hosts__a_stop_by_name_is_not_sent_again),
		CASE(test_hosts__a_stop_by_handle_is_sent_again),
		CASE(test_hosts__what_may_be_repeated_is_asked_twice_at_most),
		CASE(test_hosts__a_line_whose_host_left_leads_to_the_next_instance),
		CASE(test_hosts__a_forked_child_has_lines_of_its_own),
		CASE(test_hosts__query_all_counts_the_sessions_that_are_left),
		CASE(test_hosts__lists_of_a_host_that_lies),
		CASE(test_hosts__information_of_a_host_that_lies),
	};

	return cmocka_run_group_tests(tests, setup_places, teardown);
}
