/* SPDX-License-Identifier: MIT */
/* The header of one buffer, read and judged. */
#ifndef ETW_ETL_BUFFER_H
#define ETW_ETL_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/etl_buffer.h"

/* Flags that tell of loss before a buffer's events. */
#define ETW_BUFFER_LOSS_FLAGS \
	(WIRE_BUFFER_EVENTS_LOST | WIRE_BUFFER_BUFFER_LOST | WIRE_BUFFER_RTBACKUP_CORRUPT)

struct etw_etl_buffer {
	uint64_t offset;         /* of the buffer in the file */
	uint32_t number;         /* in file order, from 0 */
	uint32_t stride;         /* bytes on disk, header included */
	uint32_t valid_bytes;    /* header included; of a compressed buffer: decompressed */
	uint32_t saved_offset;   /* the same number again in data buffers */
	uint16_t processor;      /* index */
	uint16_t processor_word; /* the two bytes as stored, for BufferContext */
	uint16_t flags;          /* enum wire_buffer_flag */
	uint16_t type;           /* enum wire_buffer_type */
	uint16_t logger_id;
	uint32_t state;
	int64_t time_raw; /* when it was flushed */
	int64_t sequence;
};

/*
 * etw_etl_buffer_read() - takes a buffer header's fields from its 0x48 bytes.
 *
 * Judges nothing; `offset` and `number` stay 0.
 */
void etw_etl_buffer_read(const uint8_t *at, struct etw_etl_buffer *ret);

/*
 * etw_etl_buffer_fault() - why these fields cannot be those of a buffer.
 *
 * Returns NULL when they can, else a static sentence.
 */
const char *etw_etl_buffer_fault(const struct etw_etl_buffer *buffer);

/* etw_etl_buffer_is_unwritten() - whether the 0x48 bytes were never written: all zero or all ones. */
bool etw_etl_buffer_is_unwritten(const uint8_t *at);

/* etw_etl_buffer_holds_events() - whether buffers of this type hold events at all. */
bool etw_etl_buffer_holds_events(const struct etw_etl_buffer *buffer);

#endif
