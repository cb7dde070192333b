/* SPDX-License-Identifier: MIT */
/*
 * hostile [--seconds N] [--memory-mib N] [--answer-ms N] [--seed N] [--only ATTACK] - processes of other uids that know protocol and
 * layout attack a root host in every way of hostile_attack.c and hostile_reach.c, as providers, controllers and consumers:
 * some of one uid, then each with one of a thousand uids, as one account with subordinate ids has them. Meanwhile a session
 * records in each file mode and is flushed ten times a second; two honest writers, root's and another user's, write all the
 * time; and where the session is live another user reads it.
 *
 * The host goes on answering root, and is the same to the end; it holds no more memory than the budgets allow; the honest
 * writers' events are in the file and with the consumer, once and in order, or counted as lost; nothing is there under their
 * process ids that they have not written, nothing of a provider that nobody registered, and no item that only the host may
 * write. With --answer-ms an answer that takes longer is a failure; else the longest is printed.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntprov.h>
#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/hostile.h"
#include "recording/hostile_seen.h"
#include "recording/numbered.h"
#include "recording/storm_shared.h"
#include "recording/support.h"
#include "synthetic/sanitized.h"

#define SECONDS_DEFAULT   25
#define MEMORY_MIB        1536
#define ATTACKERS         6
#define OWN_UID           60001
#define LAST_UID          60002
#define FIRST_UID         100000
#define UIDS              1000
#define CONSUMER_UID      60003
#define FLUSH_MS          50
#define PATH_ROOM         300
#define LIFE_SECONDS_MOST 4
#define LOOK_MS           100
#define MEMFDS_MOST       65536

/* Of an attacker. */
struct life {
	pid_t pid; /* 0: none */
	enum hostile_attack attack;
};

/* A session among attackers. */
struct phase {
	const char *name;
	ULONG mode;
	ULONG maximum_kib;
	bool is_without_file;
	double share; /* of the time */
};

static const struct phase phases[] = {
	{.name = "sequential", .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL, .share = 0.3},
	{.name = "circular",
	 .mode = EVENT_TRACE_FILE_MODE_CIRCULAR,
	 .maximum_kib = 2048,
	 .share = 0.1},
	{.name = "series",
	 .mode = EVENT_TRACE_FILE_MODE_NEWFILE,
	 .maximum_kib = 1024,
	 .share = 0.1},
	{.name = "append", .mode = EVENT_TRACE_FILE_MODE_APPEND, .share = 0.1},
	{.name = "compressed", .mode = EVENT_TRACE_COMPRESSED_MODE, .share = 0.1},
	{.name = "buffering",
	 .mode = EVENT_TRACE_BUFFERING_MODE,
	 .is_without_file = true,
	 .share = 0.1},
	{.name = "live", .mode = EVENT_TRACE_REAL_TIME_MODE, .is_without_file = true, .share = 0.1},
	{.name = "both", .mode = EVENT_TRACE_REAL_TIME_MODE, .share = 0.1},
};

/* Shared with the honest consumer. */
struct live {
	struct hostile_seen seen;
	uint64_t lost; /* EventsLost as the consumer was told at the end */
	uint32_t is_open;
	uint64_t done[HOSTILE_ATTACKS]; /* by attackers that lived to say so; atomics */
};

struct memory {
	uint64_t anonymous_kib, memfd_kib;
};

static const char *const attack_names[] = {
	"connections", "garbage",     "registrations", "control",      "deaf",
	"descriptors", "come and go", "forged events", "false counts", "broken rings",
	"consumers",   "missed",      "torn memory",   "answers"};
static_assert(ARRAY_SIZE(attack_names) == HOSTILE_ATTACKS, "one name each");

static struct hostile_plan plan;
static struct storm_shared *shared;
static struct recording recording;
static struct life attackers[ATTACKERS];
static unsigned lives[HOSTILE_ATTACKS];
static struct live *live;
static pid_t honest[HOSTILE_HONEST], honest_consumer;
static const char *flushed_file; /* of a buffering session; NULL: none */
static int shared_fd;
static unsigned chance;
static enum hostile_attack only_attack = HOSTILE_ATTACKS; /* HOSTILE_ATTACKS: any */
static double longest_answer;
static struct memory most;

static bool is_live(const struct phase *phase)
{
	return phase->mode & EVENT_TRACE_REAL_TIME_MODE;
}

static uint32_t below(uint32_t limit)
{
	return (uint32_t)rand_r(&chance) % limit;
}

/* In a new process. */
static void become(uid_t uid)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Among them the connection of the test, which is root's. */
	(void)syscall(SYS_close_range, 3u, ~0u, 0u);
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(1);
}

static void be_attacker(enum hostile_attack attack, uid_t uid, unsigned seed)
{
	become(uid);
	add_relaxed(&live->done[attack],
		    hostile_attack(&plan, attack, 1 + seed % LIFE_SECONDS_MOST, seed));
	_exit(0);
}

/* Two places are kept for those that no phase may be without. */
static enum hostile_attack choose_attack(const struct phase *phase, const struct life *attacker)
{
	static const enum hostile_attack on_rings[] = {HOSTILE_FORGE, HOSTILE_BREAK, HOSTILE_TEAR};
	static const enum hostile_attack on_delivery[] = {HOSTILE_CONSUME, HOSTILE_CONSUME,
							  HOSTILE_CLAIM_MISSED};

	if (only_attack < HOSTILE_ATTACKS)
		return only_attack;
	if (attacker == &attackers[0])
		return on_rings[below(ARRAY_SIZE(on_rings))];
	if (attacker == &attackers[1] && is_live(phase))
		return on_delivery[below(ARRAY_SIZE(on_delivery))];
	return (enum hostile_attack)below(HOSTILE_ATTACKS);
}

static void start_attacker(const struct phase *phase, struct life *attacker, uid_t uid)
{
	const unsigned seed = (unsigned)rand_r(&chance);

	attacker->attack = choose_attack(phase, attacker);
	attacker->pid = fork();
	if (attacker->pid < 0)
		fail("fork: %s", strerror(errno));
	if (attacker->pid == 0)
		be_attacker(attacker->attack, uid, seed);
	lives[attacker->attack]++;
}

static void reap_attackers(bool is_waiting)
{
	for (int i = 0; i < ATTACKERS; i++) {
		int status;

		if (!attackers[i].pid)
			continue;
		if (is_waiting)
			(void)kill(attackers[i].pid, SIGKILL);
		if (waitpid(attackers[i].pid, &status, is_waiting ? 0 : WNOHANG) !=
		    attackers[i].pid)
			continue;
		if (WIFEXITED(status) && WEXITSTATUS(status) == HOSTILE_REACHED)
			fail("an attacker (%s) has reached what it must not reach",
			     attack_names[attackers[i].attack]);
		/* One that breaks its own memory may well die of it. */
		if (WIFEXITED(status) && WEXITSTATUS(status))
			fail("an attacker could not begin");
		attackers[i].pid = 0;
	}
}

/* Shared memory that a process has descriptors of; each file once, whoever holds it. */
static uint64_t memfd_kib_of(pid_t pid, ino_t *known, size_t *known_count)
{
	char path[64], link_path[96], target[64];
	uint64_t kib = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		struct stat status;
		ssize_t chars;
		size_t i = 0;

		snprintf(link_path, sizeof(link_path), "%s/%.16s", path, entry->d_name);
		chars = readlink(link_path, target, sizeof(target) - 1);
		if (chars < 7 || strncmp(target, "/memfd:", 7) != 0 ||
		    stat(link_path, &status) != 0)
			continue;
		while (i < *known_count && known[i] != status.st_ino)
			i++;
		if (i < *known_count || *known_count == MEMFDS_MOST)
			continue;
		known[(*known_count)++] = status.st_ino;
		kib += (uint64_t)status.st_blocks / 2;
	}
	closedir(folder);
	return kib;
}

static struct memory look_at_memory(pid_t host)
{
	static ino_t known[MEMFDS_MOST];
	const pid_t keeper = host ? process_status(host, "PPid:") : 0;
	struct memory memory = {0};
	size_t known_count = 0;

	if (host && keeper > 1) {
		memory.memfd_kib = memfd_kib_of(host, known, &known_count);
		memory.memfd_kib += memfd_kib_of(keeper, known, &known_count);
		memory.anonymous_kib = (uint64_t)process_status(host, "RssAnon:") +
				       (uint64_t)process_status(keeper, "RssAnon:");
	}
	return memory;
}

static void note_memory(void)
{
	struct memory memory = look_at_memory(recording_host(&recording));

	if (memory.memfd_kib > most.memfd_kib)
		most.memfd_kib = memory.memfd_kib;
	if (memory.anonymous_kib > most.anonymous_kib)
		most.anonymous_kib = memory.anonymous_kib;
}

static void ask_host(void)
{
	const double start = seconds();

	recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	if (seconds() - start > longest_answer)
		longest_answer = seconds() - start;
}

/* What the attackers scribble over is on its way into the file meanwhile. */
static void flush(void)
{
	struct recording *self = &recording;
	const struct wait wait = wait_for("the host does not flush");
	ULONG error;

	do {
		snprintf(self->block.file, sizeof(self->block.file), "%s",
			 flushed_file ? flushed_file : "");
		self->block.properties.LogFileNameOffset =
			flushed_file ? offsetof(__typeof__(self->block), file) : 0;
		error = ControlTraceA(self->handle, NULL, &self->block.properties,
				      EVENT_TRACE_CONTROL_FLUSH);
		if (error == ERROR_TIMEOUT)
			wait_on(&wait);
	} while (error == ERROR_TIMEOUT);
	if (error)
		fail("FLUSH: error %u", (unsigned)error);
}

static void attack_for(const struct phase *phase, double duration, bool is_one_uid)
{
	const double end = seconds() + duration;

	for (int look = 0; seconds() < end; look++) {
		for (int i = 0; i < ATTACKERS; i++) {
			if (!attackers[i].pid)
				start_attacker(phase, &attackers[i],
					       is_one_uid ? OWN_UID : FIRST_UID + below(UIDS));
		}
		ask_host();
		flush();
		if (look % 10 == 0)
			note_memory();
		usleep(LOOK_MS * 1000);
		reap_attackers(false);
	}
	reap_attackers(true);
}

/* What it leaves behind is looked at when the writer whose number it bears has ended. */
static void forge_for_later(void)
{
	pid_t forger = fork();

	if (forger < 0)
		fail("fork: %s", strerror(errno));
	if (forger == 0) {
		become(LAST_UID);
		_exit(hostile_forge_for_later(&plan) ? 0 : 2);
	}
	await_end(forger, "the last forger");
}

/* Reads the session live as another uid, until it ends. */
static void be_honest_consumer(void)
{
	TRACEHANDLE trace;
	ULONG error;

	become(CONSUMER_UID);
	trace = live_open(STORM_SESSION, hostile_see_event, &live->seen);
	store_release(&live->is_open, 1u);
	error = ProcessTrace(&trace, 1, NULL, NULL);
	live->lost = live_header(trace).EventsLost;
	_exit(error != 0);
}

/* Whether the honest consumer has its delivery memory: no other process may come first. */
static bool is_subscribed(void)
{
	char path[64], line[512];
	bool is_there = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)honest_consumer);
	file = fopen(path, "re");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (!is_there && fgets(line, sizeof(line), file))
		is_there = strstr(line, "etw-delivery");
	fclose(file);
	return is_there;
}

static void start_honest_consumer(uint32_t first_place)
{
	const struct wait wait = wait_for("the honest consumer is not there");

	live->lost = 0;
	live->is_open = 0;
	memset(&live->seen, 0, sizeof(live->seen));
	live->seen.first_place = first_place;
	honest_consumer = fork();
	if (honest_consumer < 0)
		fail("fork: %s", strerror(errno));
	if (honest_consumer == 0)
		be_honest_consumer();
	await_flag(&live->is_open, 1, "the honest consumer does not open the session");
	while (!is_subscribed())
		wait_on(&wait);
}

static void start_session(const struct phase *phase, const char *file, uint32_t first_place)
{
	const struct recording_options options = {
		.name = STORM_SESSION,
		.file = phase->is_without_file ? NULL : file,
		.mode = phase->mode | (phase->maximum_kib ? EVENT_TRACE_USE_KBYTES_FOR_SIZE : 0) |
			(is_live(phase) ? EVENT_TRACE_USE_MS_FLUSH_TIMER : 0),
		.buffer_kib = 64,
		.buffers = 64,
		.maximum_mib = phase->maximum_kib,
		.flush_timer = is_live(phase) ? FLUSH_MS : 0,
		.clock = phase->mode & EVENT_TRACE_FILE_MODE_APPEND ? 2 : 0,
	};

	recording_start(&recording, &options);
	if (is_live(phase))
		start_honest_consumer(first_place);
	for (uint32_t i = 0; i < HOSTILE_HONEST; i++) {
		honest[i] = start_program(NULL, "writer", shared_fd, first_place + i);
		store_release(&live->seen.pids[i], (uint32_t)honest[i]);
	}
	recording_enable(&recording, &storm_provider);
	for (uint32_t i = 0; i < HOSTILE_HONEST; i++)
		await_flag(&shared->writers[first_place + i].is_enabled, 1,
			   "an honest writer is not enabled");
	snprintf(plan.directory, sizeof(plan.directory), "%s", getenv("ETW_RUNTIME_DIR"));
	plan.victim_pid = (uint32_t)honest[0];
	plan.session_id = (uint32_t)recording.handle;
}

static void end_writers(uint32_t first_place)
{
	for (uint32_t i = 0; i < HOSTILE_HONEST; i++) {
		store_release(&shared->writers[first_place + i].order, (uint32_t)STORM_END);
		await_end(honest[i], "an honest writer");
	}
}

/* Of a series all files, whose last one's header has the account. */
static void settle_file(const struct phase *phase, const char *file, uint32_t first_place)
{
	static struct hostile_seen seen;
	const uint32_t files = phase->mode & EVENT_TRACE_FILE_MODE_NEWFILE ? UINT32_MAX : 1;
	char path[PATH_ROOM + 16];
	ULONG lost = 0;

	memset(&seen, 0, sizeof(seen));
	seen.first_place = first_place;
	for (uint32_t i = 0; i < HOSTILE_HONEST; i++)
		seen.pids[i] = (uint32_t)honest[i];
	for (uint32_t i = 1; i <= files; i++) {
		if (files == 1)
			snprintf(path, sizeof(path), "%s", file);
		else
			snprintf(path, sizeof(path), "%.*s%u.etl", (int)(strlen(file) - 6), file,
				 i);
		if (i > 1 && access(path, F_OK))
			break;
		/* The buffer of a processor may come into a later file than a newer one of another. */
		memset(seen.last, 0, sizeof(seen.last));
		lost = recording_read(path, hostile_see_event, &seen);
		(void)recording_check_order(path);
		(void)unlink(path);
	}
	hostile_judge(
		&seen, &shared->writers[first_place], phase->name, lost,
		!(phase->mode & (EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_BUFFERING_MODE)));
}

static void settle_live(const struct phase *phase, uint32_t first_place)
{
	await_end(honest_consumer, "the honest consumer");
	printf("%s, live: ", phase->name);
	hostile_judge(&live->seen, &shared->writers[first_place], phase->name, live->lost, true);
}

/* The last forger's events are looked at when the writer whose number they bear has ended. */
static void run_phase(const struct phase *phase, double duration, uint32_t first_place)
{
	char file[PATH_ROOM];

	snprintf(file, sizeof(file), "%s/%s%s.etl", test_home(), phase->name,
		 phase->mode & EVENT_TRACE_FILE_MODE_NEWFILE ? "-%d" : "");
	start_session(phase, file, first_place);
	flushed_file = phase->mode & EVENT_TRACE_BUFFERING_MODE ? file : NULL;
	ask_host();
	attack_for(phase, duration / 2, /* is_one_uid= */ true);
	attack_for(phase, duration / 2, /* is_one_uid= */ false);
	ask_host();
	forge_for_later();
	end_writers(first_place);
	if (flushed_file)
		flush();
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	if (!phase->is_without_file || flushed_file)
		settle_file(phase, file, first_place);
	if (is_live(phase))
		settle_live(phase, first_place);
}

/* Other uids may consume, or most attacks of consumers would end at the door. */
static void let_everybody_consume(void)
{
	/* S-1-1-0 */
	struct {
		UCHAR revision, count, authority[6];
		ULONG sub;
	} everyone = {1, 1, {0, 0, 0, 0, 0, 1}, 0};
	GUID guid = DefaultTraceSecurityGuid;
	ULONG error = EventAccessControl(&guid, EventSecurityAddDACL, &everyone,
					 TRACELOG_ACCESS_REALTIME, TRUE);

	if (error)
		fail("EventAccessControl: error %u", (unsigned)error);
}

static void run(double duration, uint64_t memory_mib, double answer_seconds)
{
	const struct recording_options idle = {.name = "idle", .mode = EVENT_TRACE_REAL_TIME_MODE};
	struct recording first;
	struct memory left;
	pid_t host;

	(void)test_home();
	recording_start(&first, &idle); /* one host for all of it, unless it dies */
	let_everybody_consume();
	host = recording_await_standby().host;
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		run_phase(&phases[i], duration * phases[i].share, (uint32_t)(i * HOSTILE_HONEST));
	if (recording_processes().host != host)
		fail("the host has died");
	left = look_at_memory(host);
	recording_control(&first, EVENT_TRACE_CONTROL_STOP);
	for (int i = 0; i < HOSTILE_ATTACKS; i++)
		printf("%-14s %3u lives, %" PRIu64 " times\n", attack_names[i], lives[i],
		       load_acquire(&live->done[i]));
	printf("longest answer to root: %.0f ms; host and keeper held at most %" PRIu64
	       " KiB of memfds and %" PRIu64 " KiB of their own, and %" PRIu64 " and %" PRIu64
	       " KiB when the attackers were gone\n",
	       longest_answer * 1000, most.memfd_kib, most.anonymous_kib, left.memfd_kib,
	       left.anonymous_kib);
	if (most.memfd_kib + (IS_SANITIZED ? 0 : most.anonymous_kib) > memory_mib * 1024)
		fail("that is more than %" PRIu64 " MiB", memory_mib);
	if (answer_seconds > 0 && longest_answer > answer_seconds)
		fail("root waited longer than %.0f ms", answer_seconds * 1000);
}

static enum hostile_attack find_attack(const char *name)
{
	for (int i = 0; i < HOSTILE_ATTACKS; i++) {
		if (strcmp(attack_names[i], name) == 0)
			return (enum hostile_attack)i;
	}
	fail("there is no attack \"%s\"", name);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{"seconds", 1, NULL, 's'},   {"memory-mib", 1, NULL, 'm'},
		{"answer-ms", 1, NULL, 'a'}, {"seed", 1, NULL, 'e'},
		{"only", 1, NULL, 'o'},      {0}};
	double duration = SECONDS_DEFAULT, answer_seconds = 0;
	uint64_t memory_mib = MEMORY_MIB;
	int option;

	if (argc == 4 && argv[1][0] != '-') {
		shared = map_shared(argv[2], sizeof(*shared));
		return storm_child_main(argv + 1, shared);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	chance = (unsigned)time(NULL) ^ (unsigned)getpid();
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		switch (option) {
		case 's':
			duration = strtod(optarg, NULL);
			break;
		case 'm':
			memory_mib = strtoull(optarg, NULL, 0);
			break;
		case 'a':
			answer_seconds = strtod(optarg, NULL) / 1000;
			break;
		case 'e':
			chance = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'o':
			only_attack = find_attack(optarg);
			break;
		default:
			return 2;
		}
	}
	if (geteuid() != 0) {
		printf("SKIP: needs root, to have other uids\n");
		return TEST_SKIPPED;
	}
	printf("seed %u\n", chance);
	shared = share_with_programs(sizeof(*shared), &shared_fd);
	live = share_with_forks(sizeof(*live));
	run(duration, memory_mib, answer_seconds);
	return 0;
}
