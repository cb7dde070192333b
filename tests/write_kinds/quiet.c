/* SPDX-License-Identifier: MIT */
/*
 * quiet [--events N]
 *
 * What an event costs besides time, whatever provider writes it: nothing. Each kind of write runs on a thread of its
 * own, which after its first events writes N more, without
 *   - an allocation or a mutex, counted at the functions' entry,
 *   - a system call, each of which the kernel tells another thread (seccomp's user notification),
 *   - a page fault, as the kernel counts them.
 * Then the same while the host says that it sleeps, where a switch of buffers may wake it once, and nothing else may
 * happen. The writer empties the rings itself, which needs neither calls nor memory. Exit status: 0; 1; 77 where the
 * kernel has no such notification.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <evntcons.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "fake_host/fake_host.h"
#include "ring/slot.h"
#include "write_kinds/write_kinds.h"

#define EVENTS          3000000
#define WARM_UP         20000 /* so that every buffer and every page of code was touched */
#define BUFFER_COUNT    16
#define BUFFER_BYTES    65528
#define CHUNK           400 /* events, between two looks into the rings: they fit, with a stack each */
#define EVENT_BYTES_MAX 8192 /* of all kinds, with all items */
#define FAULTS_MAX \
	16 /* the kernel may move a page of the process at any time; never one for each event */
#define CALLS_SHOWN 8
#define SKIP        77

/* Everything that adds items to events. */
#define EXTENDED                                                                     \
	(EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID |                   \
	 EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_PSM_KEY |         \
	 EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY | \
	 EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

static struct fake_host host;
static struct fake_session sessions[2];
static unsigned session_count;

/* What the writer did while it was watched. */
static struct {
	const struct write_kind *kind;
	uint64_t events;
	bool is_host_asleep;
	int notify_fd;        /* atomic; -1: not there yet, -errno - 1: cannot be */
	uint32_t is_watching; /* atomic */
	/* Written by the thread that is told of calls. */
	uint64_t calls;
	int shown[CALLS_SHOWN];
	uint64_t wakes;
	/* Written by the writer. */
	uint64_t allocations, mutexes, faults, refused, taken, bytes;
} run;

static _Thread_local uint64_t allocations, mutexes;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t bytes)
{
	allocations++;
	return __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
	allocations++;
	return __libc_calloc(count, bytes);
}

EXPORT void *realloc(void *at, size_t bytes)
{
	allocations++;
	return __libc_realloc(at, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	allocations++;
	return __libc_memalign(alignment, bytes);
}

/* What a mutex calls that is taken without waiting, which no system call would show. */
EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*next)(pthread_mutex_t *);
	int (*known)(pthread_mutex_t *) = load_acquire(&next);

	mutexes++;
	if (!known) {
		void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");

		memcpy(&known, &found, sizeof(known));
		store_release(&next, known);
	}
	return known(mutex);
}

static void fail(const char *what)
{
	fprintf(stderr, "quiet: %s\n", what);
	exit(1);
}

static void add_bytes(void *context, const struct fake_event *event)
{
	(void)context;
	run.bytes += ALIGN_UP(event->bytes, 8);
}

static void empty_rings(void)
{
	for (unsigned i = 0; i < session_count; i++) {
		run.taken += (uint64_t)fake_session_take(&sessions[i], add_bytes, NULL);
		if (run.is_host_asleep)
			store_seq_cst(&etw_ring_set_page(&sessions[i].set)->asleep, 1u);
	}
}

static void write_events(uint64_t count)
{
	for (uint64_t done = 0; done < count; done += CHUNK) {
		run.refused += write_kind_run(run.kind, CHUNK);
		empty_rings();
	}
}

/* From here on another thread is told of each system call of this one. */
static int tell_of_calls(void)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)};
	const struct sock_fprog program = {ARRAY_SIZE(code), code};
	long fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		     &program);
	return fd < 0 ? -errno : (int)fd;
}

static void *write_watched(void *context)
{
	struct rusage before, after;
	uint64_t allocations_before, mutexes_before;
	int fd;

	(void)context;
	write_events(WARM_UP);
	run.taken = run.refused = run.bytes = 0;
	(void)getrusage(RUSAGE_THREAD, &before);
	fd = tell_of_calls();
	store_release(&run.notify_fd, fd < 0 ? fd - 1 : fd);
	if (fd < 0)
		return NULL;
	allocations_before = allocations;
	mutexes_before = mutexes;
	store_release(&run.is_watching, 1u);
	write_events(run.events);
	store_release(&run.is_watching, 0u);
	run.allocations = allocations - allocations_before;
	run.mutexes = mutexes - mutexes_before;
	(void)getrusage(RUSAGE_THREAD, &after);
	run.faults =
		(uint64_t)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
	return NULL;
}

static void note_call(int number)
{
	if (number == SYS_futex)
		run.wakes++;
	if (run.calls < CALLS_SHOWN)
		run.shown[run.calls] = number;
	run.calls++;
}

/* Lets every call of the writer pass, and counts those while it is watched. Ends with the writer. */
static void watch(int fd)
{
	struct seccomp_notif call;
	struct seccomp_notif_resp answer;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	for (;;) {
		if (poll(&poll_fd, 1, -1) < 0 && errno != EINTR)
			fail("cannot wait for system calls");
		if (poll_fd.revents & POLLHUP)
			return;
		memset(&call, 0, sizeof(call));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			continue;
		if (load_acquire(&run.is_watching))
			note_call(call.data.nr);
		memset(&answer, 0, sizeof(answer));
		answer.id = call.id;
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
}

/* What fills so many bytes has switched so often at most: once for each buffer, and each ring has one open. */
static uint64_t count_switches(void)
{
	const uint64_t rings = (uint64_t)session_count * sessions[0].set.cpu_count;

	return run.bytes / (BUFFER_BYTES - EVENT_BYTES_MAX) + rings;
}

/* Returns 1 where something was not as it is to be. */
static int judge(const char *setting)
{
	/* A classic provider has one session. */
	const unsigned copies = run.kind->provider == WRITE_CLASSIC ? 1 : session_count;
	const bool is_all = run.refused == 0 && run.taken == run.events * copies;
	const uint64_t allowed = run.is_host_asleep ? count_switches() : 0;
	const bool is_quiet = run.allocations == 0 && run.mutexes == 0 &&
			      run.faults <= FAULTS_MAX && run.calls == run.wakes &&
			      run.calls <= allowed && (run.wakes > 0) == run.is_host_asleep;

	printf("%s %-28s %-13s %9" PRIu64 " events, %5" PRIu64 " MiB: %" PRIu64
	       " system calls (%" PRIu64 " wakes), %" PRIu64 " allocations, %" PRIu64
	       " mutexes, %" PRIu64 " page faults\n",
	       is_all && is_quiet ? "ok  " : "FAIL", run.kind->name, setting, run.events,
	       run.bytes >> 20, run.calls, run.wakes, run.allocations, run.mutexes, run.faults);
	for (unsigned i = 0; i < run.calls && i < CALLS_SHOWN; i++) {
		if (run.shown[i] != SYS_futex)
			printf("     system call %d\n", run.shown[i]);
	}
	if (!is_all)
		printf("     %" PRIu64 " refused, %" PRIu64 " taken\n", run.refused, run.taken);
	(void)fflush(stdout);
	return !(is_all && is_quiet);
}

static void run_watched(const struct write_kind *kind, uint64_t events, bool is_host_asleep)
{
	pthread_t writer;
	int fd;

	memset(&run, 0, sizeof(run));
	run.kind = kind;
	run.events = (events + CHUNK - 1) / CHUNK * CHUNK;
	run.is_host_asleep = is_host_asleep;
	run.notify_fd = -1;
	if (pthread_create(&writer, NULL, write_watched, NULL))
		fail("no thread");
	while ((fd = load_acquire(&run.notify_fd)) == -1)
		(void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	if (fd >= 0) {
		watch(fd);
		(void)close(fd);
	}
	(void)pthread_join(writer, NULL);
	if (fd < 0) {
		printf("SKIP: no notification of system calls: %s\n", strerror(-fd - 1));
		exit(SKIP);
	}
}

static int watch_kind(const struct write_kind *kind, uint64_t events, bool is_host_asleep,
		      const char *setting)
{
	run_watched(kind, events, is_host_asleep);
	return judge(setting);
}

/* Not quiet at all, so that nothing is missed for want of looking. */
static uint64_t write_loudly(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

		(void)syscall(SYS_getppid);
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_mutex_unlock(&mutex);
		free(malloc(1));
	}
	return 0;
}

static void check_watching(void)
{
	static const struct write_kind loud = {"", WRITE_CLASSIC, write_loudly};

	run_watched(&loud, CHUNK, false);
	if (run.calls != CHUNK || run.allocations != CHUNK || run.mutexes != CHUNK)
		fail("system calls, allocations or mutexes are not seen");
}

static void enable(unsigned index, uint32_t property)
{
	for (int i = 0; i < WRITE_PROVIDERS; i++) {
		if (i == WRITE_CLASSIC && index > 0)
			continue;
		if (fake_host_enable(&host, write_kinds_id((enum write_provider)i),
				     &sessions[index],
				     (struct fake_wish){.level = 5, .property = property}) < 0)
			fail("cannot enable");
	}
	while (!write_kinds_has_logger())
		(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void add_session(void)
{
	if (fake_session_open(&sessions[session_count], session_count + 1, BUFFER_COUNT,
			      BUFFER_BYTES, 0) < 0)
		fail("no memory for a session");
	enable(session_count++, 0);
}

static int check_kinds(uint64_t events, uint64_t few)
{
	int failures = 0;

	for (const struct write_kind *kind = write_kinds; kind->name; kind++) {
		failures += watch_kind(kind, events, false, "one session");
		failures += watch_kind(kind, few, true, "host asleep");
	}
	enable(0, EXTENDED);
	for (const struct write_kind *kind = write_kinds; kind->name; kind++)
		failures += watch_kind(kind, kind->provider == WRITE_CLASSIC ? few : events, false,
				       "extended data");
	enable(0, 0);
	add_session();
	for (const struct write_kind *kind = write_kinds; kind->name; kind++) {
		if (kind->provider != WRITE_CLASSIC)
			failures += watch_kind(kind, few, false, "two sessions");
	}
	return failures;
}

int main(int argc, char **argv)
{
	uint64_t events = EVENTS;
	int failures;

	if (argc == 3 && strcmp(argv[1], "--events") == 0)
		events = strtoull(argv[2], NULL, 10);
	if (fake_host_init(&host) < 0 || fake_host_start(&host) < 0)
		fail("no host");
	if (write_kinds_register())
		fail("the providers cannot be registered");
	add_session();
	check_watching();
	failures = check_kinds(events, events / 10);
	write_kinds_unregister();
	fake_host_leave(&host);
	fake_host_done(&host);
	return failures > 0;
}
