/* SPDX-License-Identifier: MIT */
/* See support.h. */
#include "recording/support.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <winerror.h>

#include "base/atomic.h"
#include "consumer/trace.h"
#include "ipc/runtime.h"
#include "recording/enabled.h"
#include "source/kernel/probe/probe.h"

#define SESSIONS_MAX 64

static char home[256];
static pid_t home_owner;
static TRACEHANDLE started[SESSIONS_MAX]; /* 0: none */

pid_t process_status(pid_t pid, const char *key)
{
	char path[64], line[128];
	pid_t found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!found && fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0)
			found = (pid_t)strtol(line + strlen(key), NULL, 10);
	}
	fclose(file);
	return found;
}

pid_t recording_host(const struct recording *recording)
{
	const uintptr_t thread = (uintptr_t)recording->block.properties.LoggerThreadId;

	return process_status((pid_t)thread, "Tgid:");
}

struct recording_processes recording_processes(void)
{
	const struct wire_discovery_page *page = NULL;
	struct recording_processes processes = {0};

	if (etw_runtime_page(getenv("ETW_RUNTIME_DIR"), &page) < 0)
		return processes;
	processes.keeper = (pid_t)load_relaxed(&page->keeper_pid);
	processes.standby = (pid_t)load_relaxed(&page->standby_pid);
	processes.host = (pid_t)load_relaxed(&page->host_pid);
	etw_runtime_page_unmap(page);
	return processes;
}

bool recording_is_alive(pid_t pid)
{
	char path[64], line[256] = "";
	const char *end;
	FILE *file;

	if (pid <= 1)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	/* The state is behind the name, which may have anything in it. */
	end = strrchr(line, ')');
	return end && end[1] == ' ' && !strchr("ZX", end[2]);
}

struct recording_processes recording_await_standby(void)
{
	const struct wait wait = wait_for("there are not keeper, standby and host");
	struct recording_processes processes = recording_processes();

	while (!recording_is_alive(processes.keeper) || !recording_is_alive(processes.standby) ||
	       !recording_is_alive(processes.host)) {
		wait_on(&wait);
		processes = recording_processes();
	}
	return processes;
}

void recording_kill_all(void)
{
	const struct recording_processes processes = recording_await_standby();

	/* One that is stopped makes no other standby. */
	if (kill(processes.keeper, SIGSTOP) || kill(processes.standby, SIGKILL) ||
	    kill(processes.host, SIGKILL) || kill(processes.keeper, SIGKILL))
		fail("a process of the host is gone: %s", strerror(errno));
}

bool is_kernel_shut(void)
{
	struct etw_fault fault = {0};

	if (geteuid() != 0)
		printf("skipped: the kernel's events need root\n");
	else if (etw_kernel_probe_check(&fault))
		printf("skipped: %s\n", fault.sentence);
	else
		return false;
	return true;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static void prepare_block(struct recording *recording)
{
	EVENT_TRACE_PROPERTIES *properties = &recording->block.properties;

	properties->Wnode.BufferSize = sizeof(recording->block);
	properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	properties->LoggerNameOffset = offsetof(__typeof__(recording->block), name);
	properties->LogFileNameOffset = offsetof(__typeof__(recording->block), file);
}

/* A session outlives its controller, and a host its tests, unless somebody ends it. */
static void stop_all(void)
{
	for (int i = 0; i < SESSIONS_MAX; i++) {
		struct recording recording = {.handle = started[i]};

		if (!started[i])
			continue;
		prepare_block(&recording);
		(void)ControlTraceA(started[i], NULL, &recording.block.properties,
				    EVENT_TRACE_CONTROL_STOP);
	}
}

static void note_session(TRACEHANDLE from, TRACEHANDLE to)
{
	for (int i = 0; i < SESSIONS_MAX; i++) {
		if (started[i] == from) {
			started[i] = to;
			return;
		}
	}
}

static void remove_home(void)
{
	if (getpid() != home_owner)
		return;
	stop_all();
	if (!getenv("ETW_KEEP_TEST_HOME"))
		(void)nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_home(void)
{
	const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	char runtime[300];

	if (home[0])
		return home;
	snprintf(home, sizeof(home), "%s/etw-test-XXXXXX", parent);
	if (!mkdtemp(home) || chmod(home, 0755) != 0)
		fail("cannot make a folder in %s: %s", parent, strerror(errno));
	home_owner = getpid();
	atexit(remove_home);
	snprintf(runtime, sizeof(runtime), "%s/run", home);
	setenv("ETW_RUNTIME_DIR", runtime, 1);
	setenv("ETWD_IDLE_MS", "500", 0);
	/* Whoever kills hosts one after another does not wait for the keeper to try again. */
	setenv("ETWD_STEADY_MS", "0", 1);
	return home;
}

void recording_start(struct recording *recording, const struct recording_options *options)
{
	EVENT_TRACE_PROPERTIES *properties = &recording->block.properties;
	ULONG error;

	memset(recording, 0, sizeof(*recording));
	prepare_block(recording);
	properties->Wnode.ClientContext = options->clock ? options->clock : 1;
	properties->BufferSize = options->buffer_kib;
	properties->MinimumBuffers = options->buffers;
	properties->MaximumBuffers = options->buffers;
	properties->LogFileMode = options->mode;
	properties->EnableFlags = options->kernel_flags;
	properties->MaximumFileSize = options->maximum_mib;
	properties->FlushTimer = options->flush_timer;
	if (options->file)
		snprintf(recording->block.file, sizeof(recording->block.file), "%s", options->file);
	else
		properties->LogFileNameOffset = 0;
	error = StartTraceA(&recording->handle, options->name, properties);
	if (error)
		fail("StartTrace %s: error %u", options->name, (unsigned)error);
	note_session(0, recording->handle);
}

void recording_enable(struct recording *recording, const GUID *provider)
{
	ULONG error = EnableTraceEx2(recording->handle, provider,
				     EVENT_CONTROL_CODE_ENABLE_PROVIDER, TRACE_LEVEL_VERBOSE, 0, 0,
				     (ULONG)ENABLED_MS, NULL);

	if (error)
		fail("EnableTraceEx2: error %u", (unsigned)error);
}

REGHANDLE recording_register(const GUID *provider, PENABLECALLBACK callback, void *context)
{
	REGHANDLE handle;

	if (EventRegister(provider, callback, context, &handle))
		fail("EventRegister failed");
	if (!becomes_enabled(handle))
		fail("the provider is not enabled");
	return handle;
}

/*
 * The library waits 5 seconds for a host that starts. Where a test has just killed one, a loaded machine may need
 * longer for the next; then nothing was asked yet, and asking again is safe.
 */
void recording_control(struct recording *recording, ULONG code)
{
	const uint64_t end_ms = etw_monotonic_ms() + ENABLED_MS;
	ULONG error;

	do {
		prepare_block(recording);
		error = ControlTraceA(recording->handle, NULL, &recording->block.properties, code);
	} while (error == ERROR_TIMEOUT && etw_monotonic_ms() < end_ms);
	if (error)
		fail("ControlTrace %u: error %u", (unsigned)code, (unsigned)error);
	if (code == EVENT_TRACE_CONTROL_STOP)
		note_session(recording->handle, 0);
}

ULONG recording_read(const char *file, PEVENT_RECORD_CALLBACK callback, void *context)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = (char *)(uintptr_t)file,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD |
				    PROCESS_TRACE_MODE_RAW_TIMESTAMP,
		.EventRecordCallback = callback,
		.Context = context,
	};
	TRACEHANDLE trace = OpenTraceA(&logfile);
	ULONG error;

	if (trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace %s: error %u", file, (unsigned)GetLastError());
	error = ProcessTrace(&trace, 1, NULL, NULL);
	if (error)
		fail("ProcessTrace %s: error %u", file, (unsigned)error);
	CloseTrace(trace);
	return logfile.LogfileHeader.EventsLost;
}

#define PROCESSORS_MAX 2048

/* A circular file that has wrapped begins with the newest buffers, and goes on with the oldest. */
struct order {
	ULONG mode; /* LogFileMode */
	int64_t last_raw[PROCESSORS_MAX];
	int64_t first_raw[PROCESSORS_MAX]; /* 0: none yet */
	int64_t sequence;                  /* of the buffer before */
	uint64_t events;
	bool is_wrapped; /* the oldest buffers have begun */
};

/* The numbers run back: where a circular file goes on with its oldest buffers, and where a session was appended. */
static void begin_anew(struct order *order, const struct etw_etl_buffer *buffer)
{
	if (order->mode & EVENT_TRACE_FILE_MODE_APPEND)
		return;
	if (order->is_wrapped || !(order->mode & EVENT_TRACE_FILE_MODE_CIRCULAR))
		fail("the buffers' numbers run back in buffer %u", buffer->number);
	order->is_wrapped = true;
	memset(order->last_raw, 0, sizeof(order->last_raw));
}

static int check_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct order *order = context;
	const size_t processor = buffer->processor % PROCESSORS_MAX;
	const int64_t time_raw = record->EventHeader.TimeStamp.QuadPart;

	(void)header_type;
	order->events++;
	if (buffer->number == 0)
		return 0; /* stays where it is, however often the file wraps */
	if (buffer->sequence < order->sequence)
		begin_anew(order, buffer);
	order->sequence = buffer->sequence;
	if (time_raw < order->last_raw[processor])
		fail("processor %zu runs back by %lld ticks in buffer %u at offset %u", processor,
		     (long long)(order->last_raw[processor] - time_raw), address.buffer,
		     address.offset);
	if (order->is_wrapped && order->first_raw[processor] &&
	    time_raw > order->first_raw[processor])
		fail("processor %zu: buffer %u at offset %u is newer than what follows it",
		     processor, address.buffer, address.offset);
	order->last_raw[processor] = time_raw;
	if (!order->is_wrapped && order->first_raw[processor] == 0)
		order->first_raw[processor] = time_raw;
	return 0;
}

uint64_t recording_check_order(const char *file)
{
	static struct order order;
	struct etw_trace_visitor visitor = {&order, NULL, check_event};
	struct etw_trace *trace = NULL;
	int r;

	memset(&order, 0, sizeof(order));
	r = etw_trace_open(file, &trace, NULL);
	if (r == 0) {
		order.mode = etw_trace_header(trace)->log_file_mode;
		r = etw_trace_each_buffer(trace, &visitor);
	}
	if (r)
		fail("%s cannot be walked: %s", file, strerror(-r));
	etw_trace_close(trace);
	return order.events;
}
