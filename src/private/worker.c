/* SPDX-License-Identifier: MIT */
#include "private/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "provider/last_thread.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* the same number on every machine */
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER; /* a job came, or one is done */

/* Under the lock. */
static struct etw_private_job *first, **last = &first;
static pthread_t worker;
static bool is_running;

#define STDERR_END 3u /* behind the last one that libraries write to unasked */

/*
 * As close() of each, but in a copy of the program's table. What a library prints must not end up in a session's file, so
 * the first three numbers stay taken. Reports of sanitizers go where they always do.
 */
#if defined(ETW_SANITIZED)
static void leave_descriptors(void)
{
	(void)syscall(SYS_close_range, STDERR_END, ~0u, CLOSE_RANGE_UNSHARE);
}
#else
static void leave_descriptors(void)
{
	if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) < 0)
		return;
	for (unsigned i = 0; i < STDERR_END; i++)
		(void)open("/dev/null", O_RDWR);
}
#endif

static struct etw_private_job *take_job(void)
{
	struct etw_private_job *job;

	while (!first)
		(void)pthread_cond_wait(&news, &lock);
	job = first;
	first = job->next;
	if (!first)
		last = &first;
	return job;
}

static void *work(void *unused)
{
	(void)unused;
	(void)prctl(PR_SET_NAME, "etw-private");
	leave_descriptors();
	(void)pthread_mutex_lock(&lock);
	for (;;) {
		struct etw_private_job *job = take_job();
		const bool is_awaited = job->is_awaited;

		(void)pthread_mutex_unlock(&lock);
		job->run(job);
		(void)pthread_mutex_lock(&lock);
		if (is_awaited)
			job->is_done = true;
		(void)pthread_cond_broadcast(&news);
	}
	return NULL;
}

/* Holding the lock. Signals are for the program's threads. */
static int start(void)
{
	sigset_t all, before;
	int r;

	if (is_running)
		return 0;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&worker, NULL, work, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return -EAGAIN;
	(void)pthread_detach(worker);
	is_running = true;
	etw_last_thread_count_own(1);
	return 0;
}

/* Holding the lock. */
static int put(struct etw_private_job *job, bool is_awaited)
{
	TRY(start());
	job->next = NULL;
	job->is_awaited = is_awaited;
	job->is_done = false;
	*last = job;
	last = &job->next;
	(void)pthread_cond_broadcast(&news);
	return 0;
}

static bool is_worker(void)
{
	bool is_it;

	(void)pthread_mutex_lock(&lock);
	is_it = is_running && pthread_equal(worker, pthread_self());
	(void)pthread_mutex_unlock(&lock);
	return is_it;
}

int etw_private_worker_run(struct etw_private_job *job)
{
	int r;

	if (is_worker()) {
		job->run(job);
		return 0;
	}
	(void)pthread_mutex_lock(&lock);
	r = put(job, /* is_awaited= */ true);
	while (r == 0 && !job->is_done)
		(void)pthread_cond_wait(&news, &lock);
	(void)pthread_mutex_unlock(&lock);
	return r;
}

int etw_private_worker_run_for(struct etw_private_job *job, uint32_t limit_ms)
{
	struct timespec deadline;
	int r;

	if (is_worker())
		return -ETIMEDOUT; /* a program ends in a callback of a session's thread: nobody is left to do it */
	(void)clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += limit_ms / 1000;
	(void)pthread_mutex_lock(&lock);
	r = put(job, /* is_awaited= */ true);
	while (r == 0 && !job->is_done) {
		if (pthread_cond_timedwait(&news, &lock, &deadline) == ETIMEDOUT && !job->is_done)
			r = -ETIMEDOUT;
	}
	(void)pthread_mutex_unlock(&lock);
	return r;
}

int etw_private_worker_post(struct etw_private_job *job)
{
	int r;

	(void)pthread_mutex_lock(&lock);
	r = put(job, /* is_awaited= */ false);
	(void)pthread_mutex_unlock(&lock);
	return r;
}

void etw_private_worker_forget(void)
{
	static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
	static const pthread_cond_t fresh_news = PTHREAD_COND_INITIALIZER;

	memcpy(&lock, &fresh_lock, sizeof(lock));
	memcpy(&news, &fresh_news, sizeof(news));
	first = NULL;
	last = &first;
	is_running = false;
}
