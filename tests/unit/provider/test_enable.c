/* SPDX-License-Identifier: MIT */
/* Which events a session gets: levels, keywords, properties, several sessions, changes under writers. */
#include "provider_test.h"

#include <errno.h>
#include <pthread.h>

#include <evntcons.h>

#include "provider/enable.h"

static struct taken taken;
static struct fake_session session;
static uint64_t handle;

static int begin(void **state)
{
	(void)state;
	open_session(&session, 1, 8, WIRE_RING_ONE_STREAM);
	handle = register_provider(NULL, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
	return 0;
}

static void enable(struct fake_wish wish)
{
	assert_int_equal(fake_host_enable(&host, &test_provider, &session, wish), 0);
}

/* What the test and the write say of an event of this level and keyword; they must agree. */
static bool passes(uint8_t level, uint64_t keyword)
{
	const bool is_wanted = etw_provider_wants(handle, level, keyword);

	assert_int_equal(write_number(handle, level, keyword, 0), 0);
	assert_int_equal(take_all(&session, &taken), is_wanted);
	return is_wanted;
}

static void test_enable__nothing_passes_before(void **state)
{
	(void)state;
	assert_int_equal(etw_provider_gate(handle), 0);
	assert_false(passes(0, 0));
	assert_false(passes(1, UINT64_MAX));
}

static void test_enable__by_level(void **state)
{
	(void)state;
	enable((struct fake_wish){.level = 4});
	assert_int_equal(etw_provider_gate(handle), 1);
	assert_true(passes(0, 0));
	assert_true(passes(4, 0));
	assert_false(passes(5, 0));
	enable((struct fake_wish){.level = 0}); /* means all */
	assert_true(passes(255, 0));
	enable((struct fake_wish){.level = 2});
	assert_false(passes(3, 0));
	assert_int_equal(fake_host_disable(&host, &test_provider, &session), 0);
	assert_false(passes(0, 0));
	assert_int_equal(etw_provider_gate(handle), 0);
}

static void test_enable__by_keywords(void **state)
{
	(void)state;
	enable((struct fake_wish){.level = 5, .match_any = 0x6});
	assert_true(passes(5, 0));
	assert_true(passes(5, 0x2));
	assert_true(passes(5, 0x5));
	assert_false(passes(5, 0x9));
	enable((struct fake_wish){.level = 5, .match_any = 0x6, .match_all = 0x30});
	assert_false(passes(5, 0x12));
	assert_true(passes(5, 0x32));
	assert_false(passes(5, 0x30));
	assert_true(passes(5, 0));
	enable((struct fake_wish){.level = 5}); /* no keyword: all */
	assert_true(passes(5, UINT64_C(1) << 63));
	enable((struct fake_wish){.level = 5, .match_all = 0x8});
	assert_true(passes(5, 0x18));
	assert_false(passes(5, 0x10));
}

static void test_enable__properties(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {.Level = 1, .Keyword = 1};
	const struct etw_event_request private_event = {
		.descriptor = &descriptor, .activity = &test_activity, .is_in_private = true};

	(void)state;
	enable((struct fake_wish){.property = EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0});
	assert_false(passes(1, 0));
	assert_true(passes(1, 1));
	assert_int_equal(etw_provider_write(handle, &private_event), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	enable((struct fake_wish){.property = EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE});
	assert_true(passes(1, 0));
	assert_int_equal(etw_provider_write(handle, &private_event), 0);
	assert_int_equal(take_all(&session, &taken), 0);
}

static void test_enable__each_session_by_its_own_wish(void **state)
{
	struct fake_session second;

	(void)state;
	open_session(&second, 2, 8, WIRE_RING_ONE_STREAM);
	enable((struct fake_wish){.level = 2});
	assert_int_equal(fake_host_enable(&host, &test_provider, &second,
					  (struct fake_wish){.level = 5, .match_any = 1}),
			 0);
	assert_int_equal(write_number(handle, 1, 2, 0), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(take_all(&second, &taken), 0);
	assert_int_equal(write_number(handle, 5, 1, 0), 0);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(take_all(&second, &taken), 1);
	assert_int_equal(write_number(handle, 2, 1, 0), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(take_all(&second, &taken), 1);
	end_session(&second);
	assert_true(passes(2, 1));
}

static void test_enable__a_handle_that_is_gone_leads_nowhere(void **state)
{
	const uint64_t gone = handle;
	const struct etw_enable_query query = {0};
	struct etw_enable_view view;

	(void)state;
	enable((struct fake_wish){0});
	assert_int_equal(etw_provider_unregister(handle), 0);
	handle = register_provider(NULL, NULL);
	assert_int_not_equal(handle, gone);
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t wrong[] = {0, gone, handle + 1};

		assert_int_equal(etw_provider_gate(wrong[i]), -EBADF);
		assert_int_equal(etw_enable_collect(wrong[i], &query, &view), -EBADF);
		assert_int_equal(write_number(wrong[i], 0, 0, 0), -EBADF);
		assert_false(etw_provider_wants(wrong[i], 0, 0));
	}
	assert_true(passes(0, 0));
}

/* Level 2 with keyword 1, or level 4 with keyword 2; a mixture would let level 4 with keyword 1 pass. */
struct racer {
	pthread_t thread;
	uint32_t is_done; /* atomic */
	uint64_t written;
};

static void *race(void *context)
{
	struct racer *racer = context;

	while (!load_relaxed(&racer->is_done)) {
		assert_false(etw_provider_wants(handle, 4, 1));
		assert_false(etw_provider_wants(handle, 3, 1));
		racer->written++;
	}
	return NULL;
}

static void test_enable__no_event_is_judged_by_a_mixture(void **state)
{
	struct racer racer = {0};

	(void)state;
	enable((struct fake_wish){.level = 2, .match_any = 1});
	assert_int_equal(pthread_create(&racer.thread, NULL, race, &racer), 0);
	for (int i = 0; i < 2000; i++)
		enable(i & 1 ? (struct fake_wish){.level = 2, .match_any = 1}
			     : (struct fake_wish){.level = 4, .match_any = 2});
	store_relaxed(&racer.is_done, 1u);
	assert_int_equal(pthread_join(racer.thread, NULL), 0);
	assert_true(racer.written > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_enable__nothing_passes_before, begin, end),
		cmocka_unit_test_setup_teardown(test_enable__by_level, begin, end),
		cmocka_unit_test_setup_teardown(test_enable__by_keywords, begin, end),
		cmocka_unit_test_setup_teardown(test_enable__properties, begin, end),
		cmocka_unit_test_setup_teardown(test_enable__each_session_by_its_own_wish, begin,
						end),
		cmocka_unit_test_setup_teardown(test_enable__a_handle_that_is_gone_leads_nowhere,
						begin, end),
		cmocka_unit_test_setup_teardown(test_enable__no_event_is_judged_by_a_mixture, begin,
						end),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
