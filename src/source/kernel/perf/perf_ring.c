/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"

int etw_kernel_perf_ring_map(struct etw_kernel_perf_ring *ring, uint64_t data_bytes, uint64_t least)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *control;

	do {
		ring->map = mmap(NULL, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				 ring->fd, 0);
		/* More than kernel.perf_event_mlock_kb is for who may lock memory. */
	} while (ring->map == MAP_FAILED && errno == EPERM && data_bytes > least &&
		 (data_bytes /= 2));
	if (ring->map == MAP_FAILED) {
		ring->map = NULL;
		return -errno;
	}
	control = ring->map;
	ring->data = (uint8_t *)ring->map + page;
	ring->byte_count = data_bytes;
	ring->position = load_relaxed(&control->data_tail); /* a former host wrote it */
	return 0;
}

int etw_kernel_perf_ring_enable(const struct etw_kernel_perf_ring *ring, bool is_on)
{
	if (ring->fd < 0)
		return 0;
	if (ioctl(ring->fd, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
		return -errno;
	return 0;
}

void etw_kernel_perf_ring_close(struct etw_kernel_perf_ring *ring)
{
	if (ring->map)
		munmap(ring->map, (uint64_t)sysconf(_SC_PAGESIZE) + ring->byte_count);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct etw_kernel_perf_ring){.fd = -1};
}

uint64_t etw_kernel_perf_ring_end(const struct etw_kernel_perf_ring *ring)
{
	const struct perf_event_mmap_page *control = ring->map;

	/* Pairs with the kernel's barrier before it moves the head. */
	return load_acquire(&control->data_head);
}

static void copy_out(const struct etw_kernel_perf_ring *ring, uint64_t position, uint8_t *to,
		     uint64_t bytes)
{
	uint64_t offset = position & (ring->byte_count - 1);
	uint64_t first = ring->byte_count - offset < bytes ? ring->byte_count - offset : bytes;

	memcpy(to, ring->data + offset, first);
	memcpy(to + first, ring->data, bytes - first);
}

int etw_kernel_perf_ring_next(struct etw_kernel_perf_ring *ring, uint64_t end, uint8_t *to)
{
	struct perf_event_header header;

	if (ring->position == end)
		return 0;
	if (end - ring->position < sizeof(header))
		return -EBADMSG;
	copy_out(ring, ring->position, (uint8_t *)&header, sizeof(header));
	if (header.size < sizeof(header) || header.size > end - ring->position)
		return -EBADMSG;
	copy_out(ring, ring->position, to, header.size);
	ring->position += header.size;
	return header.size;
}

void etw_kernel_perf_ring_release(struct etw_kernel_perf_ring *ring, uint64_t position)
{
	struct perf_event_mmap_page *control = ring->map;

	/* Pairs with the kernel's look at the tail when it wants room. */
	store_release(&control->data_tail, position);
}
