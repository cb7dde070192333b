/* SPDX-License-Identifier: MIT */
/* Processes and threads that come and go while events are written; signal handlers that write. */
#include "provider_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "provider/lock.h"
#include "provider/thread.h"

static struct taken taken;
static struct fake_session session;
static uint64_t handle;

static int begin(void **state)
{
	(void)state;
	open_session(&session, 1, 64, 0);
	handle = register_provider(NULL, NULL);
	return fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5});
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
	return 0;
}

/* Waits for a child, which must end by itself and well. */
static void expect_good_end(pid_t child)
{
	int status = 0;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void expect_origin(uint32_t process_id, uint32_t thread_id)
{
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(le32_get(header_of(&taken)->process_id), process_id);
	assert_int_equal(le32_get(header_of(&taken)->thread_id), thread_id);
}

/* A process whose ids are those of its first thread, as the parent sees them. */
static void expect_child_event(pid_t child)
{
	expect_good_end(child);
	expect_origin((uint32_t)child, (uint32_t)child);
}

static void test_fork__a_child_writes_under_its_own_name(void **state)
{
	pid_t child;

	(void)state;
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	expect_origin((uint32_t)getpid(), (uint32_t)gettid());
	child = fork();
	if (child == 0)
		_exit(write_number(handle, 1, 0, 0) == 0 ? 0 : 1);
	expect_child_event(child);
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	expect_origin((uint32_t)getpid(), (uint32_t)gettid());
}

static void test_fork__also_past_the_c_library(void **state)
{
	pid_t child;

	(void)state;
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	(void)take_all(&session, &taken);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(write_number(handle, 1, 0, 0) == 0 ? 0 : 1);
	expect_child_event(child);
}

/* Of a process that the host calls by another number: what the child is called there nobody has told it. */
static void test_fork__in_a_namespace_a_child_signs_as_its_parent(void **state)
{
	struct fake_session own;
	uint64_t other;
	pid_t child;

	(void)state;
	fake_host_die(&host);
	host.told_pid = 4711;
	assert_int_equal(fake_host_start(&host), 0);
	open_session(&own, 2, 4, WIRE_RING_ONE_STREAM);
	other = register_provider(NULL, NULL);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &own, (struct fake_wish){.level = 5}), 0);
	child = fork();
	if (child == 0)
		_exit(write_number(other, 1, 0, 0) == 0 ? 0 : 1);
	expect_good_end(child);
	assert_int_equal(take_all(&own, &taken), 1);
	assert_int_equal(le32_get(header_of(&taken)->process_id), 4711);
	assert_int_equal(etw_provider_unregister(other), 0);
	end_session(&own);
	fake_host_die(&host);
	host.told_pid = 0;
	assert_int_equal(fake_host_start(&host), 0);
}

static void *write_one(void *unused)
{
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	return unused;
}

/* The first to write in the child is a new thread; then the one that came over from the parent. */
static int write_from_two_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, write_one, NULL) || pthread_join(thread, NULL))
		return 1;
	return write_number(handle, 1, 0, 0) == 0 ? 0 : 1;
}

static void test_fork__threads_of_a_child_have_their_own_ids(void **state)
{
	pid_t child;

	(void)state;
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	(void)take_all(&session, &taken);
	child = fork();
	if (child == 0)
		_exit(write_from_two_threads());
	expect_good_end(child);
	assert_int_equal(take_all(&session, &taken), 2);
}

static int register_in_child(void)
{
	REGHANDLE own;

	if (etw_provider_register(&test_provider, NULL, NULL, &own))
		return 1;
	for (int i = 0; i < FAKE_WAIT_MS && !etw_provider_wants(own, 1, 0); i++)
		(void)usleep(1000);
	/* The new registration knows its state, and so does the one from before. */
	if (!etw_provider_wants(own, 1, 0) || !etw_provider_wants(handle, 1, 0))
		return 1;
	if (write_number(own, 1, 0, 0) || write_number(handle, 1, 0, 0))
		return 2;
	return etw_provider_unregister(own) ? 3 : 0;
}

static void test_fork__a_child_has_a_listener_from_its_next_registration(void **state)
{
	const uint32_t before = fake_host_registered(&host);
	pid_t child;

	(void)state;
	child = fork();
	if (child == 0)
		_exit(register_in_child());
	expect_good_end(child);
	assert_int_equal(fake_host_wait_registered(&host, before + 2), 0);
	assert_int_equal(take_all(&session, &taken), 2);
}

/* A child that pthread_atfork() does not see. */
static pid_t fork_unseen(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void test_fork__also_one_forked_past_the_c_library(void **state)
{
	const uint32_t before = fake_host_registered(&host);
	REGHANDLE next;
	pid_t child;

	(void)state;
#ifdef ETW_THREAD_SANITIZED /* does not see the child either, and takes its threads for the parent's */
	skip();
#endif
	child = fork_unseen();
	if (child == 0)
		_exit(register_in_child());
	expect_good_end(child);
	/* Over a connection of its own: the next number of the parent's is not taken there. */
	assert_int_equal(fake_host_wait_registered(&host, before + 2), 0);
	register_into(NULL, NULL, &next);
	for (int i = 0; i < FAKE_WAIT_MS && !etw_provider_wants(next, 1, 0); i++)
		(void)usleep(1000);
	assert_int_equal(write_number(next, 1, 0, 0), 0);
	assert_int_equal(take_all(&session, &taken), 3);
	assert_int_equal(etw_provider_unregister(next), 0);
}

/* The lock is the parent's business, which may hold it. */
static void test_fork__a_lock_that_the_parent_held_holds_no_child(void **state)
{
	pid_t child;

	(void)state;
#ifdef ETW_THREAD_SANITIZED
	skip();
#endif
	etw_provider_lock();
	child = fork_unseen();
	if (child == 0)
		_exit(register_in_child());
	etw_provider_unlock();
	expect_good_end(child);
	assert_int_equal(take_all(&session, &taken), 2);
}

/* A daemon closes everything, and opens files of its own, which get the numbers of ours. */
static int close_all_and_write(void)
{
	struct stat info;
	int files[64];
	REGHANDLE own;

	if (register_in_child()) /* with a listener of its own */
		return 4;
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		(void)close(fd);
	for (unsigned i = 0; i < 64; i++) {
		files[i] = fileno(tmpfile());
		if (files[i] < 0)
			return 5;
	}
	for (int i = 0; i < 20; i++) {
		if (etw_provider_register(&test_provider, NULL, NULL, &own) ||
		    etw_provider_unregister(own))
			return 6;
	}
	for (unsigned i = 0; i < 64; i++) {
		if (fstat(files[i], &info) < 0 || !S_ISREG(info.st_mode) || info.st_size)
			return 7;
	}
	return register_in_child(); /* the host is found again */
}

static void test_fork__a_daemon_that_closes_all_files_is_heard_again(void **state)
{
	pid_t child;

	(void)state;
	child = fork();
	if (child == 0)
		_exit(close_all_and_write());
	expect_good_end(child);
	assert_int_equal(take_all(&session, &taken), 4);
}

/* As a daemon's child does: what it opens gets the numbers that the parent's listener had. */
static int register_behind_closed_files(void)
{
	struct stat info;
	int files[64];
	REGHANDLE own;

	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		(void)close(fd);
	for (unsigned i = 0; i < 64; i++)
		files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (etw_provider_register(&test_provider, NULL, NULL, &own))
		return 3;
	for (unsigned i = 0; i < 64; i++) {
		if (fstat(files[i], &info) < 0 || !S_ISCHR(info.st_mode))
			return 1;
	}
	return etw_provider_unregister(own) ? 2 : 0;
}

static void test_fork__a_child_that_closed_everything_keeps_its_own_files(void **state)
{
	pid_t child;

	(void)state;
	child = fork();
	if (child == 0)
		_exit(register_behind_closed_files());
	expect_good_end(child);
}

static void test_fork__vfork_and_exec_leave_the_parent_alone(void **state)
{
	static char *const arguments[] = {(char *)(uintptr_t) "true", NULL};
	pid_t child;

	(void)state;
	child = vfork();
	if (child == 0) {
		(void)execv("/bin/true", arguments);
		_exit(1);
	}
	expect_good_end(child);
	assert_int_equal(write_number(handle, 1, 0, 0), 0);
	expect_origin((uint32_t)getpid(), (uint32_t)gettid());
}

static void *write_many(void *unused)
{
	for (int i = 0; i < 100; i++)
		assert_int_equal(write_number(handle, 1, 0, 0), 0);
	return unused;
}

static void test_fork__threads_end_and_leave_their_events(void **state)
{
	pthread_t threads[8];

	(void)state;
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 8; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, write_many, NULL), 0);
		for (int i = 0; i < 8; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(take_all(&session, &taken), 800);
	}
}

static uint32_t handled; /* atomic */

static void on_signal(int signal)
{
	(void)signal;
	if (write_number(handle, 1, 0, 1) == 0)
		(void)add_relaxed(&handled, 1u);
}

static void test_fork__signal_handlers_write_between_any_two_steps(void **state)
{
	const struct itimerval often = {{0, 50}, {0, 50}};
	const struct itimerval never = {0};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	uint64_t written = 0;
	uint64_t read = 0;

	(void)state;
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_PROF, &often, NULL), 0);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 2000; i++)
			written += write_number(handle, 1, 0, 0) == 0;
		read += take_all(&session, &taken);
	}
	assert_int_equal(setitimer(ITIMER_PROF, &never, NULL), 0);
	read += take_all(&session, &taken);
	assert_int_equal(read, written + load_relaxed(&handled));
	assert_int_equal(fake_session_lost(&session), 0);
	action.sa_handler = SIG_DFL;
	assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_fork__a_child_writes_under_its_own_name, begin,
						end),
		cmocka_unit_test_setup_teardown(test_fork__also_past_the_c_library, begin, end),
		cmocka_unit_test(test_fork__in_a_namespace_a_child_signs_as_its_parent),
		cmocka_unit_test_setup_teardown(test_fork__threads_of_a_child_have_their_own_ids,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_fork__a_child_has_a_listener_from_its_next_registration, begin, end),
		cmocka_unit_test_setup_teardown(test_fork__also_one_forked_past_the_c_library,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_fork__a_lock_that_the_parent_held_holds_no_child, begin, end),
		cmocka_unit_test_setup_teardown(
			test_fork__a_daemon_that_closes_all_files_is_heard_again, begin, end),
		cmocka_unit_test_setup_teardown(
			test_fork__a_child_that_closed_everything_keeps_its_own_files, begin, end),
		cmocka_unit_test_setup_teardown(test_fork__vfork_and_exec_leave_the_parent_alone,
						begin, end),
		cmocka_unit_test_setup_teardown(test_fork__threads_end_and_leave_their_events,
						begin, end),
		cmocka_unit_test_setup_teardown(
			test_fork__signal_handlers_write_between_any_two_steps, begin, end),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
