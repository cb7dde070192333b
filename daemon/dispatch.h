/* SPDX-License-Identifier: MIT */
/* Messages to those who handle them, after a look at who may send them. */
#ifndef ETW_DAEMON_DISPATCH_H
#define ETW_DAEMON_DISPATCH_H

#include "daemon/peer.h"

/* Handles a message, and a peer's end: for etwd_host.peer_callbacks. */
extern const struct etwd_peer_callbacks etwd_dispatch_callbacks;

#endif
