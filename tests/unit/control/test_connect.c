/* SPDX-License-Identifier: MIT */
/* Getting a connection, from a made-up host. Hosts that are started: test_host_start.c. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/connect.h"
#include "ipc/runtime.h"
#include "unit/control/fake_host.h"

#define PATIENCE_MS 300

static struct etw_ipc_message message;

/* As a controller asks, whose host may say nothing for @patience_ms. */
static int connect_to(bool may_start, uint32_t patience_ms, int *ret_socket,
		      uint64_t *ret_incarnation)
{
	const struct etw_control_waiting waiting = {.wake_fd = -1, .patience_ms = patience_ms};
	struct etw_control_wait wait;

	etw_ipc_message_init(&message);
	etw_control_wait_begin(&wait, &waiting, directory);
	return etw_control_connect(&wait, may_start, &message, ret_socket, ret_incarnation);
}

static int fail_to_connect(bool may_start, uint32_t patience_ms)
{
	uint64_t incarnation = 77;
	int fd = -7;
	int r = connect_to(may_start, patience_ms, &fd, &incarnation);

	assert_int_equal(fd, -7);
	assert_int_equal(incarnation, 77);
	return r;
}

static void test_connect__says_hello_and_hears_who_it_is(void **state)
{
	uint64_t incarnation = 77;
	int fd = -1;

	(void)state;
	assert_int_equal(connect_to(false, 0, &fd, &incarnation), 0);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(incarnation, 0); /* what the made-up one says */
	assert_int_equal(load_relaxed(&host.hellos), 1);
	/* The clock page that came along is nobody's. */
	for (unsigned i = 0; i < WIRE_MESSAGE_FDS_MAX; i++)
		assert_int_equal(message.fds[i], -1);
	(void)close(fd);
}

static void test_connect__without_a_host(void **state)
{
	int listener;

	(void)state;
	assert_int_equal(fail_to_connect(false, 0), -ENOENT);
	/* A socket that a host has left behind. */
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	(void)close(listener);
	assert_int_equal(fail_to_connect(false, 0), -ECONNREFUSED);
}

static void test_connect__starts_a_host_where_it_may(void **state)
{
	(void)state;
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(fail_to_connect(true, 0), -ENOEXEC);
	/* It runs, and says nothing of a start. Its limit is that of every wait. */
	(void)setenv("ETW_ETWD", "/bin/true", 1);
	assert_int_equal(fail_to_connect(true, PATIENCE_MS), -ETIMEDOUT);
}

static void test_connect__starts_none_beside_one_that_is_there(void **state)
{
	int listener = -1;

	(void)state;
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	/* It listens, and does not accept. */
	assert_int_equal(fail_to_connect(true, PATIENCE_MS), -ETIMEDOUT);
	(void)close(listener);
}

struct hanging_up {
	int listener;
	uint32_t accepted; /* atomic */
	uint32_t is_over;  /* atomic */
};

static void *hang_up_on_all(void *context)
{
	struct hanging_up *hanging_up = context;
	struct pollfd polled = {.fd = hanging_up->listener, .events = POLLIN};
	int fd;

	while (!load_relaxed(&hanging_up->is_over)) {
		if (poll(&polled, 1, 10) <= 0 || etw_ipc_accept(hanging_up->listener, &fd) < 0)
			continue;
		(void)add_relaxed(&hanging_up->accepted, 1U);
		(void)close(fd);
	}
	return NULL;
}

/* A host that ends hangs up, and another one may be there a moment later: it is tried again, and not for ever. */
static void test_connect__a_host_that_hangs_up_again_and_again(void **state)
{
	struct hanging_up hanging_up = {0};
	pthread_t thread;

	(void)state;
	assert_int_equal(etw_runtime_listen(directory, &hanging_up.listener), 0);
	assert_int_equal(pthread_create(&thread, NULL, hang_up_on_all, &hanging_up), 0);
	assert_int_equal(fail_to_connect(false, 0), -ECONNRESET);
	store_relaxed(&hanging_up.is_over, 1U);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(hanging_up.accepted > 1);
	(void)close(hanging_up.listener);
}

/*
 * An etwd that says that a host is there, though none is any more: what a controller meets when a host leaves in the
 * very moment that it comes. It notes each start as a line of the file `starts`.
 */
static void name_leaving_program(void)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/etwd", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fprintf(file,
			    "#!/bin/sh\nprintf '\\001\\000\\000\\000\\000\\000\\000\\000' "
			    ">&4\necho x >>'%s/starts'\n",
			    directory) > 0);
	assert_int_equal(fchmod(fileno(file), 0700), 0);
	assert_int_equal(fclose(file), 0);
	(void)setenv("ETW_ETWD", path, 1);
}

static unsigned count_starts(void)
{
	char path[128];
	unsigned count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/starts", directory);
	file = fopen(path, "r");
	if (!file)
		return 0;
	for (int c = fgetc(file); c != EOF; c = fgetc(file))
		count += c == '\n';
	(void)fclose(file);
	return count;
}

/* Each one is followed by the next at once, and not for ever; nothing waits for the patience. */
static void test_connect__hosts_that_leave_again_and_again(void **state)
{
	(void)state;
	name_leaving_program();
	assert_int_equal(fail_to_connect(true, 0), -ECONNRESET);
	assert_true(count_starts() > 1);
}

static void *be_there_after_the_second(void *context)
{
	(void)context;
	while (count_starts() < 2)
		(void)usleep(1000);
	host_start();
	return NULL;
}

/* The second or a later one stays. */
static void test_connect__a_host_that_leaves_is_followed(void **state)
{
	uint64_t incarnation = 77;
	pthread_t thread;
	int fd = -1, r;

	(void)state;
	name_leaving_program();
	assert_int_equal(pthread_create(&thread, NULL, be_there_after_the_second, NULL), 0);
	/* A machine that is busy may start twenty before the thread has its turn. */
	do
		r = connect_to(true, 0, &fd, &incarnation);
	while (r == -ECONNRESET);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r, 0);
	assert_int_equal(load_relaxed(&host.hellos), 1);
	(void)close(fd);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_connect__says_hello_and_hears_who_it_is,
						setup_host, teardown),
		CASE(test_connect__without_a_host),
		CASE(test_connect__starts_a_host_where_it_may),
		CASE(test_connect__starts_none_beside_one_that_is_there),
		CASE(test_connect__a_host_that_hangs_up_again_and_again),
		CASE(test_connect__hosts_that_leave_again_and_again),
		CASE(test_connect__a_host_that_leaves_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
