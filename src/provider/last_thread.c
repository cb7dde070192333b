/* SPDX-License-Identifier: MIT */
#include "provider/last_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "provider/own_fd.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define LEAVING_MS    100  /* between two looks when the main thread has ended */
#define UNHEARD_MS    5000 /* the same where nothing would tell that it does */
#define STAT_BYTES    1024
#define FIELD_THREADS 17 /* of /proc/self/stat, behind the state */

static pthread_key_t key;
static bool has_key;          /* lock; so is all without another word */
static void (*on_end)(void);  /* fixed once has_key */
static uint32_t has_met_main; /* atomic; its destructor is set */
static uint32_t is_leaving;   /* atomic; the main thread ends, or has */
static uint32_t own_threads;  /* atomic; beside the listener */
static struct etw_own_fd pidfd = {.number = -1};

static void note_end(void *unused)
{
	(void)unused;
	store_release(&is_leaving, 1u);
	on_end();
}

void etw_last_thread_meet(void (*poke)(void))
{
	if (load_relaxed(&has_met_main))
		return;
	on_end = poke;
	if (gettid() == getpid()) {
		has_key = has_key || pthread_key_create(&key, note_end) == 0;
		if (has_key && pthread_setspecific(key, &key) == 0)
			store_relaxed(&has_met_main, 1u);
	} else if (pidfd.number < 0) {
		pidfd = etw_own_fd_take((int)syscall(SYS_pidfd_open, (int)getpid(), PIDFD_THREAD));
	}
}

void etw_last_thread_reset_in_child(void)
{
	etw_own_fd_close(&pidfd);
	store_relaxed(&has_met_main, 0u);
	store_relaxed(&is_leaving, 0u);
	store_relaxed(&own_threads, 0u);
}

void etw_last_thread_count_own(int change)
{
	(void)add_acq_rel(&own_threads, (uint32_t)change);
}

int etw_last_thread_fd(void)
{
	return load_relaxed(&is_leaving) ? -1 : pidfd.number;
}

int etw_last_thread_due_ms(bool is_polling)
{
	if (load_acquire(&is_leaving))
		return LEAVING_MS;
	return load_relaxed(&has_met_main) || (is_polling && pidfd.number >= 0) ? -1 : UNHEARD_MS;
}

/* The state of the main thread, and how many there are with it. False: /proc does not say. */
static bool read_threads(char *ret_state, unsigned long *ret_count)
{
	CLEANUP(etw_file_closep)
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[STAT_BYTES];
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (bytes <= 0)
		return false;
	text[bytes] = 0;
	at = strrchr(text, ')'); /* the program's name may have anything in it */
	if (!at || strlen(at) < 4)
		return false;
	*ret_state = at[2];
	at += 2;
	for (int i = 0; i < FIELD_THREADS && at; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*ret_count = strtoul(at, NULL, 10);
	return true;
}

bool etw_last_thread_is_caller(void)
{
	unsigned long count = 0;
	char state = 0;

	if (!read_threads(&state, &count))
		return false;
	if (state != 'Z') { /* the number of the pidfd may mean another file by now */
		if (pidfd.number >= 0 && !etw_own_fd_is_there(&pidfd))
			pidfd = ETW_OWN_FD_NONE;
		return false;
	}
	store_release(&is_leaving, 1u);
	return count == 2 + load_acquire(&own_threads);
}
