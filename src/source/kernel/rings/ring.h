/* SPDX-License-Identifier: MIT */
/*
 * The memory of a BPF ring, read in place. The consumer's position goes back to the kernel only when
 * the engine says that everything is safe, so that a host that dies finds its records again.
 *
 * Layout (Linux' include/uapi and Documentation/bpf/ringbuf.rst): a page with the consumer's position,
 * a page with the producer's, the data, and the data once more, so that a record never wraps for its
 * reader. A record is a dword with its length and two bits, a dword for the kernel, and the bytes,
 * rounded up to 8.
 */
#ifndef ETW_SOURCE_KERNEL_RINGS_RING_H
#define ETW_SOURCE_KERNEL_RINGS_RING_H

#include <stdint.h>

struct etw_kernel_ring {
	uint64_t *consumer;       /* shared with the kernel; written by us */
	const uint64_t *producer; /* shared with the kernel */
	const uint8_t *data;      /* twice @byte_count */
	uint64_t byte_count;      /* a power of two */
	uint64_t position;        /* read up to here */
	void *control_map;        /* owned mappings; NULL when the memory is somebody else's */
	void *data_map;
	uint64_t page_bytes;
};

struct etw_kernel_ring_record {
	const uint8_t *at; /* 8-aligned; stays until the position is given back */
	uint32_t byte_count;
	uint64_t end; /* position behind it */
};

/* etw_kernel_ring_init() - over memory of the given shape; starts where the consumer stands. */
void etw_kernel_ring_init(struct etw_kernel_ring *ring, uint64_t *consumer,
			  const uint64_t *producer, const uint8_t *data, uint64_t byte_count);

/*
 * etw_kernel_ring_open() - maps the ring of a map.
 *
 * @fd:         a BPF_MAP_TYPE_RINGBUF; borrowed during the call
 * @byte_count: of its data: a power of two
 *
 * Returns 0; -EINVAL for another @byte_count; else what mmap() said, negative.
 */
int etw_kernel_ring_open(struct etw_kernel_ring *ring, int fd, uint64_t byte_count);

/* etw_kernel_ring_close() - unmaps; does nothing for memory that was given. */
void etw_kernel_ring_close(struct etw_kernel_ring *ring);

/* etw_kernel_ring_end() - the producer's position now. */
uint64_t etw_kernel_ring_end(const struct etw_kernel_ring *ring);

/*
 * etw_kernel_ring_next() - the next record before @end; discarded ones are stepped over.
 *
 * Returns 1 with @ret; 0 when @end is reached; -EAGAIN at a record that is still being written;
 * -EBADMSG when the memory makes no sense (reading must stop).
 */
int etw_kernel_ring_next(struct etw_kernel_ring *ring, uint64_t end,
			 struct etw_kernel_ring_record *ret);

/* etw_kernel_ring_release() - the kernel may use everything before @position again. */
void etw_kernel_ring_release(struct etw_kernel_ring *ring, uint64_t position);

#endif
