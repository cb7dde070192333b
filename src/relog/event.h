/* SPDX-License-Identifier: MIT */
/*
 * An event on its way from one trace to another: its bytes as they are stored, and the record that shows them. What is
 * changed in the record is laid into the bytes when the event is written; what is not changed stays as it was, byte for
 * byte: header type, stored flags, extended data items.
 *
 * | header               | what has a place in it                                                            |
 * |----------------------|-----------------------------------------------------------------------------------|
 * | EVENT                | everything                                                                        |
 * | FULL, INSTANCE       | class, opcode, version, level, ids, time, thread times                            |
 * | SYSTEM, COMPACT      | the same while the kernel has a hook of that class and opcode; else it becomes FULL |
 * | PERFINFO             | class, opcode, version, time; for more it becomes SYSTEM or FULL, without counters  |
 * | a WPP message        | provider, number, ids, time: what it had no place for is added to its header       |
 *
 * Source: docs/relogging.md.
 */
#ifndef ETW_RELOG_EVENT_H
#define ETW_RELOG_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#define ETW_RELOG_EVENT_BYTES_MAX 0xFFFFu /* what a header can say */

struct etw_relog_event {
	EVENT_RECORD record;  /* TimeStamp is raw; what it points to is borrowed */
	const uint8_t *bytes; /* as stored; borrowed; NULL for an event of loss */
	uint32_t byte_count;
	uint8_t header_type; /* enum wire_header_type */
	uint16_t loss;       /* of an event of loss: the WIRE_BUFFER_* flag that it tells of */
	bool is_in_head;     /* it stands in a header buffer */
	bool is_copy;        /* of one that was shown */
	size_t stream;       /* whose clock its time is of */
	/* What the record said at first. */
	EVENT_HEADER header_before;
	const void *payload_before;
	USHORT payload_bytes_before;
};

/* etw_relog_event_note() - takes the record for what the bytes say: changes count from here. */
void etw_relog_event_note(struct etw_relog_event *event);

/* etw_relog_event_is_changed() - whether the record says something else than it said when it was noted. */
bool etw_relog_event_is_changed(const struct etw_relog_event *event);

/* etw_relog_event_processor() - the processor of its buffer. */
uint16_t etw_relog_event_processor(const struct etw_relog_event *event);

/*
 * etw_relog_event_set_processor() - Returns false, and changes nothing, for more than a buffer can say.
 */
bool etw_relog_event_set_processor(struct etw_relog_event *event, uint32_t processor);

/*
 * etw_relog_event_make() - an event without payload, as one of a program.
 *
 * @flags: EVENT_HEADER_FLAG_CLASSIC_HEADER, _TRACE_MESSAGE or neither; _32_BIT_HEADER or _64_BIT_HEADER
 * @room:  for its header, ETW_RELOG_HEADER_BYTES_MAX; borrowed by the event
 */
#define ETW_RELOG_HEADER_BYTES_MAX 0x50
void etw_relog_event_make(USHORT flags, uint8_t *room, struct etw_relog_event *ret);

/*
 * etw_relog_event_encode() - the bytes that say what the record says.
 *
 * @room: ETW_RELOG_EVENT_BYTES_MAX bytes
 * @ret:  in @room, or the event's own
 *
 * Returns 0; -EMSGSIZE: larger than an event can be; -EOPNOTSUPP: the record has an activity where the header has no place
 * for one, or counters would be lost.
 */
int etw_relog_event_encode(const struct etw_relog_event *event, uint8_t *room, const uint8_t **ret,
			   uint32_t *ret_bytes);

#endif
