/* SPDX-License-Identifier: MIT */
/*
 * statistics SCENARIO - what a session tells of itself adds up, and everybody tells the same: the writers' own records, the
 * numbers by cause and by processor, QueryTrace and StopTrace, the file's header and what is in the file, and what a
 * real-time consumer finds and is told to have lost. Each scenario is a mode of sessions and a trouble: see the table.
 */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "control/control.h"
#include "control/instance.h"
#include "recording/children.h"
#include "recording/numbered.h"
#include "recording/support.h"
#include "wire/session_note.h"

#define OTHER_UID      65534
#define WRITERS        2
#define CPUS_MAX       2048
#define BUFFER_KIB     4
#define TOO_LARGE      5000 /* bytes of payload, for such a buffer */
#define ONE_A_BUFFER   3000
#define OVER_THE_BRIM  9000 /* such events are more than a consumer's memory takes */
#define SENTINEL_BYTES 8

static const GUID provider_guid = {
	0x1c6d9f3e, 0x85a2, 0x4f0b, {0xb1, 0x7e, 0x42, 0xd8, 0x0a, 0x93, 0x6c, 0x5f}};
static const GUID note_guid = WIRE_SESSION_NOTE_PROVIDER;

enum consumer {
	NOBODY,
	PROMPT, /* from the start, and reads all the time */
	SLOW,   /* from the start, and stands at its first event until everything is written */
	LATE,   /* comes when everything is written */
	DEAD,   /* as SLOW, and then it is killed there */
};

struct scenario {
	const char *name;
	bool has_file, is_realtime;
	enum consumer consumer;
	uint32_t events, payload; /* of each writer, that succeed */
	ULONG buffers;            /* of 4 KB, in all */
	ULONG maximum_mib, mode;
	bool has_two_uids, loses_buffers;
	bool kills_host; /* when everything is written */
};

static const struct scenario scenarios[] = {
	{.name = "file", .has_file = true, .events = 20000, .payload = 100, .buffers = 2048},
	{.name = "file_one_stream",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING},
	{.name = "file_full",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .maximum_mib = 1},
	{.name = "file_tiny", .has_file = true, .events = 100000, .payload = 100, .buffers = 4},
	{.name = "file_two_uids",
	 .has_file = true,
	 .events = 50000,
	 .payload = 100,
	 .buffers = 4,
	 .has_two_uids = true},
	{.name = "live",
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048},
	{.name = "live_tiny",
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 50000,
	 .payload = 100,
	 .buffers = 4},
	{.name = "live_two_uids",
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 50000,
	 .payload = 100,
	 .buffers = 4,
	 .has_two_uids = true},
	{.name = "live_slow",
	 .is_realtime = true,
	 .consumer = SLOW,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "live_nobody",
	 .is_realtime = true,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "live_late",
	 .is_realtime = true,
	 .consumer = LATE,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048},
	{.name = "live_too_late",
	 .is_realtime = true,
	 .consumer = LATE,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "live_late_killed",
	 .is_realtime = true,
	 .consumer = LATE,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .kills_host = true},
	{.name = "live_dead",
	 .is_realtime = true,
	 .consumer = DEAD,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "new_files",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .maximum_mib = 1,
	 .mode = EVENT_TRACE_FILE_MODE_NEWFILE},
	{.name = "both",
	 .has_file = true,
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048},
	{.name = "both_tiny",
	 .has_file = true,
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 50000,
	 .payload = 100,
	 .buffers = 4},
	{.name = "both_slow",
	 .has_file = true,
	 .is_realtime = true,
	 .consumer = SLOW,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "both_nobody",
	 .has_file = true,
	 .is_realtime = true,
	 .events = OVER_THE_BRIM,
	 .payload = ONE_A_BUFFER,
	 .buffers = 64,
	 .loses_buffers = true},
	{.name = "both_late",
	 .has_file = true,
	 .is_realtime = true,
	 .consumer = LATE,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048},
};

/* Shared with the writers. */
struct shared {
	uint32_t is_begun; /* atomic */
	uint32_t goes_on;  /* behind the first event; atomic */
	struct {
		uint32_t begins, is_at_gate, gate; /* atomics */
	} dead;
	struct {
		uint32_t is_ready; /* atomic */
		uint64_t succeeded, refused;
	} writers[WRITERS];
};

/* What a reader of a file, or a consumer, finds. */
struct seen {
	uint64_t of[CPUS_MAX];
	uint64_t lost_events_of[CPUS_MAX]; /* RT_LostEvent */
	uint64_t events, notes, lost_events, lost_buffers, others;
	uint32_t *gate; /* at the first event: until it is 1; atomic. NULL: none */
	uint32_t *is_at_gate;
};

/* What the session says of itself when everything is written. */
struct told {
	struct wire_statistics sums;
	struct wire_cpu_statistics cpus[CPUS_MAX];
	struct wire_cpu_statistics all;
	EVENT_TRACE_PROPERTIES query, stop;
};

struct live {
	struct seen seen;
	TRACEHANDLE trace;
	pthread_t thread;
	ULONG result;
	TRACE_LOGFILE_HEADER header;
	uint32_t gate, is_at_gate;
};

static struct told told;
static struct seen in_file;
static struct live live;

static bool is_series(const struct scenario *scenario)
{
	return (scenario->mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0;
}

static void expect(const char *what, uint64_t found, uint64_t expected)
{
	if (found != expected)
		fail("%s: %llu, not %llu", what, (unsigned long long)found,
		     (unsigned long long)expected);
}

static void expect_whether(const char *what, bool found, bool expected)
{
	if (found != expected)
		fail("%s: %s", what, found ? "it is so" : "it is not so");
}

/* Writes one event of so many bytes. */
static ULONG write_one(REGHANDLE handle, uint32_t bytes)
{
	static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	static uint8_t payload[TOO_LARGE];
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, payload, bytes);
	return EventWrite(handle, &descriptor, 1, &data);
}

static void be_writer(const struct scenario *scenario, struct shared *shared, uint32_t index)
{
	uint64_t succeeded = 0, refused = 0;
	REGHANDLE handle;

	if (scenario->has_two_uids && index == 1 &&
	    (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID)))
		fail("cannot become uid %d: %s", OTHER_UID, strerror(errno));
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	handle = recording_register(&provider_guid, NULL, NULL);
	store_release(&shared->writers[index].is_ready, 1u);
	await_flag(&shared->is_begun, 1, "it does not begin");
	if (write_one(handle, TOO_LARGE) != ERROR_MORE_DATA)
		fail("an event that is too large is not refused");
	refused++;
	while (succeeded < scenario->events) {
		if (write_one(handle, scenario->payload) == ERROR_SUCCESS)
			succeeded++;
		else
			refused++;
		if (succeeded == 1)
			await_flag(&shared->goes_on, 1, "it does not go on");
	}
	shared->writers[index].succeeded = succeeded;
	shared->writers[index].refused = refused;
	EventUnregister(handle);
	_exit(0);
}

/* Forked while this process has one thread. */
static void start_writers(const struct scenario *scenario, struct shared *shared,
			  pid_t writers[WRITERS])
{
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = fork();
		if (writers[i] < 0)
			fail("fork: %s", strerror(errno));
		if (writers[i] == 0)
			be_writer(scenario, shared, i);
	}
	for (uint32_t i = 0; i < WRITERS; i++)
		await_flag(&shared->writers[i].is_ready, 1, "a writer is not ready");
}

/* An event on each processor, behind all that was lost there: so that a buffer comes which can say so. */
static void write_sentinels(struct shared *shared)
{
	REGHANDLE handle = recording_register(&provider_guid, NULL, NULL);
	cpu_set_t before, one;

	if (sched_getaffinity(0, sizeof(before), &before))
		fail("sched_getaffinity: %s", strerror(errno));
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &before))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			continue;
		while (write_one(handle, SENTINEL_BYTES) != ERROR_SUCCESS)
			shared->writers[0].refused++;
		shared->writers[0].succeeded++;
	}
	(void)sched_setaffinity(0, sizeof(before), &before);
	EventUnregister(handle);
}

static void WINAPI see(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	uint16_t cpu = record->BufferContext.ProcessorIndex % CPUS_MAX;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid)) {
		seen->events++;
		seen->of[cpu]++;
	} else if (IsEqualGUID(&record->EventHeader.ProviderId, &note_guid)) {
		seen->notes++;
	} else if (is_lost_event(record)) {
		bool is_buffer = record->EventHeader.EventDescriptor.Opcode == 33;

		seen->lost_buffers += is_buffer;
		seen->lost_events += !is_buffer;
		seen->lost_events_of[cpu] += !is_buffer;
	} else {
		seen->others++;
	}
	if (!seen->gate || seen->events == 0)
		return;
	store_release(seen->is_at_gate, 1u);
	await_flag(seen->gate, 1, "the gate does not open");
}

static void *consume(void *context)
{
	struct live *own = context;

	own->result = ProcessTrace(&own->trace, 1, NULL, NULL);
	return NULL;
}

static void start_consumer(const struct scenario *scenario)
{
	if (scenario->consumer == SLOW) {
		live.seen.gate = &live.gate;
		live.seen.is_at_gate = &live.is_at_gate;
	}
	live.trace = live_open(scenario->name, see, &live.seen);
	if (pthread_create(&live.thread, NULL, consume, &live))
		fail("pthread_create failed");
}

static void end_consumer(void)
{
	(void)pthread_join(live.thread, NULL);
	expect("ProcessTrace", live.result, ERROR_SUCCESS);
	live.header = live_header(live.trace);
	CloseTrace(live.trace);
}

static void add_up(void)
{
	uint64_t *sum = (uint64_t *)&told.all.events;
	size_t count = (sizeof(told.all) - offsetof(struct wire_cpu_statistics, events)) /
		       sizeof(*sum);

	for (uint32_t i = 0; i < told.sums.cpu_count; i++) {
		const uint64_t *row = (const uint64_t *)&told.cpus[i].events;

		told.all.buffers += told.cpus[i].buffers;
		told.all.free_buffers += told.cpus[i].free_buffers;
		for (size_t j = 0; j < count; j++)
			sum[j] += row[j];
	}
}

/* A process that consumes until it is killed. Forked while this process has one thread. */
static pid_t start_dead_consumer(const struct scenario *scenario, struct shared *shared)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child > 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	await_flag(&shared->dead.begins, 1, "it does not begin");
	live.seen.gate = &shared->dead.gate;
	live.seen.is_at_gate = &shared->dead.is_at_gate;
	live.trace = live_open(scenario->name, see, &live.seen);
	(void)consume(&live);
	_exit(1);
}

/* All of a host: by the connection of the API there is no way to it. */
static void ask(struct recording *recording)
{
	static struct wire_statistics page;
	CLEANUP(etw_controller_closep) struct etw_controller *controller = NULL;
	enum etw_instance order[2];
	uint32_t known = 0;

	told.all = (struct wire_cpu_statistics){0};
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	told.query = recording->block.properties;
	if (etw_control_lookup_order(order) == 0 ||
	    etw_controller_open(order[0], /* is_starting= */ false, NULL, &controller))
		fail("there is no host to ask");
	do {
		if (etw_control_statistics(controller, recording->handle, known, &page))
			fail("the host tells no numbers");
		if (known == 0)
			told.sums = page;
		if (page.cpu_count > CPUS_MAX || page.told_cpus == 0)
			fail("the host tells of %u processors", (unsigned)page.told_cpus);
		memcpy(&told.cpus[known], page.cpus, page.told_cpus * sizeof(*page.cpus));
		known += page.told_cpus;
	} while (known < page.cpu_count);
	add_up();
}

/* What a consumer had not read when it was killed is lost. The host may need a while to hear of its end. */
static void kill_consumer(struct recording *recording, pid_t consumer)
{
	uint64_t waiting = told.sums.consumers[0].waiting;

	expect("the consumer", told.sums.consumers[0].state, WIRE_CONSUMER_HERE);
	expect_whether("something was not read", waiting > 0, true);
	expect("buffers that the consumer lost", told.sums.consumers[0].lost,
	       told.all.slow_buffers);
	expect("unread buffers of nobody", told.sums.unread_buffers, 0);
	if (kill(consumer, SIGKILL) || waitpid(consumer, NULL, 0) != consumer)
		fail("kill: %s", strerror(errno));
	while (told.sums.consumers[0].state != WIRE_CONSUMER_NONE) {
		usleep(1000);
		ask(recording);
	}
	expect("unread buffers", told.sums.unread_buffers, waiting);
}

static void kill_host(struct recording *recording)
{
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	if (kill(recording_host(recording), SIGKILL))
		fail("kill: %s", strerror(errno));
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
}

static uint64_t sum_of_causes(void)
{
	const struct wire_session_loss *loss = &told.sums.loss;

	return loss->no_buffer + loss->too_large + loss->gaps + loss->rejected + loss->source +
	       loss->file + loss->replaced + loss->others_counted;
}

/* The writers' records, and the numbers by cause and by processor. */
static void check_causes(const struct shared *shared)
{
	const struct wire_session_loss *loss = &told.sums.loss;
	uint64_t succeeded = 0, refused = 0;

	for (uint32_t i = 0; i < WRITERS; i++) {
		succeeded += shared->writers[i].succeeded;
		refused += shared->writers[i].refused;
	}
	printf("%llu events, %llu refused: %llu without a buffer, %llu too large; %llu in gaps, "
	       "%llu not in the file\n",
	       (unsigned long long)succeeded, (unsigned long long)refused,
	       (unsigned long long)told.all.no_buffer, (unsigned long long)told.all.too_large,
	       (unsigned long long)told.all.gaps, (unsigned long long)told.all.file);
	expect("events that were taken or lost behind EventWrite",
	       told.all.events - told.all.notes + told.all.gaps + told.all.rejected, succeeded);
	expect("events that were refused, by processor",
	       told.all.no_buffer + told.all.too_large + loss->replaced, refused);
	expect("events that were refused, by user",
	       loss->no_buffer + loss->too_large + loss->replaced + loss->others, refused);
	expect("claims that are disregarded", loss->disregarded, 0);
	expect("gaps", told.all.gaps, loss->gaps);
	expect("refused by the host", told.all.rejected, loss->rejected);
	expect("lost to the file", told.all.file, loss->file);
	expect("EventsLost of QueryTrace", told.query.EventsLost, sum_of_causes());
	expect("EventsLost of StopTrace", told.stop.EventsLost, sum_of_causes());
}

static void check_buffers(const struct scenario *scenario)
{
	uint64_t header = scenario->has_file;

	expect("NumberOfBuffers by processor", told.all.buffers, told.query.NumberOfBuffers);
	expect("NumberOfBuffers", told.sums.number_of_buffers, told.query.NumberOfBuffers);
	expect("FreeBuffers by processor", told.all.free_buffers, told.sums.free_buffers);
	if (!is_series(scenario)) /* there it is the last file's */
		expect("BuffersWritten of QueryTrace", told.query.BuffersWritten,
		       told.all.buffers_written + header);
	expect("LogBuffersLost of QueryTrace", told.query.LogBuffersLost,
	       told.all.log_buffers_lost);
	expect("RealTimeBuffersLost of QueryTrace", told.query.RealTimeBuffersLost,
	       told.all.slow_buffers + told.all.unheard_buffers + told.sums.missed_buffers +
		       told.sums.unread_buffers);
}

/* What is in a processor's buffers says that events were lost on it, when some were. */
static void check_flags(const struct seen *seen)
{
	for (uint32_t i = 0; i < told.sums.cpu_count; i++) {
		const struct wire_cpu_statistics *cpu = &told.cpus[i];
		bool is_lossy = cpu->no_buffer || cpu->too_large || cpu->gaps || cpu->rejected;

		expect_whether("RT_LostEvent on a processor", seen->lost_events_of[i] > 0,
			       is_lossy);
	}
}

static void WINAPI ignore(PEVENT_RECORD record)
{
	(void)record;
}

static TRACE_LOGFILE_HEADER header_of(const char *file)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LogFileName = (char *)(uintptr_t)file,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD,
		.EventRecordCallback = ignore,
	};
	TRACEHANDLE trace = OpenTraceA(&logfile);

	if (trace == INVALID_PROCESSTRACE_HANDLE)
		fail("OpenTrace %s failed", file);
	CloseTrace(trace);
	return logfile.LogfileHeader;
}

/* One of the session's files. Returns its data buffers. */
static uint64_t check_one_file(const char *file, bool is_last)
{
	TRACE_LOGFILE_HEADER header = header_of(file);
	struct stat status;

	expect("EventsLost as ProcessTrace has it", recording_read(file, see, &in_file),
	       header.EventsLost);
	if (stat(file, &status))
		fail("stat %s: %s", file, strerror(errno));
	expect("buffers in the file", (uint64_t)status.st_size / header.BufferSize,
	       header.BuffersWritten);
	if (is_last) {
		expect("EventsLost of the header", header.EventsLost, told.stop.EventsLost);
		expect("BuffersLost of the header", header.BuffersLost, told.stop.LogBuffersLost);
		expect("BuffersWritten of the header", header.BuffersWritten,
		       told.stop.BuffersWritten);
	}
	return header.BuffersWritten - 1;
}

/* Returns the data buffers of all files of a series. */
static uint64_t check_series(const char *name)
{
	uint64_t buffers = 0;
	bool is_last = false;

	for (int i = 1; !is_last; i++) {
		char file[320], next[320];

		(void)snprintf(file, sizeof(file), "%s.%d", name, i);
		(void)snprintf(next, sizeof(next), "%s.%d", name, i + 1);
		is_last = access(next, F_OK) != 0;
		expect_whether("it is a series", i > 1 || !is_last, true);
		buffers += check_one_file(file, is_last);
	}
	return buffers;
}

static void check_file(const struct scenario *scenario, const char *file)
{
	bool is_full = scenario->maximum_mib > 0 && !is_series(scenario);
	uint64_t buffers = is_series(scenario) ? check_series(file) : check_one_file(file, true);

	/* Notes of the end have a buffer of their own, because what was before is flushed. */
	expect("buffers that were written", buffers,
	       told.all.buffers_written + (in_file.notes > told.all.notes));
	expect("events in the file", in_file.events,
	       told.all.events - told.all.notes - told.all.file);
	for (uint32_t i = 1; i < told.sums.cpu_count; i++)
		expect("events of a processor in the file", in_file.of[i],
		       told.cpus[i].events - told.cpus[i].file);
	if (!is_full)
		check_flags(&in_file);
	expect_whether("the file lost events", told.all.file > 0, is_full);
	expect("buffers lost in the file", in_file.lost_buffers, 0);
}

static void check_consumer(void)
{
	uint64_t on_the_way = sum_of_causes() - told.sums.loss.file;
	uint64_t missed_events = told.all.slow_events + told.all.unheard_events;

	printf("the consumer has %llu events, lost %u and %u buffers\n",
	       (unsigned long long)live.seen.events, (unsigned)live.header.EventsLost,
	       (unsigned)live.header.BuffersLost);
	expect("events that the consumer got", live.seen.events,
	       told.all.delivered_events - told.all.notes - missed_events);
	expect("events that went by", told.all.delivered_events, told.all.events);
	for (uint32_t i = 1; i < told.sums.cpu_count; i++)
		expect("events of a processor that the consumer got", live.seen.of[i],
		       told.cpus[i].delivered_events - told.cpus[i].slow_events -
			       told.cpus[i].unheard_events);
	expect("the consumer's EventsLost", live.header.EventsLost, on_the_way + missed_events);
	expect("the consumer's BuffersLost", live.header.BuffersLost,
	       told.stop.RealTimeBuffersLost);
	expect("RealTimeBuffersLost at the end", told.stop.RealTimeBuffersLost,
	       told.query.RealTimeBuffersLost);
	expect_whether("RT_LostEvent of events", live.seen.lost_events > 0, on_the_way > 0);
	expect_whether("RT_LostEvent of buffers", live.seen.lost_buffers > 0,
		       live.header.BuffersLost > 0);
	if (missed_events == 0)
		check_flags(&live.seen);
}

static void check_real_time(const struct scenario *scenario)
{
	bool is_slow = scenario->consumer == SLOW || scenario->consumer == DEAD;

	expect_whether("buffers were lost in real time", told.query.RealTimeBuffersLost > 0,
		       scenario->loses_buffers);
	/* One that comes too late has no room for what comes with it. */
	if (scenario->consumer != LATE)
		expect_whether("a consumer was slow", told.all.slow_buffers > 0,
			       scenario->loses_buffers && is_slow);
	expect_whether("more was written than is kept", told.all.unheard_buffers > 0,
		       scenario->loses_buffers && !is_slow);
	if (scenario->consumer == DEAD)
		expect("RealTimeBuffersLost at the end", told.stop.RealTimeBuffersLost,
		       told.query.RealTimeBuffersLost);
	else if (scenario->consumer != NOBODY)
		check_consumer();
	else if (scenario->is_realtime) /* nobody ever came */
		expect("RealTimeBuffersLost without a consumer", told.stop.RealTimeBuffersLost,
		       told.stop.BuffersWritten - scenario->has_file);
}

static void record(const struct scenario *scenario, const char *file, struct shared *shared)
{
	char pattern[320];
	const struct recording_options options = {
		.name = scenario->name,
		.file = !scenario->has_file   ? NULL
			: is_series(scenario) ? pattern
					      : file,
		.mode = scenario->mode | (scenario->is_realtime ? EVENT_TRACE_REAL_TIME_MODE : 0),
		.buffer_kib = BUFFER_KIB,
		.buffers = scenario->buffers,
		.maximum_mib = scenario->maximum_mib,
	};
	struct recording recording;
	pid_t writers[WRITERS], dead = 0;

	(void)snprintf(pattern, sizeof(pattern), "%s.%%d", file);
	recording_start(&recording, &options);
	recording_enable(&recording, &provider_guid);
	start_writers(scenario, shared, writers);
	if (scenario->consumer == DEAD)
		dead = start_dead_consumer(scenario, shared);
	store_release(&shared->dead.begins, 1u);
	if (scenario->consumer == PROMPT || scenario->consumer == SLOW)
		start_consumer(scenario);
	store_release(&shared->is_begun, 1u);
	if (scenario->consumer == SLOW)
		await_flag(&live.is_at_gate, 1, "the consumer gets nothing");
	if (dead > 0)
		await_flag(&shared->dead.is_at_gate, 1, "the consumer gets nothing");
	store_release(&shared->goes_on, 1u);
	for (uint32_t i = 0; i < WRITERS; i++)
		await_end(writers[i], "a writer");
	write_sentinels(shared);
	recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	if (scenario->kills_host)
		kill_host(&recording);
	if (scenario->consumer == LATE) {
		start_consumer(scenario);
		recording_control(&recording, EVENT_TRACE_CONTROL_FLUSH);
	}
	ask(&recording);
	if (dead > 0)
		kill_consumer(&recording, dead);
	store_release(&live.gate, 1u);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	told.stop = recording.block.properties;
	if (scenario->consumer != NOBODY && scenario->consumer != DEAD)
		end_consumer();
}

int main(int argc, char **argv)
{
	struct shared *shared = share_with_forks(sizeof(*shared));
	const struct scenario *scenario = NULL;
	char file[300];

	for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
		if (argc == 2 && strcmp(argv[1], scenarios[i].name) == 0)
			scenario = &scenarios[i];
	}
	if (!scenario)
		fail("usage: statistics SCENARIO");
	if (scenario->has_two_uids && geteuid() != 0) {
		printf("only root has two uids\n");
		return TEST_SKIPPED;
	}
	(void)snprintf(file, sizeof(file), "%s/statistics.etl", test_home());
	record(scenario, file, shared);
	check_causes(shared);
	check_buffers(scenario);
	if (scenario->has_file)
		check_file(scenario, file);
	check_real_time(scenario);
	return 0;
}
