/* SPDX-License-Identifier: MIT */
/*
 * Delivery memory: how the host hands buffers to one real-time consumer. A memfd, made and written by the host, mapped
 * by the consumer: slots of one page each. A piece is an .etl buffer without the fill at its end; it takes as many slots,
 * one behind the other, as it needs. Slots are counted on without an end; slot = number modulo slot_count. A piece begins
 * where the piece before it ends, or where wire_delivery_begin() says. The consumer writes four words. Native byte order.
 * Source: docs/design/recording.md "Real time".
 */
#ifndef ETW_WIRE_DELIVERY_LAYOUT_H
#define ETW_WIRE_DELIVERY_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#define WIRE_DELIVERY_MAGIC   UINT32_C(0x564C4445) /* "EDLV" */
#define WIRE_DELIVERY_VERSION 2

struct wire_delivery {
	uint32_t magic;
	uint32_t version;
	uint32_t slot_count;
	uint32_t slot_bytes;   /* multiple of 4096 */
	uint32_t slots_at;     /* of the first slot */
	uint32_t buffer_slots; /* that a whole buffer takes */
	uint32_t reserved[10];
	/* 0x40: slots ever filled, and the pieces in them; atomic, host */
	uint64_t written, written_pieces;
	uint64_t last; /* the slot in which the last one of them begins; host */
	uint64_t reserved_written[5];
	/* 0x80: slots and pieces given back; atomic, consumer; the host bounds them by what it has announced */
	uint64_t released, released_pieces;
	/* Of what was announced: up to where the consumer needs no other host to tell it again; atomic, consumer. */
	uint64_t taken, taken_pieces;
	uint64_t reserved_released[4];
};
static_assert(sizeof(struct wire_delivery) == 0xC0, "layout");

/* wire_delivery_begin() - where a piece begins: not where a whole buffer would reach beyond the last slot. */
static inline uint64_t wire_delivery_begin(uint64_t at, uint32_t slot_count, uint32_t buffer_slots)
{
	uint64_t left = slot_count - at % slot_count;

	return left < buffer_slots ? at + left : at;
}

#endif
