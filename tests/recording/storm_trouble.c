/* SPDX-License-Identifier: MIT */
/* See storm_trouble.h. */
#include "recording/storm_trouble.h"

#include <signal.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/macros.h"

#define ABSENCE_MS_LEAST 3000
#define ABSENCE_MS_MOST  6000
#define PAUSE_MS_MOST    300
#define POINT_MS         200 /* for somebody to come by a point */
#define REQUEST_MS       600 /* for the controller to ask for what leads to one */
#define VISITS_MOST      200

struct point {
	const char *name;
	uint32_t visits_most;
	unsigned fired, missed;
	uint32_t requests; /* those that lead there (enum storm_request) */
};

/* What sessions and readers pass, in the host. */
static struct point host_points[] = {
	{"ring.reader.looked", VISITS_MOST, 0, 0, 0},
	{"ring.reader.finished", 20, 0, 0, 0},
	{"ring.reader.taken", VISITS_MOST, 0, 0, 0},
	{"ring.reader.cleared", 8, 0, 0, 0},
	{"ring.reader.assigned", 8, 0, 0, 0},
	{"ring.reader.queued", 8, 0, 0, 0},
	{"ring.reader.unqueued", 8, 0, 0, 0},
	{"ring.reader.released", 8, 0, 0, 0},
	{"session.piece.copied", 10, 0, 0, 0},
	{"session.batch.committed", 10, 0, 0, 0},
	{"session.batch.announced", 10, 0, 0, 0},
	{"session.seal.recorded", 10, 0, 0, 0},
	{"session.seal.written", 10, 0, 0, 0},
	{"session.seal.done", 10, 0, 0, 0},
	{"session.place.replaced", 8, 0, 0, 0},
	{"session.place.filled", 8, 0, 0, 0},
	{"session.commit.before", VISITS_MOST, 0, 0, 0},
	{"session.commit.written", VISITS_MOST, 0, 0, 0},
	{"session.commit.done", VISITS_MOST, 0, 0, 0},
};

/* Met when a consumer comes. */
static struct point consumer_points[] = {
	{"session.consumer.settled", 1, 0, 0, 0},
	{"session.consumer.live", 1, 0, 0, 0},
};

/* Met when the controllers' session comes or goes; the others when there is a new host. */
static struct point keeper_points[] = {
	{"keeper.message.seen", 6, 0, 0, 0}, {"keeper.message.told", 6, 0, 0, 0},
	{"keeper.host.made", 1, 0, 0, 0},    {"keeper.host.half_told", 1, 0, 0, 0},
	{"keeper.host.told", 1, 0, 0, 0},    {"keeper.host.given", 1, 0, 0, 0},
};
#define KEEPER_POINTS_OF_MESSAGES 2

static struct point writer_points[] = {
	{"provider.event.entered", VISITS_MOST, 0, 0, 0},
	{"provider.event.reserved", VISITS_MOST, 0, 0, 0},
	{"provider.event.copied", VISITS_MOST, 0, 0, 0},
	{"provider.event.leaving", VISITS_MOST, 0, 0, 0},
	{"ring.reserve.loaded", VISITS_MOST, 0, 0, 0},
	{"ring.reserve.claimed", VISITS_MOST, 0, 0, 0},
	{"ring.commit.before", VISITS_MOST, 0, 0, 0},
	{"ring.commit.done", VISITS_MOST, 0, 0, 0},
	{"ring.switch.ended", 4, 0, 0, 0},
	{"ring.switch.done", 4, 0, 0, 0},
};

#define UPDATES (STORM_ASK_BUFFERS | STORM_ASK_TIMER | STORM_ASK_FILE | STORM_ASK_REAL_TIME)

/* Met when a controller's request is carried out. */
static struct point request_points[] = {
	{"session.file.described", 2, 0, 0, STORM_ASK_FILE | STORM_ASK_NEXT},
	{"session.file.made", 2, 0, 0, STORM_ASK_FILE | STORM_ASK_NEXT},
	{"session.file.ended", 2, 0, 0, STORM_ASK_FILE | STORM_ASK_NEXT},
	{"session.file.changed", 2, 0, 0, STORM_ASK_FILE | STORM_ASK_NEXT},
	{"session.file.left", 2, 0, 0, STORM_ASK_FILE | STORM_ASK_NEXT},
	{"session.update.filed", 2, 0, 0, UPDATES},
	{"session.update.dismissed", 2, 0, 0, UPDATES},
	{"session.update.changed", 2, 0, 0, UPDATES},
	{"session.convert.ended", 1, 0, 0, STORM_ASK_CONVERT},
	{"session.plan.changing", 2, 0, 0, STORM_ASK_CONVERT},
	{"session.convert.changed", 1, 0, 0, STORM_ASK_CONVERT},
	{"session.convert.forgotten", 1, 0, 0, STORM_ASK_CONVERT},
	{"session.history.copied", 2, 0, 0, STORM_ASK_FLUSH_TO},
	{"session.history.made", 2, 0, 0, STORM_ASK_FLUSH_TO},
	{"session.history.written", 2, 0, 0, STORM_ASK_FLUSH_TO},
};

static struct points_order *orders;

void storm_trouble_init(struct points_order *given)
{
	orders = given;
}

/* And waits for its end: who dies next is to die without it. */
static void kill_now(pid_t pid)
{
	const struct wait wait = wait_for("a process that was killed does not end");

	(void)kill(pid, SIGKILL); /* it may just have died */
	while (recording_is_alive(pid))
		wait_on(&wait);
}

static void stop_for_a_while(pid_t pid, uint32_t ms)
{
	printf(" stopped %u ms", ms);
	if (kill(pid, SIGSTOP))
		return; /* it has just died, as it may */
	storm_sleep_ms(ms);
	(void)kill(pid, SIGCONT);
}

/* Returns the process that died there; 0: nobody came by in time. */
static pid_t await_point(struct point *point)
{
	const uint32_t most = point->requests ? REQUEST_MS : POINT_MS;
	pid_t pid;

	for (uint32_t ms = 0; ms < most && load_acquire(&orders->is_armed); ms += 2)
		storm_sleep_ms(2);
	pid = points_disarm(orders);
	*(pid ? &point->fired : &point->missed) += 1;
	printf(" at %s%s", point->name, pid ? "" : ", where nobody came by");
	return pid;
}

static pid_t die_at(struct point *point, pid_t other)
{
	const pid_t others[POINTS_OTHERS] = {other, 0};

	points_arm(orders, point->name, 1 + storm_below(point->visits_most), others);
	return await_point(point);
}

static void kill_host(struct storm_run *run)
{
	printf(" host killed");
	kill_now(storm_run_processes(run).host);
}

static void stop_host(struct storm_run *run)
{
	printf(" host");
	stop_for_a_while(storm_run_processes(run).host, storm_below(PAUSE_MS_MOST));
}

static void kill_host_at_point(struct storm_run *run)
{
	printf(" host killed");
	(void)storm_run_processes(run);
	(void)die_at(&host_points[storm_below(ARRAY_SIZE(host_points))], 0);
}

static void kill_host_and_keeper_at_point(struct storm_run *run)
{
	printf(" host and keeper killed");
	(void)die_at(&host_points[storm_below(ARRAY_SIZE(host_points))],
		     storm_run_processes(run).keeper);
}

/* In the midst of a change that a controller asked for; alone, or with the keeper, or with the controller. */
static void kill_host_at_request(struct storm_run *run)
{
	struct recording_processes processes = storm_run_processes(run);
	struct storm_process *controller = storm_process_all(STORM_CONTROLLER);
	struct point *point = &request_points[storm_below(ARRAY_SIZE(request_points))];
	const uint32_t with = storm_below(3);
	const pid_t others[POINTS_OTHERS] = {with == 1 ? processes.keeper : 0,
					     with == 2 ? controller->pid : 0};

	while (!(point->requests & run->kind->requests))
		point = &request_points[storm_below(ARRAY_SIZE(request_points))];
	printf(" host%s killed", with == 1 ? " and keeper" : with == 2 ? " and controller" : "");
	points_arm(orders, point->name, 1 + storm_below(point->visits_most), others);
	(void)await_point(point);
	if (with == 2)
		storm_process_restart(controller, run);
}

static void kill_host_and_keeper(struct storm_run *run)
{
	struct recording_processes processes = storm_run_processes(run);

	printf(" keeper and host killed");
	kill_now(storm_below(2) ? processes.keeper : processes.host);
	kill_now(processes.keeper);
	kill_now(processes.host);
}

static void kill_keeper(struct storm_run *run)
{
	printf(" keeper killed");
	kill_now(storm_run_processes(run).keeper);
}

/* While it takes what the host says, or while it makes a host; alone, or with the host. */
static void kill_keeper_at_point(struct storm_run *run)
{
	struct recording_processes processes = storm_run_processes(run);
	struct point *point = &keeper_points[storm_below(ARRAY_SIZE(keeper_points))];
	const pid_t others[POINTS_OTHERS] = {storm_below(2) ? processes.host : 0, 0};

	printf(others[0] ? " keeper and host killed" : " keeper killed");
	points_arm(orders, point->name, 1 + storm_below(point->visits_most), others);
	if (point - keeper_points >= KEEPER_POINTS_OF_MESSAGES)
		kill_now(processes.host);
	(void)await_point(point);
}

static void kill_standby(struct storm_run *run)
{
	printf(" standby killed");
	kill_now(storm_run_processes(run).standby);
}

static void stop_standby(struct storm_run *run)
{
	printf(" standby");
	stop_for_a_while(storm_run_processes(run).standby, storm_below(PAUSE_MS_MOST));
}

static void trouble_process(struct storm_run *run, enum storm_role role)
{
	struct storm_process *process = storm_process(role);

	printf(" %s %u", storm_role_name(role), process->place);
	if (!process->pid) {
		printf(" started");
		storm_process_start(process);
		return;
	}
	if (storm_below(2)) {
		stop_for_a_while(process->pid, storm_below(PAUSE_MS_MOST));
		if (storm_below(2))
			return;
	}
	/* The first consumer is the one whose sum is exact: it seldom dies. */
	if (role == STORM_CONSUMER && process->place == run->first_consumer && storm_below(4))
		return;
	printf(" killed");
	storm_process_restart(process, run);
}

static void trouble_writer(struct storm_run *run)
{
	trouble_process(run, STORM_WRITER);
}

static void trouble_consumer(struct storm_run *run)
{
	if (run->kind->live == STORM_DEAF) {
		kill_host(run); /* instead */
		return;
	}
	trouble_process(run, STORM_CONSUMER);
}

/* The second one, whose sum nobody takes; alone, or with the keeper. */
static void kill_host_as_consumer_comes(struct storm_run *run)
{
	struct recording_processes processes = storm_run_processes(run);
	struct point *point = &consumer_points[storm_below(ARRAY_SIZE(consumer_points))];
	const pid_t others[POINTS_OTHERS] = {storm_below(2) ? processes.keeper : 0, 0};

	if (run->kind->live == STORM_DEAF) {
		kill_host(run); /* instead */
		return;
	}
	printf(others[0] ? " host and keeper killed" : " host killed");
	points_arm(orders, point->name, 1, others);
	storm_process_restart(&storm_process_all(STORM_CONSUMER)[1], run);
	(void)await_point(point);
}

static void trouble_controller(struct storm_run *run)
{
	trouble_process(run, STORM_CONTROLLER);
}

static void kill_writer_at_point(struct storm_run *run)
{
	pid_t pid;

	printf(" writer killed");
	pid = die_at(&writer_points[storm_below(ARRAY_SIZE(writer_points))], 0);
	for (struct storm_process *at = storm_process_all(STORM_WRITER), *end = at + STORM_WRITERS;
	     at < end; at++) {
		if (pid && at->pid == pid)
			storm_process_restart(at, run);
	}
}

/* The host dies while its keeper stands still: until that goes on there is none. */
static void be_absent(struct storm_run *run, uint32_t ms)
{
	struct recording_processes processes = storm_run_processes(run);

	printf(" no host for %u ms", ms);
	(void)kill(processes.keeper, SIGSTOP);
	kill_now(processes.host);
	storm_sleep_ms(ms);
	(void)kill(processes.keeper, SIGCONT);
}

static void be_absent_shortly(struct storm_run *run)
{
	be_absent(run, storm_below(PAUSE_MS_MOST));
}

void storm_trouble_absence(struct storm_run *run)
{
	be_absent(run, ABSENCE_MS_LEAST + storm_below(ABSENCE_MS_MOST - ABSENCE_MS_LEAST));
}

/* The host with them, or some time later, when nothing goes on any more. */
static void end_keepers(struct storm_run *run)
{
	struct recording_processes processes = storm_run_processes(run);

	run->is_host_final = true;
	run->is_over = storm_below(2) == 0;
	printf(run->is_over ? " keeper, standby and host killed" : " keeper and standby killed");
	if (run->is_over) {
		recording_kill_all();
		return;
	}
	(void)kill(processes.keeper, SIGSTOP);
	kill_now(processes.standby);
	kill_now(processes.keeper);
}

static struct trouble {
	const char *name;
	void (*make)(struct storm_run *run);
	uint32_t weight;
	unsigned count;
} troubles[] = {
	{"host killed", kill_host, 6, 0},
	{"host stopped", stop_host, 2, 0},
	{"host killed at a point", kill_host_at_point, 16, 0},
	{"host killed in a change of the session", kill_host_at_request, 16, 0},
	{"host and keeper killed", kill_host_and_keeper, 5, 0},
	{"host and keeper killed at a point", kill_host_and_keeper_at_point, 10, 0},
	{"host killed as a consumer comes", kill_host_as_consumer_comes, 3, 0},
	{"keeper killed", kill_keeper, 4, 0},
	{"keeper killed at a point", kill_keeper_at_point, 6, 0},
	{"standby killed", kill_standby, 1, 0},
	{"standby stopped", stop_standby, 1, 0},
	{"writer stopped or killed", trouble_writer, 5, 0},
	{"writer killed at a point", kill_writer_at_point, 8, 0},
	{"consumer stopped or killed", trouble_consumer, 6, 0},
	{"controller stopped or killed", trouble_controller, 3, 0},
	{"no host for a while", be_absent_shortly, 2, 0},
	{"all killed, or all but the host", end_keepers, 1, 0},
};

void storm_trouble(struct storm_run *run)
{
	struct trouble *trouble = troubles;
	uint32_t sum = 0, at;

	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		sum += troubles[i].weight;
	for (at = storm_below(sum); at >= trouble->weight; trouble++)
		at -= trouble->weight;
	trouble->count++;
	trouble->make(run);
}

static void print_points(const struct point *points, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("%5u of %5u  %s\n", points[i].fired, points[i].fired + points[i].missed,
		       points[i].name);
}

void storm_trouble_print(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		printf("%5u  %s\n", troubles[i].count, troubles[i].name);
	print_points(host_points, ARRAY_SIZE(host_points));
	print_points(consumer_points, ARRAY_SIZE(consumer_points));
	print_points(request_points, ARRAY_SIZE(request_points));
	print_points(keeper_points, ARRAY_SIZE(keeper_points));
	print_points(writer_points, ARRAY_SIZE(writer_points));
}
