/* SPDX-License-Identifier: MIT */
/*
 * A ring set of one ring, mapped, with a reader and a clock page, and events that say who they are:
 * header, then a number as the payload. For tests of one process.
 */
#ifndef ETW_TESTS_UNIT_RING_MADE_RING_H
#define ETW_TESTS_UNIT_RING_MADE_RING_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "ring/reader.h"
#include "ring/writer.h"
#include "wire/etl_event.h"

#define MADE_EVENT_BYTES ((uint32_t)sizeof(struct wire_event_header) + 8)
#define MADE_GAP_NS      UINT64_C(100000000)

struct made_ring {
	struct wire_clock_page clock_page;
	struct etw_clock_page clock;
	struct etw_ring_set set;
	struct etw_ring_durable durable;
	struct etw_ring_reader *reader;
	struct etw_ring_set_fds fds;
};

/* Returns 0 or what failed. @flags: WIRE_RING_ONE_STREAM makes the ring the only one whatever the CPU. */
static inline int made_ring_open(struct made_ring *made, uint32_t buffers, uint32_t buffer_bytes)
{
	struct etw_ring_set_config config = {.cpu_count = 1,
					     .buffer_count = buffers,
					     .buffer_bytes = buffer_bytes,
					     .session_id = 3,
					     .uid = 1000,
					     .clock_type = ETW_CLOCK_QPC,
					     .flags = WIRE_RING_ONE_STREAM};

	*made = (struct made_ring){.fds = {-1, -1}};
	made->clock_page = (struct wire_clock_page){.magic = WIRE_CLOCK_PAGE_MAGIC,
						    .version = 1,
						    .kind = WIRE_CLOCK_TSC,
						    .frequency = 1000000000};
	made->clock.page = &made->clock_page;
	TRY(etw_ring_set_create(&config, &made->fds));
	TRY(etw_ring_set_map(&made->fds, &made->set));
	return etw_ring_reader_open(&made->set, 0, &made->durable, (struct etw_ring_position){0},
				    &made->reader);
}

static inline void made_ring_close(struct made_ring *made)
{
	etw_ring_reader_close(made->reader);
	etw_ring_set_unmap(&made->set);
	etw_ring_set_close(&made->fds);
}

static inline struct wire_ring *made_ring_head(struct made_ring *made)
{
	return (struct wire_ring *)(void *)etw_ring_at(&made->set, 0);
}

/* The header's first part and the number, @bytes long altogether. */
static inline void made_event_fill(const struct etw_ring_span *span, uint32_t bytes,
				   uint64_t number)
{
	struct wire_event_header header = {.header_type = WIRE_HEADER_EVENT64,
					   .header_flag = WIRE_EVENT_FLAG_TRACE};

	header.bytes = le16_of((uint16_t)bytes);
	header.time_raw = le64_of((uint64_t)span->time_raw);
	memcpy(span->at, &header, sizeof(header));
	etw_store64(span->at + sizeof(header), number);
}

static inline int made_event_reserve(struct made_ring *made, uint32_t bytes, uint64_t number,
				     struct etw_ring_span *ret)
{
	TRY(etw_ring_reserve(&made->set, &made->clock, bytes, ret));
	made_event_fill(ret, bytes, number);
	return 0;
}

static inline int made_event_write(struct made_ring *made, uint64_t number)
{
	struct etw_ring_span span;

	TRY(made_event_reserve(made, MADE_EVENT_BYTES, number, &span));
	etw_ring_commit(&span);
	return 0;
}

static inline uint64_t made_event_number(const struct etw_ring_event *event)
{
	return etw_load64(event->at + sizeof(struct wire_event_header));
}

/* Peeks and takes. Returns the number of the event; 0: none, *@ret_status says why. */
static inline uint64_t made_event_take(struct made_ring *made, uint64_t now_ns, int *ret_status)
{
	struct etw_ring_event event;
	int status = etw_ring_reader_peek(made->reader, now_ns, &event);
	uint64_t number = 0;

	if (status == 0) {
		number = made_event_number(&event);
		etw_ring_reader_take(made->reader, true);
	}
	if (ret_status)
		*ret_status = status;
	return number;
}

#endif
