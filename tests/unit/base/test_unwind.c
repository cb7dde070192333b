/* SPDX-License-Identifier: MIT */
/* Rules from tables made by hand: what linkers write of the procedure linkage table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/unwind.h"

enum {
	TABLE_AT = 0,
	COMMON_AT = 32,
	ENTRY_AT = 64,
	CODE_AT = 128,
	CODE_BYTES = 64, /* the table's own stub, and three more */
	OBJECT_BYTES = CODE_AT + CODE_BYTES,
};

/* DW_CFA_def_cfa_expression: breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
static const uint8_t expression[] = {0x0F, 11,   0x77, 8,    0x80, 0,   0x3F,
				     0x1A, 0x3B, 0x2A, 0x33, 0x24, 0x22};

struct made {
	uint8_t bytes[OBJECT_BYTES] __attribute__((aligned(16)));
	struct etw_unwind_object object;
};

static void put_relative(uint8_t *at, const uint8_t *to, const uint8_t *base)
{
	etw_store32(at, (uint32_t)(int32_t)(to - base));
}

/* As ld writes it: the first stub pushes two words bit by bit, from the second on the expression holds. */
static void make(struct made *made)
{
	static const uint8_t common[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1B, 0x0C, 7, 8, 0x90, 1};
	static const uint8_t own[] = {0x0E, 16, 0x46, 0x0E, 24, 0x4A};
	uint8_t *const bytes = made->bytes;

	memset(bytes, 0, OBJECT_BYTES);
	memcpy(bytes, (uint8_t[]){1, 0x1B, 0x03, 0x3B}, 4);
	etw_store32(bytes + 8, 1);
	put_relative(bytes + 12, bytes + CODE_AT, bytes + TABLE_AT);
	put_relative(bytes + 16, bytes + ENTRY_AT, bytes + TABLE_AT);
	etw_store32(bytes + COMMON_AT, ENTRY_AT - COMMON_AT - 4);
	memcpy(bytes + COMMON_AT + 8, common, sizeof(common));
	etw_store32(bytes + ENTRY_AT, CODE_AT - ENTRY_AT - 4);
	etw_store32(bytes + ENTRY_AT + 4, ENTRY_AT + 4 - COMMON_AT);
	put_relative(bytes + ENTRY_AT + 8, bytes + CODE_AT, bytes + ENTRY_AT + 8);
	etw_store32(bytes + ENTRY_AT + 12, CODE_BYTES);
	memcpy(bytes + ENTRY_AT + 17, own, sizeof(own));
	memcpy(bytes + ENTRY_AT + 17 + sizeof(own), expression, sizeof(expression));
	made->object = (struct etw_unwind_object){
		.start = (uintptr_t)bytes, .end = (uintptr_t)bytes + OBJECT_BYTES, .table = bytes};
}

static bool find(const struct made *made, unsigned offset, struct etw_unwind_rule *ret)
{
	return etw_unwind_find_rule(&made->object, made->object.start + CODE_AT + offset, ret);
}

static void assert_cfa(const struct made *made, unsigned offset, int expected)
{
	struct etw_unwind_rule rule;

	assert_true(find(made, offset, &rule));
	assert_int_equal(rule.cfa.kind, ETW_UNWIND_SAME);
	assert_int_equal(rule.cfa.base, ETW_UNWIND_STACK);
	assert_int_equal(rule.cfa.offset, expected);
	assert_int_equal(rule.address.kind, ETW_UNWIND_SAVED);
	assert_int_equal(rule.address.offset, -8);
}

static void test_unwind__stubs_of_the_linkage_table(void **state)
{
	struct made made;

	(void)state;
#if !defined(__x86_64__)
	print_message("SKIP: the table is one of x86-64\n");
	skip();
#endif
	make(&made);
	assert_cfa(&made, 0, 16);
	assert_cfa(&made, 6, 24);
	for (unsigned stub = 16; stub < CODE_BYTES; stub += 16) {
		assert_cfa(&made, stub, 8);
		assert_cfa(&made, stub + 10, 8);
		assert_cfa(&made, stub + 11, 16);
		assert_cfa(&made, stub + 15, 16);
	}
}

/* Who made the file says how long an entry is: no more of it is read than may be. */
static void test_unwind__long_entries_have_no_rule(void **state)
{
	const uint64_t needed = ENTRY_AT - COMMON_AT - 4 + CODE_AT - ENTRY_AT - 4;
	struct etw_unwind_rule rule;
	struct made made;
	uint64_t left = needed;

	(void)state;
#if !defined(__x86_64__)
	print_message("SKIP: the table is one of x86-64\n");
	skip();
#endif
	make(&made);
	assert_true(etw_unwind_find_rule_within(&made.object, made.object.start + CODE_AT, &left,
						&rule));
	assert_int_equal(left, 0);
	left = needed - 1;
	assert_false(etw_unwind_find_rule_within(&made.object, made.object.start + CODE_AT, &left,
						 &rule));
	assert_int_equal(left, 0);
}

/* Any other expression has no rule, and neither has one that is cut. */
static void test_unwind__other_expressions_have_no_rule(void **state)
{
	const unsigned at = ENTRY_AT + 17 + 6;
	struct etw_unwind_rule rule;
	struct made made;

	(void)state;
#if !defined(__x86_64__)
	print_message("SKIP: the table is one of x86-64\n");
	skip();
#endif
	for (unsigned i = 2; i < sizeof(expression); i++) {
		/* Another offset, and a place up to 15, are as good. */
		if (i == 3 || i == 8)
			continue;
		make(&made);
		made.bytes[at + i] ^= 0x40;
		assert_false(find(&made, 16, &rule));
	}
	make(&made);
	made.bytes[at + 8] = 0x30 + 16;
	assert_false(find(&made, 16, &rule));
	for (uint8_t length = 3; length < 11; length++) {
		make(&made);
		made.bytes[at + 1] = length;
		assert_false(find(&made, 16, &rule));
	}
	make(&made);
	etw_store32(made.bytes + ENTRY_AT, 17 - 4 + 6 + 8);
	assert_false(find(&made, 16, &rule));
}

/* Numbers as large as they can be written: the product wraps, and what does not fit has no rule. */
static void test_unwind__large_offsets_do_no_harm(void **state)
{
	static const uint8_t largest[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
					  0xFF, 0xFF, 0xFF, 0xFF, 0x00};
	/* DW_CFA_offset_extended, DW_CFA_offset_extended_sf, DW_CFA_def_cfa_offset_sf; DW_CFA_offset */
	static const uint8_t codes[] = {0x05, 0x11, 0x13, 0x90};
	struct etw_unwind_rule rule;
	struct made made;

	(void)state;
#if !defined(__x86_64__)
	print_message("SKIP: the table is one of x86-64\n");
	skip();
#endif
	for (size_t i = 0; i < sizeof(codes); i++) {
		uint8_t *at;

		make(&made);
		at = made.bytes + ENTRY_AT + 17;
		memset(at, 0, CODE_AT - ENTRY_AT - 17);
		*at++ = codes[i];
		if (codes[i] < 0x13)
			*at++ = 16; /* where it goes on */
		memcpy(at, largest, sizeof(largest));
		/* INT64_MAX times -8 is 8, as numbers of 64 bits wrap. */
		assert_true(find(&made, 0, &rule));
		assert_int_equal(codes[i] == 0x13 ? rule.cfa.offset : rule.address.offset, 8);
		/* Times -1 it is no offset of a rule. */
		made.bytes[COMMON_AT + 8 + 5] = 0x7F;
		assert_false(find(&made, 0, &rule));
	}
	make(&made);
	memset(made.bytes + ENTRY_AT + 17, 0, CODE_AT - ENTRY_AT - 17);
	memcpy(made.bytes + ENTRY_AT + 17, expression, 3);
	made.bytes[ENTRY_AT + 18] = 20;
	memcpy(made.bytes + ENTRY_AT + 20, largest, sizeof(largest));
	memcpy(made.bytes + ENTRY_AT + 30, expression + 4, sizeof(expression) - 4);
	assert_false(find(&made, 15, &rule));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unwind__stubs_of_the_linkage_table),
		cmocka_unit_test(test_unwind__long_entries_have_no_rule),
		cmocka_unit_test(test_unwind__other_expressions_have_no_rule),
		cmocka_unit_test(test_unwind__large_offsets_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
