/* SPDX-License-Identifier: MIT */
/*
 * The blocks of EVENT_FILTER_HEADER that a provider's callback gets: one of each session that passed a SCHEMATIZED filter,
 * behind each other. Sessions leave InstanceId and NextOffset 0; the host sets them.
 * Source: Microsoft, "EVENT_FILTER_HEADER structure", "EnableCallback callback function".
 */
#ifndef ETW_WIRE_FILTER_HEADER_H
#define ETW_WIRE_FILTER_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Blocks while they are put together; zero but for the room: none yet. */
struct wire_filter_blocks {
	uint8_t *at;
	size_t room, bytes;
	size_t last; /* where the last one begins */
};

/* wire_filter_header_is_sound() - whether a filter is a block: its header says a size that it has. */
bool wire_filter_header_is_sound(struct etw_bytes block);

/* wire_filter_blocks_add() - a sound block more. Returns false where there is no room for it. */
bool wire_filter_blocks_add(struct wire_filter_blocks *blocks, struct etw_bytes block,
			    uint64_t instance);

/*
 * wire_filter_blocks_shift() - moves the InstanceId of each block up by @bits. What is no list of blocks is left alone from
 * there on.
 */
void wire_filter_blocks_shift(uint8_t *at, size_t bytes, unsigned bits);

#endif
