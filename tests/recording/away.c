/* SPDX-License-Identifier: MIT */
/*
 * away stopped|dead - a session that writes a file and has a live consumer, while processes write numbered events.
 * stopped: its keeper is stopped, its host is killed, and nobody comes for longer than anything once waited; what
 * the full rings refused is counted by the next host, and the sums are exact. dead: keeper and host are killed;
 * the writers hear of it and are disabled, and the consumer ends with an error and a loss.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "ipc/runtime.h"
#include "recording/children.h"
#include "recording/numbered.h"
#include "recording/support.h"

#define WRITERS      2
#define PAUSE_US     1000
#define AWAY_S       12
#define SECONDS_MAX  1500
#define SESSION_NAME "away"

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x15}};

struct seen {
	const char *name;
	uint64_t last[NUMBERED_WRITERS_MAX];
	uint64_t count;  /* atomic */
	uint64_t losses; /* RT_LostEvent */
};

static struct numbered_shared *shared;
static struct recording recording;
static struct seen live = {.name = "consumer"}, in_file = {.name = "file"};
static TRACEHANDLE trace;
static ULONG live_error;

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	struct numbered_payload payload;

	seen->losses += is_lost_event(record);
	if (numbered_take(record, &provider_guid, seen->last, seen->name, &payload))
		(void)add_relaxed(&seen->count, UINT64_C(1));
}

static void *consume(void *unused)
{
	(void)unused;
	live_error = ProcessTrace(&trace, 1, NULL, NULL);
	return NULL;
}

static pthread_t start_consumer(void)
{
	pthread_t thread;

	trace = live_open(SESSION_NAME, see_event, &live);
	store_release(&shared->is_begun, 1u); /* from now on the session keeps events for it */
	if (pthread_create(&thread, NULL, consume, NULL))
		fail("no thread");
	return thread;
}

/* Until each has written so many more, or been refused. */
static void await_writers(uint64_t more)
{
	for (uint32_t i = 0; i < WRITERS; i++) {
		const struct wait wait = wait_for("a writer does not go on");
		uint64_t before = numbered_calls(shared, i);

		while (numbered_calls(shared, i) < before + more)
			wait_on(&wait);
	}
}

static void settle(const char *what, uint64_t got, uint64_t lost)
{
	uint64_t succeeded = 0, refused = 0;

	for (int i = 0; i < WRITERS; i++) {
		succeeded += shared->writers[i].succeeded;
		refused += shared->writers[i].refused;
	}
	printf("%s: %llu succeeded, %llu refused, %llu got, %llu lost\n", what,
	       (unsigned long long)succeeded, (unsigned long long)refused, (unsigned long long)got,
	       (unsigned long long)lost);
	if (succeeded + refused != got + lost)
		fail("%s: the sum is off by %lld", what,
		     (long long)(succeeded + refused - got - lost));
	if (refused == 0)
		fail("the rings were never full: nobody was away");
}

static void run_stopped(const char *file, pthread_t consumer, const pid_t *writers)
{
	const struct recording_processes processes = recording_await_standby();
	uint64_t before;
	ULONG lost;

	if (kill(processes.keeper, SIGSTOP) || kill(processes.host, SIGKILL))
		fail("kill: %s", strerror(errno));
	sleep(AWAY_S); /* not a wait for anything: so long was too long */
	await_writers(NUMBERED_AT_ONCE);
	if (kill(processes.keeper, SIGCONT))
		fail("kill: %s", strerror(errno));
	before = load_acquire(&live.count);
	await_more(&live.count, before + 1000, "the consumer does not meet the next host");
	numbered_finish(shared, writers, WRITERS);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	pthread_join(consumer, NULL);
	if (live_error)
		fail("ProcessTrace: error %u", (unsigned)live_error);
	lost = recording_read(file, see_event, &in_file);
	if (lost != recording.block.properties.EventsLost)
		fail("the session says %u lost and its file %u",
		     (unsigned)recording.block.properties.EventsLost, (unsigned)lost);
	settle("file", in_file.count, lost);
	settle("consumer", live.count, live_header(trace).EventsLost);
}

static void run_dead(pthread_t consumer, const pid_t *writers)
{
	TRACE_LOGFILE_HEADER header;

	recording_kill_all();
	for (int i = 0; i < WRITERS; i++)
		await_flag(&shared->writers[i].is_enabled, 0, "a writer stays enabled");
	numbered_finish(shared, writers, WRITERS);
	pthread_join(consumer, NULL);
	header = live_header(trace);
	printf("consumer: error %u, %llu events, %u buffers and %u events lost, %llu told\n",
	       (unsigned)live_error, (unsigned long long)live.count, (unsigned)header.BuffersLost,
	       (unsigned)header.EventsLost, (unsigned long long)live.losses);
	if (live_error != ERROR_WMI_INSTANCE_NOT_FOUND)
		fail("ProcessTrace: error %u", (unsigned)live_error);
	if (!header.BuffersLost || !live.losses)
		fail("the consumer was not told that something is missing");
}

int main(int argc, char **argv)
{
	struct recording_options options = {
		.name = SESSION_NAME,
		.mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
		.buffer_kib = 64,
		.buffers = 8,
		.flush_timer = 20,
	};
	bool is_dead = argc > 1 && strcmp(argv[1], "dead") == 0;
	pid_t writers[WRITERS];
	pthread_t consumer;
	char file[300];

	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = share_with_forks(sizeof(*shared));
	snprintf(file, sizeof(file), "%s/away.etl", test_home());
	if (!is_dead)
		options.file = file;
	(void)alarm(SECONDS_MAX);
	recording_start(&recording, &options);
	recording_enable(&recording, &provider_guid);
	for (uint32_t i = 0; i < WRITERS; i++)
		writers[i] = numbered_start(&provider_guid, shared, i, PAUSE_US);
	consumer = start_consumer();
	await_more(&live.count, 1000, "the consumer gets nothing");
	if (is_dead)
		run_dead(consumer, writers);
	else
		run_stopped(file, consumer, writers);
	CloseTrace(trace);
	return 0;
}
