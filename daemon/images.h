/* SPDX-License-Identifier: MIT */
/*
 * Code of their own that processes announced (WIRE_IMAGE): kept as long as they are connected, so that sessions that start
 * later have it too, and handed on to the sessions of kernel events that run.
 *
 * A process speaks for itself alone, by the number that the kernel gave of it when it connected, and only of addresses
 * that programs can have. What it announces costs its uid memory here, until nobody has it any more: sessions keep what
 * children have inherited, and what waits for their threads. Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_IMAGES_H
#define ETW_DAEMON_IMAGES_H

#include <stdint.h>

#include "base/announced.h"
#include "daemon/peer.h"
#include "daemon/sessions.h"

#define ETWD_IMAGES_PER_PROCESS_MAX 4096
#define ETWD_IMAGE_BYTES            256 /* that one costs at least */
#define ETWD_IMAGE_PATHS            4   /* copies of its path, which a session has in two forms */

/* One, with the symbols that came later. */
struct etwd_image {
	struct etwd_image *next;
	uint32_t number; /* the process' own */
	uint32_t more_count;
	struct etw_announced_image *image; /* a reference */
	struct etw_announced_image **more; /* owned, each with a reference */
};

/* Of one process. Zeroed, it has none. */
struct etwd_images {
	struct etwd_images *next, **at; /* of those that have some */
	struct etwd_image *first, **last;
	uint32_t count;
};

/* Of all processes. */
struct etwd_image_table {
	struct etwd_images *first;
	struct etwd_sessions *sessions;        /* borrowed */
	struct etwd_budget *budget;            /* borrowed */
	struct etwd_pids *pids;                /* borrowed */
	struct etw_announced_charges *charges; /* owned; NULL: nothing was announced yet */
};

/* etwd_images_handle() - WIRE_IMAGE. Returns 0, or -EPROTO when the message is not sound. */
int etwd_images_handle(struct etwd_image_table *table, struct etwd_images *images,
		       struct etwd_peer *peer, const struct etw_ipc_message *message);

/* etwd_images_gone() - the process has left: nothing that it announced holds any more. */
void etwd_images_gone(struct etwd_image_table *table, struct etwd_images *images);

/* etwd_images_settle() - gives back to the budget what nobody has any more. */
void etwd_images_settle(struct etwd_image_table *table);

/* etwd_images_done() - when all processes are gone. Sessions may still have what some of them announced. */
void etwd_images_done(struct etwd_image_table *table);

/* etwd_images_meet() - a session has begun: it hears of all that is there. */
void etwd_images_meet(const struct etwd_image_table *table, const struct etwd_session *session);

#endif
