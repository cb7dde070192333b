/* SPDX-License-Identifier: MIT */
/* See own_copy.h. */
#include "api/provider/own_copy.h"

#include <errhandlingapi.h>

#include "api/provider/meet.h"
#include "api/provider/private_calls.h"

__attribute__((used)) const struct etw_copy etw_own_copy = {
	.version = ETW_COPY_VERSION,
	.bytes = sizeof(etw_own_copy),
	.event_register = EventRegister,
	.event_unregister = EventUnregister,
	.event_set_information = EventSetInformation,
	.event_enabled = EventEnabled,
	.event_provider_enabled = EventProviderEnabled,
	.event_write = EventWrite,
	.event_write_transfer = EventWriteTransfer,
	.event_write_ex = EventWriteEx,
	.event_write_string = EventWriteString,
	.event_activity_id_control = EventActivityIdControl,
	.register_trace_guids = RegisterTraceGuidsW,
	.unregister_trace_guids = UnregisterTraceGuids,
	.create_trace_instance_id = CreateTraceInstanceId,
	.trace_event = TraceEvent,
	.trace_event_instance = TraceEventInstance,
	.trace_message = TraceMessageVa,
	.get_last_error = GetLastError,
	.set_last_error = SetLastError,
	.meet_hosts = etw_provider_meet_hosts,
	.list = etw_provider_list,
	.add_stack_entries = etw_stack_add_entries,
	.protocol_version = WIRE_PROTOCOL_VERSION,
	.private_start = etw_provider_private_start,
	.private_control = etw_provider_private_control,
	.private_find = etw_provider_private_find,
	.private_enable = etw_provider_private_enable,
	.image_announce = libetw_image_announce,
	.image_add_symbols = libetw_image_add_symbols,
	.image_add_symbol_file = libetw_image_add_symbol_file,
	.image_withdraw = libetw_image_withdraw,
};
