/* SPDX-License-Identifier: MIT */
/* What sessions leave behind in the program that was recorded: nothing; and where the system does not help. */
#include "provider_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macros.h"
#include "provider/event_plain.h"
#include "provider/reclaim.h"
#include "provider/ring_sets.h"

#define SESSIONS      50
#define CANNOT_FILTER 77 /* exit code of a child where the kernel allows no filter */
#define WAIT_S        120

/* Without the C library's streams, whose memory would count too. */
static ssize_t read_all(const char *path, char *text, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t filled = 0;
	ssize_t bytes;

	assert_true(fd >= 0);
	while ((bytes = read(fd, text + filled, size - 1 - filled)) > 0)
		filled += (size_t)bytes;
	(void)close(fd);
	text[filled] = 0;
	return (ssize_t)filled;
}

/*
 * What the process has of the system: lines in /proc/self/maps, pages of address space. The thread sanitizer splits its
 * own mappings beside those of the program: with it only lines of memfds count, as a session's rings are.
 */
struct memory {
	unsigned mappings;
	unsigned long pages;
};

static struct memory measure_memory(void)
{
	static char text[1 << 20];
	struct memory memory = {0};
	const ssize_t bytes = read_all("/proc/self/maps", text, sizeof(text));

#ifdef ETW_THREAD_SANITIZED
	for (const char *at = text; (at = strstr(at, "/memfd:")) != NULL; at++)
		memory.mappings++;
	(void)bytes;
#else
	for (ssize_t i = 0; i < bytes; i++)
		memory.mappings += text[i] == '\n';
#endif
	(void)read_all("/proc/self/statm", text, sizeof(text));
	memory.pages = strtoul(text, NULL, 10);
	return memory;
}

/* A sanitizer's allocator keeps what is freed for a while: with it the number of mappings alone tells of a leak. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_FREED_MEMORY_KEPT true
#endif
#endif
#ifndef IS_FREED_MEMORY_KEPT
#define IS_FREED_MEMORY_KEPT false
#endif

/* The listener gives back late what a writer was inside of. */
static bool becomes_at_most(struct memory most)
{
	for (int i = 0; i < WAIT_S * 1000; i++) {
		const struct memory memory = measure_memory();

		if (memory.mappings <= most.mappings &&
		    (IS_FREED_MEMORY_KEPT || memory.pages <= most.pages))
			return true;
		(void)usleep(1000);
	}
	return false;
}

/* At least a page of each session is still there. */
static bool has_kept_sessions(struct memory since)
{
	return measure_memory().pages >= since.pages + SESSIONS;
}

static void run_sessions(uint64_t handle, unsigned count)
{
	struct fake_session session;

	for (unsigned i = 1; i <= count; i++) {
		open_session(&session, i, 4, 0);
		assert_int_equal(fake_host_enable(&host, &test_provider, &session,
						  (struct fake_wish){.level = 5}),
				 0);
		if (handle)
			assert_int_equal(write_number(handle, 1, 0, i), 0);
		end_session(&session);
	}
}

static void test_reclaim__sessions_leave_no_mapping_behind(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	struct memory before;

	(void)state;
	run_sessions(handle, 3);
	before = measure_memory();
	run_sessions(handle, SESSIONS);
	assert_true(becomes_at_most(before));
	assert_int_equal(etw_provider_unregister(handle), 0);
}

/* As a host has that no keeper remembers: a clock page of its own. */
static void give_host_another_clock(void)
{
	static uint8_t page[WIRE_CLOCK_PAGE_BYTES];
	const int fd = memfd_create("clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(pread(host.clock_fd, page, sizeof(page), 0), sizeof(page));
	assert_int_equal(pwrite(fd, page, sizeof(page), 0), sizeof(page));
	(void)close(host.clock_fd);
	host.clock_fd = fd;
}

static void test_reclaim__nor_do_hosts(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	struct memory before = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		const uint32_t registered = fake_host_registered(&host);

		run_sessions(handle, 1);
		if (i == 2)
			before = measure_memory();
		fake_host_leave(&host);
		give_host_another_clock();
		assert_int_equal(fake_host_start(&host), 0);
		assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
	}
	assert_true(becomes_at_most(before));
	assert_int_equal(etw_provider_unregister(handle), 0);
}

struct stay {
	pthread_t thread;
	pthread_barrier_t step;
};

static void *stay_inside(void *context)
{
	struct stay *stay = context;
	struct etw_entry entry;

	etw_thread_enter_slow(etw_stack_pointer(), &entry);
	(void)pthread_barrier_wait(&stay->step);
	(void)pthread_barrier_wait(&stay->step);
	etw_thread_leave_slow(&entry);
	(void)pthread_barrier_wait(&stay->step);
	(void)pthread_barrier_wait(&stay->step);
	return NULL;
}

static void test_reclaim__a_thread_that_is_inside_finds_its_memory(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	struct etw_enable_view view;
	struct fake_session session;
	struct stay stay;
	struct memory before;

	(void)state;
	assert_int_equal(pthread_barrier_init(&stay.step, NULL, 2), 0);
	run_sessions(handle, 3);
	open_session(&session, 99, 4, 0);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5}),
		0);
	assert_int_equal(pthread_create(&stay.thread, NULL, stay_inside, &stay), 0);
	(void)pthread_barrier_wait(&stay.step);
	assert_int_equal(etw_enable_collect(handle, &(struct etw_enable_query){.level = 1}, &view),
			 0);
	assert_int_equal(view.ring_count, 1);
	before = measure_memory();
	end_session(&session); /* the session's own mapping, as large, goes away */
	run_sessions(handle, SESSIONS);
	/* It is private memory by now, which says what a set says whose session is over. */
	assert_int_equal(etw_ring_refuse(&view.rings[0]->set), 0);
	assert_true(has_kept_sessions(before));
	(void)pthread_barrier_wait(&stay.step);
	(void)pthread_barrier_wait(&stay.step);
	assert_true(becomes_at_most(before));
	(void)pthread_barrier_wait(&stay.step);
	assert_int_equal(pthread_join(stay.thread, NULL), 0);
	(void)pthread_barrier_destroy(&stay.step);
	assert_int_equal(etw_provider_unregister(handle), 0);
}

/* From here on membarrier() ends as @action says, in all threads. */
static int filter_membarrier(uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {ARRAY_SIZE(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		return -errno;
	return 0;
}

/* What a program in a sandbox does. */
struct sandbox {
	const char *setting; /* of ETW_MEMBARRIER; NULL: none */
	uint32_t early,
		late; /* what membarrier() does before and after the registration; 0: what it does */
	bool is_flat;            /* its mappings come back */
	int to_child, to_parent; /* pipes */
};

static bool has_passed(int fd)
{
	char byte = 0;

	return read(fd, &byte, 1) == 1;
}

static void pass(int fd)
{
	assert_int_equal(write(fd, "", 1), 1);
}

static void run_program(const struct sandbox *sandbox)
{
	struct memory before;
	REGHANDLE own;

	if (sandbox->setting)
		(void)setenv("ETW_MEMBARRIER", sandbox->setting, 1);
	if (sandbox->early && filter_membarrier(sandbox->early) < 0)
		_exit(CANNOT_FILTER);
	if (etw_provider_register(&test_provider, NULL, NULL, &own))
		_exit(1);
	if (sandbox->late && filter_membarrier(sandbox->late) < 0)
		_exit(CANNOT_FILTER);
	pass(sandbox->to_parent);
	if (!has_passed(sandbox->to_child)) /* a few sessions have gone by */
		_exit(2);
	before = measure_memory();
	pass(sandbox->to_parent);
	if (!has_passed(sandbox->to_child))
		_exit(3);
	if (sandbox->is_flat && !becomes_at_most(before))
		_exit(4);
	if (!sandbox->is_flat && !has_kept_sessions(before))
		_exit(5);
	_exit(0);
}

static void expect_good_life(struct sandbox *sandbox)
{
	const uint32_t registered = fake_host_registered(&host);
	int to_child[2];
	int to_parent[2];
	int status = 0;
	pid_t child;

	assert_int_equal(pipe(to_child), 0);
	assert_int_equal(pipe(to_parent), 0);
	sandbox->to_child = to_child[0];
	sandbox->to_parent = to_parent[1];
	child = fork();
	if (child == 0)
		run_program(sandbox);
	(void)close(to_child[0]);
	(void)close(to_parent[1]);
	if (has_passed(to_parent[0])) {
		assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
		run_sessions(0, 3);
		pass(to_child[1]);
		assert_true(has_passed(to_parent[0]));
		run_sessions(0, SESSIONS);
		pass(to_child[1]);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)close(to_child[1]);
	(void)close(to_parent[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_FILTER) {
		print_message("skipped: the kernel allows no filter\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* The kernel's permission to use membarrier() may or may not come over. */
static void test_reclaim__a_forked_child_with_a_listener_gives_back(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);

	(void)state;
	run_sessions(handle, 3);
	assert_int_equal(etw_provider_unregister(handle), 0);
	expect_good_life(&(struct sandbox){.is_flat = true});
}

static void test_reclaim__switched_off_a_filter_that_kills_does_not(void **state)
{
	(void)state;
	expect_good_life(&(struct sandbox){.setting = "0", .early = SECCOMP_RET_KILL_PROCESS});
}

static void test_reclaim__refused_membarrier_keeps_everything(void **state)
{
	(void)state;
	expect_good_life(&(struct sandbox){.early = SECCOMP_RET_ERRNO | EPERM});
}

static void test_reclaim__membarrier_that_is_refused_later_keeps_everything(void **state)
{
	(void)state;
	expect_good_life(&(struct sandbox){.late = SECCOMP_RET_ERRNO | ENOSYS});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reclaim__sessions_leave_no_mapping_behind),
		cmocka_unit_test(test_reclaim__nor_do_hosts),
		cmocka_unit_test(test_reclaim__a_thread_that_is_inside_finds_its_memory),
		cmocka_unit_test(test_reclaim__a_forked_child_with_a_listener_gives_back),
		cmocka_unit_test(test_reclaim__switched_off_a_filter_that_kills_does_not),
		cmocka_unit_test(test_reclaim__refused_membarrier_keeps_everything),
		cmocka_unit_test(test_reclaim__membarrier_that_is_refused_later_keeps_everything),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
