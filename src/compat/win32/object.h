/* SPDX-License-Identifier: MIT */
/*
 * What handles stand for. One table holds all handles of the process, one lock guards it and the state of all objects.
 *
 * An object lives as long as a handle names it, or who holds a reference of its own: a running thread, a wait.
 */
#ifndef ETW_COMPAT_WIN32_OBJECT_H
#define ETW_COMPAT_WIN32_OBJECT_H

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <windows.h>

#include "compat/win32/error.h"

enum etw_object_type {
	ETW_OBJECT_EVENT,
	ETW_OBJECT_MUTEX,
	ETW_OBJECT_SEMAPHORE,
	ETW_OBJECT_TIMER,
	ETW_OBJECT_THREAD,
	ETW_OBJECT_PROCESS,
	ETW_OBJECT_FILE,
	ETW_OBJECT_FIND,
};

/* A call that a thread makes in its next alertable wait. */
struct etw_call {
	struct etw_call *next;
	PAPCFUNC function;
	PTIMERAPCROUTINE timer_function; /* in place of the former */
	const struct etw_object *timer;  /* whose it is, to be compared; or NULL */
	void *argument;
	int64_t due_ft;
};

struct etw_object {
	enum etw_object_type type;
	unsigned references;
	char *name; /* owned, or NULL; only of events, mutexes, semaphores, timers */
	struct etw_object *next_named;
	bool is_signalled; /* events, timers, threads, processes */
	bool is_manual;    /* events, timers: a wait leaves them signalled */
	int fd;            /* files; pidfd of processes, timerfd of timers; else -1 */
	uint32_t watch;    /* number in the watcher; 0: is not watched */
	union {
		struct {
			struct etw_object *owner; /* thread, or NULL */
			struct etw_object *next_owned;
			unsigned depth;
			bool is_abandoned;
		} mutex;
		struct {
			LONG count;
			LONG max;
		} semaphore;
		struct {
			PTIMERAPCROUTINE function;
			void *argument;
			struct etw_object *thread; /* that set it; a reference; or NULL */
		} timer;
		struct {
			LPTHREAD_START_ROUTINE start;
			void *argument;
			pthread_cond_t changed;
			pthread_t id;
			jmp_buf exit;
			pid_t tid;
			DWORD exit_code;
			unsigned suspended;
			bool is_ours; /* CreateThread made it */
			bool is_begun;
			int priority;
			int64_t created_ft;
			int64_t ended_ft;
			struct etw_object *owned_mutexes;
			struct etw_call *calls;
			struct etw_wait *waiting; /* an alertable wait, or NULL */
		} thread;
		struct {
			pid_t pid;
			DWORD exit_code;
			bool is_exit_known;
		} process;
		struct {
			char *path;       /* owned; to delete at the end, or NULL */
			bool is_borrowed; /* standard files stay open */
		} file;
		struct {
			DIR *folder;
			char *path;    /* of the folder */
			char *pattern; /* of names */
		} find;
	};
};

extern pthread_mutex_t etw_object_lock;

/* etw_object_create() - an object with one reference; NULL with the last error when memory ran out. */
struct etw_object *etw_object_create(enum etw_object_type type);

/* etw_object_ref() / _unref() - holding the lock. The last reference frees it. */
struct etw_object *etw_object_ref(struct etw_object *object);
void etw_object_unref(struct etw_object *object);

/* etw_object_release() - unref for who does not hold the lock; takes NULL. */
void etw_object_release(struct etw_object *object);

/*
 * etw_handle_open() - a handle to an object, which takes the caller's reference. Holding the lock.
 *
 * Returns NULL with the last error, the reference given back, when memory ran out.
 */
HANDLE etw_handle_open(struct etw_object *object);

/* etw_handle_find() - borrowed from the table, holding the lock; NULL when it is none. Knows the pseudo handles. */
struct etw_object *etw_handle_find(HANDLE handle);

/*
 * etw_handle_get() - a reference to the object of a type behind a handle; the caller does not hold the lock.
 *
 * Returns NULL with ERROR_INVALID_HANDLE.
 */
struct etw_object *etw_handle_get(HANDLE handle, enum etw_object_type type);

/* etw_object_current_thread() - the calling thread's, borrowed. Holding the lock; NULL when memory ran out. */
struct etw_object *etw_object_current_thread(void);

/* etw_object_current_process() - this process', borrowed; never freed. */
struct etw_object *etw_object_current_process(void);

/* --- Waiting: all that changes an object's state under the lock tells it to those that wait. */
/* etw_object_changed() - an object may be signalled now: ends the waits that it satisfies, oldest first. Holding the lock. */
void etw_object_changed(struct etw_object *object);

/* etw_object_add_call() - queues a call for a thread's next alertable wait, and ends the one it is in. Holding the lock. Takes @call. */
void etw_object_add_call(struct etw_object *thread, struct etw_call *call);

/* etw_timer_drop_call() - takes back the call of a timer that its thread has not made. Holding the lock. */
void etw_timer_drop_call(struct etw_object *timer);

/* etw_mutex_own() - puts a mutex that nobody owns into a thread's list. Holding the lock. */
void etw_mutex_own(struct etw_object *mutex, struct etw_object *thread);

/* etw_mutex_disown() - takes a mutex from its owner's list. Holding the lock. */
void etw_mutex_disown(struct etw_object *mutex);

/* etw_object_unname() - takes an object from the list of names. Holding the lock. */
void etw_object_unname(struct etw_object *object);

/* --- One thread watches what the kernel signals: the ends of processes, timers, files that become readable. */
/* etw_watcher_add() - watches the object where it has something to be watched. Holding the lock. */
void etw_watcher_add(struct etw_object *object);

/* etw_watcher_forget() - of an object that goes away. Holding the lock. */
void etw_watcher_forget(struct etw_object *object);

/* --- Threads. */
/* etw_object_thread_done() - frees what a thread's object holds. Holding the lock. */
void etw_object_thread_done(struct etw_object *thread);

/* --- Processes. */
/* etw_process_ended() - the kernel says so. Holding the lock. */
void etw_process_ended(struct etw_object *process);

/* etw_process_path() - owned path of a process' image; NULL with the last error. */
char *etw_process_path(pid_t pid);

/* etw_proc_read() - owned text of a file of /proc, whose size nobody knows before; NULL with the last error. */
char *etw_proc_read(const char *path, size_t *ret_bytes);

#endif
