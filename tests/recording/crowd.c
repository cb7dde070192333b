/* SPDX-License-Identifier: MIT */
/*
 * crowd [--sessions N] [--providers N] [--processes N] [--rate N] [--seconds N] [--file-mib N] [--circular] - many of everything at
 * once: half of the sessions are real time with a consumer each, half write files; each provider is enabled in one
 * of either kind; each process writes one provider's events at its part of the rate, which counts what the sessions get.
 *
 * What was tried for a session = what its consumer got, or its file has, + what it says is lost, exactly. A file whose
 * size is used up counts what it does not get; a circular one has the newest events in order. Consumers get events in order of time. The host's memory stays what it was
 * after the first quarter. The distribution of latencies is printed. All sessions stop, and all processes end.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/time.h"
#include "recording/children.h"
#include "recording/enabled.h"
#include "recording/support.h"
#include "synthetic/sanitized.h"

#define SESSIONS_MAX  64
#define PROVIDERS_MAX 512
#define PROCESSES_MAX 1024
#define BUFFER_KIB    64
#define BUFFERS       24
#define BURST_US      5000
#define LATENCIES     40 /* powers of two of microseconds */
#define KIB_MORE      16384
#define WARM_SECONDS  100

struct plan {
	uint32_t sessions, providers, processes, seconds, file_mib, is_circular;
	uint64_t rate;
};

struct payload {
	uint32_t writer;
	uint32_t reserved;
	uint64_t number; /* of the call, from 1 */
};

/* Written by the session's consumer alone. */
struct consumer {
	uint64_t received, lost, disordered, latencies[LATENCIES];
	uint32_t is_open, is_done;
	uint32_t error; /* of ProcessTrace */
	uint32_t fault; /* __LINE__ of a check that failed; 0: none */
};

struct shared {
	uint32_t may_open, may_write, is_enough;
	uint64_t calls[PROCESSES_MAX];
	struct consumer consumers[SESSIONS_MAX];
};

/* Of one session's consumer or file: who came how far. */
struct seen {
	struct consumer *consumer;
	uint64_t last[PROCESSES_MAX];
	uint64_t count;
	int64_t time_ft;
};

static struct plan plan = {64, 100, 200, 4, 2, 0, 50000};
static struct shared *shared;
static struct recording recordings[SESSIONS_MAX];

static GUID provider_of(uint32_t process)
{
	return (GUID){0xC0D0 + process % plan.providers, 0, 0x13, {1, 2, 3, 4, 5, 6, 7, 8}};
}

/* Real-time sessions have even numbers. */
static bool is_live(uint32_t session)
{
	return session % 2 == 0;
}

static bool is_circular(uint32_t session)
{
	return plan.is_circular && !is_live(session);
}

/* One of each kind. */
static bool is_written_by(uint32_t session, uint32_t process)
{
	const uint32_t pair = process % plan.providers % (plan.sessions / 2);
	const uint32_t pairs = plan.sessions / 2;

	return session / 2 == (is_live(session) ? pair : (pair + pairs / 3) % pairs);
}

static void name_session(uint32_t session, char ret[32])
{
	snprintf(ret, 32, "crowd %u", session);
}

static void name_file(uint32_t session, char ret[400])
{
	snprintf(ret, 400, "%s/%u.etl", test_home(), session);
}

/* A writing process. */
static void write_on(uint32_t process)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	const double per_second = (double)plan.rate / 2 / plan.processes;
	const GUID provider = provider_of(process);
	struct payload payload = {.writer = process};
	EVENT_DATA_DESCRIPTOR data;
	REGHANDLE handle;
	double begin;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	await_flag(&shared->may_write, 1, "nobody may write");
	if (EventRegister(&provider, NULL, NULL, &handle) || !becomes_enabled(handle)) {
		fprintf(stderr, "writer %u is not enabled\n", process);
		_exit(1);
	}
	EventDataDescCreate(&data, &payload, sizeof(payload));
	begin = seconds();
	while (!load_acquire(&shared->is_enough)) {
		const double due = (seconds() - begin) * per_second;

		/* Refused or not: each session has it or counts it. */
		while ((double)payload.number < due) {
			payload.number++;
			(void)EventWrite(handle, &descriptor, 1, &data);
		}
		store_release(&shared->calls[process], payload.number);
		usleep(BURST_US);
	}
	store_release(&shared->calls[process], payload.number);
	EventUnregister(handle);
	_exit(0);
}

/* Returns the line of the check that failed. */
static uint32_t take(struct seen *seen, const EVENT_RECORD *record)
{
	struct payload payload;

	if (record->EventHeader.ProviderId.Data3 != 0x13 ||
	    record->EventHeader.ProviderId.Data1 - 0xC0D0 >= plan.providers)
		return 0;
	if (record->UserDataLength != sizeof(payload))
		return __LINE__;
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer >= plan.processes || payload.number <= seen->last[payload.writer])
		return __LINE__;
	seen->last[payload.writer] = payload.number;
	seen->count++;
	return 0;
}

static void WINAPI see_live(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct consumer *self = seen->consumer;
	const int64_t time_ft = record->EventHeader.TimeStamp.QuadPart;
	const int64_t late_ft = etw_filetime_now() - time_ft;
	const uint64_t before = seen->count;
	unsigned power = 0;

	if (!self->fault)
		self->fault = take(seen, record);
	if (seen->count == before)
		return;
	self->disordered += time_ft < seen->time_ft;
	seen->time_ft = time_ft;
	while (power < LATENCIES - 1 && late_ft > (int64_t)10 << power)
		power++;
	self->latencies[power]++;
	self->received++;
}

static void *consume(void *context)
{
	const uint32_t session = (uint32_t)(uintptr_t)context;
	struct consumer *self = &shared->consumers[session];
	struct seen *seen = calloc(1, sizeof(*seen));
	char name[32];
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = name,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_live,
		.Context = seen,
	};
	TRACE_LOGFILE_HEADER header = {0};
	TRACEHANDLE trace;
	ULONG bytes;

	name_session(session, name);
	if (!seen)
		_exit(1);
	seen->consumer = self;
	trace = OpenTraceA(&logfile);
	if (trace == INVALID_PROCESSTRACE_HANDLE)
		_exit(1);
	store_release(&self->is_open, 1u);
	self->error = ProcessTrace(&trace, 1, NULL, NULL);
	if (QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
				       sizeof(header), &bytes))
		_exit(1);
	self->lost = header.EventsLost;
	store_release(&self->is_done, 1u);
	CloseTrace(trace);
	free(seen);
	return NULL;
}

/* The consumers' process, a thread for each session. */
static void consume_all(void)
{
	pthread_t threads[SESSIONS_MAX];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	await_flag(&shared->may_open, 1, "no consumer may open");
	for (uint32_t i = 0; i < plan.sessions; i += 2) {
		if (pthread_create(&threads[i], NULL, consume, (void *)(uintptr_t)i))
			_exit(1);
	}
	for (uint32_t i = 0; i < plan.sessions; i += 2)
		(void)pthread_join(threads[i], NULL);
	_exit(0);
}

static pid_t start_process(uint32_t process)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (pid == 0 && process == plan.processes)
		consume_all();
	else if (pid == 0)
		write_on(process);
	return pid;
}

static void start_session(uint32_t session)
{
	char name[32], file[400];
	struct recording_options options = {
		.name = name,
		.mode = EVENT_TRACE_INDEPENDENT_SESSION_MODE,
		.buffer_kib = BUFFER_KIB,
		.buffers = BUFFERS,
	};

	name_session(session, name);
	name_file(session, file);
	if (is_live(session)) {
		options.mode |= EVENT_TRACE_REAL_TIME_MODE;
	} else {
		options.mode |= is_circular(session) ? EVENT_TRACE_FILE_MODE_CIRCULAR
						     : EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		options.file = file;
		options.maximum_mib = plan.file_mib;
	}
	recording_start(&recordings[session], &options);
	for (uint32_t i = 0; i < plan.providers; i++) {
		const GUID provider = provider_of(i);

		if (is_written_by(session, i))
			recording_enable(&recordings[session], &provider);
	}
}

struct memory {
	uint64_t own_kib, shared_kib;
};

static void raise_to_host(struct memory *memory)
{
	const pid_t host = recording_processes().host;
	const uint64_t own_kib = (uint64_t)process_status(host, "RssAnon:");
	const uint64_t shared_kib = (uint64_t)process_status(host, "RssShmem:");

	memory->own_kib = own_kib > memory->own_kib ? own_kib : memory->own_kib;
	memory->shared_kib = shared_kib > memory->shared_kib ? shared_kib : memory->shared_kib;
}

/*
 * Meanwhile all others work. Memory that is shared with consumers has its size from the start, but it is there from
 * its first use on only: that takes longer than a short run.
 */
static void watch_memory(void)
{
	const double begin = seconds();
	struct memory first = {0}, later = {0};

	while (seconds() < begin + plan.seconds) {
		raise_to_host(seconds() < begin + plan.seconds / 4.0 ? &first : &later);
		usleep(100000);
	}
	printf("the host holds %.1f MiB and %.1f MiB shared, at most; in the first quarter %.1f "
	       "and "
	       "%.1f\n",
	       (double)later.own_kib / 1024, (double)later.shared_kib / 1024,
	       (double)first.own_kib / 1024, (double)first.shared_kib / 1024);
	if ((!IS_SANITIZED && later.own_kib > first.own_kib + KIB_MORE) ||
	    (plan.seconds >= WARM_SECONDS && later.shared_kib > first.shared_kib + KIB_MORE))
		fail("the host's memory grows");
}

static uint64_t tried(uint32_t session)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < plan.processes; i++)
		sum += is_written_by(session, i) ? load_acquire(&shared->calls[i]) : 0;
	return sum;
}

static uint64_t check_live(uint32_t session)
{
	const struct consumer *consumer = &shared->consumers[session];
	const ULONG said = recordings[session].block.properties.EventsLost;

	if (consumer->error || consumer->fault || consumer->disordered)
		fail("the consumer of session %u: error %u, fault in line %u, %" PRIu64
		     " events out of order",
		     session, consumer->error, consumer->fault, consumer->disordered);
	if (consumer->received + consumer->lost != tried(session))
		fail("session %u: %" PRIu64 " tried, %" PRIu64 " received, %" PRIu64
		     " lost; the session says %u",
		     session, tried(session), consumer->received, consumer->lost, (unsigned)said);
	return consumer->lost;
}

static void WINAPI see_in_file(PEVENT_RECORD record)
{
	const uint32_t fault = take(record->UserContext, record);

	if (fault)
		fail("an event in a file is none, or is not in order (line %u)", fault);
}

/* What was overwritten nobody counts; the newest events are there. */
static void check_newest(uint32_t session, const struct seen *seen)
{
	for (uint32_t i = 0; i < plan.processes; i++) {
		const uint64_t last = load_acquire(&shared->calls[i]);

		if (is_written_by(session, i) && last && seen->last[i] != last)
			fail("session %u: writer %u wrote %" PRIu64 ", the file ends with %" PRIu64,
			     session, i, last, seen->last[i]);
	}
}

static uint64_t check_file(uint32_t session)
{
	static struct seen seen;
	char file[400];
	ULONG lost;

	name_file(session, file);
	memset(&seen, 0, sizeof(seen));
	lost = recording_read(file, see_in_file, &seen);
	(void)recording_check_order(file);
	if (lost != recordings[session].block.properties.EventsLost)
		fail("session %u says %u lost, its file %u", session,
		     (unsigned)recordings[session].block.properties.EventsLost, (unsigned)lost);
	if (seen.count + lost > tried(session) ||
	    (!is_circular(session) && seen.count + lost != tried(session)))
		fail("session %u: %" PRIu64 " tried, %" PRIu64 " in the file, %u lost", session,
		     tried(session), seen.count, (unsigned)lost);
	if (is_circular(session) && lost == 0)
		check_newest(session, &seen);
	(void)unlink(file);
	return lost;
}

static void print_latencies(void)
{
	uint64_t sums[LATENCIES] = {0}, all = 0, so_far = 0;

	for (uint32_t i = 0; i < plan.sessions; i += 2) {
		for (int k = 0; k < LATENCIES; k++) {
			sums[k] += shared->consumers[i].latencies[k];
			all += shared->consumers[i].latencies[k];
		}
	}
	for (int k = 0; k < LATENCIES; k++) {
		so_far += sums[k];
		if (sums[k])
			printf("  within %10.3f ms: %10" PRIu64 " events, %7.3f %%\n",
			       (double)((uint64_t)1 << k) / 1000, sums[k],
			       100.0 * (double)so_far / (double)all);
	}
}

static void settle(void)
{
	uint64_t events = 0, lost_live = 0, lost_file = 0;

	for (uint32_t i = 0; i < plan.sessions; i++) {
		recording_control(&recordings[i], EVENT_TRACE_CONTROL_STOP);
		if (is_live(i))
			await_flag(&shared->consumers[i].is_done, 1, "a consumer does not end");
	}
	for (uint32_t i = 0; i < plan.sessions; i++) {
		events += tried(i);
		*(is_live(i) ? &lost_live : &lost_file) += is_live(i) ? check_live(i)
								      : check_file(i);
	}
	printf("%u sessions, %u providers, %u processes: %" PRIu64
	       " events in %u s, %.0f a second; "
	       "%" PRIu64 " lost live, %" PRIu64 " in files\n",
	       plan.sessions, plan.providers, plan.processes, events, plan.seconds,
	       (double)events / plan.seconds, lost_live, lost_file);
	print_latencies();
}

static void run(void)
{
	static pid_t processes[PROCESSES_MAX + 1];

	for (uint32_t i = 0; i <= plan.processes; i++)
		processes[i] = start_process(i);
	for (uint32_t i = 0; i < plan.sessions; i++)
		start_session(i);
	store_release(&shared->may_open, 1u);
	for (uint32_t i = 0; i < plan.sessions; i += 2)
		await_flag(&shared->consumers[i].is_open, 1, "a consumer does not open");
	store_release(&shared->may_write, 1u);
	for (uint32_t i = 0; i < plan.processes; i++)
		await_more(&shared->calls[i], 0, "a writer does not begin");
	watch_memory();
	store_release(&shared->is_enough, 1u);
	for (uint32_t i = 0; i < plan.processes; i++)
		await_end(processes[i], "a writer");
	settle();
	await_end(processes[plan.processes], "the consumers' process");
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"sessions", 1, NULL, 's'},  {"providers", 1, NULL, 'p'},
		{"processes", 1, NULL, 'c'}, {"rate", 1, NULL, 'r'},
		{"seconds", 1, NULL, 't'},   {"file-mib", 1, NULL, 'f'},
		{"circular", 0, NULL, 'o'},  {0}};
	int option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		const uint32_t number = optarg ? (uint32_t)strtoul(optarg, NULL, 0) : 0;

		switch (option) {
		case 's':
			plan.sessions = number;
			break;
		case 'p':
			plan.providers = number;
			break;
		case 'c':
			plan.processes = number;
			break;
		case 'r':
			plan.rate = number;
			break;
		case 't':
			plan.seconds = number;
			break;
		case 'f':
			plan.file_mib = number;
			break;
		case 'o':
			plan.is_circular = 1;
			break;
		default:
			return 2;
		}
	}
	if (plan.sessions < 2 || plan.sessions > SESSIONS_MAX || plan.sessions % 2 ||
	    !plan.providers || plan.providers > PROVIDERS_MAX || plan.processes > PROCESSES_MAX)
		return 2;
	shared = share_with_forks(sizeof(*shared));
	(void)test_home();
	run();
	return 0;
}
