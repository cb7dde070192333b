/* SPDX-License-Identifier: MIT */
/* Which of the kernel's types are chosen for the BPF objects of this build. See source/kernel/programs/needed_types.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source/kernel/programs/needed_types.h"

#include "fake_btf.h"

/* The rest is in the numbers that a kernel has, behind the type int. */
static void read_types(struct fake_btf *btf, struct etw_kernel_types *types)
{
	char path[] = "/tmp/etw-btf-XXXXXX";
	int fd = mkstemp(path);
	int r;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fake_btf_write(btf, path), 0);
	r = etw_kernel_types_read(path, types);
	unlink(path);
	if (r == -ENOSYS)
		skip(); /* a build without libbpf */
	assert_int_equal(r, 0);
}

static int has_text(const struct etw_kernel_types *types, const char *text)
{
	uint32_t bytes;
	const void *at = etw_kernel_types_bytes(types, &bytes);

	assert_non_null(at);
	return memmem(at, bytes, text, strlen(text) + 1) != NULL;
}

static void takes_what_objects_name(void **state)
{
	struct etw_kernel_types types;
	struct fake_btf btf;

	(void)state;
	fake_btf_init(&btf);
	fake_btf_struct(&btf, "nobody_names_it", "nothing", "nobody_has_it");
	fake_btf_struct(&btf, "task_struct", "pid", "lies_in_a_task");
	read_types(&btf, &types);
	assert_true(has_text(&types, "task_struct"));
	assert_true(has_text(&types, "lies_in_a_task"));
	assert_false(has_text(&types, "nobody_names_it"));
	assert_false(has_text(&types, "nobody_has_it"));
	assert_int_equal(types.count, 4); /* these two, and the int */
	assert_int_equal(etw_kernel_types_of_kernel(&types, 1), btf.type_count);
	assert_int_equal(etw_kernel_types_of_kernel(&types, 4), 0);
	etw_kernel_types_close(&types);
}

static void knows_the_kernels_numbers_of_targets(void **state)
{
	struct etw_kernel_types types;
	struct fake_btf btf;
	uint32_t tracepoint, walk, function;

	(void)state;
	fake_btf_init(&btf);
	fake_btf_tracepoint(&btf, "btf_trace_nobody_asks", 2);
	fake_btf_tracepoint(&btf, "btf_trace_sched_switch", 4);
	tracepoint = btf.type_count;
	fake_btf_function(&btf, "bpf_iter_task");
	walk = btf.type_count;
	fake_btf_function(&btf, ETW_KERNEL_READABLE_FUNCTION);
	function = btf.type_count;
	read_types(&btf, &types);
	assert_int_equal(etw_kernel_types_target(&types, "tp_btf/sched_switch"), tracepoint);
	assert_int_equal(etw_kernel_types_target(&types, "iter/task"), walk);
	assert_int_equal(etw_kernel_types_readable(&types), function);
	assert_int_equal(etw_kernel_types_target(&types, "tp_btf/nobody_asks"), 0);
	assert_int_equal(etw_kernel_types_target(&types, "tp_btf/sys_enter"), 0);
	assert_int_equal(etw_kernel_types_target(&types, "perf_event"), 0);
	etw_kernel_types_close(&types);
}

static void refuses_what_is_no_file_of_types(void **state)
{
	struct etw_kernel_types types;

	(void)state;
	assert_true(etw_kernel_types_read("/dev/null", &types) < 0);
	assert_true(etw_kernel_types_read("/nowhere/btf", &types) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_what_objects_name),
		cmocka_unit_test(knows_the_kernels_numbers_of_targets),
		cmocka_unit_test(refuses_what_is_no_file_of_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
