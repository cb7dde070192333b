/* SPDX-License-Identifier: MIT */
/*
 * The memory that provider processes and the host share: a ring set, one for each session and uid, with
 * one ring for each processor. Two memfds, sealed against shrinking and growing, made by the host: the control
 * page, which the host keeps when the set is retired, and the rings, which it lets go of. Both ends map one
 * behind the other, and go by offsets in that range:
 *
 *	0         the control page: struct wire_ring_set
 *	rings_at  up to a page of nothing, by the session's id, so that the rings of sessions share no cache lines
 *	          the rings; of processor 0:  struct wire_ring
 *	                                      u64 ends[slot_count]
 *	                                      u32 queue[slot_count]
 *	                                      u8  map[buffer_count][buffer_bytes / 8]
 *	                                      u8  buffer[buffer_count][buffer_bytes]
 *	          of processor 1 ring_stride behind ...
 *
 * Native byte order: both ends run on one machine. Neither end trusts it: the host copies before it
 * checks, a writer takes sizes from its own copy of the layout and bounds what it loads.
 *
 * | field            | writers                                 | host                              |
 * |------------------|-----------------------------------------|-----------------------------------|
 * | wire_ring.word   | CAS: reserve, switch                    | add: bump; CAS: switch            |
 * | wire_ring.lost_*, .filtered | add                          | load                              |
 * | ends[]           | CAS to a larger value, before a switch  | the same; load of closed slots;   |
 * |                  |                                         | store before the slot is queued   |
 * | queue[]          | load acquire                            | store release                     |
 * | map[][]          | store release of a reserved event's     | load acquire; clears what no      |
 * |                  | first byte: commit, abandon             | writer can reserve any more       |
 * | buffer[][]       | what it reserved                        | load, of committed events         |
 * | wire_ring_set.asleep | load; exchange before a wake        | store before it waits             |
 * | wire_ring_set.refused | CAS: + 1, while it is not over     | or: over; load                    |
 *
 * Source: docs/design/recording.md "Rings".
 */
#ifndef ETW_WIRE_RING_LAYOUT_H
#define ETW_WIRE_RING_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_RING_SET_MAGIC   UINT32_C(0x474E5245) /* "ERNG" */
#define WIRE_RING_SET_VERSION 4
#define WIRE_RING_CPUS_MAX    2048
#define WIRE_RING_SLOTS_MAX   1024
#define WIRE_RING_BUFFERS_MAX (WIRE_RING_SLOTS_MAX - 1)
#define WIRE_RING_PAGE_BYTES  4096

/*
 * The word of a ring: generation (32 bits), slot (10), offset in units of 8 bytes (22). The generation
 * counts switches and bumps, so that a writer that was stopped for long fails and reads the clock anew.
 * The slot counts switches modulo slot_count; queue[slot] names the buffer.
 */
#define WIRE_RING_OFFSET_BITS 22
#define WIRE_RING_SLOT_BITS   10
#define WIRE_RING_OFFSET_MASK ((UINT64_C(1) << WIRE_RING_OFFSET_BITS) - 1)
#define WIRE_RING_SLOT_MASK   ((UINT64_C(1) << WIRE_RING_SLOT_BITS) - 1)

static inline uint64_t wire_ring_word(uint32_t generation, uint32_t slot, uint32_t offset_units)
{
	return (uint64_t)generation << 32 | (uint64_t)slot << WIRE_RING_OFFSET_BITS | offset_units;
}

static inline uint32_t wire_ring_word_generation(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint32_t wire_ring_word_slot(uint64_t word)
{
	return (uint32_t)(word >> WIRE_RING_OFFSET_BITS & WIRE_RING_SLOT_MASK);
}

/* In units of 8 bytes. */
static inline uint32_t wire_ring_word_offset(uint64_t word)
{
	return (uint32_t)(word & WIRE_RING_OFFSET_MASK);
}

/*
 * ends[slot]: generation and offset of the word at which the slot was left. Compared by their difference,
 * because generations wrap; the host keeps them within half a turn of the word's.
 */
static inline uint64_t wire_ring_end(uint32_t generation, uint32_t offset_units)
{
	return (uint64_t)generation << 32 | offset_units;
}

/* In units of 8 bytes. */
static inline uint32_t wire_ring_end_offset(uint64_t end)
{
	return (uint32_t)end;
}

static inline int wire_ring_end_is_before(uint64_t end, uint64_t other)
{
	return (int64_t)(end - other) < 0;
}

/* A byte of a buffer's map; the one that belongs to an event's first 8 bytes. */
enum wire_ring_mark {
	WIRE_RING_EMPTY = 0,     /* not reserved, or reserved and not yet committed */
	WIRE_RING_COMMITTED = 1, /* the whole event is there */
	WIRE_RING_ABANDONED = 2, /* only its first 8 bytes are: they tell its size */
};

/* queue[slot]: 0 while no buffer is there, else the buffer's index + 1. */
#define WIRE_RING_QUEUE_EMPTY 0

enum wire_ring_set_flag {
	WIRE_RING_INDEPENDENT = 0x0001, /* EVENT_TRACE_INDEPENDENT_SESSION_MODE */
	WIRE_RING_ONE_STREAM = 0x0002,  /* EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING: ring 0 for all */
};

/*
 * wire_ring_set.refused of a retired set. While its session runs on, each event that a writer has for this set
 * adds one, whatever other sets took: it is lost here. When the session is over the word says so, and does not
 * change again.
 */
#define WIRE_RING_OVER (UINT64_C(1) << 63)

static inline uint64_t wire_ring_refused(uint64_t refused)
{
	return refused & ~WIRE_RING_OVER;
}

struct wire_ring_set {
	uint32_t magic;
	uint32_t version;
	uint32_t cpu_count;    /* rings */
	uint32_t buffer_count; /* of a ring: 2 .. WIRE_RING_BUFFERS_MAX */
	uint32_t slot_count;   /* power of two, more than buffer_count */
	uint32_t buffer_bytes; /* of a buffer, multiple of 8, for events alone */
	uint32_t rings_at;     /* bytes of the control page; the first ring follows */
	uint32_t flags;        /* enum wire_ring_set_flag */
	uint64_t ring_stride;
	uint64_t total_bytes; /* of both memfds */
	uint32_t session_id;
	uint32_t uid;
	uint32_t clock_type; /* enum etw_clock_type of the session */
	uint32_t is_retired; /* atomic; set by the host: reserve fails; `refused` says why */
	uint32_t reserved_config[48];
	uint32_t asleep; /* 0x100, own cache line; atomic, futex: 1 while the host waits */
	uint32_t reserved_wake[31];
	uint64_t refused; /* 0x180, own cache line; atomic: WIRE_RING_OVER, else a count */
	uint64_t reserved_refused[7];
};
static_assert(sizeof(struct wire_ring_set) == 0x1C0, "layout");
static_assert(offsetof(struct wire_ring_set, refused) == 0x180, "layout");

struct wire_ring {
	uint64_t word; /* atomic */
	uint64_t reserved_word[7];
	uint64_t lost_no_buffer; /* 0x40; atomic: no free buffer */
	uint64_t lost_too_large; /* atomic: larger than a buffer */
	uint64_t filtered;       /* atomic: taken away by the session's filters; not lost */
	uint64_t reserved_lost[5];
};
static_assert(sizeof(struct wire_ring) == 0x80, "layout");

#endif
