/* SPDX-License-Identifier: MIT */
/*
 * How a link gets to a host and loses it: looking for its page, calling, trying again, and ending what a host left
 * that cannot come back.
 */
#ifndef ETW_PROVIDER_LINK_CONNECT_H
#define ETW_PROVIDER_LINK_CONNECT_H

#include <stdint.h>

#include "provider/link.h"

/*
 * etw_link_advance() - one look for the host: maps the page, calls, and ends what a host left that cannot come
 * back. One that can come back is waited for without a limit: its keeper holds the rings and the
 * listening socket, and with it the call. Owner thread (the listener), not holding the lock.
 */
void etw_link_advance(struct etw_link *link, uint64_t now_ns);

/* etw_link_receive() - takes all messages that are there, or the answer to the call. Owner thread, not holding the lock. */
void etw_link_receive(struct etw_link *link, struct etw_ipc_message *message);

#endif
