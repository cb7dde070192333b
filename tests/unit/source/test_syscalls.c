/* SPDX-License-Identifier: MIT */
/* System calls from the live kernel. Skips with the reason where it does not allow it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "fake_source_host.h"
#include "source/kernel/code/routines.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"

#define SKIPPED    77
#define CALLS      500
#define TYPE_ENTER 0x0F33
#define TYPE_EXIT  0x0F34
#define TYPE_STACK 0x1820

static struct etw_source *open_one(struct fake_source_host *fake)
{
	struct etw_source_request request = {
		.group_masks = {EVENT_TRACE_FLAG_PROCESS, 0, 0x40},
		.stack_hooks = {TYPE_ENTER, TYPE_EXIT},
		.stack_hook_count = 2,
	};
	struct etw_source *source = NULL;
	struct etw_fault fault = {0};

	fake_source_host_init(fake);
	fake->host.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
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

static pid_t play(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < CALLS; i++)
			if (syscall(SYS_getppid) <= 0)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

struct seen {
	unsigned enters, exits;
};

/* The stack of a call comes right behind it, with its thread and its time. */
static struct seen drain(struct fake_source_host *fake, struct etw_source *source, uint32_t tid,
			 uint64_t address)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	struct seen seen = {0};

	for (uint32_t cpu = 0; cpu < fake->host.cpu_count; cpu++) {
		uint64_t value = 0;
		uint16_t before = 0;
		int64_t before_raw = INT64_MIN;

		while (etw_kernel_source.peek(source, cpu, &event)) {
			uint16_t type = etw_load16(event.bytes + 6);

			assert_true(event.time_raw >= before_raw);
			if (type == TYPE_STACK && etw_load32(event.bytes + 28) == tid) {
				assert_int_equal(event.time_raw, before_raw);
				seen.enters += before == TYPE_ENTER && value == address;
				seen.exits += before == TYPE_EXIT && value == (uint32_t)getpid();
			}
			if (type == TYPE_ENTER)
				value = etw_load64(event.bytes + 16);
			if (type == TYPE_EXIT)
				value = etw_load32(event.bytes + 16);
			before = type;
			before_raw = event.time_raw;
			etw_kernel_source.pop(source, cpu, &mark);
		}
	}
	etw_kernel_source.release(source);
	return seen;
}

static void test_syscalls__each_call_of_a_program_is_told(void **state)
{
	static struct etw_kernel_routines routines;
	struct fake_source_host fake;
	struct etw_source *source = open_one(&fake);
	uint64_t lost;
	pid_t pid = play();
	struct seen seen;

	(void)state;
	assert_int_equal(etw_kernel_routines_read(&routines, "/proc/kallsyms"), 0);
	collect(source);
	seen = drain(&fake, source, (uint32_t)pid,
		     etw_kernel_routines_call(&routines, SYS_getppid, false));
	lost = fake_source_host_lost(&fake, &etw_kernel_source, source);
	/* The whole machine is recorded, with stacks, and this test reads at the end alone. */
	assert_true(seen.enters <= CALLS && seen.enters + lost >= CALLS);
	assert_true(seen.exits + lost >= CALLS);
	etw_kernel_source.close(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syscalls__each_call_of_a_program_is_told),
	};
	struct etw_fault fault;

	if (etw_kernel_probe_check(&fault) ||
	    etw_kernel_probe_class(ETW_KERNEL_CLASS_SYSTEM_CALLS, &fault)) {
		printf("SKIP: %s\n", fault.sentence);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
