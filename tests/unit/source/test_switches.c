/* SPDX-License-Identifier: MIT */
/* Context switches with their stacks, from the live kernel. Skips with the reason where it does not allow it. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "wire/etl_event.h"
#include "wire/kernel_account.h"

#define SKIPPED      77
#define ROUNDS       200
#define TYPE_CSWITCH 0x0524
#define TYPE_STACK   0x1820
#define ACCOUNT_RAW  4711

static struct etw_source *open_one(struct fake_source_host *fake, bool has_stacks)
{
	struct etw_source_request request = {.group_masks = {EVENT_TRACE_FLAG_PROCESS, 0x4}};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	if (has_stacks) {
		request.stack_hooks[0] = TYPE_CSWITCH;
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

/* Two processes send each other a byte in turns. Returns the child's pid; each waits ROUNDS times. */
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
	unsigned in, out, stacks, events;
	unsigned all_switches, all_stacks;
};

static struct seen drain(struct fake_source_host *fake, struct etw_source *source, uint32_t tid)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct seen seen = {0};

	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		int64_t before_raw = INT64_MIN;

		while (etw_kernel_source.peek(source, cpu, &event)) {
			uint16_t type = etw_load16(event.bytes + 6);

			assert_true(event.time_raw >= before_raw);
			before_raw = event.time_raw;
			seen.events++;
			seen.all_switches += type == TYPE_CSWITCH;
			seen.all_stacks += type == TYPE_STACK;
			if (type == TYPE_CSWITCH) {
				assert_int_equal(event.byte_count, 16 + 24);
				seen.in += etw_load32(event.bytes + 16) == tid;
				seen.out += etw_load32(event.bytes + 20) == tid;
			} else if (type == TYPE_STACK) {
				seen.stacks += etw_load32(event.bytes + 28) == tid;
			}
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
	return seen;
}

/* What the source says of the stacks of all switches that it gave out. */
static void take_account(void *context, uint32_t cpu, const struct etw_source_event *event)
{
	const uint8_t *item = event->bytes + sizeof(struct wire_event_header);
	struct wire_stack_account account, *ret = context;
	struct etw_bytes schema, payload;

	assert_int_equal(cpu, 0);
	assert_int_equal(event->time_raw, ACCOUNT_RAW);
	assert_int_equal(etw_load64(event->bytes + 16), ACCOUNT_RAW);
	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	payload = (struct etw_bytes){item, event->byte_count - (size_t)(item - event->bytes)};
	if (wire_stack_account_decode(schema, payload, &account) && account.hook == TYPE_CSWITCH)
		*ret = account;
}

static void test_switches__each_has_the_stack_of_who_is_switched_in(void **state)
{
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake, true);
	struct wire_stack_account account = {0};
	uint64_t lost;
	pid_t pid = play();
	struct seen seen;
	uint64_t sum = 0;

	(void)state;
	collect(source);
	seen = drain(&fake, source, (uint32_t)pid);
	lost = fake_source_host_lost(&fake, &etw_kernel_source, source);
	assert_int_equal(lost, 0);
	assert_true(seen.in >= 1);
	assert_int_equal(seen.in, seen.out);
	/* Of its first switch none is known. */
	assert_int_equal(seen.stacks, seen.in - 1);
	/* Each switch of the machine has a stack, or a reason why not. */
	etw_kernel_source.account(source, ACCOUNT_RAW, take_account, &account);
	assert_int_equal(account.fates[WIRE_STACK_IS_THERE], seen.all_stacks);
	for (unsigned fate = 0; fate < WIRE_STACK_FATES; fate++)
		sum += account.fates[fate];
	assert_int_equal(sum, seen.all_switches);
	assert_int_equal(
		fake_source_host_count(&fake, &etw_kernel_source, source, ETW_LOSS_NO_STACK),
		sum - account.fates[WIRE_STACK_IS_THERE] -
			account.fates[WIRE_STACK_OF_IDLE_THREAD] -
			account.fates[WIRE_STACK_OF_OTHERS]);
	etw_kernel_source.close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switches__each_has_the_stack_of_who_is_switched_in),
	};
	struct etw_fault fault;

	if (etw_kernel_probe_check(&fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
