/* SPDX-License-Identifier: MIT */
/* A BPF ring in plain memory, which the test fills as the kernel does. */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_RING_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_RING_H

#include <stdint.h>
#include <string.h>

#include "source/kernel/bpf/records.h"
#include "source/kernel/rings/ring.h"

#define FAKE_RING_BYTES 4096
#define FAKE_RING_BUSY  UINT32_C(0x80000000) /* still being written */
#define FAKE_TICK_NS    10000000             /* of the start times in procfs, at 100 Hz */

struct fake_ring {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[2 * FAKE_RING_BYTES];
};

static inline void fake_ring_open(struct fake_ring *fake, struct etw_kernel_ring *ring)
{
	memset(fake, 0, sizeof(*fake));
	etw_kernel_ring_init(ring, &fake->consumer, &fake->producer, fake->data, FAKE_RING_BYTES);
}

/* @bits: FAKE_RING_BUSY or 0. Returns where the record's header is, to change it. */
static inline uint32_t *fake_ring_put(struct fake_ring *fake, const void *record, uint32_t bytes,
				      uint32_t bits)
{
	const uint32_t header[2] = {bytes | bits, 0};
	const uint64_t at = fake->producer % FAKE_RING_BYTES;

	memcpy(fake->data + at, header, sizeof(header));
	memcpy(fake->data + at + sizeof(header), record, bytes);
	/* The kernel maps the data twice. */
	memcpy(fake->data + (at + FAKE_RING_BYTES) % sizeof(fake->data), fake->data + at,
	       sizeof(header) + bytes);
	fake->producer += (sizeof(header) + bytes + 7) & ~UINT64_C(7);
	return (uint32_t *)(void *)(fake->data + at);
}

/* A process of one thread starts, at @start_ticks of its own clock. */
static inline uint32_t *fake_ring_put_start(struct fake_ring *fake, uint64_t time_ns, uint32_t cpu,
					    uint32_t pid, uint32_t bits)
{
	struct etw_kernel_new_task record = {
		.head = {.time_ns = time_ns,
			 .cpu = cpu,
			 .kind = ETW_KERNEL_NEW_TASK,
			 .tid = 1,
			 .pid = 1},
		.task = {.start_ns = (uint64_t)pid * FAKE_TICK_NS,
			 .process_start_ns = (uint64_t)pid * FAKE_TICK_NS,
			 .tid = pid,
			 .pid = pid,
			 .parent_pid = 1,
			 .session_id = UINT32_MAX,
			 .name = "made"},
	};

	return fake_ring_put(fake, &record, sizeof(record), bits);
}

#endif
