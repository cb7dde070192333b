/* SPDX-License-Identifier: MIT */
/*
 * A ring that perf writes records of one processor into, and how it is read; of whatever they tell.
 *
 * Context: one thread at a time.
 * Source: perf_event_open(2).
 */
#ifndef ETW_SOURCE_KERNEL_PERF_PERF_RING_H
#define ETW_SOURCE_KERNEL_PERF_PERF_RING_H

#include <stdbool.h>
#include <stdint.h>

struct etw_kernel_perf_ring {
	int fd; /* owned; -1: the processor is not there */
	uint32_t cpu;
	void *map; /* owned: a page of positions, then the data */
	uint8_t *data;
	uint64_t byte_count; /* of the data; a power of two */
	uint64_t position;
	bool is_gone; /* its processor went offline since it was opened: nothing more comes */
};

/* Bytes that a record may have; perf's size field has 16 bits. */
#define ETW_KERNEL_PERF_RECORD_MAX 65536

/*
 * etw_kernel_perf_ring_map() - maps the ring of an event, which is open already.
 *
 * @data_bytes: a power of two and a multiple of the page; less is taken where the kernel allows no more
 * @least:      bytes that it may have
 *
 * Returns 0 or negative errno.
 */
int etw_kernel_perf_ring_map(struct etw_kernel_perf_ring *ring, uint64_t data_bytes,
			     uint64_t least);

/* etw_kernel_perf_ring_enable() - records from now on, or no more. Returns 0, also where it is not open; else negative errno. */
int etw_kernel_perf_ring_enable(const struct etw_kernel_perf_ring *ring, bool is_on);

/* etw_kernel_perf_ring_close() - does nothing when it is not open. */
void etw_kernel_perf_ring_close(struct etw_kernel_perf_ring *ring);

/* etw_kernel_perf_ring_end() - where the kernel writes next. */
uint64_t etw_kernel_perf_ring_end(const struct etw_kernel_perf_ring *ring);

/*
 * etw_kernel_perf_ring_next() - copies the next record before @end out.
 *
 * @to: ETW_KERNEL_PERF_RECORD_MAX bytes, 8-aligned
 *
 * Returns its bytes; 0 at the end; -EBADMSG when the ring makes no sense.
 */
int etw_kernel_perf_ring_next(struct etw_kernel_perf_ring *ring, uint64_t end, uint8_t *to);

/* etw_kernel_perf_ring_release() - the kernel may write over everything before @position. */
void etw_kernel_perf_ring_release(struct etw_kernel_perf_ring *ring, uint64_t position);

#endif
