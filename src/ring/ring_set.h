/* SPDX-License-Identifier: MIT */
/*
 * A ring set in memory: made by the host, mapped by both ends. Whoever maps one keeps its own copy of the
 * layout, checked once; nothing that steers an access is read from the shared page again.
 */
#ifndef ETW_RING_RING_SET_H
#define ETW_RING_RING_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/ring_layout.h"

/* What a ring set is to be; every number as in struct wire_ring_set. */
struct etw_ring_set_config {
	uint32_t cpu_count;
	uint32_t buffer_count;
	uint32_t buffer_bytes;
	uint32_t session_id;
	uint32_t uid;
	uint32_t clock_type;
	uint32_t flags;
};

/* A set's two memfds; -1: none. */
struct etw_ring_set_fds {
	int page;  /* the control page */
	int rings; /* all else */
};

/* A mapped set. The copy of the layout is what all code goes by. A writer's come first: one cache line. */
struct etw_ring_set {
	uint8_t *memory; /* total_bytes, mapped shared: the control page, at rings_at the rings */
	uint8_t *rings;
	uint64_t ring_stride;
	/* Of the rings, those that a writer may take by its CPU's number alone, with the CPU's counter for a clock. */
	uint32_t direct_count; /* 0 where CPUs share rings, or the clock is another */
	uint32_t slot_mask;    /* slot_count is a power of two */
	uint32_t buffer_units; /* of 8 bytes */
	uint32_t buffer_count;
	uint32_t queue_at, maps_at, buffers_at, ends_at; /* from a ring's start */
	uint64_t total_bytes;
	uint32_t rings_at;
	uint32_t cpu_count;
	uint32_t slot_count;
	uint32_t buffer_bytes;
	uint32_t session_id;
	uint32_t uid;
	uint32_t clock_type;
	uint32_t flags;
	uint32_t
		is_shared; /* one stream, or fewer rings than CPUs: several CPUs write to one ring */
};

/*
 * etw_ring_set_create() - makes the memfds: laid out, prefaulted, sealed, every buffer still unqueued.
 *
 * Returns 0 with owned close-on-exec descriptors; -EINVAL for numbers out of range; -ENOMEM or the
 * errno of memfd_create, ftruncate, fallocate, fcntl.
 */
int etw_ring_set_create(const struct etw_ring_set_config *config, struct etw_ring_set_fds *ret);

/* etw_ring_set_close() - closes the descriptors that there are. */
void etw_ring_set_close(struct etw_ring_set_fds *fds);

/* etw_ring_set_bytes() - the memory that a set of this configuration takes; 0 for numbers out of range. */
uint64_t etw_ring_set_bytes(const struct etw_ring_set_config *config);

/*
 * etw_ring_set_map() - maps a set: its control page, and right behind it the rings.
 *
 * @fds: borrowed for the call
 *
 * Checks seals, sizes and every number of the layout. Returns 0; -EPROTO for a set that is not sound;
 * the errno of fcntl, fstat, mmap.
 */
int etw_ring_set_map(const struct etw_ring_set_fds *fds, struct etw_ring_set *ret);

/* etw_ring_set_unmap() - takes a zeroed set. For an end that knows that no thread uses it. */
void etw_ring_set_unmap(struct etw_ring_set *set);

/*
 * etw_ring_set_retire_mapping() - puts private zeroed memory in the place of the shared one.
 *
 * A thread that is inside etw_ring_reserve() or copies an event stays safe: it writes to memory that
 * nobody reads, or finds no free buffer. The shared memory is given back; the range of addresses with
 * etw_ring_set_unmap(), when no thread is inside any more.
 * Returns 0 or the errno of mmap.
 */
int etw_ring_set_retire_mapping(struct etw_ring_set *set);

/*
 * etw_ring_set_lend() - descriptors for another process, by which the end that made the set knows when no process
 * has it any more.
 *
 * @own: of the end that made it
 *
 * The control page's is another open file of the same memory, with a lock on it that ends when nobody has this
 * descriptor nor maps what it names, a forked child included. Returns 0 with owned descriptors; the errno of
 * open, fcntl.
 */
int etw_ring_set_lend(const struct etw_ring_set_fds *own, struct etw_ring_set_fds *ret);

/*
 * etw_ring_set_is_lent() - some process has a lent control page still.
 *
 * @page: the descriptor of the end that made it, no lent one
 */
bool etw_ring_set_is_lent(int page);

/*
 * etw_ring_set_discard() - gives the memory of a set's rings back, whoever still holds them.
 *
 * @rings: borrowed for the call
 *
 * For the end that made them and is charged for them, when the set is retired and nobody reads it any more.
 * What a process fills again is its own memory. A writer that comes late is refused as ever: the control page
 * says so, and a word of 0 is none that any writer has ever seen. Returns 0 or the errno of fallocate, fstat.
 */
int etw_ring_set_discard(int rings);

/*
 * etw_ring_set_map_page() - maps the control page alone, for the end that made the set.
 *
 * @fd: the page's, borrowed for the call
 *
 * Returns 0; -EPROTO for what is not as large; the errno of fstat, mmap. etw_ring_set_unmap_page() takes NULL.
 */
int etw_ring_set_map_page(int fd, struct wire_ring_set **ret);
void etw_ring_set_unmap_page(struct wire_ring_set *page);

static inline struct wire_ring_set *etw_ring_set_page(const struct etw_ring_set *set)
{
	return (struct wire_ring_set *)(void *)set->memory;
}

/* @cpu: below set->cpu_count */
static inline uint8_t *etw_ring_at(const struct etw_ring_set *set, uint32_t cpu)
{
	return set->rings + cpu * set->ring_stride;
}

#endif
