/* SPDX-License-Identifier: MIT */
/* Messages to those who handle them, after a look at who may send them; and what goes when a peer is gone. */
#ifndef ETW_DAEMON_DISPATCH_H
#define ETW_DAEMON_DISPATCH_H

#include <stdbool.h>

#include "daemon/clock.h"
#include "daemon/descriptors.h"
#include "daemon/enable.h"
#include "daemon/private_sessions.h"
#include "daemon/session_end.h"

struct etwd_profile_interval; /* daemon/profile_interval.h */

/* The parts of the host that messages go to. All borrowed. */
struct etwd_dispatch_parts {
	bool is_system;
	const struct etwd_clock *clock; /* WELCOME brings its page */
	const struct etwd_enable_parts *enable;
	const struct etwd_session_parts *session;
	const struct etwd_private_parts *private_parts;
	struct etwd_descriptors *security;
	struct etwd_profile_interval *profile_interval;
};

/* Handles a message, and a peer's end: for etwd_peers_init(), with a struct etwd_dispatch_parts as context. */
extern const struct etwd_peer_callbacks etwd_dispatch_callbacks;

#endif
