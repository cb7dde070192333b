/* SPDX-License-Identifier: MIT */
/*
 * The conversation with one host: registrations go there, ring sets and enable states come back. Here is how it
 * stands, and what any thread may send, under the lock. The listener alone connects, receives and closes
 * (provider/link_connect.h), and does what the host says (provider/link_message.h).
 *
 * A registration is *synchronised* when the host has told its first state. REGISTER itself is answered too
 * early for that, so an UNREGISTER of the registration 0 goes after it, whose answer comes behind all.
 */
#ifndef ETW_PROVIDER_LINK_H
#define ETW_PROVIDER_LINK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ipc/connection.h"
#include "ipc/runtime.h"
#include "provider/own_fd.h"
#include "provider/registrations.h"

#define ETW_LINK_PAGE_CHECK_MS 60000 /* a page that waits in vain may have been replaced */

enum etw_link_state {
	ETW_LINK_UNKNOWN,    /* not looked at yet */
	ETW_LINK_ABSENT,     /* no host, as far as known */
	ETW_LINK_CONNECTING, /* the listener is at it, or has called and waits for the host's answer */
	ETW_LINK_CONNECTED,
};

/* Holding the lock, where nothing else is said. */
struct etw_link {
	unsigned index;
	enum etw_link_state state;
	struct etw_runtime_places places;
	dev_t root_device; /* the root directory that it is seen from */
	ino_t root_inode;
	const struct wire_discovery_page *page; /* NULL: not there yet */
	const struct wire_clock_page *clock;
	uint32_t tried_epoch; /* the last one at which connecting failed */
	uint32_t requests;    /* number of the last one sent */
	uint32_t replied;     /* number of the last one that was answered */
	uint32_t synced;      /* number of the last answered UNREGISTER of 0 */
	uint32_t sync_sent;   /* number of the last sent one; 0: none since `synced` */
	/* Non-blocking; while connecting, the call that was not answered yet. The program may have closed it. */
	struct etw_own_fd socket;
	int map_status; /* why the last ring set that was given could not be mapped; -ENOENT: none was */
	uint64_t incarnation;   /* of the last host */
	bool is_sync_due;       /* something was registered since the last one */
	bool is_confirming;     /* states of an earlier connection may be left */
	uint32_t private_round; /* of the conversation, from 1: provider/outside.h */
	bool has_private;       /* the host has had private sessions in this process */
	bool is_slow;           /* a registration has waited for it in vain */
	/* The listener's own. */
	uint64_t
		short_ns; /* since when a want of descriptors or memory keeps it from the host; 0: none does */
	int short_status;    /* which */
	uint64_t page_ns;    /* when the page was mapped */
	uint64_t retry_ns;   /* when to try again; CLOCK_MONOTONIC */
	uint32_t backoff_ms; /* before the next try at the same epoch */
	uint32_t seen_epoch; /* what the page said at the last look */
};

/* etw_link_init() - a link that was not looked at. @places: copied. */
void etw_link_init(struct etw_link *link, unsigned index, const struct etw_runtime_places *places);

/*
 * etw_link_abandon() - closes the connection and knows nothing of the host: in a forked child, where it is the parent's,
 * and when a program has closed it under a listener that sleeps. Holding the lock.
 */
void etw_link_abandon(struct etw_link *link);

/* etw_link_pump() - tells the host of registrations that it does not know, as many as may be under way. */
void etw_link_pump(struct etw_link *link);

/* etw_link_describe() - tells the host the traits of a registration that it knows already. */
void etw_link_describe(struct etw_link *link, struct etw_registration *registration);

/* etw_link_withdraw() - tells the host that a registration is gone. */
void etw_link_withdraw(struct etw_link *link, const struct etw_registration *registration,
		       uint32_t number);

/*
 * etw_link_send_image() - tells the host of code of this process' own.
 *
 * @head: of which the request is filled in
 *
 * Returns 0; -EAGAIN: too much is under way, and of a large message anything at all is too much: each answer is a reason to
 * try again; -EPIPE: not connected; the error of sending, after which the connection is over. Holding the lock.
 */
int etw_link_send_image(struct etw_link *link, struct wire_message *head,
			const struct wire_image *body);

/* etw_link_answer() - sends the common part alone. Returns 0 or the error of sending. Holding the lock. */
int etw_link_answer(struct etw_link *link, const struct wire_message *head);

/* etw_link_answer_session() - the same for a message that tells of a session. */
int etw_link_answer_session(struct etw_link *link, const struct wire_message *head,
			    const struct wire_session_info *info);

/* etw_link_answer_undelivered() - the same for WIRE_UNDELIVERED. */
int etw_link_answer_undelivered(struct etw_link *link, const struct wire_message *head,
				const struct wire_undelivered *body);

/* etw_link_answer_ring() - the same for a message that names a ring set. */
int etw_link_answer_ring(struct etw_link *link, const struct wire_message *head,
			 const struct wire_ring_set_ref *ref);

/*
 * etw_link_has_new_host() - a host is there that the listener has not tried, also one whose page it has not
 * seen: it looks for that only now and then. Holding the lock; not while connected.
 */
bool etw_link_has_new_host(const struct etw_link *link);

/* etw_link_is_awaited() - the host is there, or about to be, and has not yet told a registration's state. */
bool etw_link_is_awaited(const struct etw_link *link, const struct etw_registration *registration);

#endif
