/* SPDX-License-Identifier: MIT */
/*
 * Delivery memory: how the host hands buffers to one real-time consumer. A memfd, made and written by the
 * host, mapped by the consumer; slots of equal size, each a whole .etl buffer. Batches name slots by a
 * number that counts on; slot = number modulo slot_count. The consumer writes one word: how many it has
 * given back. Native byte order.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_WIRE_DELIVERY_LAYOUT_H
#define ETW_WIRE_DELIVERY_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define WIRE_DELIVERY_MAGIC UINT32_C(0x564C4445) /* "EDLV" */

struct wire_delivery {
	uint32_t magic;
	uint32_t version;    /* 1 */
	uint32_t slot_count; /* power of two */
	uint32_t slot_bytes; /* multiple of 4096 */
	uint32_t slots_at;   /* of the first slot */
	uint32_t reserved[11];
	uint64_t written; /* 0x40: buffers ever written; atomic, host */
	uint64_t reserved_written[7];
	uint64_t
		released; /* 0x80: buffers given back; atomic, consumer; the host bounds it by `written` */
	uint64_t reserved_released[7];
};
static_assert(sizeof(struct wire_delivery) == 0xC0, "layout");

#endif
