/* SPDX-License-Identifier: MIT */
/*
 * Code of their own that processes announced (WIRE_IMAGE): kept as long as they are connected, so that sessions that start
 * later have it too, and handed on to the sessions of kernel events that run.
 *
 * A process speaks for itself alone, by the number that the kernel gave of it when it connected, and only of addresses
 * that programs can have. What it announces costs its uid memory here. Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_IMAGES_H
#define ETW_DAEMON_IMAGES_H

#include <stdint.h>

#include "base/announced.h"
#include "daemon/peer.h"
#include "daemon/sessions.h"

#define ETWD_IMAGES_PER_PROCESS_MAX 4096
#define ETWD_IMAGE_BYTES            256 /* that one costs at least */

struct etwd_image;

/* Of one process. Zeroed, it has none. */
struct etwd_images {
	struct etwd_images *next, **at; /* of those that have some */
	struct etwd_image *first, **last;
	uint32_t count;
};

/* Of all processes. */
struct etwd_image_table {
	struct etwd_images *first;
	struct etwd_sessions *sessions; /* borrowed */
	struct etwd_budget *budget;     /* borrowed */
	struct etwd_pids *pids;         /* borrowed */
};

/* etwd_images_handle() - WIRE_IMAGE. Returns 0, or -EPROTO when the message is not sound. */
int etwd_images_handle(struct etwd_image_table *table, struct etwd_images *images,
		       struct etwd_peer *peer, const struct etw_ipc_message *message);

/* etwd_images_gone() - the process has left: nothing that it announced holds any more. */
void etwd_images_gone(struct etwd_image_table *table, struct etwd_images *images,
		      const struct etwd_peer *peer);

/* etwd_images_meet() - a session has begun: it hears of all that is there. */
void etwd_images_meet(const struct etwd_image_table *table, const struct etwd_session *session);

#endif
