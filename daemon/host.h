/* SPDX-License-Identifier: MIT */
/*
 * The session host: one thread, the *loop*, that talks to every process, and the parts that it is made of. Each part
 * has its own header, knows those below it alone, and is handed pointers to them here, where all of them are
 * known. A session's own thread and the jobs (daemon/jobs.h) hand things to the loop through its inbox; all else in
 * here belongs to the loop. Nothing in the loop waits for a peer.
 * Source: docs/design/recording.md "The processes", "Conversation".
 */
#ifndef ETW_DAEMON_HOST_H
#define ETW_DAEMON_HOST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/autologgers.h"
#include "daemon/budget.h"
#include "daemon/clock.h"
#include "daemon/descriptors.h"
#include "daemon/dispatch.h"
#include "daemon/enable.h"
#include "daemon/grants.h"
#include "daemon/handover.h"
#include "daemon/images.h"
#include "daemon/inbox.h"
#include "daemon/jobs.h"
#include "daemon/keeper_store.h"
#include "daemon/peer.h"
#include "daemon/pids.h"
#include "daemon/private_sessions.h"
#include "daemon/profile_interval.h"
#include "daemon/providers.h"
#include "daemon/realtime.h"
#include "daemon/ring_holders.h"
#include "daemon/session_calls.h"
#include "daemon/session_end.h"
#include "daemon/sessions.h"
#include "daemon/waits.h"
#include "wire/discovery_page.h"

/* What main() found out; outlives every host. */
struct etwd_options {
	char directory[PATH_MAX]; /* of the instance */
	char security[PATH_MAX];  /* where descriptors are kept; empty: nowhere */
	bool is_system;
	bool is_foreground;
	bool is_socket_foreign; /* systemd's: must go on listening when the host leaves */
	int listener;           /* owned by main() */
	uint32_t idle_ms;
	uint32_t
		ring_mib; /* of ring memory for users other than root; 0: by the machine's memory */
	uint32_t session_limit, system_logger_limit; /* 0: Windows' own */
	struct wire_discovery_page *page;
};

struct etwd_host {
	const struct etwd_options *options;
	int epoll_fd, signal_fd; /* owned */
	uint64_t idle_since_ms;  /* 0: in use */
	uint64_t leave_by_ms;    /* when told to leave: then sessions.is_closed */

	/* From the lowest to the highest. */
	struct etwd_keeper_store store;
	struct etwd_inbox inbox;
	struct etwd_clock clock;
	struct etwd_pids pids;
	struct etwd_budget budget;
	struct etwd_descriptors security;
	struct etwd_grants grants;
	struct etwd_peers peers;
	struct etwd_waits waits;
	struct etwd_providers providers;
	struct etwd_sessions sessions;
	struct etwd_image_table images;
	struct etwd_private_table private_table;
	struct etwd_handover handover;
	struct etwd_ring_holders ring_holders;
	struct etwd_realtime realtime;
	struct etwd_jobs jobs;
	struct etwd_session_calls calls;
	struct etwd_profile_interval profile_interval;
	struct etwd_autologgers autologgers;

	/* Which of these whoever handles messages touches. */
	struct etwd_enable_parts enable_parts;
	struct etwd_private_parts private_parts;
	struct etwd_session_parts session_parts;
	struct etwd_dispatch_parts dispatch_parts;
};

/* etwd_host_make() - one that owns nothing but its memory. NULL: no memory. @options: borrowed */
struct etwd_host *etwd_host_make(const struct etwd_options *options);

/*
 * etwd_host_open() - opens what it needs and goes on with what the last host left.
 *
 * @socket: to the keeper, taken; -1: none
 *
 * Returns 0 or negative errno; then only etwd_keeper_failed() may use the host.
 */
int etwd_host_open(struct etwd_host *host, int socket);

/*
 * etwd_host_step() - one round of the loop: what is due, then what has come. Waits @wait_max_ms at most.
 *
 * Returns 0; 1: nobody needs the host, or it was told to leave; errno of epoll_wait.
 */
int etwd_host_step(struct etwd_host *host, int wait_max_ms);

/* etwd_host_close() - frees a host without sessions. */
void etwd_host_close(struct etwd_host *host);

/* etwd_host_main() - a host's life. @socket: to the keeper, taken. Returns the exit status. */
int etwd_host_main(const struct etwd_options *options, int socket);

#endif
