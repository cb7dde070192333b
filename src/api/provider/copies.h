/* SPDX-License-Identifier: MIT */
/*
 * A process may have this library more than once: as an archive in the program, and as libetw-provider.so that a plugin
 * brings along. There is one state all the same. Each copy has a note in its ELF file that leads to its functions; the
 * first copy in the loader's list does the work, and the others hand their callers on to it. The list grows at its end,
 * so all copies find the same one, without asking one another.
 *
 * A copy that hands on has no registrations of its own. EventWrite() and its like find that out where they refuse a
 * handle; the way of an event that is written is as if there were one copy.
 *
 * Not found are copies that dlmopen() loads into another namespace: they are programs of their own.
 */
#ifndef ETW_API_PROVIDER_COPIES_H
#define ETW_API_PROVIDER_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include <errhandlingapi.h>
#include <etw/image.h>
#include <evntprov.h>
#include <evntrace.h>

#include "provider/stack.h"
#include "wire/message.h"

#define ETW_COPY_VERSION 1 /* of the table: another one is not understood */

/* What a copy does for others. Grows at its end. */
struct etw_copy {
	uint32_t version;
	uint32_t bytes; /* of what this copy has of it */
	__typeof__(EventRegister) *event_register;
	__typeof__(EventUnregister) *event_unregister;
	__typeof__(EventSetInformation) *event_set_information;
	__typeof__(EventEnabled) *event_enabled;
	__typeof__(EventProviderEnabled) *event_provider_enabled;
	__typeof__(EventWrite) *event_write;
	__typeof__(EventWriteTransfer) *event_write_transfer;
	__typeof__(EventWriteEx) *event_write_ex;
	__typeof__(EventWriteString) *event_write_string;
	__typeof__(EventActivityIdControl) *event_activity_id_control;
	__typeof__(RegisterTraceGuidsW) *register_trace_guids;
	__typeof__(UnregisterTraceGuids) *unregister_trace_guids;
	__typeof__(CreateTraceInstanceId) *create_trace_instance_id;
	__typeof__(TraceEvent) *trace_event;
	__typeof__(TraceEventInstance) *trace_event_instance;
	__typeof__(TraceMessageVa) *trace_message;
	__typeof__(GetLastError) *get_last_error;
	__typeof__(SetLastError) *set_last_error;
	void (*meet_hosts)(void);
	size_t (*list)(GUID *, size_t);
	__typeof__(etw_stack_add_entries) *add_stack_entries;
	uint32_t protocol_version; /* WIRE_PROTOCOL_VERSION: of what the following are given */
	int (*private_start)(const struct wire_session_config *, struct wire_session_info *);
	int (*private_control)(const struct wire_control *, struct wire_session_info *);
	int (*private_find)(const char *, GUID *);
	int (*private_enable)(const struct wire_enable_provider *);
	__typeof__(libetw_image_announce) *image_announce;
	__typeof__(libetw_image_add_symbols) *image_add_symbols;
	__typeof__(libetw_image_add_symbol_file) *image_add_symbol_file;
	__typeof__(libetw_image_withdraw) *image_withdraw;
};

/* The note of this copy. */
extern __attribute__((visibility("hidden"))) const uint8_t etw_copy_note[];

/* The copy that does the work; NULL: this one. Set before any constructor of the program's own. */
extern __attribute__((visibility("hidden"))) const struct etw_copy *etw_first_copy;

/* etw_copy_is_strange() - the first copy is of a version that this one does not understand: nothing can be registered. */
int etw_copy_is_strange(void);

#endif
