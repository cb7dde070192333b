/* SPDX-License-Identifier: MIT */
/* See storm_run.h. */
#include "recording/storm_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/storm_check.h"
#include "recording/storm_control.h"

static const char *const role_names[] = {"writer", "consumer", "controller"};

struct storm_shared *storm_shared;
struct storm_totals storm_totals;

static const char *writer_program;
static int shared_fd;
static struct storm_process writers[STORM_WRITERS], consumers[STORM_CONSUMERS], controller;
static uint32_t next_place[STORM_ROLES];
static uint64_t settled[STORM_WRITERS_MAX]; /* calls that earlier sessions have settled */
static unsigned chance;

void storm_run_init(const char *writer)
{
	writer_program = writer;
	storm_shared = share_with_programs(sizeof(*storm_shared), &shared_fd);
}

void storm_seed(unsigned seed)
{
	chance = seed;
}

uint32_t storm_below(uint32_t limit)
{
	return (uint32_t)rand_r(&chance) % limit;
}

void storm_sleep_ms(uint32_t ms)
{
	struct timespec rest = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

const char *storm_role_name(enum storm_role role)
{
	return role_names[role];
}

struct storm_process *storm_process_all(enum storm_role role)
{
	switch (role) {
	case STORM_WRITER:
		return writers;
	case STORM_CONSUMER:
		return consumers;
	default:
		return &controller;
	}
}

struct storm_process *storm_process(enum storm_role role)
{
	static const uint32_t counts[] = {STORM_WRITERS, STORM_CONSUMERS, 1};

	return storm_process_all(role) + storm_below(counts[role]);
}

static void start_process(struct storm_process *process, enum storm_role role)
{
	const bool is_writer = role == STORM_WRITER;

	if (role == STORM_CONTROLLER)
		store_release(&storm_shared->control_seed, storm_below(UINT32_MAX));
	process->role = role;
	process->place = next_place[role];
	next_place[role] += is_writer ? STORM_THREADS : 1;
	if (next_place[STORM_WRITER] > STORM_WRITERS_MAX ||
	    next_place[STORM_CONSUMER] > STORM_CONSUMERS_MAX)
		fail("too many children");
	process->pid = start_program(is_writer ? writer_program : NULL,
				     is_writer ? NULL : role_names[role], shared_fd,
				     process->place);
}

static struct storm_writer *thread_of(const struct storm_process *process, int thread)
{
	return &storm_shared->writers[process->place + (uint32_t)thread];
}

/* A writer that is alone in its process says by its exit status why it never will be. */
static void check_writer(const struct storm_process *process)
{
	int status;

	if (waitpid(process->pid, &status, WNOHANG) == process->pid)
		fail("writer %u has ended with status %#x", process->place, (unsigned)status);
}

/* Where a writer stands that does not become what it should, and whether the others are. */
static void print_writers(void)
{
	char path[64], where[64];

	for (int i = 0; i < STORM_WRITERS; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/wchan", (int)writers[i].pid);
		file = fopen(path, "re");
		if (!file || !fgets(where, sizeof(where), file))
			where[0] = '\0';
		if (file)
			(void)fclose(file);
		printf("  writer %u, process %d: enabled %u, paused %u, in %s\n", writers[i].place,
		       (int)writers[i].pid, load_acquire(&thread_of(&writers[i], 0)->is_enabled),
		       load_acquire(&thread_of(&writers[i], 0)->is_paused), where);
	}
}

static void await_state(const struct storm_process *process, uint32_t is_enabled)
{
	const double end = seconds() + HANG_SECONDS;

	for (int i = 0; i < STORM_THREADS; i++) {
		while (load_acquire(&thread_of(process, i)->is_enabled) != is_enabled) {
			check_writer(process);
			if (seconds() > end) {
				print_writers();
				fail("writer %u is%s enabled within %d s", process->place,
				     is_enabled ? " not" : " still", HANG_SECONDS);
			}
			storm_sleep_ms(1);
		}
	}
}

/*
 * The next session may begin before a writer has heard that this one is over, when its process was slow or just then
 * between two hosts. It would be taken for enabled, and what it wrote until it heard would be no session's.
 */
static void await_all_disabled(void)
{
	for (int i = 0; i < STORM_WRITERS; i++) {
		if (writers[i].pid)
			await_state(&writers[i], 0);
	}
}

void storm_process_start(struct storm_process *process)
{
	const enum storm_role role = process >= consumers && process < consumers + STORM_CONSUMERS
					     ? STORM_CONSUMER
				     : process == &controller ? STORM_CONTROLLER
							      : STORM_WRITER;

	start_process(process, role);
	if (role == STORM_WRITER)
		await_state(process, 1);
	if (role == STORM_CONSUMER)
		await_flag(&storm_shared->consumers[process->place].is_open, 1,
			   "a consumer does not open");
}

static void end_process(struct storm_process *process, struct storm_run *run)
{
	int status;

	if (!process->pid)
		return;
	(void)kill(process->pid, SIGKILL);
	(void)kill(process->pid, SIGCONT);
	if (waitpid(process->pid, &status, 0) != process->pid)
		fail("waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fail("a %s ended with %d", role_names[process->role], WEXITSTATUS(status));
	for (int i = 0; run && process->role == STORM_WRITER && i < STORM_THREADS; i++)
		run->slack += load_acquire(&thread_of(process, i)->is_inside);
	if (run && process->role == STORM_CONSUMER && process->place == run->first_consumer)
		run->is_first_alive = false;
	process->pid = 0;
}

void storm_process_restart(struct storm_process *process, struct storm_run *run)
{
	end_process(process, run);
	storm_process_start(process);
}

/* @name: NULL: the run's own session. @file: NULL: none is named */
static ULONG try_control(struct storm_run *run, const char *name, ULONG code, const char *file)
{
	EVENT_TRACE_PROPERTIES *properties = &run->recording.block.properties;

	memset(properties, 0, sizeof(run->recording.block));
	properties->Wnode.BufferSize = sizeof(run->recording.block);
	properties->LoggerNameOffset = offsetof(__typeof__(run->recording.block), name);
	properties->LogFileNameOffset = offsetof(__typeof__(run->recording.block), file);
	if (file)
		snprintf(run->recording.block.file, sizeof(run->recording.block.file), "%s", file);
	return ControlTraceA(name ? 0 : run->recording.handle, name, properties, code);
}

/* A host that is stopped or dead for a moment is asked again. */
static ULONG control(struct storm_run *run, const char *name, ULONG code)
{
	const double end = seconds() + HANG_SECONDS;
	ULONG error;

	while ((error = try_control(run, name, code, NULL)) == ERROR_TIMEOUT ||
	       error == ERROR_BUSY) {
		if (seconds() > end)
			fail("ControlTrace %u: error %u for %d s", (unsigned)code, (unsigned)error,
			     HANG_SECONDS);
		storm_sleep_ms(50);
	}
	return error;
}

struct recording_processes storm_run_processes(struct storm_run *run)
{
	ULONG error = control(run, NULL, EVENT_TRACE_CONTROL_QUERY);

	if (error)
		fail("the session is not there: error %u", (unsigned)error);
	return recording_await_standby();
}

static void order_writers(uint32_t order)
{
	for (int i = 0; i < STORM_WRITERS * STORM_THREADS; i++)
		store_release(&thread_of(&writers[i / STORM_THREADS], i % STORM_THREADS)->order,
			      order);
}

/* The folder of the session's files is empty. */
static void prepare_folder(struct storm_run *run)
{
	const char *first = run->kind->mode & EVENT_TRACE_FILE_MODE_NEWFILE ? "%d" : "0";

	snprintf(storm_shared->folder, sizeof(storm_shared->folder), "%s/files", test_home());
	if (mkdir(storm_shared->folder, 0755) && errno != EEXIST)
		fail("%s: %s", storm_shared->folder, strerror(errno));
	snprintf(run->file, sizeof(run->file), "%s/storm-%s.etl", storm_shared->folder, first);
}

static void tell_children(const struct storm_run *run, uint32_t kind)
{
	store_relaxed(&storm_shared->is_loose, (uint32_t)(run->kind->live == STORM_LIVE_LOOSE));
	store_relaxed(&storm_shared->files, 0u);
	store_release(&storm_shared->kind, kind);
}

static bool has_file(const struct storm_run *run)
{
	return run->kind->account != STORM_NO_FILE &&
	       !(run->kind->mode & EVENT_TRACE_BUFFERING_MODE);
}

void storm_run_start(struct storm_run *run, uint32_t kind)
{
	const struct recording_options options = {
		.name = STORM_SESSION,
		.mode = storm_kind_at(kind)->mode | EVENT_TRACE_USE_MS_FLUSH_TIMER,
		.buffer_kib = storm_below(2) ? 64 : 16,
		.buffers = 16 + storm_below(48),
		.flush_timer = 10 + storm_below(100),
		.maximum_mib = storm_kind_at(kind)->file_kib,
	};
	struct recording_options own = options;

	memset(run, 0, sizeof(*run));
	run->kind = storm_kind_at(kind);
	prepare_folder(run);
	tell_children(run, kind);
	own.file = has_file(run) ? run->file : NULL;
	recording_start(&run->recording, &own);
	if (run->kind->live != STORM_DEAF)
		storm_process_start(&consumers[0]);
	run->first_consumer = consumers[0].place;
	run->is_first_alive = run->kind->live == STORM_LIVE_ALL;
	recording_enable(&run->recording, &storm_provider);
	storm_process_start(&controller);
	for (int i = 0; i < STORM_WRITERS; i++) {
		if (!writers[i].pid)
			storm_process_start(&writers[i]);
		else
			await_state(&writers[i], 1);
	}
	order_writers(STORM_RUN);
}

static uint64_t calls(uint32_t place)
{
	return load_acquire(&storm_shared->writers[place].succeeded) +
	       load_acquire(&storm_shared->writers[place].refused);
}

static bool is_sum_off; /* checked when all numbers have been printed */

static void check_sum(const char *what, uint64_t tried, uint64_t got, uint64_t lost, uint64_t slack)
{
	printf("  %s: %" PRIu64 " tried, %" PRIu64 " there, %" PRIu64 " lost, up to %" PRIu64
	       " unknown\n",
	       what, tried, got, lost, slack);
	if (got + lost >= tried && got + lost <= tried + slack)
		return;
	printf("  %s: the sum is off by %lld\n", what, (long long)(got + lost - tried));
	is_sum_off = true;
}

/* Of a session whose real-time mode comes and goes nobody knows what a consumer was to get; but it got it in order. */
static void end_loose_consumers(struct storm_run *run)
{
	for (int i = 0; i < STORM_CONSUMERS; i++) {
		const struct storm_process *process = &consumers[i];

		if (process->pid && storm_shared->consumers[process->place].fault)
			fail("a consumer got an event twice or out of order (line %u)",
			     storm_shared->consumers[process->place].fault);
		end_process(&consumers[i], run);
	}
}

static void settle_consumers(struct storm_run *run, uint64_t tried)
{
	if (run->kind->live == STORM_LIVE_LOOSE)
		end_loose_consumers(run);
	for (int i = 0; i < STORM_CONSUMERS; i++) {
		struct storm_process *process = &consumers[i];
		const struct storm_consumer *consumer = &storm_shared->consumers[process->place];

		if (!process->pid)
			continue;
		await_flag(&consumer->is_done, 1, "a consumer does not end");
		await_end(process->pid, "a consumer");
		process->pid = 0;
		if (consumer->fault)
			fail("a consumer got an event twice or out of order (line %u)",
			     consumer->fault);
		/* One that has just come may find that the session is over already. */
		if (consumer->error && !run->is_over &&
		    (process->place == run->first_consumer ||
		     consumer->error != ERROR_WMI_INSTANCE_NOT_FOUND))
			fail("the %s consumer ended with error %u",
			     process->place == run->first_consumer ? "first" : "second",
			     consumer->error);
		if (!run->is_over && run->is_first_alive && process->place == run->first_consumer)
			check_sum("first consumer", tried, consumer->received, consumer->lost,
				  run->slack);
	}
}

static void pause_writers(void)
{
	order_writers(STORM_PAUSE);
	for (int i = 0; i < STORM_WRITERS * STORM_THREADS; i++)
		await_flag(&thread_of(&writers[i / STORM_THREADS], i % STORM_THREADS)->is_paused, 1,
			   "a writer does not pause");
}

/* The next session is to have a host with a keeper; this one stays as long as a controller is connected. */
static void end_host(void)
{
	const double end = seconds() + HANG_SECONDS;
	const pid_t host = recording_processes().host;

	while (kill(host, SIGKILL) == 0) {
		if (seconds() > end)
			fail("a host without a keeper does not die");
		storm_sleep_ms(5);
	}
}

static void check_requests(void)
{
	if (load_acquire(&storm_shared->fault_error))
		fail("a controller's request %u was answered by error %u",
		     storm_shared->fault_request, storm_shared->fault_error);
}

/* What the session keeps in memory is in a file of its own then. */
static void flush_history(struct storm_run *run)
{
	ULONG error;

	storm_control_file(storm_shared, add_acq_rel(&storm_shared->files, 1u) + 1, run->file,
			   sizeof(run->file));
	do {
		error = try_control(run, NULL, EVENT_TRACE_CONTROL_FLUSH, run->file);
		/* It was made, and the host died before it said so. */
		if (error == ERROR_ALREADY_EXISTS)
			error = ERROR_SUCCESS;
	} while (error == ERROR_TIMEOUT || error == ERROR_BUSY);
	if (error && !run->is_over)
		fail("the session cannot be flushed: error %u", (unsigned)error);
}

static uint64_t stop_session(struct storm_run *run)
{
	uint64_t tried = 0;
	ULONG error;

	pause_writers();
	end_process(&controller, run);
	check_requests();
	/* A controller may have left it. */
	(void)control(run, STORM_OTHER, EVENT_TRACE_CONTROL_STOP);
	if (run->kind->mode & EVENT_TRACE_BUFFERING_MODE)
		flush_history(run);
	error = control(run, NULL, EVENT_TRACE_CONTROL_STOP);
	if (error && !(run->is_over && error == ERROR_WMI_INSTANCE_NOT_FOUND))
		fail("the session cannot be stopped: error %u", (unsigned)error);
	if (has_file(run) && !run->is_over)
		snprintf(run->file, sizeof(run->file), "%s", run->recording.block.file);
	for (uint32_t i = 0; i < next_place[STORM_WRITER]; i++)
		tried += calls(i) - settled[i];
	return tried;
}

/* The names that there may be, in the order in which they were given out; a host that dies may leave one of them unused. */
static bool name_of(const struct storm_run *run, uint32_t number, char *ret, size_t room)
{
	const bool is_series = run->kind->mode & EVENT_TRACE_FILE_MODE_NEWFILE;

	struct stat info;

	storm_control_file(storm_shared, number, ret, room);
	/* One that a host made and died before it wrote to it is nobody's. */
	if (stat(ret, &info) == 0) {
		if (info.st_size == 0)
			(void)unlink(ret);
		if (info.st_size == 0)
			*ret = '\0';
		return true;
	}
	*ret = '\0';
	return number <= (is_series ? 1 : load_acquire(&storm_shared->files));
}

/* Reads each file by itself, or one behind the other, and removes it. Returns how many there were. */
static uint32_t read_files(const struct storm_run *run, const struct storm_calls *of,
			   struct storm_found *found)
{
	char path[300];
	uint32_t files = 0;

	for (uint32_t i = 0; name_of(run, i, path, sizeof(path)); i++) {
		if (!*path)
			continue;
		if (run->kind->account == STORM_NEWEST)
			memset(found, 0, sizeof(*found));
		/* What another processor's buffer has yet when a file is full is in the next one. */
		if (run->kind->mode & EVENT_TRACE_FILE_MODE_NEWFILE)
			memset(found->last, 0, sizeof(found->last));
		storm_check_file(path, of, found);
		storm_check_tried(of, found);
		files++;
	}
	return files;
}

static void remove_files(const struct storm_run *run)
{
	char path[300];

	for (uint32_t i = 0; name_of(run, i, path, sizeof(path)); i++) {
		if (*path)
			(void)unlink(path);
	}
}

static void settle_newest(const struct storm_run *run, const struct storm_calls *of,
			  struct storm_found *found, uint64_t lost)
{
	const int64_t missing = storm_check_newest(run->file, of, found);

	printf("  newest: %lld missing, %" PRIu64 " lost, up to %" PRIu64 " unknown\n",
	       (long long)missing, lost, run->slack);
	if (missing > (int64_t)lost || missing < -(int64_t)run->slack)
		is_sum_off = true;
}

static void settle_first(const struct storm_run *run, const struct storm_calls *of,
			 const struct storm_found *found, uint64_t lost)
{
	const uint64_t missing = storm_check_gaps(of, found);

	printf("  before the conversion: %" PRIu64 " there, %" PRIu64 " missing, %" PRIu64
	       " lost, up to %" PRIu64 " unknown\n",
	       found->count, missing, lost, run->slack);
	if (missing > lost + run->slack)
		is_sum_off = true;
}

static void settle_files(const struct storm_run *run, const struct storm_calls *of,
			 struct storm_found *found, uint64_t tried)
{
	const EVENT_TRACE_PROPERTIES *properties = &run->recording.block.properties;
	const uint64_t lost = properties->EventsLost;

	/* One that was converted has no name here. */
	if (has_file(run) && *run->file)
		storm_check_header(run->file, properties);
	if (run->kind->account == STORM_NEWEST)
		settle_newest(run, of, found, lost);
	else if (run->kind->account == STORM_FIRST)
		settle_first(run, of, found, lost);
	else if (run->kind->account != STORM_NO_FILE)
		check_sum("files", tried, found->count, lost, run->slack);
	if (is_sum_off)
		fail("what was tried is not there and not counted");
	storm_totals.tried += tried;
	storm_totals.in_file += found->count;
	storm_totals.lost += lost;
	storm_totals.slack += run->slack;
}

void storm_run_end(struct storm_run *run)
{
	static struct storm_found found;
	static uint64_t returned[STORM_WRITERS_MAX];
	const struct storm_calls of = {next_place[STORM_WRITER], settled, returned};
	uint64_t tried = stop_session(run);

	for (uint32_t i = 0; i < of.count; i++)
		returned[i] = calls(i);
	settle_consumers(run, tried);
	memset(&found, 0, sizeof(found));
	printf("  %u files\n", read_files(run, &of, &found));
	if (run->is_over) {
		printf("  keeper, standby and host are dead: %" PRIu64 " of %" PRIu64
		       " are there\n",
		       found.count, tried);
		/* These writers have rings that nobody reads any more. */
		for (int i = 0; i < STORM_WRITERS; i++)
			end_process(&writers[i], NULL);
	} else {
		settle_files(run, &of, &found, tried);
	}
	for (uint32_t i = 0; i < of.count; i++)
		settled[i] = calls(i);
	if (run->is_host_final && !run->is_over)
		end_host();
	await_all_disabled();
	remove_files(run);
}

void storm_run_done(void)
{
	for (int i = 0; i < STORM_WRITERS; i++)
		end_process(&writers[i], NULL);
	for (int i = 0; i < STORM_CONSUMERS; i++)
		end_process(&consumers[i], NULL);
	end_process(&controller, NULL);
}
