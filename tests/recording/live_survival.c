/* SPDX-License-Identifier: MIT */
/*
 * live_survival [--rounds N] [--slow] - a host with real-time consumers is killed that often, while processes write
 * numbered events. The first consumer is there from the start, the second comes while a host is being
 * replaced, a third is stopped on the way and killed in the end. The first two get every event once and in
 * order, or count it as lost; the sums are exact. With --slow they have little memory, and the first takes
 * its time: so something is lost.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errhandlingapi.h>
#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "recording/support.h"

#define WRITERS       3
#define ROUNDS        50
#define PAUSE_US      500 /* of each writer, after EVENTS_AT_ONCE */
#define AT_ONCE       16
#define SESSION_NAME  "live survival"
#define SECONDS_MAX   1500
#define FLUSH_MS      10
#define SLOW_EVENTS   2000
#define SLOW_FLUSH_MS 1 /* many buffers */
#define SLOW_US       400000
#define STOPPED_LIVES 4 /* of this part of the rounds the third consumer runs */

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x04}};

struct payload {
	uint32_t writer;
	uint32_t reserved;
	uint64_t number; /* from 1 */
};

/* Shared with the writers and the third consumer. */
struct shared {
	uint32_t is_begun;  /* atomic */
	uint32_t is_enough; /* atomic */
	uint32_t third;     /* atomic: events that the third consumer got */
	struct {
		uint64_t succeeded, refused;
	} writers[WRITERS];
};

struct consumer {
	const char *name;
	pthread_t thread;
	TRACEHANDLE trace;
	uint64_t from[WRITERS]; /* what comes behind this number was written while it was there */
	uint64_t last[WRITERS];
	uint64_t numbers[WRITERS]; /* events behind `from` */
	uint64_t before;           /* others, that were on their way when it came */
	uint64_t losses;           /* RT_LostEvent */
	uint64_t progress;         /* atomic: events of all kinds */
	uint32_t is_slow;          /* atomic */
	ULONG error;
	TRACE_LOGFILE_HEADER header; /* at the end */
};

static struct shared *shared;

/* Children are forked while there is one thread: else a lock of a sanitizer's allocator may stay held in them. */
static void wait_for_begin(void)
{
	(void)alarm(SECONDS_MAX);
	while (!load_acquire(&shared->is_begun))
		usleep(1000);
}

static void be_writer(uint32_t index)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct payload payload = {.writer = index};
	EVENT_DATA_DESCRIPTOR data;
	REGHANDLE handle;

	wait_for_begin();
	handle = recording_register(&provider_guid, NULL, NULL);
	EventDataDescCreate(&data, &payload, sizeof(payload));
	while (!load_acquire(&shared->is_enough)) {
		payload.number++;
		if (EventWrite(handle, &descriptor, 1, &data) == 0)
			add_relaxed(&shared->writers[index].succeeded, 1);
		else
			add_relaxed(&shared->writers[index].refused, 1);
		if (payload.number % AT_ONCE == 0)
			usleep(PAUSE_US);
	}
	EventUnregister(handle);
	_exit(0);
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	static const GUID lost_guid = {
		0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};
	struct consumer *consumer = record->UserContext;
	struct payload payload;

	(void)add_relaxed(&consumer->progress, UINT64_C(1));
	if (IsEqualGUID(&record->EventHeader.ProviderId, &lost_guid))
		consumer->losses++;
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		return;
	memcpy(&payload, record->UserData, sizeof(payload));
	if (record->UserDataLength != sizeof(payload) || payload.writer >= WRITERS)
		fail("an event of %u bytes is not what a writer wrote", record->UserDataLength);
	if (payload.number <= consumer->last[payload.writer])
		fail("%s: writer %u: event %llu comes after %llu", consumer->name, payload.writer,
		     (unsigned long long)payload.number,
		     (unsigned long long)consumer->last[payload.writer]);
	consumer->last[payload.writer] = payload.number;
	if (payload.number > consumer->from[payload.writer])
		consumer->numbers[payload.writer]++;
	else
		consumer->before++;
	if (load_relaxed(&consumer->is_slow) && payload.number % SLOW_EVENTS == 0)
		usleep(SLOW_US);
}

static void open_consumer(struct consumer *consumer)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t)SESSION_NAME,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_event,
		.Context = consumer,
	};

	consumer->trace = OpenTraceA(&logfile);
	if (consumer->trace == INVALID_PROCESSTRACE_HANDLE)
		fail("%s: OpenTrace: error %u", consumer->name, (unsigned)GetLastError());
}

static void *consume(void *argument)
{
	struct consumer *consumer = argument;
	ULONG bytes;

	consumer->error = ProcessTrace(&consumer->trace, 1, NULL, NULL);
	if (!consumer->error)
		consumer->error = QueryTraceProcessingHandle(consumer->trace, EtwQueryLogFileHeader,
							     NULL, 0, &consumer->header,
							     sizeof(consumer->header), &bytes);
	return NULL;
}

/* One event may be written whose writer has not counted it yet. */
static void start_consumer(struct consumer *consumer)
{
	open_consumer(consumer);
	for (int i = 0; i < WRITERS; i++) {
		uint64_t written = load_relaxed(&shared->writers[i].succeeded) +
				   load_relaxed(&shared->writers[i].refused);

		consumer->from[i] = written ? written + 1 : 0;
	}
	pthread_create(&consumer->thread, NULL, consume, consumer);
}

static void WINAPI see_event_of_third(PEVENT_RECORD record)
{
	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		add_relaxed(&shared->third, 1u);
}

static void be_third_consumer(void)
{
	EVENT_TRACE_LOGFILEA logfile = {
		.LoggerName = (char *)(uintptr_t)SESSION_NAME,
		.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_REAL_TIME,
		.EventRecordCallback = see_event_of_third,
	};
	TRACEHANDLE trace;

	wait_for_begin();
	trace = OpenTraceA(&logfile);
	(void)ProcessTrace(&trace, 1, NULL, NULL);
	_exit(0);
}

static pid_t start_process(void (*be)(uint32_t index), uint32_t index)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0) {
		/* One that is stopped would keep the test's output open for ever. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (be)
			be(index);
		else
			be_third_consumer();
	}
	return child;
}

/* The logger thread is one of the host's, so a signal to it is one to the host. */
static void kill_host(struct recording *recording, int round)
{
	usleep((useconds_t)(random() % 60000));
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	if (kill((pid_t)(uintptr_t)recording->block.properties.LoggerThreadId, SIGKILL))
		fail("kill %d: %s", round, strerror(errno));
}

static void finish_consumer(struct consumer *consumer)
{
	pthread_join(consumer->thread, NULL);
	if (consumer->error)
		fail("%s: ProcessTrace: error %u", consumer->name, (unsigned)consumer->error);
	CloseTrace(consumer->trace);
}

/*
 * What the session had lost before a consumer came is in its account too: for one that comes late the sum is
 * exact only where the session lost nothing.
 */
static void settle(const struct consumer *consumer, uint64_t session_lost)
{
	uint64_t owed = 0, received = 0, lost = consumer->header.EventsLost;
	bool is_late = false;

	for (int i = 0; i < WRITERS; i++) {
		owed += shared->writers[i].succeeded + shared->writers[i].refused -
			consumer->from[i];
		received += consumer->numbers[i];
		is_late |= consumer->from[i] != 0;
	}
	printf("%s: %llu owed, %llu received, %llu before those, %llu lost, %u buffers lost, %llu "
	       "told\n",
	       consumer->name, (unsigned long long)owed, (unsigned long long)received,
	       (unsigned long long)consumer->before, (unsigned long long)lost,
	       (unsigned)consumer->header.BuffersLost, (unsigned long long)consumer->losses);
	if (is_late && session_lost ? owed > received + lost : owed != received + lost)
		fail("%s: the sum is off by %lld", consumer->name,
		     (long long)(owed - received - lost));
	if (consumer->header.BuffersLost && !consumer->losses)
		fail("%s: buffers were lost in silence", consumer->name);
}

/* So far. A consumer that is slower than the writers will have, however slow the machine is. */
static bool has_lost(const struct consumer *consumer)
{
	TRACE_LOGFILE_HEADER header = {0};
	ULONG bytes;

	if (QueryTraceProcessingHandle(consumer->trace, EtwQueryLogFileHeader, NULL, 0, &header,
				       sizeof(header), &bytes))
		fail("%s: QueryTraceProcessingHandle failed", consumer->name);
	return header.BuffersLost != 0;
}

/* Until nothing comes any more, for longer than a callback takes. */
static void await_rest(const struct consumer *consumer)
{
	uint64_t before;

	do {
		before = load_relaxed(&consumer->progress);
		usleep(2 * SLOW_US);
	} while (load_relaxed(&consumer->progress) != before);
}

static void run(int rounds, bool is_slow)
{
	static struct consumer first = {.name = "first"}, second = {.name = "second"};
	struct recording_options session = {
		.name = SESSION_NAME,
		.mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
		.buffer_kib = is_slow ? 1024 : 64,
		.buffers = is_slow ? 16 : 256,
		.flush_timer = is_slow ? SLOW_FLUSH_MS : FLUSH_MS,
	};
	EVENT_TRACE_PROPERTIES *properties;
	struct recording recording;
	pid_t writers[WRITERS], third;
	int status;

	first.is_slow = is_slow;
	recording_start(&recording, &session);
	recording_enable(&recording, &provider_guid);
	third = start_process(NULL, 0);
	for (uint32_t i = 0; i < WRITERS; i++)
		writers[i] = start_process(be_writer, i);
	start_consumer(&first);
	store_release(&shared->is_begun, 1u);
	for (int i = 0; i < rounds; i++) {
		kill_host(&recording, i);
		if (i == rounds / 2)
			start_consumer(&second);
		if (i == rounds / STOPPED_LIVES)
			(void)kill(third, SIGSTOP);
	}
	while (is_slow && !has_lost(&first))
		usleep(SLOW_US / 10);
	store_release(&shared->is_enough, 1u);
	for (int i = 0; i < WRITERS; i++) {
		if (waitpid(writers[i], &status, 0) < 0 || status)
			fail("writer %d ended with status %d", i, status);
	}
	(void)kill(third, SIGKILL);
	(void)waitpid(third, NULL, 0);
	/* What takes its time in callbacks for longer than a session that ends waits is told so by an error. */
	if (is_slow) {
		store_relaxed(&first.is_slow, 0u);
		await_rest(&first);
	}
	/* At once after the last kill: consumers may still be on their way to the new host. */
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	finish_consumer(&first);
	finish_consumer(&second);
	properties = &recording.block.properties;
	printf("%d hosts killed; the session lost %u events and %u real-time buffers; the third "
	       "consumer got %u events before it was stopped\n",
	       rounds, (unsigned)properties->EventsLost, (unsigned)properties->RealTimeBuffersLost,
	       load_relaxed(&shared->third));
	settle(&first, properties->EventsLost);
	settle(&second, properties->EventsLost);
	if (is_slow && !first.header.BuffersLost)
		fail("nothing was lost, although it should");
	if (first.header.BuffersLost > properties->RealTimeBuffersLost)
		fail("the session knows of fewer lost buffers than a consumer");
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"rounds", 1, NULL, 'r'}, {"slow", 0, NULL, 's'}, {0}};
	bool is_slow = false;
	int rounds = ROUNDS, option;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		if (option == 'r')
			rounds = atoi(optarg);
		is_slow |= option == 's';
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	(void)test_home();
	(void)alarm(SECONDS_MAX);
	run(rounds, is_slow);
	return 0;
}
