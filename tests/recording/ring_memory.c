/* SPDX-License-Identifier: MIT */
/*
 * ring_memory - another uid breaks one ring set after the other, keeps all of them mapped and fills them again. What
 * the host and the keeper hold of it stays within its budget; when that is met the uid's events are refused and
 * counted; root's own provider loses nothing; when the attacker has ended nothing of it is left while the session
 * runs on; and a program of the same uid that behaves is recorded again.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "ipc/connection.h"
#include "ipc/runtime.h"
#include "recording/children.h"
#include "recording/support.h"
#include "ring/ring_set.h"
#include "ring/writer.h"

#define STRANGER      65534
#define TOTAL_MIB     64
#define SESSION_BYTES (UINT64_C(16) << 20) /* a quarter of it: one uid's in one session */
#define MARGIN_BYTES  (UINT64_C(1) << 20)  /* control pages, refusing sets */
#define SETS_MAX      256
#define SETS_WANTED   24
#define REFUSED       5

struct shared {
	uint32_t sets, refusals; /* that the attacker was given; atomic */
	uint32_t refused;        /* events that it tried to write when it was refused */
	uint32_t is_recorded;    /* the program that behaves wrote an event; atomic */
	uint64_t mapped_bytes;   /* of the attacker's; atomic */
};

static const GUID provider = {0x52494E47, 0x4D45, 0x4D31, {1, 2, 3, 4, 5, 6, 7, 8}};
static struct shared *shared;
static struct recording recording;

/* The attacker. */

struct attack {
	int fd;
	uint8_t *room; /* WIRE_MESSAGE_BYTES_MAX */
	struct etw_ipc_message *message;
	struct etw_ring_set sets[SETS_MAX];
	uint32_t count;
};

static void send_or_die(const struct attack *attack, size_t bytes)
{
	if (etw_ipc_send(attack->fd, attack->room, bytes, NULL, 0) < 0)
		_exit(2);
}

static void take_set(struct attack *attack)
{
	const int *fds = attack->message->fds;
	struct etw_ring_set *set = &attack->sets[attack->count];

	if (attack->count == SETS_MAX ||
	    etw_ring_set_map(&(struct etw_ring_set_fds){fds[0], fds[1]}, set) < 0)
		_exit(3);
	attack->count++;
	if (load_acquire(&etw_ring_set_page(set)->is_retired)) {
		for (int i = 0; i < REFUSED; i++)
			shared->refused += etw_ring_refuse(set) == -ENOBUFS;
		(void)add_acq_rel(&shared->refusals, 1u);
		return;
	}
	(void)add_acq_rel(&shared->mapped_bytes, set->total_bytes);
	(void)add_acq_rel(&shared->sets, 1u);
}

/* A word that no writer leaves, in each ring, and a session that looks at it at once. */
static void break_set(const struct etw_ring_set *set)
{
	uint32_t *asleep = &etw_ring_set_page(set)->asleep;

	for (uint32_t i = 0; i < set->cpu_count; i++)
		store_relaxed(&((struct wire_ring *)(void *)etw_ring_at(set, i))->word, UINT64_MAX);
	store_seq_cst(asleep, 0u);
	(void)syscall(SYS_futex, asleep, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void fill_all(const struct attack *attack)
{
	for (uint32_t i = 0; i < attack->count; i++)
		memset(attack->sets[i].memory + attack->sets[i].rings_at, 0xFF,
		       attack->sets[i].total_bytes - attack->sets[i].rings_at);
}

static void handle(struct attack *attack)
{
	struct wire_message answer = {.type = WIRE_ENABLE_DONE,
				      .request = attack->message->head.request};

	if (attack->message->head.type == WIRE_RING_SET)
		take_set(attack);
	if (attack->message->head.type != WIRE_ENABLE)
		return; /* nothing is ever given back */
	if (answer.request)
		send_or_die(attack, wire_message_encode_plain(&answer, attack->room));
	fill_all(attack);
	break_set(&attack->sets[attack->count - 1]);
}

static void become_stranger(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setgid(STRANGER) || setuid(STRANGER))
		_exit(1);
}

static void run_attacker(void)
{
	const struct wire_message head = {.type = WIRE_REGISTER, .request = 1};
	const struct wire_register body = {.registration = 1, .provider = provider};
	static struct attack attack;
	struct wire_welcome welcome;
	char directory[PATH_MAX];

	become_stranger();
	attack.room = malloc(WIRE_MESSAGE_BYTES_MAX);
	attack.message = malloc(sizeof(*attack.message));
	if (!attack.room || !attack.message ||
	    etw_runtime_directory(ETW_INSTANCE_SYSTEM, directory) < 0 ||
	    etw_runtime_connect(directory, WIRE_ROLE_PROVIDER, &attack.fd, &welcome, NULL) < 0)
		_exit(1);
	etw_ipc_message_init(attack.message);
	send_or_die(&attack, wire_message_encode_register(&head, &body, attack.room));
	for (;;) {
		struct pollfd wait = {attack.fd, POLLIN, 0};
		int r = poll(&wait, 1, 20) > 0 ? etw_ipc_receive(attack.fd, attack.message)
					       : -EAGAIN;

		if (r == 0)
			handle(&attack);
		else if (r == -EAGAIN && attack.count > 0)
			break_set(&attack.sets[attack.count - 1]);
		else if (r != -EAGAIN)
			_exit(4);
	}
}

/* A program of the same uid that means no harm. */
static void run_program(void)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 2, .Level = 4};
	double end = seconds() + HANG_SECONDS;
	REGHANDLE handle;

	become_stranger();
	handle = recording_register(&provider, NULL, NULL);
	while (EventWrite(handle, &descriptor, 0, NULL) != 0 && seconds() < end)
		(void)usleep(10000);
	store_release(&shared->is_recorded, 1u);
	EventUnregister(handle);
	_exit(0);
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid == 0)
		run();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	return pid;
}

/* What host and keeper hold. */

#define INODES_MAX 4096

struct held {
	ino_t inodes[INODES_MAX];
	uint32_t count;
	uint64_t bytes;
};

static void hold(struct held *held, const struct stat *status)
{
	for (uint32_t i = 0; i < held->count; i++) {
		if (held->inodes[i] == status->st_ino)
			return;
	}
	if (held->count == INODES_MAX)
		fail("so many ring sets are held");
	held->inodes[held->count++] = status->st_ino;
	held->bytes += (uint64_t)status->st_blocks * 512;
}

static void look_at(pid_t pid, struct held *held)
{
	char folder[64], path[400], target[256];
	const struct dirent *entry;
	DIR *list;

	(void)snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	list = opendir(folder);
	if (!list)
		fail("%s: %s", folder, strerror(errno));
	while ((entry = readdir(list))) {
		struct stat status;
		ssize_t bytes;

		(void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		bytes = readlink(path, target, sizeof(target) - 1);
		if (bytes < 0)
			continue;
		target[bytes] = '\0';
		if (strncmp(target, "/memfd:etw-ring", 15) == 0 && stat(path, &status) == 0)
			hold(held, &status);
	}
	(void)closedir(list);
}

static pid_t number_in_status(pid_t pid, const char *name)
{
	char path[64], line[256];
	int number = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	if (!file)
		fail("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, strlen(name)) == 0)
			number = atoi(line + strlen(name));
	}
	(void)fclose(file);
	return (pid_t)number;
}

/* Bytes of ring memory in the host and in the keeper, which is its parent. */
static uint64_t held_bytes(void)
{
	static struct held held;
	static pid_t host;

	held = (struct held){.count = 0};
	if (!host) {
		recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
		host = number_in_status((pid_t)(uintptr_t)recording.block.properties.LoggerThreadId,
					"Tgid:");
	}
	look_at(host, &held);
	look_at(number_in_status(host, "PPid:"), &held);
	return held.bytes;
}

static void write_one(REGHANDLE handle, uint64_t *count)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	ULONG error = EventWrite(handle, &descriptor, 0, NULL);

	if (error)
		fail("EventWrite of root's own: error %u", (unsigned)error);
	(*count)++;
}

static void watch_attack(REGHANDLE handle, uint64_t before, uint64_t *written)
{
	double end = seconds() + HANG_SECONDS;
	uint64_t most = 0;

	while (load_acquire(&shared->sets) < SETS_WANTED || !load_acquire(&shared->refusals)) {
		uint64_t bytes = held_bytes() - before;

		if (seconds() > end)
			fail("%u sets and %u refusals within %d s", load_acquire(&shared->sets),
			     load_acquire(&shared->refusals), HANG_SECONDS);
		if (bytes > most)
			most = bytes;
		write_one(handle, written);
		(void)usleep(2000);
	}
	printf("%u sets, %.1f MB are mapped by the attacker; host and keeper held %.1f MB at "
	       "most\n",
	       load_acquire(&shared->sets), (double)load_acquire(&shared->mapped_bytes) / 1e6,
	       (double)most / 1e6);
	if (load_acquire(&shared->mapped_bytes) <= 2 * SESSION_BYTES)
		fail("the attacker got too little to show anything");
	if (most > SESSION_BYTES + MARGIN_BYTES)
		fail("that is more than the budget");
}

static void await_release(REGHANDLE handle, uint64_t before, uint64_t *written)
{
	double end = seconds() + HANG_SECONDS;

	while (held_bytes() > before + MARGIN_BYTES) {
		if (seconds() > end)
			fail("%" PRIu64 " bytes are still held", held_bytes() - before);
		write_one(handle, written);
		(void)usleep(10000);
	}
	printf("after its end they hold %.1f MB\n", (double)(held_bytes() - before) / 1e6);
}

static void WINAPI see_event(PEVENT_RECORD record)
{
	uint64_t *seen = record->UserContext;

	if (IsEqualGUID(&record->EventHeader.ProviderId, &provider) &&
	    record->EventHeader.EventDescriptor.Id < 3)
		seen[record->EventHeader.EventDescriptor.Id]++;
}

static void attack(REGHANDLE handle, uint64_t *written)
{
	uint64_t before = held_bytes();
	pid_t pid = start(run_attacker);
	int status = 0;

	watch_attack(handle, before, written);
	if (kill(pid, SIGKILL) || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		fail("the attacker ended by itself: status %#x", (unsigned)status);
	await_release(handle, before, written);
	recording_control(&recording, EVENT_TRACE_CONTROL_QUERY);
	if (recording.block.properties.EventsLost < shared->refused)
		fail("%u events were refused, %u are counted", shared->refused,
		     (unsigned)recording.block.properties.EventsLost);
}

int main(void)
{
	struct recording_options options = {.name = "ring memory",
					    .mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
					    .buffer_kib = 64,
					    .buffers = 256};
	uint64_t written = 0, seen[3] = {0};
	REGHANDLE handle;
	char file[300];
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		printf("SKIP: only root can be another user\n");
		return TEST_SKIPPED;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = share_with_forks(sizeof(*shared));
	(void)setenv("ETWD_RING_MIB", "64", 1);
	static_assert(SESSION_BYTES == ((uint64_t)TOTAL_MIB << 20) / 4, "as the host divides it");
	snprintf(file, sizeof(file), "%s/ring_memory.etl", test_home());
	options.file = file;
	recording_start(&recording, &options);
	recording_enable(&recording, &provider);
	handle = recording_register(&provider, NULL, NULL);
	write_one(handle, &written);
	attack(handle, &written);
	pid = start(run_program);
	if (waitpid(pid, &status, 0) != pid || status || !load_acquire(&shared->is_recorded))
		fail("a program of the same uid ended with status %#x", (unsigned)status);
	write_one(handle, &written);
	recording_control(&recording, EVENT_TRACE_CONTROL_STOP);
	EventUnregister(handle);
	(void)recording_read(file, see_event, seen);
	printf("%" PRIu64 " of %" PRIu64 " events of root's, %" PRIu64 " of the other user's\n",
	       seen[1], written, seen[2]);
	if (seen[1] != written || seen[2] == 0)
		fail("events are missing");
	return 0;
}
