/* SPDX-License-Identifier: MIT */
/*
 * Waiting for ENABLE_DONE without standing still: a wait counts the answers that are outstanding, and ends
 * with the last of them, with its peers, or at its deadline.
 */
#ifndef ETW_DAEMON_WAITS_H
#define ETW_DAEMON_WAITS_H

#include "daemon/peer.h"

struct etwd_wait {
	struct etwd_wait *next;
	unsigned outstanding;
	uint64_t deadline_ms; /* UINT64_MAX: none */
	uint64_t settle_ms;   /* until then processes that appear are waited for, too; 0: not */
	GUID provider;        /* of theirs */
	/* Called once, with 0 or -ETIMEDOUT. */
	void (*end)(struct etwd_host *host, struct etwd_wait *wait, int status);
	uint64_t peer_serial; /* the rest is for @end */
	uint32_t request;
	uint32_t session_id;
};

/* etwd_waits_new() - a wait without answers to wait for. NULL: no memory. Ended by etwd_waits_begin() on. */
struct etwd_wait *etwd_waits_new(struct etwd_host *host, uint64_t deadline_ms,
				 void (*end)(struct etwd_host *host, struct etwd_wait *wait,
					     int status));

/*
 * etwd_waits_expect() - one more answer.
 *
 * @wait: NULL: nobody waits, and the message needs no answer
 *
 * Returns the number that the message is to carry; 0: no answer.
 */
uint32_t etwd_waits_expect(struct etwd_wait *wait, struct etwd_peer *peer);

/* etwd_waits_begin() - everything was sent; a wait that waits for nothing ends now. */
void etwd_waits_begin(struct etwd_host *host, struct etwd_wait *wait);

/* etwd_waits_settling() - the wait that waits for processes with this provider to appear; NULL: none. */
struct etwd_wait *etwd_waits_settling(const struct etwd_host *host, const GUID *provider);

/* etwd_waits_answered() - a peer's answer came. */
void etwd_waits_answered(struct etwd_peer *peer, uint32_t request);

/* etwd_waits_peer_gone() - its answers will not come. */
void etwd_waits_peer_gone(struct etwd_peer *peer);

/* etwd_waits_check() - ends those whose time has come. Returns when the next one's comes. */
uint64_t etwd_waits_check(struct etwd_host *host, uint64_t now_ms);

#endif
