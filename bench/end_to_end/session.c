/* SPDX-License-Identifier: MIT */
/* The session that is measured, and its consumer. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <winerror.h>

#include "base/atomic.h"
#include "bench/end_to_end/bench.h"

#define SESSION_NAME "bench session"

static uint64_t delivered; /* atomic; to the consumer of the one session that has one */

static void WINAPI count_event(PEVENT_RECORD record)
{
	if (record->EventHeader.EventDescriptor.Id == BENCH_EVENT_ID)
		store_relaxed(&delivered, delivered + 1);
}

static void prepare(struct bench_session *session)
{
	session->block.properties.Wnode.BufferSize = sizeof(session->block);
	session->block.properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	session->block.properties.LoggerNameOffset = offsetof(struct bench_session, block.name);
	session->block.properties.LogFileNameOffset = offsetof(struct bench_session, block.file);
}

static void enable(const struct bench_options *options, TRACEHANDLE handle)
{
	for (uint32_t i = 0; i < options->providers; i++) {
		GUID guid = bench_provider(i);

		bench_check(EnableTraceEx2(handle, &guid, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0,
					   0, 5000, NULL),
			    "EnableTraceEx2");
	}
}

void bench_start(const struct bench_options *options, uint32_t index, ULONG mode, ULONG flush_ms,
		 struct bench_session *ret)
{
	EVENT_TRACE_PROPERTIES *properties = &ret->block.properties;
	char name[64];

	memset(ret, 0, sizeof(*ret));
	prepare(ret);
	ret->buffer_bytes = options->buffer_kib * 1024;
	properties->Wnode.ClientContext = 1;
	properties->BufferSize = options->buffer_kib;
	properties->MinimumBuffers = options->mib * 1024 / options->buffer_kib;
	properties->MaximumBuffers = properties->MinimumBuffers;
	properties->LogFileMode = mode;
	if (flush_ms) {
		properties->LogFileMode |= EVENT_TRACE_USE_MS_FLUSH_TIMER;
		properties->FlushTimer = flush_ms;
	}
	if (mode & EVENT_TRACE_FILE_MODE_SEQUENTIAL)
		(void)snprintf(ret->block.file, sizeof(ret->block.file), "%s/session-%u.etl",
			       bench_home, index);
	else
		properties->LogFileNameOffset = 0;
	(void)snprintf(name, sizeof(name), SESSION_NAME " %u", index);
	bench_check(StartTraceA(&ret->handle, name, properties), "StartTrace");
	enable(options, ret->handle);
}

static void *process(void *context)
{
	struct bench_session *session = context;
	ULONG error = ProcessTrace(&session->trace, 1, NULL, NULL);

	if (error)
		fprintf(stderr, "end_to_end: ProcessTrace: error %u\n", (unsigned)error);
	return NULL;
}

void bench_consume(struct bench_session *session, PEVENT_RECORD_CALLBACK on_event)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = session->block.name,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = on_event ? on_event : count_event,
	};

	store_relaxed(&delivered, UINT64_C(0));
	session->trace = OpenTraceA(&logfile);
	if (session->trace == INVALID_PROCESSTRACE_HANDLE)
		bench_check(GetLastError(), "OpenTrace");
	bench_check((ULONG)pthread_create(&session->consumer, NULL, process, session), "a thread");
	session->has_consumer = true;
}

static void control(struct bench_session *session, ULONG code, const char *what)
{
	prepare(session);
	bench_check(ControlTraceA(session->handle, NULL, &session->block.properties, code), what);
}

void bench_flush(struct bench_session *session)
{
	control(session, EVENT_TRACE_CONTROL_FLUSH, "flush");
}

double bench_thread_seconds(const struct bench_session *session)
{
	unsigned thread = (unsigned)(uintptr_t)session->block.properties.LoggerThreadId;
	unsigned long user = 0, system = 0;
	char path[64], line[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", thread, thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file) && strrchr(line, ')'))
		(void)sscanf(strrchr(line, ')') + 2,
			     "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
	(void)fclose(file);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

void bench_stop(struct bench_session *session, struct bench_ended *ret)
{
	uint64_t start_ns = bench_now_ns();

	*ret = (struct bench_ended){0};
	bench_flush(session);
	ret->thread_seconds = bench_thread_seconds(session);
	control(session, EVENT_TRACE_CONTROL_STOP, "stop");
	if (session->has_consumer) {
		pthread_join(session->consumer, NULL);
		(void)CloseTrace(session->trace);
	}
	ret->took = (double)(bench_now_ns() - start_ns) / 1e9;
	ret->events_lost = session->block.properties.EventsLost;
	ret->real_time_buffers_lost = session->block.properties.RealTimeBuffersLost;
	ret->buffers_written = session->block.properties.BuffersWritten;
	ret->delivered = load_relaxed(&delivered);
	if (session->block.file[0])
		(void)unlink(session->block.file);
}
