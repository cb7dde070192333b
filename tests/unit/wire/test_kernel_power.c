/* SPDX-License-Identifier: MIT */
/* The bytes of idle states and frequencies: each event describes itself, and its payload is what that says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "wire/etl_event.h"
#include "wire/kernel_account.h"
#include "wire/kernel_power.h"

/* Where the payload begins; the header and the name of the event are held. */
static const uint8_t *find_payload(const uint8_t *event, uint32_t bytes, const char *name)
{
	static const GUID provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	const uint8_t *item = event + sizeof(struct wire_event_header);
	GUID found = etw_guid_read(event + 0x18);

	assert_int_equal(etw_load16(event), bytes);
	assert_true(etw_guid_equal(&found, &provider));
	while (etw_load16(item + 4) & WIRE_EXTENDED_LINKAGE)
		item += etw_load16(item);
	assert_int_equal(etw_load16(item + 8), etw_load16(item + 6));
	assert_int_equal(item[10], 0);
	assert_string_equal((const char *)item + 11, name);
	return item + etw_load16(item);
}

static void test_kernel_power__idle_state(void **state)
{
	const struct wire_idle_state idle = {
		.first_processor = 2,
		.last_processor = 5,
		.state = 1,
		.latency_us = 30,
		.residency_us = 90,
		.driver = "a driver",
		.name = "C1",
		.description = "halt",
	};
	static const char texts[] = "a driver\0C1\0halt";
	uint8_t event[WIRE_KERNEL_POWER_BYTES_MAX];
	uint32_t bytes = wire_idle_state_encode(&idle, event);
	const uint8_t *at = find_payload(event, bytes, "IdleState");

	(void)state;
	assert_int_equal(etw_load32(at), 2);
	assert_int_equal(etw_load32(at + 4), 5);
	assert_int_equal(etw_load32(at + 8), 1);
	assert_int_equal(etw_load32(at + 12), 30);
	assert_int_equal(etw_load32(at + 16), 90);
	assert_memory_equal(at + 20, texts, sizeof(texts));
	assert_ptr_equal(at + 20 + sizeof(texts), event + bytes);
}

/* Texts that fill their room have no NUL in it. */
static void test_kernel_power__the_longest_fit(void **state)
{
	struct wire_idle_state idle;
	struct wire_processor_frequency frequency;
	uint8_t event[WIRE_KERNEL_POWER_BYTES_MAX + 1];

	(void)state;
	memset(&idle, 'x', sizeof(idle));
	memset(&frequency, 'x', sizeof(frequency));
	event[WIRE_KERNEL_POWER_BYTES_MAX] = 0xEE;
	(void)find_payload(event, wire_idle_state_encode(&idle, event), "IdleState");
	(void)find_payload(event, wire_processor_frequency_encode(&frequency, event),
			   "ProcessorFrequency");
	assert_int_equal(event[WIRE_KERNEL_POWER_BYTES_MAX], 0xEE);
}

static void test_kernel_power__frequencies(void **state)
{
	const struct wire_processor_frequency frequency = {
		.processor = 3,
		.current_khz = 1800000,
		.least_khz = 800000,
		.most_khz = 4200000,
		.driver = "d",
		.governor = "powersave",
	};
	uint8_t event[WIRE_KERNEL_POWER_BYTES_MAX];
	uint32_t bytes = wire_processor_frequency_encode(&frequency, event);
	const uint8_t *at = find_payload(event, bytes, "ProcessorFrequency");

	(void)state;
	assert_int_equal(etw_load32(at), 3);
	assert_int_equal(etw_load32(at + 4), 1800000);
	assert_int_equal(etw_load32(at + 8), 800000);
	assert_int_equal(etw_load32(at + 12), 4200000);
	assert_memory_equal(at + 16, "d\0powersave", 12);
	assert_ptr_equal(at + 28, event + bytes);
	bytes = wire_frequency_encode(9, 2000000, event);
	at = find_payload(event, bytes, "FrequencyChange");
	assert_true(bytes <= WIRE_FREQUENCY_BYTES_MAX);
	assert_int_equal(etw_load32(at), 9);
	assert_int_equal(etw_load32(at + 4), 2000000);
	assert_ptr_equal(at + 8, event + bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_power__idle_state),
		cmocka_unit_test(test_kernel_power__the_longest_fit),
		cmocka_unit_test(test_kernel_power__frequencies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
