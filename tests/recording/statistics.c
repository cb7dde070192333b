/* SPDX-License-Identifier: MIT */
/*
 * statistics SCENARIO - what a session tells of itself adds up, and everybody tells the same: the writers' own records, the
 * numbers by cause and by processor, QueryTrace and StopTrace, the file's header and what is in the file, and what a
 * real-time consumer finds and is told to have lost. Each scenario is a mode of sessions and a trouble: see the table.
 */
#include "recording/statistics.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

#define OTHER_UID      65534
#define BUFFER_KIB     4
#define TOO_LARGE      5000 /* bytes of payload, for such a buffer */
#define ONE_A_BUFFER   3000
#define OVER_THE_BRIM  9000 /* such events are more than a consumer's memory takes */
#define SENTINEL_BYTES 8

static const struct scenario scenarios[] = {
	{.name = "file", .has_file = true, .events = 20000, .payload = 100, .buffers = 2048},
	{.name = "file_one_stream",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING},
	/* In real time too: else the session would end with its file, and nobody could ask for its numbers. */
	{.name = "file_full",
	 .has_file = true,
	 .is_realtime = true,
	 .consumer = PROMPT,
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
	 .buffers = 4,
	 .is_overrun = true},
	{.name = "live_two_uids",
	 .is_realtime = true,
	 .consumer = PROMPT,
	 .events = 50000,
	 .payload = 100,
	 .buffers = 4,
	 .is_overrun = true,
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
	{.name = "append",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .mode = EVENT_TRACE_FILE_MODE_APPEND,
	 .clock = 2},
	{.name = "compressed",
	 .has_file = true,
	 .events = 20000,
	 .payload = 100,
	 .buffers = 2048,
	 .mode = EVENT_TRACE_COMPRESSED_MODE},
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
	 .buffers = 4,
	 .is_overrun = true},
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
	handle = recording_register(&statistics_provider, NULL, NULL);
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
	REGHANDLE handle = recording_register(&statistics_provider, NULL, NULL);
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

static void *consume(void *context)
{
	struct live *own = context;

	own->result = ProcessTrace(&own->trace, 1, NULL, NULL);
	return NULL;
}

static void start_consumer(const struct scenario *scenario)
{
	if (scenario->consumer == SLOW) {
		statistics_live.seen.gate = &statistics_live.gate;
		statistics_live.seen.is_at_gate = &statistics_live.is_at_gate;
	}
	statistics_live.trace = live_open(scenario->name, statistics_see, &statistics_live.seen);
	if (pthread_create(&statistics_live.thread, NULL, consume, &statistics_live))
		fail("pthread_create failed");
}

static void end_consumer(void)
{
	(void)pthread_join(statistics_live.thread, NULL);
	statistics_expect("ProcessTrace", statistics_live.result, ERROR_SUCCESS);
	statistics_live.header = live_header(statistics_live.trace);
	CloseTrace(statistics_live.trace);
}

static void add_up(void)
{
	uint64_t *sum = (uint64_t *)&statistics_told.all.events;
	size_t count =
		(sizeof(statistics_told.all) - offsetof(struct wire_cpu_statistics, events)) /
		sizeof(*sum);

	for (uint32_t i = 0; i < statistics_told.sums.cpu_count; i++) {
		const uint64_t *row = (const uint64_t *)&statistics_told.cpus[i].events;

		statistics_told.all.buffers += statistics_told.cpus[i].buffers;
		statistics_told.all.free_buffers += statistics_told.cpus[i].free_buffers;
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
	statistics_live.seen.gate = &shared->dead.gate;
	statistics_live.seen.is_at_gate = &shared->dead.is_at_gate;
	statistics_live.trace = live_open(scenario->name, statistics_see, &statistics_live.seen);
	(void)consume(&statistics_live);
	_exit(1);
}

/* All of a host: by the connection of the API there is no way to it. */
static void ask(struct recording *recording)
{
	static struct wire_statistics page;
	CLEANUP(etw_controller_closep) struct etw_controller *controller = NULL;
	enum etw_instance order[2];
	uint32_t known = 0;

	statistics_told.all = (struct wire_cpu_statistics){0};
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	statistics_told.query = recording->block.properties;
	if (etw_control_lookup_order(order) == 0 ||
	    etw_controller_open(order[0], /* is_starting= */ false, NULL, &controller))
		fail("there is no host to ask");
	do {
		if (etw_control_statistics(controller, recording->handle, known, &page))
			fail("the host tells no numbers");
		if (known == 0)
			statistics_told.sums = page;
		if (page.cpu_count > CPUS_MAX || page.told_cpus == 0)
			fail("the host tells of %u processors", (unsigned)page.told_cpus);
		memcpy(&statistics_told.cpus[known], page.cpus,
		       page.told_cpus * sizeof(*page.cpus));
		known += page.told_cpus;
	} while (known < page.cpu_count);
	add_up();
}

/* What a consumer had not read when it was killed is lost. The host may need a while to hear of its end. */
static void kill_consumer(struct recording *recording, pid_t consumer)
{
	const struct wait wait = wait_for("the host does not hear of a consumer's end");
	uint64_t waiting = statistics_told.sums.consumers[0].waiting;

	statistics_expect("the consumer", statistics_told.sums.consumers[0].state,
			  WIRE_CONSUMER_HERE);
	statistics_expect_whether("something was not read", waiting > 0, true);
	statistics_expect("buffers that the consumer lost", statistics_told.sums.consumers[0].lost,
			  statistics_told.all.slow_buffers);
	statistics_expect("unread buffers of nobody", statistics_told.sums.unread_buffers, 0);
	if (kill(consumer, SIGKILL) || waitpid(consumer, NULL, 0) != consumer)
		fail("kill: %s", strerror(errno));
	while (statistics_told.sums.consumers[0].state != WIRE_CONSUMER_NONE) {
		wait_on(&wait);
		ask(recording);
	}
	statistics_expect("unread buffers", statistics_told.sums.unread_buffers, waiting);
}

static void kill_host(struct recording *recording)
{
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
	if (kill(recording_host(recording), SIGKILL))
		fail("kill: %s", strerror(errno));
	recording_control(recording, EVENT_TRACE_CONTROL_QUERY);
}

static void record(const struct scenario *scenario, const char *file, struct shared *shared)
{
	char pattern[320];
	const struct recording_options options = {
		.name = scenario->name,
		.file = !scenario->has_file              ? NULL
			: statistics_is_series(scenario) ? pattern
							 : file,
		.mode = scenario->mode | (scenario->is_realtime ? EVENT_TRACE_REAL_TIME_MODE : 0),
		.buffer_kib = BUFFER_KIB,
		.buffers = scenario->buffers,
		.maximum_mib = scenario->maximum_mib,
		.clock = scenario->clock,
	};
	struct recording recording;
	pid_t writers[WRITERS], dead = 0;

	(void)snprintf(pattern, sizeof(pattern), "%s.%%d", file);
	recording_start(&recording, &options);
	recording_enable(&recording, &statistics_provider);
	start_writers(scenario, shared, writers);
	if (scenario->consumer == DEAD)
		dead = start_dead_consumer(scenario, shared);
	store_release(&shared->dead.begins, 1u);
	if (scenario->consumer == PROMPT || scenario->consumer == SLOW)
		start_consumer(scenario);
	store_release(&shared->is_begun, 1u);
	if (scenario->consumer == SLOW)
		await_flag(&statistics_live.is_at_gate, 1, "the consumer gets nothing");
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
	store_release(&statistics_live.gate, 1u);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	statistics_told.stop = recording.block.properties;
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
	statistics_check(scenario, shared, file);
	return 0;
}
