/* SPDX-License-Identifier: MIT */
/*
 * hostile [--seconds N] [--memory-mib N] [--answer-ms N] [--seed N] - processes of other uids that know protocol and
 * layout attack a root host in every way of hostile_attack.c: first some of one uid, then each with one of a thousand uids,
 * as one account with subordinate ids has them. Two honest writers, root's and another user's, write all the time.
 *
 * The host goes on answering root; it holds no more memory than the budgets allow; the honest writers' events are in
 * the file, once and in order, or counted as lost; nothing is there under their process ids that they have not written, nothing of a
 * provider that nobody registered, and no item that only the host may write. With --answer-ms an answer that takes
 * longer is a failure; else the longest is printed.
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

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "recording/children.h"
#include "recording/hostile.h"
#include "recording/storm_shared.h"
#include "recording/support.h"

#define SECONDS_DEFAULT   20
#define MEMORY_MIB        1024
#define HONEST            2 /* places 0 and 1 of the writers: root's and another user's */
#define ATTACKERS         6
#define OWN_UID           60001
#define LAST_UID          60002
#define FIRST_UID         100000
#define UIDS              1000
#define LIFE_SECONDS_MOST 4
#define LOOK_MS           100
#define MEMFDS_MOST       65536

struct attacker {
	pid_t pid; /* 0: none */
	enum hostile_attack attack;
};

struct seen {
	uint64_t last[HONEST], count[HONEST];
	uint64_t others;
	uint64_t forged_honest, forged_provider, forged_items, forged_pid;
};

struct memory {
	uint64_t anonymous_kib, memfd_kib;
};

static const char *const attack_names[] = {
	"connections", "garbage",     "registrations", "control",      "deaf",
	"descriptors", "come and go", "forged events", "false counts", "broken rings"};
static_assert(ARRAY_SIZE(attack_names) == HOSTILE_ATTACKS, "one name each");

static struct hostile_plan plan;
static struct storm_shared *shared;
static struct recording recording;
static struct attacker attackers[ATTACKERS];
static unsigned lives[HOSTILE_ATTACKS];
static pid_t honest[HONEST];
static int shared_fd;
static unsigned chance;
static double longest_answer;
static struct memory most;

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
	(void)hostile_attack(&plan, attack, 1 + seed % LIFE_SECONDS_MOST, seed);
	_exit(0);
}

static void start_attacker(struct attacker *attacker, uid_t uid)
{
	const unsigned seed = (unsigned)rand_r(&chance);

	attacker->attack = (enum hostile_attack)below(HOSTILE_ATTACKS);
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

static struct memory look_at_memory(void)
{
	static ino_t known[MEMFDS_MOST];
	const pid_t host = recording_host(&recording);
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
	struct memory memory = look_at_memory();

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

static void attack_for(double duration, bool is_one_uid)
{
	const double end = seconds() + duration;

	for (int look = 0; seconds() < end; look++) {
		for (int i = 0; i < ATTACKERS; i++) {
			if (!attackers[i].pid)
				start_attacker(&attackers[i],
					       is_one_uid ? OWN_UID : FIRST_UID + below(UIDS));
		}
		ask_host();
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

static void start_session(const char *file)
{
	const struct recording_options options = {
		.name = STORM_SESSION,
		.file = file,
		.mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
		.buffer_kib = 64,
		.buffers = 64,
	};

	recording_start(&recording, &options);
	recording_enable(&recording, &storm_provider);
	for (uint32_t i = 0; i < HONEST; i++) {
		honest[i] = start_program(NULL, "writer", shared_fd, i);
		await_flag(&shared->writers[i].is_enabled, 1, "an honest writer is not enabled");
	}
	snprintf(plan.directory, sizeof(plan.directory), "%s", getenv("ETW_RUNTIME_DIR"));
	plan.victim_pid = (uint32_t)honest[0];
	plan.session_id = (uint32_t)recording.handle;
}

static void end_writers(void)
{
	for (int i = 0; i < HONEST; i++) {
		store_release(&shared->writers[i].order, (uint32_t)STORM_END);
		await_end(honest[i], "an honest writer");
	}
}

/* The instance is what readers make of a header of that kind. */
static bool is_item_of_a_writer(USHORT type)
{
	return type == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO ||
	       type == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID ||
	       type == EVENT_HEADER_EXT_TYPE_PROV_TRAITS ||
	       type == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL;
}

/* The first of them, to find out by which way they came. */
static void note_forged(const EVENT_RECORD *record, uint64_t last, uint64_t number)
{
	static int count;

	if (count++ < 5)
		printf("forged: process %u, thread %u, processor %u, %u bytes, id %u, flags %#x, "
		       "%u items, time %lld, number %" PRIu64 " after %" PRIu64 "\n",
		       (unsigned)record->EventHeader.ProcessId,
		       (unsigned)record->EventHeader.ThreadId,
		       (unsigned)record->BufferContext.ProcessorNumber,
		       (unsigned)record->UserDataLength,
		       (unsigned)record->EventHeader.EventDescriptor.Id,
		       (unsigned)record->EventHeader.Flags, (unsigned)record->ExtendedDataCount,
		       (long long)record->EventHeader.TimeStamp.QuadPart, number, last);
}

static void see_honest(struct seen *seen, uint32_t index, const EVENT_RECORD *record)
{
	struct storm_payload payload;

	if (record->UserDataLength != sizeof(payload)) {
		note_forged(record, seen->last[index], 0);
		seen->forged_honest++;
		return;
	}
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer != index || payload.number <= seen->last[index] ||
	    record->ExtendedDataCount) {
		note_forged(record, seen->last[index], payload.number);
		seen->forged_honest++;
		return;
	}
	seen->last[index] = payload.number;
	seen->count[index]++;
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	struct seen *seen = record->UserContext;
	GUID forged = storm_provider;

	forged.Data1 ^= 1;
	for (uint32_t i = 0; i < HONEST; i++) {
		if (record->EventHeader.ProcessId == (ULONG)honest[i]) {
			see_honest(seen, i, record);
			return;
		}
	}
	seen->forged_provider += IsEqualGUID(&record->EventHeader.ProviderId, &forged);
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return;
	seen->others++;
	for (uint32_t i = 0; i < record->ExtendedDataCount; i++)
		seen->forged_items += !is_item_of_a_writer(record->ExtendedData[i].ExtType);
	seen->forged_pid += record->EventHeader.ProcessId == 0;
}

static void settle(const char *file)
{
	static struct seen seen;
	ULONG lost = recording_read(file, see_event, &seen);
	uint64_t missing = 0;

	(void)recording_check_order(file);
	for (uint32_t i = 0; i < HONEST; i++) {
		const uint64_t written = load_acquire(&shared->writers[i].succeeded);

		printf("honest writer %u: %" PRIu64 " written, %" PRIu64 " refused, %" PRIu64
		       " in the file\n",
		       i, written, load_acquire(&shared->writers[i].refused), seen.count[i]);
		if (seen.count[i] > written)
			fail("more is in the file than was written");
		missing += written - seen.count[i] + load_acquire(&shared->writers[i].refused);
	}
	printf("%" PRIu64 " events of attackers; %" PRIu64 " of the honest are not there, %u are "
	       "reported lost\n",
	       seen.others, missing, (unsigned)lost);
	if (seen.forged_honest || seen.forged_provider || seen.forged_items || seen.forged_pid)
		fail("forged events are in the file: %" PRIu64 " of honest processes, %" PRIu64
		     " of a provider that there is not, %" PRIu64 " items, %" PRIu64
		     " of no process",
		     seen.forged_honest, seen.forged_provider, seen.forged_items, seen.forged_pid);
	if (missing > lost)
		fail("%" PRIu64 " events were lost in silence", missing - lost);
}

static void run(double duration, uint64_t memory_mib, double answer_seconds)
{
	char file[300];
	struct memory left;
	pid_t host;

	snprintf(file, sizeof(file), "%s/hostile.etl", test_home());
	start_session(file);
	ask_host();
	host = recording_host(&recording);
	attack_for(duration / 2, /* is_one_uid= */ true);
	attack_for(duration / 2, /* is_one_uid= */ false);
	ask_host();
	left = look_at_memory();
	if (recording_host(&recording) != host)
		printf("the host is another one than at the start\n");
	forge_for_later();
	end_writers();
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	for (int i = 0; i < HOSTILE_ATTACKS; i++)
		printf("%-14s %u\n", attack_names[i], lives[i]);
	printf("longest answer to root: %.0f ms; host and keeper held at most %" PRIu64
	       " KiB of memfds and %" PRIu64 " KiB of their own, and %" PRIu64 " and %" PRIu64
	       " KiB when the attackers were gone\n",
	       longest_answer * 1000, most.memfd_kib, most.anonymous_kib, left.memfd_kib,
	       left.anonymous_kib);
	settle(file);
	if (most.memfd_kib + most.anonymous_kib > memory_mib * 1024)
		fail("that is more than %" PRIu64 " MiB", memory_mib);
	if (answer_seconds > 0 && longest_answer > answer_seconds)
		fail("root waited longer than %.0f ms", answer_seconds * 1000);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"seconds", 1, NULL, 's'},
					      {"memory-mib", 1, NULL, 'm'},
					      {"answer-ms", 1, NULL, 'a'},
					      {"seed", 1, NULL, 'e'},
					      {0}};
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
	run(duration, memory_mib, answer_seconds);
	return 0;
}
