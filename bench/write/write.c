/* SPDX-License-Identifier: MIT */
/*
 * write [--rounds N] [--count KIND [SESSIONS [EVENTS [accepted|rejected]]]] [--time KIND [SESSIONS [ROUNDS]]] [--list]
 *
 * What one event costs, through the shared library as programs call it: by kind of provider, fields, sessions and
 * threads, and what it costs when nobody listens. It is the threads' CPU time for batches of events that fit the
 * rings, which are emptied between batches. The kinds of a block take turns, batch by batch, so that all of them
 * meet the same neighbours. Each figure is the best of several rounds; the worst says how much others used the
 * machine. The last line is for scripts: the figure that other recorders are compared with.
 *
 * --count writes EVENTS of one kind and measures nothing: for tools that count instructions in write_kind_run();
 * with the last word, events that filters let pass, or take away. --time measures one kind alone, in turn with reserve
 * and commit: short, to compare two builds in turn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <evntcons.h>
#include <evntprov.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "bench/write/writers.h"
#include "ring/writer.h"
#include "tests/fake_host/fake_host.h"
#include "tests/write_kinds/write_kinds.h"
#include "wire/filter_list.h"

#define ROUNDS        40
#define BATCH         8000
#define SESSIONS_MAX  8
#define JOBS_MAX      40
#define BUFFER_COUNT  160
#define BUFFER_BYTES  65528
#define DISABLED_RUN  2000000
#define EVENT_BYTES   112 /* of the reference: header and 26 bytes */
#define OTHER_LEVEL   2   /* below that of all kinds */
#define REFERENCE     "EventWrite, 26 bytes"
#define LIKE_IT       "TraceLoggingWrite, 26 bytes"
#define COUNTED_CHUNK 1000

static struct fake_host host;
static struct fake_session sessions[SESSIONS_MAX];
static unsigned session_count;
static int rounds = ROUNDS;

/* One row: a kind, by so many threads at once. */
struct job {
	const struct write_kind *kind;
	unsigned threads;
	struct writers_time time;
	uint64_t refused;
};

static void fail(const char *what)
{
	fprintf(stderr, "write: %s\n", what);
	exit(1);
}

/* Reserve and commit in the first session's ring, with nothing but a size in the event. */
static uint64_t write_reserve(uint64_t count)
{
	struct etw_ring_span span;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (etw_ring_reserve(&sessions[0].set, &host.clock, EVENT_BYTES, &span) < 0) {
			refused++;
			continue;
		}
		etw_store32(span.at, EVENT_BYTES | UINT32_C(0xC0130000));
		etw_ring_commit(&span);
	}
	return refused;
}

static uint64_t read_clock(uint64_t count)
{
	int64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += etw_clock_now(&host.clock, ETW_CLOCK_QPC) & 1;
	return sum < 0;
}

static const struct write_kind reserve_kind = {"reserve and commit alone", WRITE_PROVIDERS,
					       write_reserve};
static const struct write_kind clock_kind = {"the clock alone", WRITE_PROVIDERS, read_clock};

static void set_wish(unsigned index, struct fake_wish wish)
{
	for (int i = 0; i < WRITE_PROVIDERS; i++) {
		/* A classic provider has one session. */
		if (i == WRITE_CLASSIC && index > 0)
			continue;
		if (fake_host_enable(&host, write_kinds_id((enum write_provider)i),
				     &sessions[index], wish) < 0)
			fail("cannot enable");
	}
	while (!write_kinds_has_logger())
		(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Filters by id and by name, of which each kind meets one: it lets all of it pass, or takes all away. */
static struct fake_wish filtered_wish(bool is_accepted)
{
	static uint8_t room[2][128];
	const uint8_t ids[] = {is_accepted, 0, 3, 0, 1, 0, 2, 0, 3, 0};
	uint8_t names[sizeof(EVENT_FILTER_EVENT_NAME) + sizeof("Nobody")] = {0};
	const struct wire_filter list[] = {
		{EVENT_FILTER_TYPE_EVENT_ID, {ids, sizeof(ids)}},
		{EVENT_FILTER_TYPE_EVENT_NAME, {names, sizeof(names)}},
	};
	struct etw_bytes filters = {room[is_accepted], 0};

	names[offsetof(EVENT_FILTER_EVENT_NAME, FilterIn)] = !is_accepted;
	names[offsetof(EVENT_FILTER_EVENT_NAME, NameCount)] = 1;
	memcpy(names + offsetof(EVENT_FILTER_EVENT_NAME, Names), "Nobody", sizeof("Nobody"));
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		filters.left += wire_filter_put(room[is_accepted] + filters.left,
						sizeof(room[0]) - filters.left, &list[i]);
	return (struct fake_wish){.level = 5, .filters = filters};
}

/* The first sessions have room for the batches of all threads, the others for one's. */
static void add_session(void)
{
	const uint32_t buffers = session_count < 2 ? BUFFER_COUNT : BUFFER_COUNT / 4;

	if (fake_session_open(&sessions[session_count], session_count + 1, buffers, BUFFER_BYTES,
			      0) < 0)
		fail("no memory for a session");
	set_wish(session_count, (struct fake_wish){.level = 5});
	session_count++;
}

static uint64_t drain(void)
{
	uint64_t taken = 0;

	for (unsigned i = 0; i < session_count; i++)
		taken += (uint64_t)fake_session_take(&sessions[i], NULL, NULL);
	return taken;
}

static void print_row(const struct job *job, double reference)
{
	printf("  %-30s %u thread%s %7.1f ns   worst %7.1f", job->kind->name, job->threads,
	       job->threads > 1 ? "s" : " ", job->time.best_ns, job->time.worst_ns);
	if (reference > 0)
		printf("   %.2f of the reference", job->time.best_ns / reference);
	printf(job->refused ? "   %" PRIu64 " refused\n" : "\n", job->refused);
}

/* The jobs of a block take turns. */
static void measure(struct job *jobs, unsigned count)
{
	for (int round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < count; i++) {
			jobs[i].refused += writers_run(jobs[i].kind, jobs[i].threads, BATCH,
						       round == 0, &jobs[i].time);
			(void)drain();
		}
	}
}

static struct job job_of(const char *name, unsigned threads)
{
	struct job job = {.kind = write_kind_find(name), .threads = threads};

	if (!job.kind)
		fail("no such kind");
	return job;
}

/* One thread and one session: every kind. Returns the reference's figure. */
static double measure_kinds(void)
{
	struct job jobs[JOBS_MAX] = {{.kind = &clock_kind, .threads = 1},
				     {.kind = &reserve_kind, .threads = 1},
				     job_of(REFERENCE, 1),
				     job_of(LIKE_IT, 1)};
	unsigned count = 4;
	double reference;

	for (const struct write_kind *kind = write_kinds; kind->name; kind++) {
		if (kind != jobs[2].kind && kind != jobs[3].kind)
			jobs[count++] = (struct job){.kind = kind, .threads = 1};
	}
	measure(jobs, count);
	reference = jobs[2].time.best_ns;
	printf("one session, one thread, per event\n");
	for (unsigned i = 0; i < count; i++)
		print_row(&jobs[i], reference);
	printf("  %s is %.2f times reserve and commit alone, %.2f times the clock alone\n",
	       REFERENCE, reference / jobs[1].time.best_ns, reference / jobs[0].time.best_ns);
	return reference;
}

static void measure_threads(void)
{
	struct job jobs[8];
	double one;

	for (unsigned i = 0; i < 4; i++) {
		jobs[i] = job_of(REFERENCE, 1u << i);
		jobs[4 + i] = job_of(LIKE_IT, 1u << i);
	}
	measure(jobs, ARRAY_SIZE(jobs));
	one = jobs[0].time.best_ns;
	printf("one session, several threads, per event of each\n");
	for (unsigned i = 0; i < ARRAY_SIZE(jobs); i++)
		print_row(&jobs[i], one);
}

/* What a stack costs. */
static void measure_stacks(void)
{
	struct job jobs[] = {job_of(REFERENCE, 1), job_of(LIKE_IT, 1)};

	set_wish(0, (struct fake_wish){.level = 5, .property = EVENT_ENABLE_PROPERTY_STACK_TRACE});
	measure(jobs, ARRAY_SIZE(jobs));
	set_wish(0, (struct fake_wish){.level = 5});
	printf("one session that asks for stacks, one thread, per event\n");
	for (unsigned i = 0; i < ARRAY_SIZE(jobs); i++)
		print_row(&jobs[i], 0);
}

/* What a filter costs, of what passes it and of what does not. */
static void measure_filters(void)
{
	static const char *const titles[] = {"taken away", "let pass"};

	for (int is_accepted = 0; is_accepted < 2; is_accepted++) {
		struct job jobs[] = {job_of(REFERENCE, 1), job_of(LIKE_IT, 1)};

		set_wish(0, filtered_wish(is_accepted));
		measure(jobs, ARRAY_SIZE(jobs));
		printf("one session with filters, %s, per event\n", titles[is_accepted]);
		for (unsigned i = 0; i < ARRAY_SIZE(jobs); i++)
			print_row(&jobs[i], 0);
	}
	set_wish(0, (struct fake_wish){.level = 5});
}

static void leave_session(unsigned index)
{
	if (fake_host_disable(&host, write_kinds_id(WRITE_MANIFEST), &sessions[index]) < 0 ||
	    fake_host_disable(&host, write_kinds_id(WRITE_TRACELOGGING), &sessions[index]) < 0)
		fail("cannot disable");
}

/* Beside the rows of one session, in turn with those of several: all others are left and entered each time. */
static void measure_several(unsigned count)
{
	struct job several[] = {job_of(REFERENCE, 1), job_of(LIKE_IT, 1)};
	struct job one[] = {job_of(REFERENCE, 1), job_of(LIKE_IT, 1)};
	const int all_rounds = rounds;

	rounds = 1;
	for (int round = 0; round < all_rounds; round++) {
		measure(several, ARRAY_SIZE(several));
		for (unsigned i = 1; i < count; i++)
			leave_session(i);
		measure(one, ARRAY_SIZE(one));
		for (unsigned i = 1; i < count; i++)
			set_wish(i, (struct fake_wish){.level = 5});
	}
	rounds = all_rounds;
	for (unsigned i = 0; i < ARRAY_SIZE(several); i++)
		printf("  %-30s %u sessions %6.1f ns   %.2f of one\n", several[i].kind->name, count,
		       several[i].time.best_ns, several[i].time.best_ns / one[i].time.best_ns);
}

static void measure_sessions(void)
{
	static const unsigned counts[] = {2, 4, SESSIONS_MAX};

	printf("several sessions, one thread, per event\n");
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		while (session_count < counts[i])
			add_session();
		measure_several(counts[i]);
	}
}

/* What code that mc or TraceLogging makes has in front of its call: a flag that the callback keeps. */
static volatile uint32_t is_enabled;

static uint64_t write_guarded(uint64_t count)
{
	EVENT_DESCRIPTOR descriptor = {.Level = 4};
	uint64_t written = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (is_enabled)
			written += EventWrite(write_kinds_manifest_handle(), &descriptor, 0, NULL);
		__asm__ volatile("" ::: "memory");
	}
	return written;
}

static uint64_t ask(uint64_t count)
{
	const REGHANDLE handle = write_kinds_manifest_handle();
	uint64_t enabled = 0;

	for (uint64_t i = 0; i < count; i++)
		enabled += EventProviderEnabled(handle, 4, 1);
	return enabled;
}

/* Of kinds that nobody wants: long batches, since no ring fills. */
static void measure_unwanted(const char *title)
{
	static const struct write_kind guarded = {"a flag of the program", WRITE_PROVIDERS,
						  write_guarded};
	static const struct write_kind asked = {"EventProviderEnabled", WRITE_PROVIDERS, ask};
	struct job jobs[] = {{.kind = &clock_kind, .threads = 1},
			     {.kind = &guarded, .threads = 1},
			     {.kind = &asked, .threads = 1},
			     job_of(REFERENCE, 1),
			     job_of("EventWriteTransfer, 26 bytes", 1),
			     job_of("EventWriteEx, 26 bytes", 1),
			     job_of("EventWriteString", 1),
			     job_of(LIKE_IT, 1)};

	for (int round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < ARRAY_SIZE(jobs); i++)
			(void)writers_run(jobs[i].kind, 1, DISABLED_RUN / ROUNDS, round == 0,
					  &jobs[i].time);
	}
	printf("%s, per event\n", title);
	for (unsigned i = 0; i < ARRAY_SIZE(jobs); i++)
		printf("  %-30s %7.2f ns   %.2f of the clock\n", jobs[i].kind->name,
		       jobs[i].time.best_ns, jobs[i].time.best_ns / jobs[0].time.best_ns);
}

/* Events of one kind for tools that count. */
static int count_events(const char *name, unsigned wanted_sessions, uint64_t events,
			const char *filtered)
{
	const bool is_rejected = filtered && strcmp(filtered, "rejected") == 0;
	const struct write_kind *kind = strcmp(name, reserve_kind.name) == 0
						? &reserve_kind
						: write_kind_find(name);
	uint64_t taken = 0;

	if (!kind || wanted_sessions > SESSIONS_MAX)
		fail("no such kind");
	while (session_count < wanted_sessions)
		add_session();
	for (unsigned i = 0; filtered && i < session_count; i++)
		set_wish(i, filtered_wish(!is_rejected));
	for (uint64_t done = 0; done < events; done += COUNTED_CHUNK) {
		(void)write_kind_run(kind, COUNTED_CHUNK);
		taken += drain();
	}
	printf("%" PRIu64 " written, %" PRIu64 " taken\n", events, taken);
	return taken != (is_rejected ? 0 : events * wanted_sessions);
}

static int time_events(const char *name, unsigned wanted_sessions, int wanted_rounds)
{
	struct job jobs[] = {{.kind = &reserve_kind, .threads = 1}, job_of(name, 1)};

	if (wanted_sessions > SESSIONS_MAX)
		fail("no such kind");
	while (session_count < wanted_sessions)
		add_session();
	rounds = wanted_rounds;
	writers_start();
	measure(jobs, ARRAY_SIZE(jobs));
	writers_stop();
	printf("%.2f ns, reserve and commit alone %.2f ns\n", jobs[1].time.best_ns,
	       jobs[0].time.best_ns);
	return 0;
}

static void measure_all(void)
{
	double reference;

	writers_start();
	measure_unwanted("nobody has the provider enabled");
	add_session();
	set_wish(0, (struct fake_wish){.level = OTHER_LEVEL});
	measure_unwanted("enabled at another level");
	set_wish(0, (struct fake_wish){.level = 5});
	reference = measure_kinds();
	measure_threads();
	measure_stacks();
	measure_filters();
	measure_sessions();
	writers_stop();
	printf("etw-ns-per-event %.2f\n", reference);
}

static void list(void)
{
	for (const struct write_kind *kind = write_kinds; kind->name; kind++)
		printf("%s\n", kind->name);
}

int main(int argc, char **argv)
{
	int result = 0;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (fake_host_init(&host) < 0 || fake_host_start(&host) < 0)
		fail("no host");
	if (write_kinds_register())
		fail("the providers cannot be registered");
	if (argc > 2 && strcmp(argv[1], "--rounds") == 0)
		rounds = atoi(argv[2]);
	if (argc > 2 && strcmp(argv[1], "--count") == 0)
		result = count_events(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 1,
				      argc > 4 ? strtoull(argv[4], NULL, 10) : COUNTED_CHUNK,
				      argc > 5 ? argv[5] : NULL);
	else if (argc > 2 && strcmp(argv[1], "--time") == 0)
		result = time_events(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 1,
				     argc > 4 ? atoi(argv[4]) : ROUNDS);
	else
		measure_all();
	write_kinds_unregister();
	fake_host_leave(&host);
	fake_host_done(&host);
	return result;
}
