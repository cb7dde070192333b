/* SPDX-License-Identifier: MIT */
/*
 * The last events of an output, held back so that one that comes a little late still goes to its place. What is held is
 * bounded: beyond that the earliest goes out. Equal times go out in the order in which they came.
 */
#ifndef ETW_RELOG_WINDOW_H
#define ETW_RELOG_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETW_RELOG_WINDOW_EVENTS 4096
#define ETW_RELOG_WINDOW_BYTES  (8u * 1024 * 1024)

struct etw_relog_held {
	int64_t time_raw;
	uint64_t order;
	uint16_t processor;
	uint16_t loss; /* WIRE_BUFFER_*: no event but a loss, without bytes */
	uint32_t bytes;
	uint8_t event[];
};

struct etw_relog_window {
	struct etw_relog_held *heap[ETW_RELOG_WINDOW_EVENTS]; /* owned; the earliest first */
	size_t count;
	size_t bytes;
	uint64_t order; /* of the next one */
};

/*
 * etw_relog_window_hold() - copies an event into the window, which must not be full.
 *
 * @like: what is said beside the bytes; `order` and `bytes` are set here
 *
 * Returns 0 or -ENOMEM.
 */
int etw_relog_window_hold(struct etw_relog_window *window, const struct etw_relog_held *like,
			  const uint8_t *event, uint32_t bytes);

/* etw_relog_window_is_full() - whether the earliest has to go out before another one comes. */
bool etw_relog_window_is_full(const struct etw_relog_window *window);

/* etw_relog_window_take() - the earliest, owned by the caller: free() it. NULL when there is none. */
struct etw_relog_held *etw_relog_window_take(struct etw_relog_window *window);

/* etw_relog_window_done() - frees what is held. */
void etw_relog_window_done(struct etw_relog_window *window);

#endif
