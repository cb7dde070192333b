/* SPDX-License-Identifier: MIT */
/* Messages to those who handle them, after a look at who may send them. */
#ifndef ETW_DAEMON_DISPATCH_H
#define ETW_DAEMON_DISPATCH_H

#include "daemon/peer.h"

/*
 * etwd_dispatch() - handles one message.
 *
 * Returns 0; -EPROTO: the peer does not keep to the protocol and is to be disconnected.
 */
int etwd_dispatch(struct etwd_peer *peer, struct etw_ipc_message *message);

/* etwd_dispatch_gone() - a peer is disconnected, and already out of the list: undo what it held. */
void etwd_dispatch_gone(struct etwd_peer *peer);

#endif
