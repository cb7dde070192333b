/* SPDX-License-Identifier: MIT */
/* The source's contract on a machine that allows it. Skips with the reason where it does not. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "wire/etl_event.h"

#define SKIPPED 77
#define NOBODY  65534

#define TYPE_START           0x0301
#define TYPE_DC_START        0x0303
#define TYPE_DC_END          0x0304
#define TYPE_THREAD_START    0x0501
#define TYPE_THREAD_DC_START 0x0503
#define TYPE_THREAD_DC_END   0x0504
#define TYPE_IMAGE_DC_START  0x1403

static struct etw_source *open_one(struct fake_source_host *fake)
{
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(etw_kernel_source.open(&fake->host, NULL, &source, &fault), 0);
	assert_non_null(source);
	return source;
}

static int enable(struct etw_source *source, uint32_t flags, struct etw_fault *fault)
{
	struct etw_source_request request = {.group_masks = {flags}};

	return etw_kernel_source.enable(source, &request, fault);
}

/* Takes every event; returns how many of process @pid and this type there were. */
static unsigned drain_type(struct fake_source_host *fake, struct etw_source *source, uint32_t pid,
			   uint16_t type)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	unsigned count = 0, at;

	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		while (etw_kernel_source.peek(source, cpu, &event)) {
			/* The description of who is there has the shorter header. */
			at = event.bytes[2] == WIRE_HEADER_PERFINFO64 ? 0x18 : 0x28;
			count += etw_load16(event.bytes + 6) == type &&
				 etw_load32(event.bytes + at) == pid;
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
	return count;
}

static unsigned drain(struct fake_source_host *fake, struct etw_source *source, uint32_t pid)
{
	return drain_type(fake, source, pid, TYPE_START);
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/*
 * Until everything before this call is there. One step may give less: a record that another process is being stopped in the
 * midst of holds up all that come behind it.
 */
static void collect(struct etw_source *source)
{
	const int64_t wanted_raw = (int64_t)etw_monotonic_ns() * FAKE_TICKS_PER_NS;
	int64_t watermark_raw = INT64_MIN;
	int r;

	for (;;) {
		r = etw_kernel_source.collect(source, &watermark_raw);
		if (r < 0 || (r == 0 && watermark_raw >= wanted_raw))
			break;
		if (r == 0)
			usleep(1000);
	}
	assert_int_equal(r, 0);
}

static void test_kernel_source__silent_until_enabled(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	pid_t pid = make_child();

	(void)state;
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 0);
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	pid = make_child();
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 1);
	assert_int_equal(enable(source, 0, NULL), 0);
	pid = make_child();
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 0);
	etw_kernel_source.close(source);
	etw_kernel_source.close(NULL);
}

static void test_kernel_source__unbuilt_flags_do_not_stop_the_rest(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	pid_t pid;

	(void)state;
	assert_true(etw_kernel_source.masks[0] & EVENT_TRACE_FLAG_PROCESS);
	assert_false(etw_kernel_source.masks[0] & EVENT_TRACE_FLAG_CSWITCH);
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_CSWITCH, NULL),
			 0);
	pid = make_child();
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 1);
	etw_kernel_source.close(source);
}

static void test_kernel_source__images_and_rundown(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	uint64_t lost;
	struct etw_source_event event;
	bool is_told = false;

	(void)state;
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_IMAGE_LOAD, NULL), 0);
	assert_int_equal(etw_kernel_source.rundown(source, false), 0);
	assert_int_equal(drain(&fake, source, 0), 0);
	assert_int_equal(etw_kernel_source.rundown(source, true), 0);
	collect(source);
	for (uint32_t cpu = 0; cpu < fake.host.cpu_count; cpu++)
		is_told |= etw_kernel_source.peek(source, cpu, &event);
	assert_true(is_told);
	lost = fake_source_host_lost(&fake, &etw_kernel_source, source);
	assert_int_equal(lost, 0);
	etw_kernel_source.close(source);
}

struct described {
	unsigned counts[UINT16_MAX + 1];
	int64_t time_raw;
	unsigned other_times;
};

static void note_described(void *context, uint32_t cpu, const struct etw_source_event *event)
{
	struct described *described = context;

	(void)cpu;
	described->counts[etw_load16(event->bytes + 6)]++;
	described->other_times += event->time_raw != described->time_raw;
}

/* For a copy of the session so far: what the end would tell is handed out, and the session knows nothing of it. */
static void test_kernel_source__describes_what_is_there(void **state)
{
	static struct described described;
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	pid_t pid;

	(void)state;
	described.time_raw = 77;
	assert_int_equal(etw_kernel_source.describe(source, 77, note_described, &described), 0);
	assert_int_equal(described.counts[TYPE_DC_END], 0); /* nothing is wanted yet */
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	assert_int_equal(etw_kernel_source.rundown(source, false), 0);
	collect(source);
	(void)drain(&fake, source, 0);
	assert_int_equal(etw_kernel_source.describe(source, 77, note_described, &described), 0);
	assert_true(described.counts[TYPE_DC_END] > 1);
	assert_int_equal(described.counts[TYPE_DC_START], 0);
	assert_int_equal(described.counts[TYPE_THREAD_DC_END], 0);
	assert_int_equal(described.other_times, 0);
	/* Nothing of it is queued, and the source goes on. */
	collect(source);
	assert_int_equal(drain_type(&fake, source, (uint32_t)getpid(), TYPE_DC_END), 0);
	pid = make_child();
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 1);
	etw_kernel_source.close(source);
}

/* How many events of each type there are, of any process. */
static void count_types(struct fake_source_host *fake, struct etw_source *source,
			unsigned ret[UINT16_MAX + 1])
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	memset(ret, 0, (UINT16_MAX + 1) * sizeof(ret[0]));
	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		while (etw_kernel_source.peek(source, cpu, &event)) {
			ret[etw_load16(event.bytes + 6)]++;
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
}

/* Flags that come later bring who is there with them; flags that go take nothing with them but their events. */
static void test_kernel_source__flags_by_and_by(void **state)
{
	static unsigned counts[UINT16_MAX + 1];
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	pid_t pid;

	(void)state;
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	assert_int_equal(etw_kernel_source.rundown(source, false), 0);
	(void)make_child();
	collect(source);
	count_types(&fake, source, counts);
	assert_true(counts[TYPE_DC_START] > 0 && counts[TYPE_START] > 0);
	assert_int_equal(counts[TYPE_THREAD_DC_START], 0);
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD, NULL),
			 0);
	(void)make_child();
	collect(source);
	count_types(&fake, source, counts);
	assert_int_equal(counts[TYPE_DC_START], 0); /* told already */
	assert_true(counts[TYPE_START] > 0);
	assert_true(counts[TYPE_THREAD_DC_START] > 0 && counts[TYPE_THREAD_START] > 0);
	assert_int_equal(enable(source, 0, NULL), 0);
	/* What others started before that is still told: only the child came after it. */
	collect(source);
	count_types(&fake, source, counts);
	pid = make_child();
	collect(source);
	assert_int_equal(drain(&fake, source, (uint32_t)pid), 0);
	assert_int_equal(enable(source, EVENT_TRACE_FLAG_IMAGE_LOAD, NULL), 0);
	collect(source);
	count_types(&fake, source, counts);
	assert_true(counts[TYPE_IMAGE_DC_START] > 0);
	assert_int_equal(counts[TYPE_DC_START], 0);
	etw_kernel_source.close(source);
}

/* What outlives a host. */
static struct {
	char name[32];
	int fd;
} kept[256];
static unsigned kept_count;

static int keep_fd(void *context, const char *name, int fd)
{
	(void)context;
	assert_true(kept_count < sizeof(kept) / sizeof(kept[0]));
	(void)snprintf(kept[kept_count].name, sizeof(kept[0].name), "%s", name);
	kept[kept_count++].fd = dup(fd);
	return 0;
}

static int kept_fd(void *context, const char *name)
{
	(void)context;
	for (unsigned i = 0; i < kept_count; i++)
		if (strcmp(kept[i].name, name) == 0)
			return dup(kept[i].fd);
	return -ENOENT;
}

/* A host that dies before it has described who is there leaves that to the next one. */
static void test_kernel_source__rundown_that_was_never_done(void **state)
{
	struct fake_source_host fake;
	struct etw_source_mark marks[CPU_SETSIZE] = {0};
	struct etw_source *first = NULL, *second = NULL, *third = NULL;

	(void)state;
	fake_source_host_init(&fake);
	fake.host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	fake.host.keep_fd = keep_fd;
	fake.host.kept_fd = kept_fd;
	/* The first dies before it collects, the second before its rundown. */
	assert_int_equal(etw_kernel_source.open(&fake.host, NULL, &first, NULL), 0);
	assert_int_equal(etw_kernel_source.open(&fake.host, marks, &second, NULL), 0);
	assert_int_equal(enable(second, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	assert_int_equal(etw_kernel_source.open(&fake.host, marks, &third, NULL), 0);
	assert_int_equal(enable(third, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	assert_int_equal(etw_kernel_source.rundown(third, false), 0);
	collect(third);
	assert_int_equal(drain_type(&fake, third, (uint32_t)getpid(), TYPE_DC_START), 1);
	etw_kernel_source.close(third);
	/* And the first one's next host finds that nothing was collected at all. */
	assert_int_equal(etw_kernel_source.open(&fake.host, marks, &third, NULL), 0);
	assert_int_equal(enable(third, EVENT_TRACE_FLAG_PROCESS, NULL), 0);
	assert_int_equal(etw_kernel_source.rundown(third, false), 0);
	collect(third);
	assert_int_equal(drain_type(&fake, third, (uint32_t)getpid(), TYPE_DC_START), 1);
	etw_kernel_source.close(third);
	etw_kernel_source.close(second);
	etw_kernel_source.close(first);
	while (kept_count > 0)
		close(kept[--kept_count].fd);
}

/* In a process that gave its privilege away. */
static void test_kernel_source__without_privilege(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		struct etw_source *source = NULL;
		struct etw_fault fault = {0};
		struct fake_source_host fake;
		int r;

		fake_source_host_init(&fake);
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(2);
		r = etw_kernel_source.open(&fake.host, NULL, &source, &fault);
		_exit(r == -EACCES && !source && strstr(fault.sentence, "CAP_BPF") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_source__silent_until_enabled),
		cmocka_unit_test(test_kernel_source__unbuilt_flags_do_not_stop_the_rest),
		cmocka_unit_test(test_kernel_source__images_and_rundown),
		cmocka_unit_test(test_kernel_source__describes_what_is_there),
		cmocka_unit_test(test_kernel_source__flags_by_and_by),
		cmocka_unit_test(test_kernel_source__rundown_that_was_never_done),
		cmocka_unit_test(test_kernel_source__without_privilege),
	};
	struct etw_fault fault = {0};

	if (etw_kernel_probe_check(&fault)) {
		printf("skipped: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
