/* SPDX-License-Identifier: MIT */
/* What of a hostile process passes the check of its events: only what it may say. */
#include "session/common/check.h"

#include <evntcons.h>

#include "base/macros.h"
#include "fixture.h"
#include "wire/hook.h"
#include "wire/image_symbols.h"
#include "wire/kernel_account.h"
#include "wire/session_note.h"

struct desk {
	struct fixture fixture;
	struct etw_check_cache *cache;
	struct etw_check_limits limits;
	uint8_t event[512];
	int64_t raw;
};

static bool allow_classic(void *context, uint32_t session_id, uid_t uid)
{
	(void)context;
	(void)session_id;
	(void)uid;
	return true;
}

static void open_desk(struct desk *desk)
{
	fixture_open(&desk->fixture);
	desk->cache = calloc(1, sizeof(*desk->cache));
	assert_non_null(desk->cache);
	desk->fixture.host.may_write_classic = allow_classic;
	desk->cache->host = &desk->fixture.host;
	desk->limits = (struct etw_check_limits){.floor_raw = 1000,
						 .bound_raw = 2000,
						 .latest_raw = 2000,
						 .slack_raw = 20,
						 .now_ns = 1000000000};
	memset(desk->event, 0, sizeof(desk->event));
	fixture_make_event(desk->event, 0x60, 1500);
}

static void close_desk(struct desk *desk)
{
	free(desk->cache);
	fixture_close(&desk->fixture);
}

static enum etw_check_result check(struct desk *desk, uint32_t bytes)
{
	return etw_check_event(desk->cache, &desk->limits, desk->event, bytes, &desk->raw);
}

static void test_check__header_types(void **state)
{
	static const struct {
		uint8_t type;
		uint32_t least; /* 0: refused at any size */
	} rows[] = {{1, 0},     {2, 0},     {3, 0},     {4, 0},     {10, 0x30}, {11, 0x48},
		    {12, 0},    {13, 0},    {14, 0},    {15, 0},    {16, 0},    {17, 0},
		    {18, 0x50}, {19, 0x50}, {20, 0x30}, {21, 0x48}, {22, 0},    {255, 0}};
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		desk.event[2] = rows[i].type;
		for (uint32_t bytes = 8; bytes <= 0x60; bytes++) {
			etw_store16(desk.event, (uint16_t)bytes);
			assert_int_equal(check(&desk, bytes),
					 rows[i].least != 0 && bytes >= rows[i].least);
		}
	}
	desk.event[2] = WIRE_HEADER_EVENT64;
	for (uint32_t flag = 0; flag < 256; flag++) {
		desk.event[3] = (uint8_t)flag;
		etw_store16(desk.event, 0x60);
		if (flag != WIRE_EVENT_FLAG_TRACE)
			assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	close_desk(&desk);
}

static void test_check__size_must_be_the_same(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	assert_int_equal(check(&desk, 0x61), ETW_CHECK_REFUSED);
	assert_int_equal(check(&desk, 0x58), ETW_CHECK_REFUSED);
	close_desk(&desk);
}

static void test_check__extended_items(void **state)
{
	struct desk desk;
	uint8_t *item;

	(void)state;
	open_desk(&desk);
	item = desk.event + 0x50;
	etw_store16(desk.event, 0x70);
	etw_store16(desk.event + 4, WIRE_EVENT_EXTENDED_INFO);
	etw_store16(item, 0x10);
	etw_store16(item + 2, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
	etw_store16(item + 6, 8);
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_GOOD);
	etw_store16(item + 4, 1); /* another one follows */
	etw_store16(item + 0x10, 0x10);
	etw_store16(item + 0x12, EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL);
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_GOOD);
	etw_store16(item + 0x10, 0x18); /* beyond the event */
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	etw_store16(item + 0x10, 0x0C); /* no multiple of 8 */
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	etw_store16(item + 0x10, 0); /* no progress */
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	etw_store16(item + 4, 0);
	etw_store16(item + 6, 9); /* more data than the item has */
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	etw_store16(desk.event, 0x54); /* no room for an item */
	assert_int_equal(check(&desk, 0x54), ETW_CHECK_REFUSED);
	close_desk(&desk);
}

static void test_check__provider_and_pid(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.refuses_provider = true;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	desk.fixture.refuses_provider = false;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED); /* believed for a while */
	desk.limits.now_ns += ETW_CHECK_REFUSED_NS;
	desk.fixture.refuses_pid = true;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	desk.limits.now_ns += ETW_CHECK_REFUSED_NS;
	desk.fixture.refuses_pid = false;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	desk.fixture.refuses_pid = desk.fixture.refuses_provider = true;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD); /* remembered */
	etw_store32(desk.event + 0x0C, 4711);
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED); /* another pid */
	close_desk(&desk);
}

static void test_check__times(void **state)
{
	static const struct {
		int64_t raw, moved; /* with a clock that can be set */
		enum etw_check_result result, steppable;
		int64_t strict; /* with one that cannot */
	} rows[] = {
		{1000, 1000, ETW_CHECK_GOOD, ETW_CHECK_GOOD, 1000},
		{2000, 2000, ETW_CHECK_GOOD, ETW_CHECK_GOOD, 2000},
		{999, 1000, ETW_CHECK_RAISED, ETW_CHECK_RAISED, 1000},
		{980, 1000, ETW_CHECK_RAISED, ETW_CHECK_RAISED, 1000},
		{979, 1000, ETW_CHECK_REFUSED, ETW_CHECK_RAISED, 0},
		/* Others may still come with these times: theirs is not to be spoilt. */
		{2001, 2000, ETW_CHECK_REFUSED, ETW_CHECK_RAISED, 0},
		{2011, 2000, ETW_CHECK_REFUSED, ETW_CHECK_RAISED, 0},
		{INT64_MIN, 1000, ETW_CHECK_REFUSED, ETW_CHECK_RAISED, 0},
		{INT64_MAX, 2000, ETW_CHECK_REFUSED, ETW_CHECK_RAISED, 0},
	};
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		desk.limits.is_steppable = false;
		etw_store64(desk.event + 0x10, (uint64_t)rows[i].raw);
		assert_int_equal(check(&desk, 0x60), rows[i].result);
		if (rows[i].result != ETW_CHECK_REFUSED) {
			assert_int_equal(desk.raw, rows[i].strict);
			assert_int_equal(etw_load64(desk.event + 0x10), rows[i].strict);
		}
		desk.limits.is_steppable = true;
		etw_store64(desk.event + 0x10, (uint64_t)rows[i].raw);
		assert_int_equal(check(&desk, 0x60), rows[i].steppable);
		assert_int_equal(desk.raw, rows[i].moved);
		assert_int_equal(etw_load64(desk.event + 0x10), rows[i].moved);
	}
	close_desk(&desk);
}

/* Nothing in a WPP message says whose it is: until TraceMessage is built, nobody writes one. */
static void test_check__messages_are_nobodys(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (uint32_t options = 0; options < 0x100; options++) {
		memset(desk.event, 0, sizeof(desk.event));
		etw_store16(desk.event, 0x60);
		desk.event[3] = WIRE_EVENT_FLAG_MESSAGE;
		etw_store16(desk.event + 6, (uint16_t)options);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	close_desk(&desk);
}

/* Who wrote an event, and with which rights, is for the host to say. */
static void test_check__items_that_only_the_host_can_vouch_for(void **state)
{
	static const uint8_t bytes_of_sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};
	struct desk desk;
	uint8_t *item;

	(void)state;
	open_desk(&desk);
	item = desk.event + 0x50;
	etw_store16(desk.event, 0x70);
	etw_store16(desk.event + 4, WIRE_EVENT_EXTENDED_INFO);
	memcpy(item + 8, bytes_of_sid, sizeof(bytes_of_sid));
	for (uint32_t type = 0; type < 0x100; type++) {
		/* Of this size; what the host fills in (test_vouch.c) is allowed, and not believed. */
		bool is_allowed = type == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID ||
				  type == EVENT_HEADER_EXT_TYPE_SID ||
				  type == EVENT_HEADER_EXT_TYPE_STACK_TRACE32 ||
				  type == EVENT_HEADER_EXT_TYPE_STACK_TRACE64 ||
				  type == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL ||
				  type == EVENT_HEADER_EXT_TYPE_PROV_TRAITS ||
				  type == EVENT_HEADER_EXT_TYPE_CONTAINER_ID;

		etw_store16(item, 0x18);
		etw_store16(item + 2, (uint16_t)type);
		etw_store16(item + 6, 16);
		memcpy(item + 8, bytes_of_sid, sizeof(bytes_of_sid));
		assert_int_equal(check(&desk, 0x70), is_allowed);
		if (type == EVENT_HEADER_EXT_TYPE_SID)
			assert_memory_not_equal(item + 8, bytes_of_sid, sizeof(bytes_of_sid));
	}
	etw_store16(item + 2, 0xFF01);
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	/* An activity is a GUID. */
	etw_store16(item + 2, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	etw_store16(item + 6, 15);
	assert_int_equal(check(&desk, 0x70), ETW_CHECK_REFUSED);
	/* One of each: readers would not agree which of two it is. */
	etw_store16(desk.event, 0x80);
	etw_store16(item + 6, 16);
	etw_store16(item + 4, 1);
	etw_store16(item + 0x18, 0x18);
	etw_store16(item + 0x1A, EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID);
	etw_store16(item + 0x1E, 16);
	assert_int_equal(check(&desk, 0x80), ETW_CHECK_REFUSED);
	etw_store16(item + 0x1A, EVENT_HEADER_EXT_TYPE_PROV_TRAITS);
	assert_int_equal(check(&desk, 0x80), ETW_CHECK_GOOD);
	close_desk(&desk);
}

/* Bits that change how a reader takes the event: only those that EventWrite sets. */
static void test_check__flags_of_the_header(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (uint32_t bit = 0; bit < 32; bit++) {
		etw_store32(desk.event + 4, UINT32_C(1) << bit);
		assert_int_equal(check(&desk, 0x60), bit == 2 ? ETW_CHECK_GOOD : ETW_CHECK_REFUSED);
	}
	close_desk(&desk);
}

/* pid 0 and 2^31 are no process, tid 0 no thread, in every header type that has them. */
static void test_check__numbers_that_no_process_has(void **state)
{
	static const uint8_t types[] = {10, 11, 18, 19, 20, 21};
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		desk.event[2] = types[i];
		etw_store32(desk.event + 0x08, 1);
		etw_store32(desk.event + 0x0C, 1);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
		etw_store32(desk.event + 0x0C, 0);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
		etw_store32(desk.event + 0x0C, 0x80000000);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
		etw_store32(desk.event + 0x0C, 1);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
		etw_store32(desk.event + 0x08, 0);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	close_desk(&desk);
}

/* The right to write a provider's events is none to write classic events and messages, and none of the kernel's. */
static void test_check__classic_events_have_a_right_of_their_own(void **state)
{
	struct desk desk;
	uint32_t sequence = 6;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_write_classic = NULL;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	desk.event[2] = WIRE_HEADER_FULL64;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	desk.event[2] = WIRE_HEADER_MESSAGE;
	etw_store16(desk.event + 6, 0x28); /* time, thread and process */
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	close_desk(&desk);

	open_desk(&desk);
	desk.cache->sequence = &sequence;
	desk.event[2] = WIRE_HEADER_FULL64;
	etw_guid_write(desk.event + 0x18, &etw_lost_event_guid);
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	desk.event[2] = WIRE_HEADER_MESSAGE;
	etw_store16(desk.event + 6, 0x08);
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	etw_store16(desk.event + 6, 0x29);
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	/* In the form of a trace, with the number behind the header. */
	assert_int_equal(desk.event[3], WIRE_EVENT_FLAG_MESSAGE);
	assert_int_equal(etw_load32(desk.event + 8), 7);
	close_desk(&desk);
}

/* What the host tells of a session it tells itself, also where a uid may write events of any provider. */
static void test_check__the_hosts_own_notes(void **state)
{
	static const GUID own[] = {WIRE_SESSION_NOTE_PROVIDER, WIRE_IMAGE_SYMBOLS_PROVIDER,
				   WIRE_KERNEL_ACCOUNT_PROVIDER};
	struct desk desk;

	(void)state;
	open_desk(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		etw_guid_write(desk.event + 0x18, &own[i]);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	close_desk(&desk);
}

static bool left_at_50_ms(void *context, uid_t uid, uint32_t pid,
			  struct etw_session_pid_span *ret_span)
{
	(void)context;
	(void)uid;
	(void)pid;
	ret_span->until_ns = 950000000;
	return true;
}

/* A process that has ended wrote what is older than its end, and nothing later, which may be another's. */
static void test_check__a_process_that_has_ended(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_be_pid = left_at_50_ms;
	desk.cache->raw_per_second = 10000; /* 100 us each: 500 of them before now_ns */
	for (int i = 0; i < 2; i++) {
		etw_store64(desk.event + 0x10, 1499);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
		etw_store64(desk.event + 0x10, 1502);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	desk.cache->raw_per_second = 0; /* a clock that may be set dates nothing */
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	close_desk(&desk);
}

static bool came_at_50_ms(void *context, uid_t uid, uint32_t pid,
			  struct etw_session_pid_span *ret_span)
{
	(void)context;
	(void)uid;
	(void)pid;
	ret_span->since_ns = 950000000;
	return true;
}

/* The number was another's before: what has been written then, and is looked at only now, is not this uid's. */
static void regress_check__a_process_that_came_late(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_be_pid = came_at_50_ms;
	desk.cache->raw_per_second = 10000; /* 100 us each: 500 of them before now_ns */
	for (int i = 0; i < 2; i++) {
		etw_store64(desk.event + 0x10, 1502);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
		etw_store64(desk.event + 0x10, 1499);
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	}
	desk.cache->raw_per_second = 0; /* a clock that may be set dates nothing */
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	desk.limits.now_ns = 949999999;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_REFUSED);
	close_desk(&desk);
}

static uint32_t asks;

static bool count_ask(void *context, uid_t uid, uint32_t pid, struct etw_session_pid_span *ret_span)
{
	(void)context;
	(void)uid;
	(void)pid;
	(void)ret_span;
	asks++;
	return true;
}

/* The session's thread serves others too: a process that names a new pid each time is not asked about for ever. */
static void test_check__questions_about_pids_are_limited(void **state)
{
	uint32_t good = 0;
	struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_be_pid = count_ask;
	asks = 0;
	for (uint32_t i = 1; i <= 3 * ETW_CHECK_ASKS_PER_S; i++) {
		etw_store32(desk.event + 0x0C, i);
		good += check(&desk, 0x60) == ETW_CHECK_GOOD;
	}
	assert_int_equal(asks, ETW_CHECK_ASKS_PER_S);
	assert_int_equal(good, ETW_CHECK_ASKS_PER_S);
	desk.limits.now_ns += 500000000;
	for (uint32_t i = 1; i <= 3 * ETW_CHECK_ASKS_PER_S; i++) {
		etw_store32(desk.event + 0x0C, 1000000 + i);
		(void)check(&desk, 0x60);
	}
	assert_int_equal(asks, ETW_CHECK_ASKS_PER_S * 3 / 2);
	close_desk(&desk);
}

/* A pid may have become another user's. */
static void test_check__a_pid_is_not_believed_for_ever(void **state)
{
	struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_be_pid = count_ask;
	asks = 0;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	assert_int_equal(asks, 1);
	desk.limits.now_ns += ETW_CHECK_ALLOWED_NS;
	assert_int_equal(check(&desk, 0x60), ETW_CHECK_GOOD);
	assert_int_equal(asks, 2);
	close_desk(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check__header_types),
		cmocka_unit_test(test_check__size_must_be_the_same),
		cmocka_unit_test(test_check__extended_items),
		cmocka_unit_test(test_check__provider_and_pid),
		cmocka_unit_test(test_check__times),
		cmocka_unit_test(test_check__messages_are_nobodys),
		cmocka_unit_test(test_check__items_that_only_the_host_can_vouch_for),
		cmocka_unit_test(test_check__flags_of_the_header),
		cmocka_unit_test(test_check__numbers_that_no_process_has),
		cmocka_unit_test(test_check__classic_events_have_a_right_of_their_own),
		cmocka_unit_test(test_check__the_hosts_own_notes),
		cmocka_unit_test(test_check__a_process_that_has_ended),
		cmocka_unit_test(regress_check__a_process_that_came_late),
		cmocka_unit_test(test_check__questions_about_pids_are_limited),
		cmocka_unit_test(test_check__a_pid_is_not_believed_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
