/* SPDX-License-Identifier: MIT */
/* What of a process's items is believed, and what the host says itself. */
#include "session/common/vouch.h"

#include <evntcons.h>

#include "fixture.h"
#include "session/common/check.h"
#include "wire/security.h"

#define CHECK_UID 1234

static const struct etw_process_facts facts = {
	.start_key = 0x1122334455667788,
	.session_id = 77,
	.container = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}},
};

/* Items of these types, all with bytes of 0xEE. Returns the event's size. */
struct item {
	uint16_t type, data_bytes;
};

static uint32_t make_event(uint8_t *event, const struct item *items, size_t count)
{
	uint32_t at = 0x50;

	for (size_t i = 0; i < count; i++) {
		const uint32_t bytes = ALIGN_UP(8u + items[i].data_bytes, 8);

		memset(event + at, 0, bytes);
		etw_store16(event + at, (uint16_t)bytes);
		etw_store16(event + at + 2, items[i].type);
		etw_store16(event + at + 4, i + 1 < count);
		etw_store16(event + at + 6, items[i].data_bytes);
		memset(event + at + 8, 0xEE, items[i].data_bytes);
		at += bytes;
	}
	fixture_make_event(event, at, 1500);
	etw_store16(event + 4, WIRE_EVENT_EXTENDED_INFO);
	return at;
}

static void test_vouch__sizes_of_items(void **state)
{
	static const struct {
		struct item item;
		bool is_sound;
	} rows[] = {
		{{EVENT_HEADER_EXT_TYPE_SID, 16}, true},
		{{EVENT_HEADER_EXT_TYPE_SID, 12}, false},
		{{EVENT_HEADER_EXT_TYPE_TS_ID, 4}, true},
		{{EVENT_HEADER_EXT_TYPE_TS_ID, 8}, false},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 8}, true},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 8 + 192 * 8}, true},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 8 + 193 * 8}, false},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 12}, false},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 0}, false},
		{{EVENT_HEADER_EXT_TYPE_STACK_TRACE32, 12}, true},
		{{EVENT_HEADER_EXT_TYPE_EVENT_KEY, 8}, true},
		{{EVENT_HEADER_EXT_TYPE_EVENT_KEY, 4}, false},
		{{EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 8}, true},
		{{EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 16}, false},
		{{EVENT_HEADER_EXT_TYPE_CONTAINER_ID, 16}, true},
		{{EVENT_HEADER_EXT_TYPE_CONTAINER_ID, 36}, false},
		/* Nobody's, or the kernel's. */
		{{EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, 24}, false},
		{{EVENT_HEADER_EXT_TYPE_PEBS_INDEX, 8}, false},
		{{EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, 8}, false},
		{{EVENT_HEADER_EXT_TYPE_PSM_KEY, 8}, false},
		{{EVENT_HEADER_EXT_TYPE_CONTROL_GUID, 16}, false},
		{{EVENT_HEADER_EXT_TYPE_QPC_DELTA, 8}, false},
		{{EVENT_HEADER_EXT_TYPE_STACK_KEY64, 16}, false},
	};
	uint8_t event[4096];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t bytes = make_event(event, &rows[i].item, 1);
		uint32_t types = 0;

		if (etw_items_are_sound(event, bytes, &types) != rows[i].is_sound)
			fail_msg("item %u of %u bytes", rows[i].item.type, rows[i].item.data_bytes);
		if (rows[i].is_sound)
			assert_int_equal(types, 1u << rows[i].item.type);
	}
}

static void describe(void *context, uid_t uid, uint32_t pid, struct etw_process_facts *ret)
{
	(void)context;
	(void)uid;
	(void)pid;
	*ret = facts;
}

/* A process says that it is another one: that is not what the event says then. */
static void test_vouch__the_host_says_whose_it_is(void **state)
{
	static const struct item items[] = {
		{EVENT_HEADER_EXT_TYPE_SID, 16},
		{EVENT_HEADER_EXT_TYPE_TS_ID, 4},
		{EVENT_HEADER_EXT_TYPE_EVENT_KEY, 8},
		{EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 8},
		{EVENT_HEADER_EXT_TYPE_CONTAINER_ID, 16},
		{EVENT_HEADER_EXT_TYPE_STACK_TRACE64, 16},
		{EVENT_HEADER_EXT_TYPE_PROV_TRAITS, 5},
	};
	const struct wire_sid sid = etw_sid_of_uid(CHECK_UID);
	struct etw_check_cache *cache = calloc(1, sizeof(*cache));
	const struct etw_check_limits limits = {.floor_raw = 1000,
						.bound_raw = 2000,
						.latest_raw = 2000,
						.slack_raw = 20,
						.now_ns = 1000000000};
	static const uint64_t claimed = 0xEEEEEEEEEEEEEEEE;
	struct fixture fixture;
	uint8_t event[512];
	uint32_t bytes;
	int64_t raw;

	(void)state;
	fixture_open(&fixture);
	fixture.host.describe_pid = describe;
	assert_non_null(cache);
	cache->host = &fixture.host;
	cache->uid = CHECK_UID;
	bytes = make_event(event, items, ARRAY_SIZE(items));
	assert_int_equal(etw_check_event(cache, &limits, event, bytes, &raw), ETW_CHECK_GOOD);
	assert_int_equal(sid.byte_count, 16);
	assert_memory_equal(event + 0x58, sid.bytes, 16);
	assert_int_equal(etw_load32(event + 0x70), 77);
	assert_int_equal(etw_load64(event + 0x80), claimed); /* the key of the event is its own */
	assert_int_equal(etw_load64(event + 0x90), facts.start_key);
	assert_memory_equal(event + 0xA0, &facts.container, 16);
	assert_int_equal(etw_load64(event + 0xB8), 0); /* joins it to no other event */
	assert_int_equal(etw_load64(event + 0xC0), claimed);
	free(cache);
	fixture_close(&fixture);
}

#define PROCESSES 100
#define ROUNDS    300

static void describe_by_number(void *context, uid_t uid, uint32_t pid,
			       struct etw_process_facts *ret)
{
	(void)context;
	(void)uid;
	*ret = (struct etw_process_facts){.start_key = UINT64_C(0x100000000) + pid};
}

/* As many processes as a busy uid has, whose events come in turns: what the host is asked about is bounded. */
static void test_vouch__of_many_processes_in_turn(void **state)
{
	static const struct item key = {EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 8};
	struct etw_check_cache *cache = calloc(1, sizeof(*cache));
	const struct etw_check_limits limits = {.floor_raw = 1000,
						.bound_raw = 2000,
						.latest_raw = 2000,
						.slack_raw = 20,
						.now_ns = 1000000000};
	struct fixture fixture;
	uint8_t event[128];
	int64_t raw;

	(void)state;
	fixture_open(&fixture);
	fixture.host.describe_pid = describe_by_number;
	assert_non_null(cache);
	cache->host = &fixture.host;
	for (uint32_t i = 0; i < PROCESSES * ROUNDS; i++) {
		const uint32_t pid = 1000 + i % PROCESSES;
		const uint32_t bytes = make_event(event, &key, 1);

		etw_store32(event + offsetof(struct wire_event_header, process_id), pid);
		assert_int_equal(etw_check_event(cache, &limits, event, bytes, &raw),
				 ETW_CHECK_GOOD);
		assert_int_equal(etw_load64(event + 0x58), UINT64_C(0x100000000) + pid);
	}
	free(cache);
	fixture_close(&fixture);
}

/* Of a process that the host does not know nothing is said, whatever it says itself. */
static void test_vouch__of_the_unknown_nothing_is_said(void **state)
{
	static const struct item items[] = {
		{EVENT_HEADER_EXT_TYPE_TS_ID, 4},
		{EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY, 8},
	};
	const struct etw_process_facts unknown = etw_process_facts_unknown();
	uint8_t event[512];

	(void)state;
	(void)make_event(event, items, ARRAY_SIZE(items));
	etw_items_vouch(event, CHECK_UID, &unknown);
	assert_int_equal(etw_load32(event + 0x58), ETW_SESSION_ID_UNKNOWN);
	assert_int_equal(etw_load64(event + 0x68), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vouch__sizes_of_items),
		cmocka_unit_test(test_vouch__the_host_says_whose_it_is),
		cmocka_unit_test(test_vouch__of_many_processes_in_turn),
		cmocka_unit_test(test_vouch__of_the_unknown_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
