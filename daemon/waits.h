/* SPDX-License-Identifier: MIT */
/*
 * Waiting for ENABLE_DONE without standing still: a wait counts the answers that are outstanding, and ends
 * with the last of them, with the processes that owe them, or at its deadline.
 *
 * Nothing here talks to anybody, or knows what a process is. Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_WAITS_H
#define ETW_DAEMON_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

/* First member of what waits. */
struct etwd_wait {
	struct etwd_wait *next;
	unsigned outstanding;
	uint64_t deadline_ms; /* UINT64_MAX: none */
	uint64_t settle_ms;   /* until then processes that appear are waited for, too; 0: not */
	GUID provider;        /* of theirs */
	/* Whoever waits is told the end, once: 0 or -ETIMEDOUT. Takes the wait. */
	void (*end)(struct etwd_wait *wait, int status);
};

/* An answer that somebody waits for. */
struct etwd_answer {
	uint32_t request;
	struct etwd_wait *wait; /* NULL: no longer */
};

/* What one process is still to answer. Zeroed: nothing. */
struct etwd_answers {
	struct etwd_answers *next, **at; /* of all; @at NULL: not among them */
	struct etwd_answer *list;        /* owned */
	size_t count, room;
	size_t free; /* those before it are all waited for */
};

/* Zeroed: nobody waits. */
struct etwd_waits {
	struct etwd_wait *first;
	struct etwd_answers *answers; /* of every process that was ever asked and is still there */
	uint32_t last_request;
	/*
	 * Processes that wait for a host need a moment to connect to a new one. Until then who enables a
	 * provider and waits for its callbacks waits for theirs, too.
	 */
	uint64_t settle_ms;
};

/*
 * etwd_waits_add() - a wait without answers to wait for. Ended by etwd_waits_begin() on.
 *
 * @wait: zeroed; the waits', until @end takes it
 */
void etwd_waits_add(struct etwd_waits *waits, struct etwd_wait *wait, uint64_t deadline_ms,
		    void (*end)(struct etwd_wait *wait, int status));

/*
 * etwd_waits_expect() - one more answer.
 *
 * @wait: NULL: nobody waits, and the message needs no answer
 * @answers: of the process that is to give it
 *
 * Returns the number that the message is to carry; 0: no answer.
 */
uint32_t etwd_waits_expect(struct etwd_waits *waits, struct etwd_wait *wait,
			   struct etwd_answers *answers);

/* etwd_waits_begin() - everything was sent; a wait that waits for nothing ends now. */
void etwd_waits_begin(struct etwd_waits *waits, struct etwd_wait *wait);

/* etwd_waits_settling() - the wait that waits for processes with this provider to appear; NULL: none. */
struct etwd_wait *etwd_waits_settling(const struct etwd_waits *waits, const GUID *provider);

/* etwd_waits_of() - who waits for an answer that has come; NULL: nobody any more. */
struct etwd_wait *etwd_waits_of(const struct etwd_answers *answers, uint32_t request);

/* etwd_waits_answered() - a process' answer came. */
void etwd_waits_answered(struct etwd_waits *waits, struct etwd_answers *answers, uint32_t request);

/* etwd_waits_gone() - a process is gone: its answers will not come. Frees what they took. */
void etwd_waits_gone(struct etwd_waits *waits, struct etwd_answers *answers);

/* etwd_waits_check() - ends those whose time has come. Returns when the next one's comes. */
uint64_t etwd_waits_check(struct etwd_waits *waits, uint64_t now_ms);

#endif
