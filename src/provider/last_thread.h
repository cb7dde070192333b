/* SPDX-License-Identifier: MIT */
/*
 * A program whose main thread calls pthread_exit() ends when its last thread does, with exit(0). The listener is a
 * thread, too, so it must do that itself when it is the only one left. It hears that the main thread ends from a
 * destructor of that thread, when it has registered a provider; else from a pidfd of the thread (Linux
 * 6.9), else by a look now and then. Only then does it look often.
 */
#ifndef ETW_PROVIDER_LAST_THREAD_H
#define ETW_PROVIDER_LAST_THREAD_H

#include <stdbool.h>

/*
 * etw_last_thread_meet() - notes the calling thread, if it is the main one, and makes sure that its end is heard of.
 *
 * @poke: called on the main thread when it ends
 *
 * Holding the lock, before the listener is started.
 */
void etw_last_thread_meet(void (*poke)(void));

/* etw_last_thread_count_own() - so many more threads are the library's own, beside the listener. Any thread. */
void etw_last_thread_count_own(int change);

/* etw_last_thread_reset_in_child() - nothing is known of the child's main thread. Holding the lock. */
void etw_last_thread_reset_in_child(void);

/* etw_last_thread_fd() - to be polled for reading by the listener; -1: none. */
int etw_last_thread_fd(void);

/*
 * etw_last_thread_due_ms() - how long the listener may wait until etw_last_thread_is_caller(); -1: until the
 * descriptor is ready or it is poked.
 *
 * @is_polling: it waits for descriptors
 */
int etw_last_thread_due_ms(bool is_polling);

/* etw_last_thread_is_caller() - whether the main thread has ended and all others but the caller. Owner thread. */
bool etw_last_thread_is_caller(void);

#endif
