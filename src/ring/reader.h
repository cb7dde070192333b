/* SPDX-License-Identifier: MIT */
/*
 * The host's end of one ring: takes committed events in the order of their places, closes up holes, gives
 * buffers back. Nothing in the shared memory is trusted: sizes and places are checked on a copy, work is
 * bounded by the ring's size, and a ring whose word makes no sense is reported as broken.
 *
 * What must survive the host lies in struct etw_ring_durable, which the session engine keeps in memory
 * that outlives a process, and in the position that it commits together with its output buffers.
 */
#ifndef ETW_RING_READER_H
#define ETW_RING_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_set.h"

/* How far a ring has been read: events before it are in an output buffer. */
struct etw_ring_position {
	uint64_t
		slots; /* slots finished since the ring was made: the slot is this modulo slot_count */
	uint32_t offset; /* in the slot's buffer, bytes */
	uint32_t reserved_pad;
};

/* The assignment of buffers, host-private, kept for the next host. Written by the reader alone. */
struct etw_ring_durable {
	uint64_t queued; /* slots that have ever been given a buffer; atomic */
	uint16_t buffer_of_slot
		[WIRE_RING_SLOTS_MAX]; /* of slots [released, queued) modulo slot_count */
	uint64_t released;             /* slots whose buffer was taken back; atomic */
	uint8_t quarantined[WIRE_RING_SLOTS_MAX]; /* by buffer: 1: waits for its gaps */
	uint32_t
		quarantine_bytes[WIRE_RING_SLOTS_MAX]; /* of a quarantined buffer: its slot's end */
	uint32_t quarantine_events[WIRE_RING_SLOTS_MAX]; /* events that left it, and its gaps */
	/*
	 * Two for each buffer that was queued while the ring may have had none, and one for such during which a
	 * host died; odd: one is being queued. Atomic.
	 */
	uint64_t times_full;
};

/* What a ring has cost, cumulative since it was opened by this process unless noted. */
struct etw_ring_counts {
	uint64_t lost_no_buffer; /* as the writers say, since the ring was made: a claim */
	uint64_t lost_too_large; /* the same */
	uint64_t lost_in_gaps;   /* reserved, never committed in time: one for each gap */
	uint64_t rejected;       /* events that failed the check of their copy */
	uint32_t quarantined;    /* buffers that wait for gaps, now */
	uint32_t free_buffers;   /* now */
	uint32_t idle_buffers;   /* the open one, when all that was reserved in it is taken */
};

/* An event that can be taken. */
struct etw_ring_event {
	const uint8_t *at; /* in shared memory: copy it, then check the copy */
	uint32_t
		bytes; /* as its header said when it was looked at; at most what the buffer holds */
	int64_t time_raw; /* the same; 0 where it is too short for one */
};

/* Committed events that lie one behind the other in a buffer, from the one of the last peek on. */
struct etw_ring_run {
	const uint8_t *at; /* in shared memory: copy it, then check each event of the copy */
	uint32_t bytes;    /* with the padding of each event to 8; 0: there is no run */
	uint32_t count;    /* of events, as their headers say now */
};

struct etw_ring_reader;

/*
 * etw_ring_reader_open() - the reader of a ring.
 *
 * @set:      borrowed, mapped, outlives the reader
 * @durable:  borrowed, zeroed for a new ring, else what the last host left; outlives the reader
 * @position: where to go on; {0} for a new ring
 *
 * Buffers that neither wait in the queue nor are quarantined nor unread are queued again. Returns 0 or
 * -ENOMEM; -EPROTO when durable and position contradict each other.
 */
int etw_ring_reader_open(const struct etw_ring_set *set, uint32_t cpu,
			 struct etw_ring_durable *durable, struct etw_ring_position position,
			 struct etw_ring_reader **ret);

/* etw_ring_reader_close() - takes NULL. */
void etw_ring_reader_close(struct etw_ring_reader *reader);

enum etw_ring_look {
	ETW_RING_LOOK_CLOSED, /* closed buffers only: no disturbance of the writers */
	ETW_RING_LOOK_BUMP, /* also the open buffer: writers that are about to reserve read the clock anew */
	ETW_RING_LOOK_SWITCH, /* closes the open buffer, if it holds an event and another is free; else bumps */
};

/*
 * etw_ring_reader_look() - fixes what the next calls may take: all places reserved up to now.
 *
 * @now_raw: read before the call. After a look that bumps, events reserved later carry a time that is not
 *           before @now_raw (but for the reordering of a few instructions; see "Watermark")
 *
 * Returns 0; -EPROTO when the ring is broken (then nothing more can be taken; retire the set).
 */
int etw_ring_reader_look(struct etw_ring_reader *reader, enum etw_ring_look look, int64_t now_raw);

/*
 * etw_ring_reader_peek() - the next committed event of what was looked at.
 *
 * @now_ns: CLOCK_MONOTONIC, which ages gaps: after 100 ms in a closed buffer what lies behind a gap is
 *          taken and the gap counts as lost
 *
 * Returns 0 with the event; -EAGAIN at a gap that may still close; ETW_END when everything is taken.
 * A gap of the open buffer that is older than 100 ms stays one until the buffer is closed; the next look
 * that bumps then closes it, if another is free. It is passed all the same if the set was retired before the look.
 */
int etw_ring_reader_peek(struct etw_ring_reader *reader, uint64_t now_ns,
			 struct etw_ring_event *ret);

/* etw_ring_reader_take() - moves behind the event of the last peek; @is_good false counts a rejection. */
void etw_ring_reader_take(struct etw_ring_reader *reader, bool is_good);

/*
 * etw_ring_reader_peek_run() - the event of the last peek and those behind it that can be taken together with it.
 *
 * @room_bytes: the run has at most so many
 * @bound_raw:  and no event of a later time, as the headers say now
 *
 * A run ends before a gap, an event that was abandoned, and what makes no sense; and when it is long enough
 * that a longer one gains nothing.
 */
struct etw_ring_run etw_ring_reader_peek_run(const struct etw_ring_reader *reader,
					     uint32_t room_bytes, int64_t bound_raw);

/*
 * etw_ring_reader_take_run() - moves behind the first events of the last run.
 *
 * @bytes: of these events as the copy says, padding included; at most the run's
 */
void etw_ring_reader_take_run(struct etw_ring_reader *reader, uint32_t bytes, uint32_t count);

/*
 * etw_ring_reader_position() - behind the last event taken, and behind what peek stepped over since; to be
 * committed with the output.
 */
struct etw_ring_position etw_ring_reader_position(const struct etw_ring_reader *reader);

/*
 * etw_ring_reader_release() - gives back all buffers that were read to their end.
 *
 * To be called after the position was committed, with no peek or take between. Buffers with gaps are quarantined until each gap is
 * committed (counted then as lost) and only then queued again. When the set is retired, what was committed in
 * gaps is counted although others of the buffer stay open: the last release makes the account exact.
 */
void etw_ring_reader_release(struct etw_ring_reader *reader);

/* etw_ring_reader_oldest_gap_ns() - when the gap that holds the reader was first seen; 0: there is none. */
uint64_t etw_ring_reader_oldest_gap_ns(const struct etw_ring_reader *reader);

/*
 * etw_ring_reader_open_gap_ns() - the same of a gap in the open buffer, which only ends when the buffer is closed.
 */
uint64_t etw_ring_reader_open_gap_ns(const struct etw_ring_reader *reader);

/* etw_ring_reader_counts() - the account. */
void etw_ring_reader_counts(const struct etw_ring_reader *reader, struct etw_ring_counts *ret);

/*
 * etw_ring_reader_was_full() - whether a writer can have found no free buffer since the last call, or now.
 *
 * @seen: 0 at first; the caller's from call to call, also to the next host's
 *
 * True as well while a buffer is being queued, in the course of which it may have been so. Any thread;
 * after the load of what is held against it.
 */
bool etw_ring_reader_was_full(const struct etw_ring_reader *reader, uint64_t *seen);

/* etw_ring_reader_head() - the ring's shared words, which writers change. */
const struct wire_ring *etw_ring_reader_head(const struct etw_ring_reader *reader);

#endif
