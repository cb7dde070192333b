/* SPDX-License-Identifier: MIT */
/* The controller's connection, against a host that is made up: lost hosts, threads, forks, patience. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "unit/control/control_test.h"

static void test_controller__answers_for_nobody_are_dropped(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	store_relaxed(&host.manner, ANSWER_NUMBER_OF_NOBODY_FIRST);
	assert_int_equal(start_session(controller), 0);
	assert_int_equal(etw_control_list(controller, &sessions), 0);
}

static void test_controller__a_lost_answer_is_asked_for_once_more(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(etw_control_list(controller, &sessions), 0);
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(enable_provider(controller), 0);
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), 0);
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control_session(controller, WIRE_CONTROL_UPDATE), 0);
	store_relaxed(&host.hang_ups, 1);
	assert_int_equal(control_session(controller, WIRE_CONTROL_FLUSH), 0);
	assert_int_equal(load_relaxed(&host.requests[WIRE_LIST]), 2);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 6);
	assert_int_equal(load_relaxed(&host.connections), 6);
}

static void test_controller__once_more_is_not_for_ever(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	store_relaxed(&host.manner, HANG_UP);
	assert_int_equal(etw_control_list(controller, &sessions), -EPIPE);
	assert_int_equal(load_relaxed(&host.requests[WIRE_LIST]), 2);
}

static void test_controller__a_host_that_is_gone(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	host_stop();
	assert_int_equal(etw_control_list(controller, &sessions), -ECONNREFUSED);
	assert_int_equal(start_session(controller), -ECONNREFUSED);
	host_start();
	assert_int_equal(start_session(controller), 0);
}

static void test_controller__without_a_host(void **state)
{
	struct etw_controller *controller = NULL;
	struct wire_discovery_page *page;
	int listener;

	(void)state;
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, NULL, &controller), -ENOENT);
	assert_int_equal(etw_runtime_prepare(directory, &page), 0);
	etw_runtime_page_unmap(page);
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	(void)close(listener);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_SYSTEM, false, NULL, &controller),
			 -ENOENT);
	assert_null(controller);
	etw_controller_close(NULL);
}

struct asker {
	struct etw_controller *controller;
	pthread_t thread;
	int failures;
};

static void *ask_much(void *context)
{
	struct asker *asker = context;
	struct wire_sessions list;

	for (int i = 0; i < 200; i++)
		asker->failures += etw_control_list(asker->controller, &list) != 0 ||
				   list.count != 2 || enable_provider(asker->controller) != 0;
	return NULL;
}

static void test_controller__many_threads_over_one_connection(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();
	struct asker askers[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		askers[i] = (struct asker){.controller = controller};
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_much, &askers[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(askers); i++) {
		assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
		assert_int_equal(askers[i].failures, 0);
	}
	assert_int_equal(load_relaxed(&host.connections), 1);
	assert_int_equal(load_relaxed(&host.requests[WIRE_LIST]), 8 * 200);
}

static void *enable_one(void *context)
{
	struct asker *asker = context;

	asker->failures = enable_provider(asker->controller);
	return NULL;
}

/* A callback that controls sessions while another thread's enable waits for that callback. */
static void test_controller__an_answer_that_takes_long_holds_nobody(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();
	struct asker asker = {.controller = controller, .failures = 1};

	(void)state;
	store_relaxed(&host.manner, HOLD);
	assert_int_equal(pthread_create(&asker.thread, NULL, enable_one, &asker), 0);
	while (!load_relaxed(&host.held_count))
		(void)usleep(1000);
	assert_int_equal(start_session(controller), 0);
	assert_int_equal(pthread_join(asker.thread, NULL), 0);
	assert_int_equal(asker.failures, 0);
}

static void test_controller__a_lost_connection_ends_every_wait(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();
	struct asker asker = {.controller = controller};

	(void)state;
	store_relaxed(&host.manner, HOLD);
	assert_int_equal(pthread_create(&asker.thread, NULL, enable_one, &asker), 0);
	while (!load_relaxed(&host.held_count))
		(void)usleep(1000);
	host_stop();
	store_relaxed(&host.manner, ANSWER);
	assert_int_equal(pthread_join(asker.thread, NULL), 0);
	assert_int_equal(asker.failures, -ECONNREFUSED); /* it was to be asked once more */
}

static int in_child(int (*check)(struct etw_controller *controller),
		    struct etw_controller *controller)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		(void)alarm(600);
		_exit(check(controller) & 0xFF);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int use_twice(struct etw_controller *controller)
{
	if (etw_control_list(controller, &sessions) || start_session(controller))
		return 1;
	etw_controller_close(controller);
	return 0;
}

static int close_unused(struct etw_controller *controller)
{
	etw_controller_close(controller);
	return 0;
}

static void test_controller__a_child_of_fork_has_its_own_connection(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();

	(void)state;
	assert_int_equal(start_leased(controller, HANDLE), 0);
	assert_int_equal(in_child(use_twice, controller), 0);
	assert_int_equal(load_relaxed(&host.connections), 2);
	assert_int_equal(host.lease_count, 0); /* the lease is the parent's alone */
	assert_int_equal(in_child(close_unused, controller), 0);
	assert_int_equal(etw_control_list(controller, &sessions), 0);
	assert_int_equal(load_relaxed(&host.connections), 2);
}

static void test_controller__a_child_is_not_held_by_the_parents_lock(void **state)
{
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_controller();
	struct asker asker = {.controller = controller};

	(void)state;
	store_relaxed(&host.manner, HOLD); /* a thread reads for good: not in the child */
	assert_int_equal(pthread_create(&asker.thread, NULL, enable_one, &asker), 0);
	while (!load_relaxed(&host.held_count))
		(void)usleep(1000);
	store_relaxed(&host.manner, ANSWER);
	assert_int_equal(in_child(use_twice, controller), 0);
	host_stop();
	assert_int_equal(pthread_join(asker.thread, NULL), 0);
}

/* What the tests of waiting tell, and are told. */
static struct {
	unsigned told, asked;
	unsigned over_after; /* so many questions; 0: never */
	bool is_told_last;   /* ends when it was told */
} waited;

static bool is_over(void *context)
{
	(void)context;
	waited.asked++;
	return (waited.over_after && waited.asked >= waited.over_after) ||
	       (waited.is_told_last && waited.told);
}

static void tell(void *context, const char *host_directory)
{
	(void)context;
	assert_string_equal(host_directory, directory);
	waited.told++;
}

static struct etw_control_waiting waiting_of(uint32_t patience_ms)
{
	memset(&waited, 0, sizeof(waited));
	return (struct etw_control_waiting){
		.is_over = is_over, .wake_fd = -1, .tell = tell, .patience_ms = patience_ms};
}

static struct etw_controller *open_waiting(const struct etw_control_waiting *waiting)
{
	struct etw_controller *controller = NULL;

	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, waiting, &controller), 0);
	return controller;
}

/* A host that says nothing at all is given up, by every kind of call, and nothing is repeated behind it. */
static void test_controller__a_silent_host_is_etimedout(void **state)
{
	struct etw_control_waiting waiting = waiting_of(300);
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_waiting(&waiting);

	(void)state;
	store_relaxed(&host.manner, SILENT);
	assert_int_equal(start_session(controller), -ETIMEDOUT);
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), -ETIMEDOUT);
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), -ETIMEDOUT);
	assert_int_equal(enable_provider(controller), -ETIMEDOUT);
	assert_int_equal(etw_control_list(controller, &sessions), -ETIMEDOUT);
	assert_int_equal(load_relaxed(&host.connections), 1);
	assert_int_equal(load_relaxed(&host.requests[WIRE_CONTROL]), 2);
	/* It goes on when the host does: answers that nobody waits for are dropped. */
	store_relaxed(&host.manner, ANSWER);
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), 0);
}

/* One that does not even answer a connection: it listens, and nobody accepts. */
static void test_controller__a_host_that_does_not_accept_is_etimedout(void **state)
{
	struct etw_control_waiting waiting = waiting_of(300);
	struct etw_controller *controller = NULL;
	int listener = -1;

	(void)state;
	host_stop();
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, &waiting, &controller),
			 -ETIMEDOUT);
	/* Who may start a host does not start a second one beside it. */
	(void)setenv("ETW_ETWD", "/nonexistent/etwd", 1);
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, &waiting, &controller),
			 -ETIMEDOUT);
	assert_null(controller);
	(void)close(listener);
}

/* Work that takes long is waited for: the host answers something else in between. */
static void test_controller__a_host_that_works_is_waited_for(void **state)
{
	struct etw_control_waiting waiting = waiting_of(3000);
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_waiting(&waiting);

	(void)state;
	store_relaxed(&host.manner, LISTS_ONLY);
	/* So many looks are longer than the patience. */
	waited.over_after = 45;
	assert_int_equal(control_session(controller, WIRE_CONTROL_STOP), -ECANCELED);
	assert_true(load_relaxed(&host.requests[WIRE_LIST]) > 0);
	assert_int_equal(waited.told, 0);
}

/* Who waits is told once, and may stop waiting. */
static void test_controller__a_wait_is_told_and_can_be_ended(void **state)
{
	struct etw_control_waiting waiting = waiting_of(0);
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_waiting(&waiting);
	struct etw_controller *second = NULL;
	int listener = -1;

	(void)state;
	store_relaxed(&host.manner, SILENT);
	waited.is_told_last = true;
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), -ECANCELED);
	assert_int_equal(waited.told, 1);
	waiting = waiting_of(0);
	waited.over_after = 1;
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), -ECANCELED);
	assert_int_equal(waited.told, 0);
	host_stop();
	assert_int_equal(etw_runtime_listen(directory, &listener), 0);
	waiting = waiting_of(0);
	waited.is_told_last = true;
	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, false, &waiting, &second),
			 -ECANCELED);
	assert_int_equal(waited.told, 1);
	(void)close(listener);
}

/* A descriptor that becomes readable, as of a signal, ends the wait at once. */
static void test_controller__a_wake_up_is_seen_at_once(void **state)
{
	struct etw_control_waiting waiting = waiting_of(0);
	CLEANUP(etw_controller_closep) struct etw_controller *controller = open_waiting(&waiting);
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	store_relaxed(&host.manner, SILENT);
	waiting.wake_fd = ends[0];
	waited.over_after = 1;
	assert_int_equal(control_session(controller, WIRE_CONTROL_QUERY), -ECANCELED);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HOSTED_CASE(test_controller__answers_for_nobody_are_dropped),
		HOSTED_CASE(test_controller__a_lost_answer_is_asked_for_once_more),
		HOSTED_CASE(test_controller__once_more_is_not_for_ever),
		HOSTED_CASE(test_controller__a_host_that_is_gone),
		CASE(test_controller__without_a_host),
		HOSTED_CASE(test_controller__many_threads_over_one_connection),
		HOSTED_CASE(test_controller__an_answer_that_takes_long_holds_nobody),
		HOSTED_CASE(test_controller__a_lost_connection_ends_every_wait),
		HOSTED_CASE(test_controller__a_child_of_fork_has_its_own_connection),
		HOSTED_CASE(test_controller__a_child_is_not_held_by_the_parents_lock),
		HOSTED_CASE(test_controller__a_silent_host_is_etimedout),
		HOSTED_CASE(test_controller__a_host_that_does_not_accept_is_etimedout),
		HOSTED_CASE(test_controller__a_host_that_works_is_waited_for),
		HOSTED_CASE(test_controller__a_wait_is_told_and_can_be_ended),
		HOSTED_CASE(test_controller__a_wake_up_is_seen_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
