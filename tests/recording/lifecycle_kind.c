/* SPDX-License-Identifier: MIT */
/* See lifecycle_kind.h. LIFECYCLE_IN_PLUGIN: as part of the plugin, whose provider is another. */
#include "recording/lifecycle_kind.h"

#include <string.h>

#include <TraceLoggingProvider.h>
#include <evntprov.h>
#include <evntrace.h>
#include <winerror.h>
#include <wmistr.h>

#define EVENT_LEVEL 4

#ifdef LIFECYCLE_IN_PLUGIN
#define OWN_PROVIDER lifecycle_plugin_provider
#define ID_END       0x07
#else
#define OWN_PROVIDER lifecycle_provider
#define ID_END       0x06
#endif
#define OWN_ID (0x5e1c9b1a, 0x3d53, 0x4c7e, 0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, ID_END)

TRACELOGGING_DEFINE_PROVIDER(lifecycle_logging_1, "Lifecycle", OWN_ID);
TRACELOGGING_DEFINE_PROVIDER(lifecycle_logging_2, "Lifecycle", OWN_ID);
TRACELOGGING_DEFINE_PROVIDER(lifecycle_logging_3, "Lifecycle", OWN_ID);

/* A place's registration. Any thread writes by it. */
struct registration {
	REGHANDLE handle;    /* atomic; 0: none */
	TRACEHANDLE classic; /* the same, of a classic provider */
	TRACEHANDLE logger;  /* atomic; where a classic provider writes; 0: nowhere */
};

static struct registration registrations[LIFECYCLE_PLACES];
static uint32_t captures, callbacks; /* atomic */

enum lifecycle_kind lifecycle_kind_of(const char *name)
{
	static const char *const names[LIFECYCLE_KINDS] = {"manifest", "tracelogging", "classic"};
	unsigned kind = 0;

	while (kind < LIFECYCLE_KINDS && strcmp(name, names[kind]) != 0)
		kind++;
	return (enum lifecycle_kind)kind;
}

uint32_t lifecycle_captures(void)
{
	return load_acquire(&captures);
}

uint32_t lifecycle_callbacks(void)
{
	return load_acquire(&callbacks);
}

static void NTAPI on_enable(LPCGUID source, ULONG code, UCHAR level, ULONGLONG any, ULONGLONG all,
			    PEVENT_FILTER_DESCRIPTOR filter, PVOID context)
{
	(void)source;
	(void)level;
	(void)any;
	(void)all;
	(void)filter;
	(void)context;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		(void)add_acq_rel(&captures, 1u);
	(void)add_acq_rel(&callbacks, 1u);
}

static ULONG WINAPI on_request(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes, PVOID buffer)
{
	struct registration *registration = context;

	(void)bytes;
	if (code == WMI_ENABLE_EVENTS)
		store_release(&registration->logger, GetTraceLoggerHandle(buffer));
	else if (code == WMI_DISABLE_EVENTS)
		store_release(&registration->logger, (TRACEHANDLE)0);
	else if (code == WMI_CAPTURE_STATE)
		(void)add_acq_rel(&captures, 1u);
	(void)add_acq_rel(&callbacks, 1u);
	return ERROR_SUCCESS;
}

static TraceLoggingHProvider logging(unsigned place)
{
	switch (place) {
	case 0:
		return lifecycle_logging_1;
	case 1:
		return lifecycle_logging_2;
	default:
		return lifecycle_logging_3;
	}
}

bool lifecycle_register(enum lifecycle_kind kind, unsigned place, bool has_callback)
{
	struct registration *registration = &registrations[place];
	PENABLECALLBACK callback = has_callback ? on_enable : NULL;
	REGHANDLE handle = 0;
	ULONG error;

	switch (kind) {
	case LIFECYCLE_MANIFEST:
		error = EventRegister(&OWN_PROVIDER, callback, NULL, &handle);
		store_release(&registration->handle, handle);
		return error == ERROR_SUCCESS;
	case LIFECYCLE_TRACELOGGING:
		return TraceLoggingRegisterEx(logging(place), callback, NULL) == S_OK;
	default:
		error = RegisterTraceGuidsA(on_request, registration, &OWN_PROVIDER, 0, NULL, NULL,
					    NULL, &registration->classic);
		return error == ERROR_SUCCESS;
	}
}

bool lifecycle_unregister(enum lifecycle_kind kind, unsigned place)
{
	struct registration *registration = &registrations[place];

	switch (kind) {
	case LIFECYCLE_MANIFEST:
		return EventUnregister(load_relaxed(&registration->handle)) == ERROR_SUCCESS;
	case LIFECYCLE_TRACELOGGING:
		TraceLoggingUnregister(logging(place));
		return true;
	default:
		return UnregisterTraceGuids(registration->classic) == ERROR_SUCCESS;
	}
}

bool lifecycle_is_enabled(enum lifecycle_kind kind, unsigned place)
{
	const struct registration *registration = &registrations[place];

	switch (kind) {
	case LIFECYCLE_MANIFEST:
		return EventProviderEnabled(load_acquire(&registration->handle), 0, 0);
	case LIFECYCLE_TRACELOGGING:
		return TraceLoggingProviderEnabled(logging(place), EVENT_LEVEL, 0);
	default:
		return load_acquire(&registration->logger) != 0;
	}
}

static ULONG write_manifest(REGHANDLE handle, const struct lifecycle_payload *payload)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = EVENT_LEVEL};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, payload, sizeof(*payload));
	return EventWrite(handle, &descriptor, 1, &data);
}

static ULONG write_classic(TRACEHANDLE logger, const struct lifecycle_payload *payload)
{
	struct {
		EVENT_TRACE_HEADER header;
		struct lifecycle_payload payload;
	} event = {
		.header.Size = sizeof(event),
		.header.Class = {.Type = 10, .Level = EVENT_LEVEL},
		.header.Guid = lifecycle_class,
		.header.Flags = WNODE_FLAG_TRACED_GUID,
		.payload = *payload,
	};

	if (payload->number % 2)
		return TraceEvent(logger, &event.header);
	return TraceMessage(logger, TRACE_MESSAGE_GUID, &lifecycle_class, 1, payload,
			    sizeof(*payload), NULL);
}

/* TraceLoggingWrite() returns nothing: what was refused is in the session's account in any case. */
static ULONG write_logging(TraceLoggingHProvider provider, const struct lifecycle_payload *payload)
{
	TraceLoggingWrite(provider, "Lifecycle", TraceLoggingLevel(EVENT_LEVEL),
			  TraceLoggingUInt32(payload->writer, "Writer"),
			  TraceLoggingUInt32(payload->process_id, "Process"),
			  TraceLoggingUInt64(payload->number, "Number"));
	return ERROR_SUCCESS;
}

void lifecycle_write(enum lifecycle_kind kind, unsigned place, struct lifecycle_log *log,
		     uint32_t writer)
{
	const struct registration *registration = &registrations[place];
	const struct lifecycle_payload payload = {
		.writer = writer,
		.process_id = load_relaxed(&log->process_id),
		.number = load_relaxed(&log->done) + 1,
	};
	ULONG error;

	if (kind == LIFECYCLE_MANIFEST)
		error = write_manifest(load_acquire(&registration->handle), &payload);
	else if (kind == LIFECYCLE_TRACELOGGING)
		error = write_logging(logging(place), &payload);
	else
		error = write_classic(load_acquire(&registration->logger), &payload);
	if (error == ERROR_SUCCESS)
		store_relaxed(&log->done, payload.number);
	else if (error != ERROR_INVALID_HANDLE && error != ERROR_INVALID_PARAMETER)
		store_relaxed(&log->refused, load_relaxed(&log->refused) + 1);
}
