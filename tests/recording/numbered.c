/* SPDX-License-Identifier: MIT */
/* See numbered.h. */
#include "recording/numbered.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <evntrace.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/support.h"

static void write_numbered(const GUID *provider, struct numbered_shared *shared, uint32_t index,
			   uint32_t pause_us)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct numbered_payload payload = {.writer = index};
	REGHANDLE handle = recording_register(provider, NULL, NULL);
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &payload, sizeof(payload));
	while (!load_acquire(&shared->is_enough)) {
		payload.number++;
		if (EventWrite(handle, &descriptor, 1, &data) == 0)
			add_relaxed(&shared->writers[index].succeeded, UINT64_C(1));
		else
			add_relaxed(&shared->writers[index].refused, UINT64_C(1));
		store_release(&shared->writers[index].is_enabled,
			      (uint32_t)EventProviderEnabled(handle, 0, 0));
		if (payload.number % NUMBERED_AT_ONCE == 0)
			usleep(pause_us);
	}
	EventUnregister(handle);
}

pid_t numbered_start(const GUID *provider, struct numbered_shared *shared, uint32_t index,
		     uint32_t pause_us)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child > 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	await_flag(&shared->is_begun, 1, "it does not begin");
	write_numbered(provider, shared, index, pause_us);
	_exit(0);
}

uint64_t numbered_calls(const struct numbered_shared *shared, uint32_t index)
{
	return load_acquire(&shared->writers[index].succeeded) +
	       load_acquire(&shared->writers[index].refused);
}

void numbered_finish(struct numbered_shared *shared, const pid_t *writers, uint32_t count)
{
	store_release(&shared->is_enough, 1u);
	for (uint32_t i = 0; i < count; i++)
		await_end(writers[i], "a writer");
}

bool numbered_take(const EVENT_RECORD *record, const GUID *provider, uint64_t *last,
		   const char *who, struct numbered_payload *ret)
{
	if (!IsEqualGUID(&record->EventHeader.ProviderId, provider))
		return false;
	if (record->UserDataLength != sizeof(*ret))
		fail("%s: an event of %u bytes is not what a writer wrote", who,
		     (unsigned)record->UserDataLength);
	memcpy(ret, record->UserData, sizeof(*ret));
	if (ret->writer >= NUMBERED_WRITERS_MAX)
		fail("%s: an event of writer %u, which there is not", who, ret->writer);
	if (ret->number <= last[ret->writer])
		fail("%s: writer %u: event %" PRIu64 " comes after %" PRIu64, who, ret->writer,
		     ret->number, last[ret->writer]);
	last[ret->writer] = ret->number;
	return true;
}

TRACEHANDLE live_open(const char *session, PEVENT_RECORD_CALLBACK callback, void *context)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t)session,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = callback,
		.Context = context,
	};
	TRACEHANDLE trace = OpenTraceA(&logfile);

	if (trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace %s: error %u", session, (unsigned)GetLastError());
	return trace;
}

TRACE_LOGFILE_HEADER live_header(TRACEHANDLE trace)
{
	TRACE_LOGFILE_HEADER header = {0};
	ULONG bytes;

	if (QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
				       sizeof(header), &bytes))
		fail("QueryTraceProcessingHandle failed");
	return header;
}

bool is_lost_event(const EVENT_RECORD *record)
{
	static const GUID lost = {
		0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

	return IsEqualGUID(&record->EventHeader.ProviderId, &lost);
}
