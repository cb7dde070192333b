/* SPDX-License-Identifier: MIT */
/* A run is checked in place as its events would be one by one, up to the first that is refused. */
#include "session/common/check.h"

#include "fixture.h"

#define RUN_BYTES_MAX 65536

struct desk {
	struct fixture fixture;
	struct etw_check_cache *cache;
	struct etw_check_limits limits;
	uint8_t run[RUN_BYTES_MAX];
	uint32_t bytes;
};

static void open_desk(struct desk *desk)
{
	fixture_open(&desk->fixture);
	desk->cache = calloc(1, sizeof(*desk->cache));
	assert_non_null(desk->cache);
	desk->cache->host = &desk->fixture.host;
	desk->limits = (struct etw_check_limits){.floor_raw = 1000,
						 .bound_raw = 2000,
						 .latest_raw = 2000,
						 .slack_raw = 20,
						 .now_ns = 1000000000};
	desk->bytes = 0;
}

static void close_desk(struct desk *desk)
{
	free(desk->cache);
	fixture_close(&desk->fixture);
}

/* Puts an event behind the others, with padding as a writer may leave it. Returns where it is. */
static uint8_t *add(struct desk *desk, uint32_t bytes, int64_t raw)
{
	uint8_t *event = desk->run + desk->bytes;
	uint32_t padded = (bytes + 7) / 8 * 8;

	assert_true(padded <= RUN_BYTES_MAX - desk->bytes);
	memset(event, 0xAB, padded);
	fixture_make_event(event, bytes, raw);
	desk->bytes += padded;
	return event;
}

static struct etw_check_run check(struct desk *desk)
{
	return etw_check_run(desk->cache, &desk->limits, desk->run, desk->bytes);
}

static void test_check_run__all_good_ones_pass(void **state)
{
	static struct desk desk;
	struct etw_check_run good;

	(void)state;
	open_desk(&desk);
	for (uint32_t i = 0; i < 8; i++)
		(void)add(&desk, 0x58 + i, 1500 + i);
	good = check(&desk);
	assert_int_equal(good.count, 8);
	assert_int_equal(good.bytes, desk.bytes);
	assert_int_equal(good.raised, 0);
	assert_int_equal(desk.limits.floor_raw, 1507);
	close_desk(&desk);
}

/* Whatever a writer left there comes from its memory, and is nobody's business. */
static void test_check_run__padding_is_zeroed(void **state)
{
	static struct desk desk;

	(void)state;
	open_desk(&desk);
	for (uint32_t bytes = 0x50; bytes < 0x60; bytes++) {
		desk.bytes = 0;
		desk.limits.floor_raw = 1000;
		(void)add(&desk, bytes, 1500);
		assert_int_equal(check(&desk).count, 1);
		for (uint32_t i = 0x50; i < bytes; i++)
			assert_int_equal(desk.run[i], 0xAB);
		for (uint32_t i = bytes; i < desk.bytes; i++)
			assert_int_equal(desk.run[i], 0);
	}
	close_desk(&desk);
}

static void test_check_run__ends_before_a_refused_event(void **state)
{
	static const struct {
		uint32_t at;
		uint16_t value;
	} spoils[] = {
		{0, 0x4F},      {0, 7},      {0, 0},      {0, 0xFFFF}, /* sizes */
		{2, 0xC001},    {2, 0x0013}, {2, 0xC0FF},              /* type, flag */
		{4, 0x0001},    {6, 0x0001}, /* flags without items, property */
		{0x08, 0},                   /* thread */
		{0x0E, 0x8000}, {0x14, 1},   /* process, time */
	};
	static struct desk desk;

	(void)state;
	open_desk(&desk);
	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		struct etw_check_run good;

		desk.bytes = 0;
		desk.limits.floor_raw = 1000;
		(void)add(&desk, 0x60, 1500);
		(void)add(&desk, 0x60, 1501);
		etw_store16(add(&desk, 0x60, 1502) + spoils[i].at, spoils[i].value);
		(void)add(&desk, 0x60, 1503);
		good = check(&desk);
		assert_int_equal(good.count, 2);
		assert_int_equal(good.bytes, 0xC0);
		assert_int_equal(desk.limits.floor_raw, 1501);
	}
	close_desk(&desk);
}

static void test_check_run__times_are_raised_and_counted(void **state)
{
	static struct desk desk;
	struct etw_check_run good;
	const uint8_t *second;

	(void)state;
	open_desk(&desk);
	(void)add(&desk, 0x60, 1500);
	second = add(&desk, 0x60, 1490);
	(void)add(&desk, 0x60, 1500);
	(void)add(&desk, 0x60, 2001); /* what is to come may be as early */
	good = check(&desk);
	assert_int_equal(good.count, 3);
	assert_int_equal(good.raised, 1);
	assert_int_equal(etw_load64(second + 0x10), 1500);
	assert_int_equal(desk.limits.floor_raw, 1500);
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

/* Many providers and processes that take turns are asked about once a second all the same. */
static void test_check_run__writers_are_remembered_together(void **state)
{
	static struct desk desk;

	(void)state;
	open_desk(&desk);
	desk.fixture.host.may_be_pid = count_ask;
	asks = 0;
	for (uint32_t i = 0; i < 360; i++) {
		uint8_t *event = add(&desk, 0x60, 1500);

		etw_store32(event + 0x0C, 1 + i % 4);
		event[0x27] = (uint8_t)(i % 9);
	}
	assert_int_equal(check(&desk).count, 360);
	assert_int_equal(asks, 4);
	desk.limits.now_ns += ETW_CHECK_ALLOWED_NS;
	assert_int_equal(check(&desk).count, 360);
	assert_int_equal(asks, 8);
	close_desk(&desk);
}

/* What is not remembered of another writer lets nobody pass: no process has the number 0. */
static void test_check_run__an_empty_memory_lets_nobody_pass(void **state)
{
	static struct desk desk;
	uint8_t *event;

	(void)state;
	open_desk(&desk);
	desk.limits.now_ns = 0;
	event = add(&desk, 0x60, 1500);
	memset(event + 0x18, 0, 16);
	etw_store32(event + 0x0C, 0);
	assert_int_equal(check(&desk).count, 0);
	close_desk(&desk);
}

/* Any bytes: nothing outside is touched, and what passes adds up. */
static void test_check_run__random_bytes(void **state)
{
	static struct desk desk;
	unsigned seed = 1;

	(void)state;
	open_desk(&desk);
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t bytes = 8 * (1 + (uint32_t)rand_r(&seed) % 64), at = 0;
		uint8_t *copy;
		struct etw_check_run good;

		desk.bytes = 0;
		for (uint32_t i = 0; i < 8; i++)
			(void)add(&desk, 0x50 + (uint32_t)rand_r(&seed) % 64, 1500);
		for (uint32_t i = 0; i < round % 8; i++)
			desk.run[(uint32_t)rand_r(&seed) % desk.bytes] = (uint8_t)rand_r(&seed);
		bytes = bytes < desk.bytes ? bytes : desk.bytes;
		copy = malloc(bytes); /* so that a sanitizer sees its end */
		assert_non_null(copy);
		memcpy(copy, desk.run, bytes);
		desk.limits.floor_raw = 1000;
		good = etw_check_run(desk.cache, &desk.limits, copy, bytes);
		assert_true(good.bytes <= bytes);
		for (uint32_t i = 0; i < good.count; i++)
			at += (etw_load16(copy + at) + 7u) / 8 * 8;
		assert_int_equal(at, good.bytes);
		free(copy);
	}
	close_desk(&desk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_run__all_good_ones_pass),
		cmocka_unit_test(test_check_run__padding_is_zeroed),
		cmocka_unit_test(test_check_run__ends_before_a_refused_event),
		cmocka_unit_test(test_check_run__times_are_raised_and_counted),
		cmocka_unit_test(test_check_run__writers_are_remembered_together),
		cmocka_unit_test(test_check_run__an_empty_memory_lets_nobody_pass),
		cmocka_unit_test(test_check_run__random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
