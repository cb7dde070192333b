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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "recording/children.h"
#include "recording/numbered.h"
#include "recording/support.h"

#define WRITERS       3
#define ROUNDS        50
#define PAUSE_US      500 /* of each writer */
#define SESSION_NAME  "live survival"
#define SECONDS_MAX   1500
#define FLUSH_MS      10
#define SLOW_EVENTS   2000
#define SLOW_FLUSH_MS 1 /* many buffers */
#define SLOW_US       400000
#define STOPPED_LIVES 4 /* of this part of the rounds the third consumer runs */

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x04}};

/* Shared with the writers and the third consumer. */
struct shared {
	struct numbered_shared numbered;
	uint32_t third; /* atomic: events that the third consumer got */
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

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct consumer *consumer = record->UserContext;
	struct numbered_payload payload;

	(void)add_relaxed(&consumer->progress, UINT64_C(1));
	consumer->losses += is_lost_event(record);
	if (!numbered_take(record, &provider_guid, consumer->last, consumer->name, &payload))
		return;
	if (payload.number > consumer->from[payload.writer])
		consumer->numbers[payload.writer]++;
	else
		consumer->before++;
	if (load_relaxed(&consumer->is_slow) && payload.number % SLOW_EVENTS == 0)
		usleep(SLOW_US);
}

static void *consume(void *argument)
{
	struct consumer *consumer = argument;

	consumer->error = ProcessTrace(&consumer->trace, 1, NULL, NULL);
	if (!consumer->error)
		consumer->header = live_header(consumer->trace);
	return NULL;
}

/* One event may be written whose writer has not counted it yet. */
static void start_consumer(struct consumer *consumer)
{
	consumer->trace = live_open(SESSION_NAME, see_event, consumer);
	for (uint32_t i = 0; i < WRITERS; i++) {
		uint64_t written = numbered_calls(&shared->numbered, i);

		consumer->from[i] = written ? written + 1 : 0;
	}
	pthread_create(&consumer->thread, NULL, consume, consumer);
}

static void WINAPI see_event_of_third(PEVENT_RECORD record)
{
	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider_guid))
		add_relaxed(&shared->third, 1u);
}

static pid_t start_third_consumer(void)
{
	TRACEHANDLE trace;
	pid_t child = fork();

	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child > 0)
		return child;
	/* When it is stopped it would keep the test's output open for ever. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	await_flag(&shared->numbered.is_begun, 1, "it does not begin");
	trace = live_open(SESSION_NAME, see_event_of_third, NULL);
	(void)ProcessTrace(&trace, 1, NULL, NULL);
	_exit(0);
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

	for (uint32_t i = 0; i < WRITERS; i++) {
		owed += numbered_calls(&shared->numbered, i) - consumer->from[i];
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
	return live_header(consumer->trace).BuffersLost != 0;
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
	struct wait wait;

	first.is_slow = is_slow;
	recording_start(&recording, &session);
	recording_enable(&recording, &provider_guid);
	third = start_third_consumer();
	for (uint32_t i = 0; i < WRITERS; i++)
		writers[i] = numbered_start(&provider_guid, &shared->numbered, i, PAUSE_US);
	start_consumer(&first);
	store_release(&shared->numbered.is_begun, 1u);
	for (int i = 0; i < rounds; i++) {
		kill_host(&recording, i);
		if (i == rounds / 2)
			start_consumer(&second);
		if (i == rounds / STOPPED_LIVES)
			(void)kill(third, SIGSTOP);
	}
	wait = wait_for("the slow consumer loses nothing");
	while (is_slow && !has_lost(&first))
		wait_on(&wait);
	numbered_finish(&shared->numbered, writers, WRITERS);
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
	shared = share_with_forks(sizeof(*shared));
	(void)test_home();
	(void)alarm(SECONDS_MAX);
	run(rounds, is_slow);
	return 0;
}
