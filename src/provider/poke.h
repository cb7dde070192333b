/* SPDX-License-Identifier: MIT */
/*
 * What wakes the listener of a process: a socket for its poll(), and a word for its futexes. And the descriptors that
 * it keeps back, copies of that socket, so that a program that has used up its own can be connected all the same, and
 * given a ring set. What the listener does once it is awake is provider/listener.h.
 */
#ifndef ETW_PROVIDER_POKE_H
#define ETW_PROVIDER_POKE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * etw_poke_open() - makes the socket, unless it is there, and the reserve. Holding the lock. Without a descriptor
 * for them the listener is late at most.
 *
 * etw_poke_close() - both; for a child of fork(), where these numbers may later be those of its own files. Holding
 * the lock.
 */
void etw_poke_open(void);
void etw_poke_close(void);

/* etw_poke() - the listener is to look again now. Holding the lock. */
void etw_poke(void);

/* etw_poke_count() - pokes so far, taken before a look: whoever pokes during it ends the wait. Any thread. */
uint32_t etw_poke_count(void);

/* etw_poke_word() - the futex, private to the process, that holds etw_poke_count(); for good. Any thread. */
const uint32_t *etw_poke_word(void);

/* etw_poke_fd() - readable after a poke; -1: there is none. Borrowed. Owner thread (the listener). */
int etw_poke_fd(void);

/* etw_poke_has_lost_socket() - whether the program has closed the socket. Holding the lock. */
bool etw_poke_has_lost_socket(void);

/* etw_poke_take() - the socket is readable no more, until the next poke. Owner thread (the listener). */
void etw_poke_take(void);

/* etw_poke_wait() - until @ms are over or somebody pokes, which is taken. Owner thread (the listener). */
void etw_poke_wait(int ms);

/*
 * etw_poke_release_reserve() - closes the reserve, for what is to be opened or received now. Holding the lock.
 *
 * etw_poke_hold_reserve() - takes it again, as much as there is. Holding the lock.
 */
void etw_poke_release_reserve(void);
void etw_poke_hold_reserve(void);

#endif
