/* SPDX-License-Identifier: MIT */
/* TraceEvent and TraceEventInstance. */
#include <evntrace.h>

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <winerror.h>
#include <wmistr.h>

#include "api/provider/copies.h"
#include "api/provider/logger_handle.h"
#include "api/win32_error.h"
#include "base/guid.h"
#include "base/macros.h"
#include "provider/classes.h"
#include "provider/classic_event.h"
#include "provider/event_layout.h"
#include "wire/etl_event.h"

#define IS_64 (sizeof(void *) == 8)

/* An event, as it is to lie in a ring: all but its thread, process and time. */
struct classic_event {
	struct wire_instance_header head; /* or a full header alone */
	uint32_t head_bytes, bytes;
	const MOF_FIELD *fields;
	uint32_t field_count;
	MOF_FIELD whole; /* where the payload lies behind the caller's header */
};

static void fill(const struct etw_classic_place *place, void *context)
{
	struct classic_event *event = context;
	uint8_t *at = place->at + event->head_bytes;
	size_t left = event->bytes - event->head_bytes;

	event->head.full.thread_id = le32_of(place->thread_id);
	event->head.full.process_id = le32_of(place->process_id);
	event->head.full.time_raw = le64_of((uint64_t)place->time_raw);
	memcpy(place->at, &event->head, event->head_bytes);
	for (uint32_t i = 0; i < event->field_count && left; i++) {
		/* A program that changes its fields while they are written gets a wrong event, and nobody else does. */
		size_t bytes = event->fields[i].Length;

		if (UNLIKELY(bytes > left))
			bytes = left;
		if (event->fields[i].DataPtr >= ETW_EVENT_ADDRESS_MIN)
			etw_event_copy_field(
				at, (const uint8_t *)(uintptr_t)event->fields[i].DataPtr, bytes);
		else
			memset(at, 0, bytes);
		at += bytes;
		left -= bytes;
	}
	memset(at, 0, left);
}

/*
 * The payload behind a header of the caller's. Size is that of header and payload, or of header and fields.
 *
 * Returns ERROR_SUCCESS; ERROR_INVALID_PARAMETER; ERROR_MORE_DATA.
 */
static ULONG take_payload(struct classic_event *event, const void *header, uint32_t header_bytes,
			  uint32_t size, ULONG flags)
{
	const uint8_t *payload = (const uint8_t *)header + header_bytes;
	const uint32_t payload_bytes = size - header_bytes;
	uint64_t bytes = event->head_bytes;

	if (size < header_bytes)
		return ERROR_INVALID_PARAMETER;
	if (!(flags & WNODE_FLAG_USE_MOF_PTR)) {
		event->whole.DataPtr = (uintptr_t)payload;
		event->whole.Length = payload_bytes;
		event->fields = &event->whole;
		event->field_count = 1;
	} else {
		if (payload_bytes % sizeof(MOF_FIELD) ||
		    payload_bytes / sizeof(MOF_FIELD) > MAX_MOF_FIELDS)
			return ERROR_INVALID_PARAMETER;
		event->fields = (const void *)payload;
		event->field_count = payload_bytes / sizeof(MOF_FIELD);
	}
	for (uint32_t i = 0; i < event->field_count; i++) {
		if (event->fields[i].DataPtr < ETW_EVENT_ADDRESS_MIN && event->fields[i].Length)
			return ERROR_INVALID_PARAMETER;
		bytes += event->fields[i].Length;
	}
	if (bytes > ETW_EVENT_BYTES_MAX)
		return ERROR_MORE_DATA;
	event->bytes = (uint32_t)bytes;
	event->head.full.bytes = le16_of((uint16_t)bytes);
	return ERROR_SUCCESS;
}

static ULONG write_event(TRACEHANDLE handle, struct classic_event *event)
{
	return etw_win32_from_result(
		etw_classic_write(etw_logger_id(handle), event->bytes, fill, event));
}

/* What both functions ask of their arguments. @event may be NULL. */
static ULONG check(TRACEHANDLE handle, const void *event)
{
	if (!handle || !event)
		return ERROR_INVALID_PARAMETER;
	return etw_logger_handle_is(handle) ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

/* What instances are named by; a NULL is none. */
static ULONG read_instance(const EVENT_INSTANCE_INFO *info, GUID *ret_class)
{
	if (!info || !info->InstanceId ||
	    etw_class_guid((uint64_t)(uintptr_t)info->RegHandle, ret_class) < 0)
		return ERROR_INVALID_PARAMETER;
	return ERROR_SUCCESS;
}

ULONG TraceEvent(TRACEHANDLE TraceHandle, PEVENT_TRACE_HEADER EventTrace)
{
	const ULONG error = check(TraceHandle, EventTrace);
	struct classic_event event;
	const GUID *class;
	ULONG payload;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->trace_event(TraceHandle, EventTrace);
	if (error)
		return error;
	if (!(EventTrace->Flags & WNODE_FLAG_TRACED_GUID))
		return ERROR_INVALID_FLAG_NUMBER;
	class = EventTrace->Flags & WNODE_FLAG_USE_GUID_PTR
			? (const GUID *)(uintptr_t)EventTrace->GuidPtr
			: &EventTrace->Guid;
	if ((uintptr_t) class < ETW_EVENT_ADDRESS_MIN)
		return ERROR_INVALID_PARAMETER;
	event.head_bytes = sizeof(event.head.full);
	event.head.full = (struct wire_full_header){
		.header_type = IS_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = EventTrace->Class.Type,
		.level = EventTrace->Class.Level,
		.version = le16_of(EventTrace->Class.Version),
	};
	etw_guid_write(event.head.full.guid, class);
	payload = take_payload(&event, EventTrace, sizeof(*EventTrace), EventTrace->Size,
			       EventTrace->Flags);
	return payload ? payload : write_event(TraceHandle, &event);
}

ULONG TraceEventInstance(TRACEHANDLE TraceHandle, PEVENT_INSTANCE_HEADER EventTrace,
			 PEVENT_INSTANCE_INFO InstInfo, PEVENT_INSTANCE_INFO ParentInstInfo)
{
	ULONG error = check(TraceHandle, EventTrace);
	GUID class, parent = {0};
	struct classic_event event;
	ULONG payload;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->trace_event_instance(TraceHandle, EventTrace, InstInfo,
							    ParentInstInfo);
	if (error)
		return error;
	if (!(EventTrace->Flags & WNODE_FLAG_TRACED_GUID))
		return ERROR_INVALID_FLAGS;
	error = read_instance(InstInfo, &class);
	if (!error && ParentInstInfo)
		error = read_instance(ParentInstInfo, &parent);
	if (error)
		return error;
	event.head_bytes = sizeof(event.head);
	event.head = (struct wire_instance_header){
		.full.header_type = IS_64 ? WIRE_HEADER_INSTANCE64 : WIRE_HEADER_INSTANCE32,
		.full.header_flag = WIRE_EVENT_FLAG_TRACE,
		.full.type = EventTrace->Class.Type,
		.full.level = EventTrace->Class.Level,
		.full.version = le16_of(EventTrace->Class.Version),
		.instance_id = le32_of(InstInfo->InstanceId),
		.parent_instance_id = le32_of(ParentInstInfo ? ParentInstInfo->InstanceId : 0),
	};
	etw_guid_write(event.head.full.guid, &class);
	etw_guid_write(event.head.parent_guid, &parent);
	payload = take_payload(&event, EventTrace, sizeof(*EventTrace), EventTrace->Size,
			       EventTrace->Flags);
	return payload ? payload : write_event(TraceHandle, &event);
}
