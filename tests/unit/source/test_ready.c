/* SPDX-License-Identifier: MIT */
/* Threads that become ready, from the live kernel. Skips with the reason where it does not allow it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"

#define SKIPPED         77
#define ROUNDS          100
#define DISPATCHER_MASK 0x200
#define TYPE_READY      0x0532
#define TYPE_STACK      0x1820

static struct etw_source *open_one(struct fake_source_host *fake, bool has_stacks)
{
	struct etw_source_request request = {.group_masks = {0, DISPATCHER_MASK}};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (has_stacks) {
		request.stack_hooks[0] = TYPE_READY;
		request.stack_hook_count = 1;
	}
	assert_int_equal(etw_kernel_source.open(&fake->host, NULL, &source, &fault), 0);
	if (etw_kernel_source.enable(source, &request, &fault)) {
		print_error("%s: %s\n", fault.field, fault.sentence);
		fail();
	}
	return source;
}

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

/* The child waits ROUNDS times for this process, then sleeps ROUNDS times. Returns its pid. */
static pid_t play(void)
{
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(there), 0);
	assert_int_equal(pipe(back), 0);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < ROUNDS; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(1);
		for (int i = 0; i < ROUNDS; i++)
			usleep(1);
		_exit(0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(write(there[1], &byte, 1), 1);
		assert_int_equal(read(back[0], &byte, 1), 1);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	return pid;
}

struct seen {
	unsigned starts, ends, from_interrupts, stacks, own_stacks, all;
};

static void look_at_ready(const uint8_t *at, uint32_t tid, struct seen *seen)
{
	seen->all++;
	assert_int_equal(at[5], 0);
	assert_true(at[6] <= 1);
	assert_int_equal(at[7], 0);
	if (etw_load32(at) != tid)
		return;
	assert_true(at[4] <= 1);
	seen->starts += at[4] == 0;
	seen->ends += at[4] == 1;
	seen->from_interrupts += at[6];
}

static struct seen drain(struct fake_source_host *fake, struct etw_source *source, uint32_t tid)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct seen seen = {0};

	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		while (etw_kernel_source.peek(source, cpu, &event)) {
			uint16_t type = etw_load16(event.bytes + 6);

			if (type == TYPE_READY) {
				assert_int_equal(event.byte_count, 16 + 8);
				look_at_ready(event.bytes + 16, tid, &seen);
			} else if (type == TYPE_STACK) {
				seen.stacks++;
				seen.own_stacks += etw_load32(event.bytes + 28) ==
						   (uint32_t)getpid();
			}
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
	return seen;
}

static void test_ready__tells_who_ends_each_wait(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake, true);
	uint64_t lost;
	pid_t pid = play();
	struct seen seen;

	(void)state;
	collect(source);
	seen = drain(&fake, source, (uint32_t)pid);
	lost = fake_source_host_lost(&fake, &etw_kernel_source, source);
	assert_int_equal(lost, 0);
	assert_int_equal(seen.starts, 1);
	assert_true(seen.ends >= 1);
	/* A timer ends its sleeps. One that is over before the thread sleeps ends none. */
	assert_true(seen.from_interrupts >= 1);
	assert_true(seen.own_stacks >= 1);
	assert_int_equal(seen.stacks, seen.all);
	etw_kernel_source.close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready__tells_who_ends_each_wait),
	};
	struct etw_fault fault;

	if (etw_kernel_probe_check(&fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_READY, &fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
