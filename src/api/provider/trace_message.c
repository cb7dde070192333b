/* SPDX-License-Identifier: MIT */
/* TraceMessage and TraceMessageVa: what programs made with WPP call. */
#include <evntrace.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <winerror.h>

#include "api/provider/copies.h"
#include "api/provider/logger_handle.h"
#include "api/win32_error.h"
#include "base/guid.h"
#include "base/macros.h"
#include "provider/classic_event.h"
#include "provider/event_layout.h"
#include "wire/ring_message.h"

#define POINTERS (TRACE_MESSAGE_POINTER32 | TRACE_MESSAGE_POINTER64)

struct message {
	uint32_t bytes;
	uint16_t number, options;
	uint8_t who[16]; /* GUID, or component */
	uint32_t who_bytes, head_bytes;
	va_list arguments; /* pairs of an address and a SIZE_T, up to a NULL */
};

static void fill(const struct etw_classic_place *place, void *context)
{
	struct message *message = context;
	const struct wire_ring_message head = {
		.bytes = le16_of((uint16_t)message->bytes),
		.header_type = WIRE_HEADER_MESSAGE,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.number = le16_of(message->number),
		.options = le16_of(message->options),
		.thread_id = le32_of(place->thread_id),
		.process_id = le32_of(place->process_id),
		.time_raw = le64_of((uint64_t)place->time_raw),
	};
	uint8_t *at = place->at + message->head_bytes;
	const uint8_t *argument;

	memcpy(place->at, &head, sizeof(head));
	memcpy(place->at + sizeof(head), message->who, message->who_bytes);
	memset(place->at + sizeof(head) + message->who_bytes, 0,
	       message->head_bytes - sizeof(head) - message->who_bytes);
	while ((argument = va_arg(message->arguments, const uint8_t *))) {
		const size_t bytes = va_arg(message->arguments, size_t);

		etw_event_copy_field(at, argument, bytes);
		at += bytes;
	}
}

/* The sizes up to the NULL; more than an event can have where they are more. *@ret_is_lost: an address is none. */
static uint32_t sum_up(va_list arguments, bool *ret_is_lost)
{
	size_t bytes = 0;
	uintptr_t at;

	*ret_is_lost = false;
	while ((at = (uintptr_t)va_arg(arguments, const void *))) {
		const size_t more = va_arg(arguments, size_t);

		if (at < ETW_EVENT_ADDRESS_MIN && more)
			*ret_is_lost = true;
		if (more > ETW_EVENT_BYTES_MAX - bytes)
			return ETW_EVENT_BYTES_MAX + 1;
		bytes += more;
	}
	return (uint32_t)bytes;
}

/* The options of a message: time and writer are in all, since without them nobody could say whose it is. */
static uint16_t options_of(ULONG flags)
{
	uint16_t options = WIRE_RING_MESSAGE_NEEDS;

	options |= flags & (TRACE_MESSAGE_SEQUENCE | POINTERS);
	if (flags & TRACE_MESSAGE_COMPONENTID)
		options |= WIRE_MESSAGE_COMPONENT;
	else if (flags & TRACE_MESSAGE_GUID)
		options |= WIRE_MESSAGE_GUID;
	if (!(flags & POINTERS))
		options |= sizeof(void *) == 8 ? WIRE_MESSAGE_POINTER64 : WIRE_MESSAGE_POINTER32;
	return options;
}

/* @arguments: read to their end twice, by copies */
static ULONG write_message(TRACEHANDLE handle, ULONG flags, LPCGUID guid, USHORT number,
			   va_list arguments)
{
	struct message message = {.number = number, .options = options_of(flags)};
	va_list measured;
	bool is_lost;
	ULONG error;

	if (UNLIKELY(etw_first_copy))
		return etw_first_copy->trace_message(handle, flags, guid, number, arguments);
	if (!etw_logger_handle_is(handle))
		return ERROR_INVALID_HANDLE;
	if (flags & ~(ULONG)TRACE_MESSAGE_FLAG_MASK)
		return ERROR_INVALID_PARAMETER;
	if (flags & (TRACE_MESSAGE_GUID | TRACE_MESSAGE_COMPONENTID) &&
	    (uintptr_t)guid < ETW_EVENT_ADDRESS_MIN)
		return ERROR_INVALID_PARAMETER;
	if (message.options & WIRE_MESSAGE_COMPONENT) {
		message.who_bytes = sizeof(guid->Data1);
		etw_store32(message.who, guid->Data1);
	} else if (message.options & WIRE_MESSAGE_GUID) {
		message.who_bytes = sizeof(message.who);
		etw_guid_write(message.who, guid);
	}
	message.head_bytes = wire_ring_message_head(message.options);
	va_copy(measured, arguments);
	message.bytes = message.head_bytes + sum_up(measured, &is_lost);
	va_end(measured);
	if (is_lost)
		return ERROR_INVALID_PARAMETER;
	if (message.bytes > ETW_EVENT_BYTES_MAX)
		return ERROR_MORE_DATA;
	va_copy(message.arguments, arguments);
	error = etw_win32_from_result(
		etw_classic_write(etw_logger_id(handle), message.bytes, fill, &message));
	va_end(message.arguments);
	return error;
}

ULONG TraceMessageVa(TRACEHANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
		     USHORT MessageNumber, va_list MessageArgList)
{
	return write_message(LoggerHandle, MessageFlags, MessageGuid, MessageNumber,
			     MessageArgList);
}

ULONG TraceMessage(TRACEHANDLE LoggerHandle, ULONG MessageFlags, LPCGUID MessageGuid,
		   USHORT MessageNumber, ...)
{
	va_list arguments;
	ULONG error;

	/* C11 wants no narrow type here, Microsoft's declaration has one; on x86-64 and arm64 nothing hangs on it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"
	va_start(arguments, MessageNumber);
#pragma GCC diagnostic pop
	error = write_message(LoggerHandle, MessageFlags, MessageGuid, MessageNumber, arguments);
	va_end(arguments);
	return error;
}
