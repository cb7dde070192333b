/* SPDX-License-Identifier: MIT */
/*
 * What an event costs besides time: nothing. 10^7 of them (10^6 under sanitizers) without an allocation,
 * counted at the functions' entry; without a system call, held by a filter of the kernel that kills; without
 * a page fault, as the kernel counts them.
 */
#include "provider_test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "synthetic/sanitized.h"

#define EVENTS      (IS_SANITIZED ? 1000000u : 10000000u)
#define WARM_UP     2000u /* so that every buffer and every page of code was touched */
#define SMALL_BYTES 16376

#define CANNOT_FILTER 77 /* exit code of a child where the kernel allows no filter */

static uint64_t allocations; /* atomic */

#if !IS_SANITIZED /* they bring their own */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *at, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
	(void)add_relaxed(&allocations, UINT64_C(1));
	return __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
	(void)add_relaxed(&allocations, UINT64_C(1));
	return __libc_calloc(count, bytes);
}

__attribute__((visibility("default"))) void *realloc(void *at, size_t bytes)
{
	(void)add_relaxed(&allocations, UINT64_C(1));
	return __libc_realloc(at, bytes);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes)
{
	(void)add_relaxed(&allocations, UINT64_C(1));
	return __libc_memalign(alignment, bytes);
}
#endif

static struct fake_session sessions[2];
static uint64_t handle;

static int begin(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		if (fake_session_open(&sessions[i], i + 1, 4, SMALL_BYTES, 0) < 0)
			return -1;
	}
	handle = register_provider(NULL, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		if (fake_host_enable(&host, &test_provider, &sessions[i],
				     (struct fake_wish){.level = 5}) < 0)
			return -1;
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_unregister(handle), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(fake_host_disable(&host, &test_provider, &sessions[i]), 0);
		assert_int_equal(fake_host_retire(&host, &sessions[i]), 0);
		fake_session_close(&sessions[i]);
	}
	return 0;
}

/*
 * A mix of everything that an event can be; both rings are emptied by whoever writes, on the same thread,
 * which needs neither calls nor memory either. Returns how many were written.
 */
static uint64_t write_events(uint64_t count, uint64_t *ret_taken)
{
	static const uint8_t schema[] = {5, 0, 0, 'E', 0};
	static const uint8_t long_text[200];
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4, .Keyword = 1};
	EVENT_DATA_DESCRIPTOR data[4];
	struct etw_event_request request = {
		.descriptor = &descriptor, .data = data, .activity = &test_activity};
	uint64_t written = 0;

	EventDataDescCreate(&data[0], &count, sizeof(count));
	EventDataDescCreate(&data[1], long_text, 18);
	EventDataDescCreate(&data[2], long_text, sizeof(long_text));
	EventDataDescCreate(&data[3], schema, sizeof(schema));
	data[3].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	for (uint64_t i = 0; i < count; i++) {
		request.data_count = (uint32_t)(i % 5);
		request.related = i % 3 ? NULL : &test_activity;
		written += etw_provider_write(handle, &request) == 0;
		if (i % 32 == 0 || i + 1 == count) {
			for (int k = 0; k < 2; k++)
				*ret_taken += (uint64_t)fake_session_take(&sessions[k], NULL, NULL);
		}
	}
	return written;
}

static void expect_all(uint64_t written, uint64_t taken, uint64_t count)
{
	assert_int_equal(written, count);
	assert_int_equal(taken, 2 * count);
}

static void test_quiet__no_allocation(void **state)
{
	uint64_t taken = 0;
	uint64_t before, written;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer allocates by itself\n");
		skip();
	}
	free(malloc(1));
	assert_true(load_relaxed(&allocations) > 0); /* it does count */
	before = load_relaxed(&allocations);
	written = write_events(EVENTS, &taken);
	assert_int_equal(load_relaxed(&allocations), before);
	expect_all(written, taken, EVENTS);
}

static void test_quiet__no_page_fault(void **state)
{
	struct rusage before, after;
	uint64_t written;
	uint64_t taken = 0;

	(void)state;
	if (IS_SANITIZED) {
		print_message("skipped: a sanitizer touches its own memory late\n");
		skip();
	}
	(void)write_events(WARM_UP, &taken);
	taken = 0;
	(void)getrusage(RUSAGE_THREAD, &before);
	written = write_events(EVENTS, &taken);
	(void)getrusage(RUSAGE_THREAD, &after);
	expect_all(written, taken, EVENTS);
	assert_int_equal(after.ru_majflt - before.ru_majflt, 0);
	/* The kernel may break up or move a page of the process at any time; never one for each event. */
	assert_in_range(after.ru_minflt - before.ru_minflt, 0, 16);
}

/* From here on only write and exit_group; anything else ends the process with SIGSYS. */
static int forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		/* What the sanitizers do in front of an exit; else it is exit_group once more. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IS_SANITIZED ? SYS_sigaltstack : SYS_exit_group,
			 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}

/* The child: writes what it may say into the pipe. */
static void write_in_silence(int out, bool is_calling)
{
	uint64_t counts[2] = {0};

	(void)write_events(WARM_UP, &counts[1]);
	counts[1] = 0;
	if (forbid_system_calls() < 0)
		_exit(CANNOT_FILTER);
	if (is_calling)
		(void)syscall(SYS_getppid);
	counts[0] = write_events(EVENTS, &counts[1]);
	_exit(write(out, counts, sizeof(counts)) == sizeof(counts) ? 0 : 1);
}

/* Returns the child's wait status; what it told is in @ret_counts. */
static int run_in_silence(bool is_calling, uint64_t ret_counts[2])
{
	int ends[2];
	int status = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0)
		write_in_silence(ends[1], is_calling);
	(void)close(ends[1]);
	if (read(ends[0], ret_counts, 2 * sizeof(*ret_counts)) < 0)
		ret_counts[0] = 0;
	(void)close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* A child leaves the rings where no reader of this process finds its way: one for each setting. */
static void test_quiet__a_system_call_would_be_seen(void **state)
{
	uint64_t counts[2] = {0};
	int status = run_in_silence(/* is_calling= */ true, counts);

	(void)state;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_FILTER) {
		print_message("skipped: no seccomp filter can be set here\n");
		skip();
	}
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static void test_quiet__no_system_call(void **state)
{
	uint64_t counts[2] = {0};
	int status = run_in_silence(/* is_calling= */ false, counts);

	(void)state;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_FILTER) {
		print_message("skipped: no seccomp filter can be set here\n");
		skip();
	}
	assert_int_equal(status, 0);
	expect_all(counts[0], counts[1], EVENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_quiet__no_allocation, begin, end),
		cmocka_unit_test_setup_teardown(test_quiet__no_page_fault, begin, end),
		cmocka_unit_test_setup_teardown(test_quiet__a_system_call_would_be_seen, begin,
						end),
		cmocka_unit_test_setup_teardown(test_quiet__no_system_call, begin, end),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
