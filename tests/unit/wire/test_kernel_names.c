/* SPDX-License-Identifier: MIT */
/* The kernel's kinds of events, and those with stacks, as words. */
#include "wire/kernel_names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <evntrace.h>

#include "wire/hook.h"
#include "wire/kernel_stacks.h"

static void parse(const char *word, uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	memset(masks, 0, WIRE_GROUP_MASKS_WORDS * sizeof(masks[0]));
	assert_int_equal(etw_kernel_kinds_parse(word, strlen(word), masks), 0);
}

static void assert_parsed(const char *word, uint32_t first, uint32_t second, uint32_t third)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	parse(word, masks);
	assert_int_equal(masks[0], first);
	assert_int_equal(masks[1], second);
	assert_int_equal(masks[2], third);
	for (unsigned i = 3; i < WIRE_GROUP_MASKS_WORDS; i++)
		assert_int_equal(masks[i], 0);
}

static void test_kernel_names__of_bits(void **state)
{
	(void)state;
	assert_string_equal(etw_kernel_kind_name(1, 4), "CSWITCH");
	assert_string_equal(etw_kernel_kind_name(0, EVENT_TRACE_FLAG_DISK_IO), "DISK_IO");
	assert_null(etw_kernel_kind_name(0, EVENT_TRACE_FLAG_CSWITCH)); /* lies elsewhere */
	assert_null(etw_kernel_kind_name(3, 1));
	assert_null(etw_kernel_kind_name(0, 0));
}

/* Every bit has one name, and every name stands for its bit, except where it stands for more. */
static void test_kernel_names__one_for_each(void **state)
{
	const struct etw_kernel_kind *kinds;
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	size_t count;

	(void)state;
	kinds = etw_kernel_kinds(&count);
	for (size_t i = 0; i < count; i++) {
		parse(kinds[i].name, masks);
		assert_int_equal(masks[kinds[i].word] & kinds[i].bits, kinds[i].bits);
		if (kinds[i].alias) {
			parse(kinds[i].alias, masks);
			assert_int_equal(masks[kinds[i].word], kinds[i].bits);
		}
		for (size_t k = 0; k < i; k++)
			assert_false(kinds[k].word == kinds[i].word &&
				     kinds[k].bits == kinds[i].bits);
	}
}

static void test_kernel_names__parse(void **state)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS] = {0};

	(void)state;
	assert_parsed("cswitch", 0, 4, 0);
	assert_parsed("process", 1, 0, 0);
	assert_parsed("image_load", 4, 0, 0);
	assert_parsed("PROC_THREAD", 3, 0, 0);
	assert_parsed("DISK_IO", 0x300, 0, 0);
	assert_parsed("SystemCall", 0, 0, 0x40);
	/* PROC_THREAD, LOADER, DISK_IO, HARD_FAULTS; DPC, INTERRUPT, CSWITCH, PROFILE */
	assert_parsed("latency", 0x2307, 0x4086, 0);
	assert_parsed("sysprof", 0x7, 0x2, 0);
	/* As xperf shows numbers, and EnableFlags that lie elsewhere. */
	assert_parsed("0x20000004", 0, 4, 0);
	assert_parsed("0x40000040", 0, 0, 0x40);
	assert_parsed("0x11", 1, 4, 0);
	for (size_t i = 0; etw_kernel_group_name(i); i++)
		parse(etw_kernel_group_name(i), masks);
	memset(masks, 0, sizeof(masks));
	assert_int_equal(etw_kernel_kinds_parse("cswitches", 9, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("", 0, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("0x", 2, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("0x0", 3, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("0x123456789", 11, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("0x00000000000000000001", 22, masks), -EINVAL);
	assert_int_equal(etw_kernel_kinds_parse("cswitch,dpc", 7, masks), 0);
	assert_int_equal(masks[1], 4);
}

static void test_kernel_names__lists(void **state)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS] = {0x100, 0x4, 0, 0x2};
	char room[64];

	(void)state;
	etw_kernel_masks_format(masks, room, sizeof(room));
	assert_string_equal(room, "DISK_IO, CSWITCH, 0x60000002");
	memset(masks, 0, sizeof(masks));
	etw_kernel_masks_format(masks, room, sizeof(room));
	assert_string_equal(room, "");
	/* What does not fit is counted. */
	masks[0] = 0x7;
	masks[1] = 0x6;
	etw_kernel_masks_format(masks, room, 41);
	assert_string_equal(room, "PROCESS, THREAD and 3 more");
	etw_kernel_masks_format(masks, room, 8);
	assert_string_equal(room, "5");
	etw_kernel_masks_format(masks, room, 0);
}

/* The longest sentence: nothing is written behind the room, whatever the masks are. */
static void test_kernel_names__all_bits(void **state)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	char room[400];

	(void)state;
	memset(masks, 0xFF, sizeof(masks));
	for (size_t bytes = 0; bytes < sizeof(room); bytes++) {
		memset(room, '#', sizeof(room));
		etw_kernel_masks_format(masks, room, bytes);
		assert_int_equal(room[bytes], '#');
		assert_true(!bytes || strnlen(room, bytes) < bytes);
	}
}

/* NO_SYSCONFIG leaves something out, the last words say what to describe and how: they ask for no event. */
static void test_kernel_names__events(void **state)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS] = {EVENT_TRACE_FLAG_NO_SYSCONFIG};

	(void)state;
	masks[6] = masks[7] = UINT32_MAX;
	assert_false(etw_kernel_masks_events(masks, masks));
	masks[0] = EVENT_TRACE_FLAG_NO_SYSCONFIG | EVENT_TRACE_FLAG_PROCESS;
	masks[4] = 1;
	assert_true(etw_kernel_masks_events(masks, masks));
	assert_int_equal(masks[0], EVENT_TRACE_FLAG_PROCESS);
	assert_int_equal(masks[4], 1);
}

/* Each has a hook of its own, in a group that the kernel has. */
static void test_kernel_names__stacks(void **state)
{
	const struct etw_kernel_stack *stacks;
	const uint16_t hooks[] = {0x0524, 0x0532, 0xFFFF};
	uint16_t hook = 0;
	char room[64];
	size_t count;

	(void)state;
	stacks = etw_kernel_stacks(&count);
	for (size_t i = 0; i < count; i++) {
		assert_true(stacks[i].hook >> 8 < WIRE_HOOK_GROUPS);
		assert_ptr_equal(etw_kernel_stack_of(stacks[i].hook), &stacks[i]);
		assert_int_equal(
			etw_kernel_stack_parse(stacks[i].name, strlen(stacks[i].name), &hook), 0);
		assert_int_equal(hook, stacks[i].hook);
		if (stacks[i].bits)
			assert_non_null(etw_kernel_kind_name(stacks[i].word, stacks[i].bits));
	}
	assert_int_equal(etw_kernel_stack_parse("CSWITCH", 7, &hook), 0);
	assert_int_equal(hook, 0x0524);
	assert_int_equal(etw_kernel_stack_parse("CSwitches", 9, &hook), -EINVAL);
	assert_null(etw_kernel_stack_of(0xFFFF));
	etw_kernel_stacks_format(hooks, 3, room, sizeof(room));
	assert_string_equal(room, "CSwitch, ReadyThread, 0xffff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_names__of_bits),
		cmocka_unit_test(test_kernel_names__one_for_each),
		cmocka_unit_test(test_kernel_names__parse),
		cmocka_unit_test(test_kernel_names__lists),
		cmocka_unit_test(test_kernel_names__all_bits),
		cmocka_unit_test(test_kernel_names__events),
		cmocka_unit_test(test_kernel_names__stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
