/* SPDX-License-Identifier: MIT */
/* The memory of a BPF ring. See ring.h. */
#include "source/kernel/rings/ring.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"

#define RECORD_BUSY        (UINT32_C(1) << 31)
#define RECORD_DISCARDED   (UINT32_C(1) << 30)
#define RECORD_HEADER      8
#define RECORD_LENGTH_MASK (RECORD_DISCARDED - 1)

void etw_kernel_ring_init(struct etw_kernel_ring *ring, uint64_t *consumer,
			  const uint64_t *producer, const uint8_t *data, uint64_t byte_count)
{
	*ring = (struct etw_kernel_ring){
		.consumer = consumer,
		.producer = producer,
		.data = data,
		.byte_count = byte_count,
		.position = load_acquire(consumer),
	};
}

int etw_kernel_ring_open(struct etw_kernel_ring *ring, int fd, uint64_t byte_count)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	void *control, *data;

	if (!byte_count || byte_count & (byte_count - 1))
		return -EINVAL;
	control = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	data = mmap(NULL, page + 2 * byte_count, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (data == MAP_FAILED) {
		int error = -errno;

		munmap(control, page);
		return error;
	}
	etw_kernel_ring_init(ring, control, data, (const uint8_t *)data + page, byte_count);
	ring->control_map = control;
	ring->data_map = data;
	ring->page_bytes = page;
	return 0;
}

void etw_kernel_ring_close(struct etw_kernel_ring *ring)
{
	if (ring->control_map)
		munmap(ring->control_map, ring->page_bytes);
	if (ring->data_map)
		munmap(ring->data_map, ring->page_bytes + 2 * ring->byte_count);
	*ring = (struct etw_kernel_ring){0};
}

uint64_t etw_kernel_ring_end(const struct etw_kernel_ring *ring)
{
	/* Pairs with the kernel's release of a reservation. */
	return load_acquire(ring->producer);
}

int etw_kernel_ring_next(struct etw_kernel_ring *ring, uint64_t end,
			 struct etw_kernel_ring_record *ret)
{
	while (ring->position < end) {
		const uint8_t *at = ring->data + (ring->position & (ring->byte_count - 1));
		/* Pairs with the kernel's exchange when a record is submitted. */
		uint32_t word = load_acquire((const uint32_t *)(const void *)at);
		uint64_t whole = ALIGN_UP((uint64_t)(word & RECORD_LENGTH_MASK) + RECORD_HEADER,
					  UINT64_C(8));

		if (word & RECORD_BUSY)
			return -EAGAIN;
		if (whole > ring->byte_count || whole > end - ring->position)
			return -EBADMSG;
		ring->position += whole;
		if (word & RECORD_DISCARDED)
			continue;
		*ret = (struct etw_kernel_ring_record){
			.at = at + RECORD_HEADER,
			.byte_count = word & RECORD_LENGTH_MASK,
			.end = ring->position,
		};
		return 1;
	}
	return 0;
}

void etw_kernel_ring_release(struct etw_kernel_ring *ring, uint64_t position)
{
	/* Pairs with the kernel's load when it looks for room. */
	store_release(ring->consumer, position);
}
