/* SPDX-License-Identifier: MIT */
/* How the bytes of events are put together that have PERFINFO headers, or SYSTEM ones. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_EVENT_BYTES_H
#define ETW_SOURCE_KERNEL_EVENTS_EVENT_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/etl_event.h"

#define GROUP_DISK      0x01
#define GROUP_MEMORY    0x02
#define GROUP_FILE      0x04
#define GROUP_THREAD    0x05
#define GROUP_PERFINFO  0x0F
#define GROUP_POWER     0x12
#define GROUP_STACKWALK 0x18
#define GROUP_SPLIT     0x1B

#define PERFINFO_VERSION 2 /* of events that are given no other: etw_kernel_event_version() */

static inline uint8_t *put8(uint8_t *at, uint8_t value)
{
	*at = value;
	return at + 1;
}

static inline uint8_t *put16(uint8_t *at, uint16_t value)
{
	etw_store16(at, value);
	return at + 2;
}

static inline uint8_t *put32(uint8_t *at, uint32_t value)
{
	etw_store32(at, value);
	return at + 4;
}

static inline uint8_t *put64(uint8_t *at, uint64_t value)
{
	etw_store64(at, value);
	return at + 8;
}

/* A PERFINFO header; returns where the payload begins. */
static inline uint8_t *etw_kernel_event_begin(uint8_t *to, uint8_t group, uint8_t type,
					      uint32_t payload_bytes, int64_t time_raw)
{
	const struct wire_perfinfo_header header = {
		.version = le16_of(PERFINFO_VERSION),
		.header_type = WIRE_HEADER_PERFINFO64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)(sizeof(header) + payload_bytes)),
		.type = type,
		.group = group,
		.time_raw = le64_of((uint64_t)time_raw),
	};

	memcpy(to, &header, sizeof(header));
	return to + sizeof(header);
}

/* As etw_kernel_event_begin(), with a SYSTEM header, which says whose event it is. */
static inline uint8_t *etw_kernel_event_begin_of(uint8_t *to, uint8_t group, uint8_t type,
						 uint16_t version, uint32_t tid, uint32_t pid,
						 uint32_t payload_bytes, int64_t time_raw)
{
	const struct wire_system_header header = {
		.version = le16_of(version),
		.header_type = WIRE_HEADER_SYSTEM64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)(sizeof(header) + payload_bytes)),
		.type = type,
		.group = group,
		.thread_id = le32_of(tid),
		.process_id = le32_of(pid),
		.time_raw = le64_of((uint64_t)time_raw),
	};

	memcpy(to, &header, sizeof(header));
	return to + sizeof(header);
}

/* etw_kernel_event_version() - the version of an event that was begun, where it is another one. */
static inline void etw_kernel_event_version(uint8_t *event, uint16_t version)
{
	etw_store16(event + offsetof(struct wire_perfinfo_header, version), version);
}

#endif
