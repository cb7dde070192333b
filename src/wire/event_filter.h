/* SPDX-License-Identifier: MIT */
/*
 * What a session wants of a provider beyond level and keywords, as the filters of its enable say: which events, and which
 * of them with a stack. Kinds are combined by "and", what one kind lists by "or". Evaluated where the event is written,
 * before anything of it is copied: any thread, signal handlers included, no allocation.
 */
#ifndef ETW_WIRE_EVENT_FILTER_H
#define ETW_WIRE_EVENT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <evntprov.h>

#include "base/bytes.h"
#include "wire/filter_list.h"

/* One bit for each kind that a list has. */
enum wire_event_filter_kind {
	WIRE_EVENT_FILTER_PID = 0x01,
	WIRE_EVENT_FILTER_ID = 0x02,
	WIRE_EVENT_FILTER_NAME = 0x04,
	WIRE_EVENT_FILTER_PAYLOAD = 0x08,
	WIRE_EVENT_FILTER_STACK_ID = 0x10,
	WIRE_EVENT_FILTER_STACK_NAME = 0x20,
	WIRE_EVENT_FILTER_STACK_LEVEL = 0x40,
};

#define WIRE_EVENT_FILTER_STACKS \
	(WIRE_EVENT_FILTER_STACK_ID | WIRE_EVENT_FILTER_STACK_NAME | WIRE_EVENT_FILTER_STACK_LEVEL)

/* Made of a list, whose bytes it borrows. */
struct wire_event_filter {
	unsigned kinds; /* enum wire_event_filter_kind */
	uint32_t pid_count;
	uint32_t pids[WIRE_FILTER_PIDS_MAX];
	struct wire_filter_ids ids, stack_ids;
	uint64_t id_digest, stack_id_digest; /* bit id % 64 of each id */
	struct wire_filter_category names, stack_names, stack_level;
	const uint8_t *payload; /* wire_payload_filter_check() took it */
};

/*
 * wire_event_filter_read() - makes ready what a list says of events.
 *
 * @list: borrowed as long as @ret is used; what is not for events is left out
 *
 * Returns 0; errors of wire_filter_list_check(), with @ret unchanged.
 */
int wire_event_filter_read(struct etw_bytes list, struct wire_event_filter *ret);

/* An event that is about to be written. */
struct wire_event_subject {
	const GUID *provider;
	const EVENT_DESCRIPTOR *descriptor;
	const EVENT_DATA_DESCRIPTOR *data; /* data_count of them */
	uint32_t data_count;
	bool is_typed;       /* their Type means something; else all are payload */
	uint32_t process_id; /* who writes */
};

/* wire_event_filter_passes() - whether the session wants the event. */
bool wire_event_filter_passes(const struct wire_event_filter *filter,
			      const struct wire_event_subject *subject);

/*
 * wire_event_filter_takes_stack() - whether it is to have a stack, in a session that asks for stacks
 * (EVENT_ENABLE_PROPERTY_STACK_TRACE): all events are, unless a filter says otherwise.
 */
bool wire_event_filter_takes_stack(const struct wire_event_filter *filter,
				   const struct wire_event_subject *subject);

#endif
