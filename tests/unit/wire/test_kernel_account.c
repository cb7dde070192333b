/* SPDX-License-Identifier: MIT */
/* The bytes of what a recording tells of itself: what is written is read, and nothing else is taken for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "wire/etl_event.h"
#include "wire/kernel_account.h"

/* The event's last item, which is the schema, and what is behind it. */
static void find_parts(const uint8_t *event, uint32_t bytes, struct etw_bytes *ret_schema,
		       struct etw_bytes *ret_payload)
{
	static const GUID provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	const uint8_t *item = event + sizeof(struct wire_event_header);
	GUID found = etw_guid_read(event + 0x18);

	assert_int_equal(etw_load16(event), bytes);
	assert_true(bytes <= WIRE_KERNEL_ACCOUNT_BYTES_MAX);
	assert_true(etw_guid_equal(&found, &provider));
	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	*ret_schema = (struct etw_bytes){item + 8, etw_load16(item + 6)};
	item += etw_load16(item);
	*ret_payload = (struct etw_bytes){item, bytes - (size_t)(item - event)};
}

static void test_kernel_account__processor_time_is_read_as_it_was_written(void **state)
{
	const struct wire_processor_time time = {
		true, 64, {1, 2, 3, 4, 5, 6, UINT64_MAX, 0x1122334455667788}};
	uint8_t event[WIRE_KERNEL_ACCOUNT_BYTES_MAX];
	struct etw_bytes schema, payload;
	struct wire_processor_time back = {0};
	struct wire_stack_account other;

	(void)state;
	find_parts(event, wire_processor_time_encode(&time, event), &schema, &payload);
	assert_true(wire_processor_time_decode(schema, payload, &back));
	assert_true(back.is_end);
	assert_int_equal(back.processors, 64);
	assert_memory_equal(back.ms, time.ms, sizeof(time.ms));
	assert_false(wire_stack_account_decode(schema, payload, &other));
	for (size_t cut = 0; cut < payload.left; cut++)
		assert_false(wire_processor_time_decode(schema, (struct etw_bytes){payload.at, cut},
							&back));
	for (size_t cut = 0; cut < schema.left; cut++)
		assert_false(wire_processor_time_decode((struct etw_bytes){schema.at, cut}, payload,
							&back));
}

static void test_kernel_account__stacks_are_read_as_they_were_written(void **state)
{
	const struct wire_stack_account account = {0x0524, {1, 2, 3, 4, 5, 6, 7, UINT64_MAX}, 7};
	uint8_t event[WIRE_KERNEL_ACCOUNT_BYTES_MAX];
	struct etw_bytes schema, payload;
	struct wire_stack_account back = {0};
	struct wire_processor_time other;

	(void)state;
	find_parts(event, wire_stack_account_encode(&account, event), &schema, &payload);
	assert_true(wire_stack_account_decode(schema, payload, &back));
	assert_int_equal(back.hook, 0x0524);
	assert_memory_equal(back.fates, account.fates, sizeof(account.fates));
	assert_int_equal(back.without_user, 7);
	assert_false(wire_processor_time_decode(schema, payload, &other));
	for (size_t cut = 0; cut < payload.left; cut++)
		assert_false(wire_stack_account_decode(schema, (struct etw_bytes){payload.at, cut},
						       &back));
	for (size_t cut = 0; cut < schema.left; cut++)
		assert_false(wire_stack_account_decode((struct etw_bytes){schema.at, cut}, payload,
						       &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_account__processor_time_is_read_as_it_was_written),
		cmocka_unit_test(test_kernel_account__stacks_are_read_as_they_were_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
