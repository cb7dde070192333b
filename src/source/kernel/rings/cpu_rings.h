/* SPDX-License-Identifier: MIT */
/*
 * The rings of frequent events, one for each processor, read in place: the records of a processor in order of time, each
 * until it is taken, and its memory until everything before it is safe.
 *
 * The records of a ring are nearly in order: a program that interrupts another has the earlier time and the later place.
 * Each is put where its time belongs when it is read; nothing is shown that is later than the moment up to which
 * everything was read.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_RINGS_CPU_RINGS_H
#define ETW_SOURCE_KERNEL_RINGS_CPU_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/rings/ring.h"

#define ETW_KERNEL_CPU_DISORDER 64 /* records that may come behind one that is later in time */

/* A record that was read and not taken. */
struct etw_kernel_cpu_place {
	const struct etw_kernel_cpu_record *at; /* complete: its payload and its frames are there */
	uint64_t time_ns; /* the record's, but never before what was taken already */
	uint64_t low;     /* the least position of this record and all that follow it in time */
};

struct etw_kernel_cpu_ring {
	struct etw_kernel_ring ring;
	struct etw_kernel_cpu_place *places; /* owned; a ring buffer of @room places */
	size_t first, count, room;           /* room: 0 or a power of two */
	uint64_t taken_ns;                   /* of the last record that was taken */
	uint64_t
		last_ns[ETW_KERNEL_CPU_DISORDER]; /* of the last records that were read, by place */
	uint64_t read_count;
	uint64_t malformed; /* records that did not hold what they said */
	bool is_broken;     /* the memory made no sense */
};

struct etw_kernel_cpu_rings {
	struct etw_kernel_cpu_ring *at; /* owned */
	uint32_t count;                 /* 0: frequent events were never wanted */
	/* Is told of a copied stack, borrowed: it is no event, and needs no place. NULL: nobody wants them. */
	void (*copied)(void *context, uint32_t cpu, const struct etw_kernel_cpu_record *record);
	void *context;
	/* Is told of each record that names a file when it is read, borrowed, in no order of time. NULL: nobody asks. */
	void (*named)(void *naming, const struct etw_kernel_cpu_record *record);
	void *naming;
};

/*
 * etw_kernel_cpu_rings_open() - maps the rings of @fds; borrowed during the call.
 *
 * @rings: none is open; who is to be told of what stays as it is
 *
 * Returns 0, -ENOMEM, or what mmap() said, negative; nothing is open then.
 */
int etw_kernel_cpu_rings_open(struct etw_kernel_cpu_rings *rings, const int *fds, uint32_t count,
			      uint64_t byte_count);

/* etw_kernel_cpu_rings_close() - takes what was zeroed. */
void etw_kernel_cpu_rings_close(struct etw_kernel_cpu_rings *rings);

/*
 * etw_kernel_cpu_rings_read() - what has come, bounded.
 *
 * @ret_until_ns: where a ring was not read to its end, lowered to a moment before which nothing of it is to come
 *
 * Returns 0 when every ring was read up to where it was when the call began; 1 when there is more, or a record is being
 * written; -ENOMEM.
 */
int etw_kernel_cpu_rings_read(struct etw_kernel_cpu_rings *rings, uint64_t *ret_until_ns);

/* etw_kernel_cpu_rings_peek() - the earliest record of a processor, up to @until_ns; NULL: none. Borrowed. */
const struct etw_kernel_cpu_place *etw_kernel_cpu_rings_peek(
	const struct etw_kernel_cpu_rings *rings, uint32_t cpu, uint64_t until_ns);

/* etw_kernel_cpu_rings_waiting() - the record with this number of those of a processor that were read and not taken; NULL: there are fewer. Borrowed. */
const struct etw_kernel_cpu_place *etw_kernel_cpu_rings_waiting(
	const struct etw_kernel_cpu_rings *rings, uint32_t cpu, size_t number);

/* etw_kernel_cpu_rings_has_unread() - whether a processor has records that were not read yet. */
bool etw_kernel_cpu_rings_has_unread(const struct etw_kernel_cpu_rings *rings, uint32_t cpu);

/* etw_kernel_cpu_rings_pop() - takes the earliest record; there must be one. Its memory stays until the release. */
void etw_kernel_cpu_rings_pop(struct etw_kernel_cpu_rings *rings, uint32_t cpu);

/* etw_kernel_cpu_rings_release() - the kernel may use the memory of what was taken again. */
void etw_kernel_cpu_rings_release(struct etw_kernel_cpu_rings *rings);

#endif
