/* SPDX-License-Identifier: MIT */
/*
 * What samples are taken by: with a kernel of the test's own, which has whatever counters the test says, and then page faults of
 * the live kernel, which every machine has. The second half skips with the reason where the kernel does not allow it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/perf/samplers.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"

#define SKIPPED      77
#define OPENED_MAX   64
#define SAMPLE       (UINT32_C(1) << ETW_KERNEL_SAMPLE)
#define COUNTED      (UINT32_C(1) << ETW_KERNEL_COUNTER_SAMPLE)
#define SAMPLE_PLACE 101 /* descriptors of programs; nobody uses them */
#define COUNT_PLACE  102
#define RECORD_BYTES 32 /* of throttling, and of its end */
#define PMC_MASK     0x400
#define TYPE_PMC     0x0F2F
#define TYPE_STACK   0x1820
#define PAGES        3000
#define PAGE_FAULTS  0x1002u
#define ROUNDS       300 /* of PAGES: several times what a ring of 8 MiB holds */

/* One event that was opened. */
struct opened {
	struct perf_event_attr attributes;
	int cpu, fd, program_fd;
	uint64_t cookie, period;
	bool has_cookie, is_on;
};

static struct {
	struct opened at[OPENED_MAX];
	size_t count;
	uint32_t lacking_type; /* opening one of these fails */
	int open_error;        /* with this; 0: none fails */
	int attach_error;
	bool is_full; /* counters are all taken */
} fake;

static struct opened *find(int fd)
{
	for (size_t i = 0; i < fake.count; i++)
		if (fake.at[i].fd == fd)
			return &fake.at[i];
	fail();
	return NULL;
}

/* A file of two pages stands for the event: what it is mapped as is what the kernel writes. */
static int fake_open(const struct perf_event_attr *attributes, pid_t tid, int cpu)
{
	struct opened *opened = &fake.at[fake.count];

	assert_int_equal(tid, -1);
	if (fake.open_error && attributes->type == fake.lacking_type)
		return fake.open_error;
	assert_true(fake.count < OPENED_MAX);
	*opened = (struct opened){
		.attributes = *attributes, .cpu = cpu, .fd = memfd_create("event", MFD_CLOEXEC)};
	assert_int_equal(ftruncate(opened->fd, 2 * sysconf(_SC_PAGESIZE)), 0);
	fake.count++;
	return opened->fd;
}

static int fake_attach(int fd, int program_fd)
{
	find(fd)->program_fd = program_fd;
	return fake.attach_error;
}

static int fake_attach_with(int fd, int program_fd, uint64_t cookie)
{
	struct opened *opened = find(fd);

	opened->program_fd = program_fd;
	opened->cookie = cookie;
	opened->has_cookie = true;
	return fake.attach_error ? fake.attach_error : dup(fd);
}

static int fake_control(int fd, unsigned long request, void *argument)
{
	struct opened *opened = find(fd);

	if (request == PERF_EVENT_IOC_PERIOD)
		memcpy(&opened->period, argument, sizeof(opened->period));
	else
		opened->is_on = request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

static bool fake_is_counting(int fd)
{
	assert_int_not_equal(find(fd)->attributes.type, PERF_TYPE_SOFTWARE);
	return !fake.is_full;
}

static const struct etw_kernel_perf_calls calls = {
	.open = fake_open,
	.attach = fake_attach,
	.attach_with = fake_attach_with,
	.control = fake_control,
	.is_counting = fake_is_counting,
};

struct fixture {
	struct fake_source_host host;
	struct etw_kernel_samplers samplers;
	struct etw_source_request request;
	struct etw_fault fault;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){.samplers = {.calls = &calls}};
	memset(&fake, 0, sizeof(fake));
	fake_source_host_init(&fixture.host);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_samplers_done(&fixture->samplers);
	return 0;
}

static uint32_t place_of(uint32_t id)
{
	uint32_t place;

	assert_true(etw_profile_source_find(id, &place));
	return place;
}

static void want(struct fixture *fixture, uint32_t id, uint32_t interval)
{
	fixture->request.profile_sources |= UINT32_C(1) << place_of(id);
	fixture->request.source_intervals[place_of(id)] = interval;
}

/* Returns which of @kinds are left; @ret as the start returned. */
static uint32_t start(struct fixture *fixture, uint32_t kinds, int *ret)
{
	const struct etw_kernel_sample_programs programs = {SAMPLE_PLACE, COUNT_PLACE};

	fixture->fault = (struct etw_fault){0};
	*ret = etw_kernel_samplers_start(&fixture->samplers, &fixture->host.host, &programs,
					 &fixture->request, &kinds, &fixture->fault);
	return kinds;
}

static void test_samplers__open_what_was_chosen(void **state)
{
	static const struct {
		uint32_t id, interval, type;
		uint64_t config, period;
	} rows[] = {
		{2, 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 65536},
		{11, 4096, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 4096},
		{8, 10000, PERF_TYPE_HW_CACHE, 0x10000, 10000},
		{29, INT32_MAX, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, INT32_MAX},
		{1, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1},
		{0x1002, 7, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 7},
		{0x1003, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 100},
		{0x1004, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1},
		{0x1008, 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, 1},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t intervals[ETW_PROFILE_SOURCES];
		int result;

		(void)setup(state);
		want(fixture, rows[i].id, rows[i].interval);
		assert_int_equal(start(fixture, COUNTED, &result), COUNTED);
		assert_int_equal(result, 0);
		assert_int_equal(fake.count, FAKE_CPUS);
		for (int cpu = 0; cpu < FAKE_CPUS; cpu++) {
			const struct opened *opened = &fake.at[cpu];

			assert_int_equal(opened->cpu, cpu);
			assert_int_equal(opened->attributes.type, rows[i].type);
			assert_int_equal(opened->attributes.config, rows[i].config);
			assert_int_equal(opened->attributes.exclude_kernel, 0);
			assert_int_equal(opened->attributes.pinned,
					 rows[i].type != PERF_TYPE_SOFTWARE);
			assert_int_equal(opened->period, rows[i].period);
			assert_int_equal(opened->program_fd, COUNT_PLACE);
			assert_true(opened->has_cookie && opened->is_on);
			assert_int_equal(opened->cookie, rows[i].id);
		}
		etw_kernel_samplers_intervals(&fixture->samplers, intervals);
		assert_int_equal(intervals[place_of(rows[i].id)], rows[i].period);
		assert_int_equal(intervals[0], 0);
		(void)teardown(state);
	}
}

static void test_samplers__the_timer_is_one_of_them(void **state)
{
	struct fixture *fixture = *state;
	uint32_t intervals[ETW_PROFILE_SOURCES];
	int result;

	fixture->request.profile_interval_ft = 20000;
	want(fixture, PAGE_FAULTS, 0);
	assert_int_equal(start(fixture, SAMPLE, &result), SAMPLE);
	assert_int_equal(result, 0);
	assert_int_equal(fake.count, FAKE_CPUS); /* chosen, and not turned on */
	assert_int_equal(fake.at[0].attributes.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(fake.at[0].program_fd, SAMPLE_PLACE);
	assert_false(fake.at[0].has_cookie);
	assert_int_equal(start(fixture, SAMPLE | COUNTED, &result), SAMPLE | COUNTED);
	assert_int_equal(fake.count, 2 * FAKE_CPUS);
	etw_kernel_samplers_intervals(&fixture->samplers, intervals);
	assert_int_equal(intervals[0], 20000);
	assert_int_equal(intervals[place_of(PAGE_FAULTS)], 100);
	/* What is not wanted any more stops, and goes on with the same events when it is. */
	fixture->request.profile_sources = 0;
	assert_int_equal(start(fixture, SAMPLE | COUNTED, &result), SAMPLE);
	assert_int_equal(result, -EINVAL);
	assert_string_equal(fixture->fault.field, "PMC_PROFILE");
	assert_true(fake.at[0].is_on);
	assert_false(fake.at[FAKE_CPUS].is_on);
	want(fixture, PAGE_FAULTS, 3);
	assert_int_equal(start(fixture, COUNTED, &result), COUNTED);
	assert_int_equal(fake.count, 2 * FAKE_CPUS);
	assert_false(fake.at[0].is_on);
	assert_true(fake.at[FAKE_CPUS].is_on);
	assert_int_equal(fake.at[FAKE_CPUS].period, 3);
}

/* A machine without counters: the rest goes on, and the source is named. */
static void test_samplers__a_source_that_is_not_there(void **state)
{
	struct fixture *fixture = *state;
	int result;

	fake.lacking_type = PERF_TYPE_HARDWARE;
	fake.open_error = -ENOENT;
	want(fixture, 29, 0);
	assert_int_equal(start(fixture, COUNTED | SAMPLE, &result), SAMPLE);
	assert_int_equal(result, -ENOENT);
	assert_string_equal(fixture->fault.field, "LLCMisses");
	assert_non_null(strstr(fixture->fault.sentence, "no such source"));
	want(fixture, PAGE_FAULTS, 0);
	assert_int_equal(start(fixture, COUNTED, &result), COUNTED);
	assert_int_equal(result, -ENOENT);
	assert_string_equal(fixture->fault.field, "LLCMisses");
	fake.open_error = -EACCES;
	assert_int_equal(start(fixture, COUNTED, &result), COUNTED);
	assert_int_equal(result, -EACCES);
	assert_non_null(strstr(fixture->fault.sentence, "CAP_PERFMON"));
}

static void test_samplers__no_counter_is_left(void **state)
{
	struct fixture *fixture = *state;
	int result;

	fake.is_full = true;
	want(fixture, 19, 0);
	assert_int_equal(start(fixture, COUNTED, &result), 0);
	assert_int_equal(result, -EBUSY);
	assert_string_equal(fixture->fault.field, "TotalCycles");
	assert_non_null(strstr(fixture->fault.sentence, "no counter left"));
	for (size_t i = 0; i < fake.count; i++)
		assert_false(fake.at[i].is_on);
	fake.is_full = false;
	assert_int_equal(start(fixture, COUNTED, &result), COUNTED);
	assert_int_equal(result, 0);
}

static void test_samplers__a_program_that_is_refused(void **state)
{
	struct fixture *fixture = *state;
	int result;

	fake.attach_error = -EMFILE;
	want(fixture, 19, 0);
	assert_int_equal(start(fixture, COUNTED, &result), 0);
	assert_int_equal(result, -EMFILE);
	assert_string_equal(fixture->fault.field, "TotalCycles");
}

/* As the kernel does: a record of throttling and one of its end, and then the head. */
static void throttle(const struct opened *opened, unsigned times)
{
	struct perf_event_mmap_page *ring = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_WRITE,
						 MAP_SHARED, opened->fd, 0);

	assert_ptr_not_equal(ring, MAP_FAILED);
	ring->data_head += (uint64_t)times * 2 * RECORD_BYTES;
	munmap(ring, (size_t)sysconf(_SC_PAGESIZE));
}

static void test_samplers__count_how_often_each_was_throttled(void **state)
{
	struct fixture *fixture = *state;
	int result;

	want(fixture, 2, 0);
	want(fixture, 29, 0);
	assert_int_equal(start(fixture, SAMPLE | COUNTED, &result), SAMPLE | COUNTED);
	assert_int_equal(fake.count, 3 * FAKE_CPUS);
	throttle(&fake.at[0], 1);             /* the timer, on the first processor */
	throttle(&fake.at[FAKE_CPUS], 20);    /* instructions, there */
	throttle(&fake.at[FAKE_CPUS * 2], 3); /* misses, there */
	throttle(&fake.at[FAKE_CPUS * 2 + 1], 5);
	assert_int_equal(etw_kernel_samplers_throttled(&fixture->samplers, 0), 0);
	etw_kernel_samplers_look(&fixture->samplers);
	assert_int_equal(etw_kernel_samplers_throttled(&fixture->samplers, 0), 24);
	assert_int_equal(etw_kernel_samplers_throttled(&fixture->samplers, 1), 5);
	etw_kernel_samplers_look(&fixture->samplers);
	assert_int_equal(etw_kernel_samplers_throttled(&fixture->samplers, 0), 24);
	throttle(&fake.at[FAKE_CPUS], 2);
	etw_kernel_samplers_stop(&fixture->samplers);
	etw_kernel_samplers_look(&fixture->samplers);
	assert_int_equal(etw_kernel_samplers_throttled(&fixture->samplers, 0), 26);
}

/* Of the live kernel. */
struct seen {
	unsigned samples, others, stacks;
};

static void look_at_sample(const uint8_t *at, struct seen *seen)
{
	assert_int_equal(etw_load16(at + 12), PAGE_FAULTS);
	assert_int_equal(etw_load16(at + 14), 0);
	if (etw_load32(at + 8) == (uint32_t)gettid())
		seen->samples++;
	else
		seen->others++;
}

static void drain(struct fake_source_host *host, struct etw_source *source, struct seen *seen)
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	for (uint32_t cpu = 0; cpu < host->host.cpu_count; cpu++) {
		while (etw_kernel_source.peek(source, cpu, &event)) {
			uint16_t type = etw_load16(event.bytes + 6);

			if (type == TYPE_PMC)
				look_at_sample(event.bytes + 16, seen);
			else if (type == TYPE_STACK)
				seen->stacks += etw_load32(event.bytes + 16 + 12) ==
						(uint32_t)gettid();
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
}

/* Up to now. What is read has to be taken before more is. */
static void take_all(struct fake_source_host *host, struct etw_source *source, struct seen *seen)
{
	const int64_t wanted_raw = (int64_t)etw_monotonic_ns() * FAKE_TICKS_PER_NS;
	int64_t watermark_raw = INT64_MIN;
	int quiet = 0;

	while (quiet < 5 || watermark_raw < wanted_raw) {
		int r = etw_kernel_source.collect(source, &watermark_raw);

		assert_true(r >= 0);
		drain(host, source, seen);
		quiet = r ? 0 : quiet + 1;
		if (!r)
			usleep(1000);
	}
}

static struct etw_source *open_live(struct fake_source_host *host)
{
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(host);
	host->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	assert_int_equal(etw_kernel_source.open(&host->host, NULL, &source, &fault), 0);
	return source;
}

static void touch(uint8_t *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		((volatile uint8_t *)pages)[i * (size_t)sysconf(_SC_PAGESIZE)] = 1;
}

/* Every fault is a sample: as many of this thread as it touched pages, and those of the test itself. */
static void test_samplers__by_page_faults(void **state)
{
	struct etw_source_request request = {
		.group_masks = {0, PMC_MASK}, .stack_hooks = {TYPE_PMC}, .stack_hook_count = 1};
	const size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	struct fake_source_host host;
	struct etw_source *source = open_live(&host);
	struct etw_fault fault = {0};
	struct seen seen = {0};
	uint8_t *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(madvise(pages, bytes, MADV_NOHUGEPAGE), 0);
	request.profile_sources = UINT32_C(1) << place_of(PAGE_FAULTS);
	request.source_intervals[place_of(PAGE_FAULTS)] = 1;
	assert_int_equal(etw_kernel_source.enable(source, &request, &fault), 0);
	touch(pages, PAGES);
	take_all(&host, source, &seen);
	assert_int_equal(fake_source_host_lost(&host, &etw_kernel_source, source), 0);
	assert_true(seen.samples >= PAGES);
	assert_true(seen.samples < PAGES + PAGES / 2);
	assert_int_equal(seen.stacks, seen.samples);
	etw_kernel_source.close(source);
	munmap(pages, bytes);
}

/* More than the rings hold, and nobody reads: what comes and what is counted as lost are together what there was. */
static void test_samplers__what_does_not_fit_is_counted(void **state)
{
	struct etw_source_request request = {.group_masks = {0, PMC_MASK}};
	const size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	struct fake_source_host host;
	struct etw_source *source = open_live(&host);
	struct etw_fault fault = {0};
	struct seen seen = {0};
	uint64_t lost;
	uint8_t *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(madvise(pages, bytes, MADV_NOHUGEPAGE), 0);
	request.profile_sources = UINT32_C(1) << place_of(PAGE_FAULTS);
	request.source_intervals[place_of(PAGE_FAULTS)] = 1;
	assert_int_equal(etw_kernel_source.enable(source, &request, &fault), 0);
	for (int i = 0; i < ROUNDS; i++) {
		touch(pages, PAGES);
		assert_int_equal(madvise(pages, bytes, MADV_DONTNEED), 0);
	}
	request.group_masks[1] = 0;
	assert_int_equal(etw_kernel_source.enable(source, &request, &fault), 0);
	take_all(&host, source, &seen);
	lost = fake_source_host_count(&host, &etw_kernel_source, source, ETW_LOSS_RING_FULL);
	print_message("%d pages: %u samples, %u of others, %llu lost\n", ROUNDS * PAGES,
		      seen.samples, seen.others, (unsigned long long)lost);
	assert_true(lost > 0);
	assert_true(seen.samples <= ROUNDS * PAGES + PAGES);
	assert_true(seen.samples + lost >= ROUNDS * PAGES);
	etw_kernel_source.close(source);
	munmap(pages, bytes);
}

static void test_samplers__wanted_without_a_source(void **state)
{
	const struct etw_source_request request = {.group_masks = {0, PMC_MASK}};
	uint32_t missing[8];
	struct fake_source_host host;
	struct etw_source *source = open_live(&host);
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(etw_kernel_source.enable(source, &request, &fault), -EINVAL);
	assert_string_equal(fault.field, "PMC_PROFILE");
	etw_kernel_source.missing(source, missing);
	assert_int_equal(missing[1], PMC_MASK);
	etw_kernel_source.close(source);
}

int main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test_setup_teardown(test_samplers__open_what_was_chosen, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samplers__the_timer_is_one_of_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samplers__a_source_that_is_not_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samplers__no_counter_is_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samplers__a_program_that_is_refused, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_samplers__count_how_often_each_was_throttled,
						setup, teardown),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_samplers__by_page_faults),
		cmocka_unit_test(test_samplers__what_does_not_fit_is_counted),
		cmocka_unit_test(test_samplers__wanted_without_a_source),
	};
	struct etw_fault fault;
	int failed = cmocka_run_group_tests(pure, NULL, NULL);

	if (failed)
		return failed;
	if (etw_kernel_probe_check(&fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_COUNTERS, &fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(live, NULL, NULL);
}
