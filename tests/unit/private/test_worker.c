/* SPDX-License-Identifier: MIT */
/* The thread of private sessions, and its table of descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "private/worker.h"

#define NOBODYS 500 /* the program has no descriptor from here on */

/* What a job found. */
struct seen {
	struct etw_private_job job; /* first */
	pthread_t thread;
	int number;
	bool is_inner_done;
};

static void note_thread(struct etw_private_job *job)
{
	((struct seen *)(void *)job)->thread = pthread_self();
}

static void run_another(struct etw_private_job *job)
{
	struct seen *seen = (struct seen *)(void *)job;
	struct seen inner = {.job.run = note_thread};

	seen->thread = pthread_self();
	seen->is_inner_done = etw_private_worker_run(&inner.job) == 0 &&
			      pthread_equal(inner.thread, seen->thread);
}

/* On one thread, which waits for nobody when it is the worker itself that asks. */
static void test_worker__runs_jobs(void **state)
{
	struct seen first = {.job.run = note_thread}, second = {.job.run = run_another};

	(void)state;
	assert_int_equal(etw_private_worker_run(&first.job), 0);
	assert_int_equal(etw_private_worker_run(&second.job), 0);
	assert_true(pthread_equal(first.thread, second.thread));
	assert_false(pthread_equal(first.thread, pthread_self()));
	assert_true(second.is_inner_done);
}

static int count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	assert_int_equal(closedir(folder), 0);
	return count;
}

static void open_one(struct etw_private_job *job)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	((struct seen *)(void *)job)->number = fcntl(null, F_DUPFD_CLOEXEC, NOBODYS);
	(void)close(null);
}

static void look_there(struct etw_private_job *job)
{
	struct seen *seen = (struct seen *)(void *)job;

	seen->is_inner_done = fcntl(seen->number, F_GETFD) >= 0;
}

/* What the program closes is not the worker's, and what the worker opens is not the program's. */
static void test_worker__has_descriptors_of_its_own(void **state)
{
	struct seen seen = {.job.run = open_one};
	int before;

	(void)state;
	assert_int_equal(etw_private_worker_run(&seen.job), 0);
	before = count_descriptors();
	assert_true(seen.number >= 0);
	assert_int_equal(fcntl(seen.number, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
	(void)close(seen.number);
	seen.job.run = look_there;
	assert_int_equal(etw_private_worker_run(&seen.job), 0);
	assert_true(seen.is_inner_done);
	assert_int_equal(count_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worker__runs_jobs),
		cmocka_unit_test(test_worker__has_descriptors_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
