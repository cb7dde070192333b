/* SPDX-License-Identifier: MIT */
#include "daemon/providers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntprov.h>
#include <evntrace.h>

#include "base/guid.h"

static struct etwd_providers providers;
static struct etwd_registrations own;
static struct etwd_peer peer;

static GUID guid_of(uint32_t number)
{
	return (GUID){number, 1, 2, {3}};
}

static int set_up(void **state)
{
	(void)state;
	etwd_providers_init(&providers, NULL);
	own = (struct etwd_registrations){0};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etwd_providers_done(&providers);
	return 0;
}

static int do_register(uint32_t number, GUID guid, struct etwd_registration **ret)
{
	struct wire_register body = {.registration = number, .provider = guid};
	struct etwd_registration *registration;

	return etwd_providers_register(&providers, &peer, &own, &body, ret ? ret : &registration);
}

/* What a classic registration of the provider is told. */
static void describe_classic(const GUID *guid, struct wire_enable *ret)
{
	const struct etwd_registration one = {.provider = etwd_providers_find(&providers, guid)};
	struct etwd_described enables;

	etwd_provider_describe_classic(&one, ret, &enables);
}

static struct etwd_enable wish(uint32_t session_id)
{
	return (struct etwd_enable){.session_id = session_id, .level = 4, .match_any = 6};
}

static int do_enable(GUID guid, uint32_t session_id)
{
	struct etwd_enable wanted = wish(session_id);

	return etwd_providers_enable(&providers, &guid, &wanted);
}

static int disable(const GUID *guid, uint32_t session_id)
{
	return etwd_providers_disable(&providers, &(struct etwd_enabled){.guid = *guid},
				      session_id);
}

static void test_providers__provider_lives_as_long_as_somebody_needs_it(void **state)
{
	GUID guid = guid_of(1);

	(void)state;
	assert_null(etwd_providers_find(&providers, &guid));
	assert_int_equal(do_enable(guid, 7), 0);
	assert_non_null(etwd_providers_find(&providers, &guid));
	assert_int_equal(do_register(1, guid, NULL), 0);
	assert_int_equal(disable(&guid, 7), 0);
	assert_non_null(etwd_providers_find(&providers, &guid));
	assert_int_equal(etwd_providers_unregister(&providers, &own, 1), 0);
	assert_null(etwd_providers_find(&providers, &guid));
	assert_int_equal(providers.registration_count, 0);
	assert_int_equal(providers.enable_count, 0);
}

static void test_providers__errors(void **state)
{
	GUID guid = guid_of(1);

	(void)state;
	assert_int_equal(etwd_providers_unregister(&providers, &own, 1), -ENOENT);
	assert_int_equal(disable(&guid, 7), -ENOENT);
	assert_int_equal(do_register(1, guid, NULL), 0);
	assert_int_equal(do_register(1, guid_of(2), NULL), -EEXIST);
	assert_int_equal(disable(&guid, 7), -ENOENT);
	assert_int_equal(disable(&guid, 0), -ENOENT);
	for (uint32_t i = 2; i <= ETWD_REGISTRATIONS_PER_PEER_MAX; i++)
		assert_int_equal(do_register(i, guid, NULL), 0);
	assert_int_equal(do_register(0, guid, NULL), -ENOSPC);
	assert_int_equal(etwd_providers_unregister_some(&providers, &own, SIZE_MAX),
			 ETWD_REGISTRATIONS_PER_PEER_MAX);
	assert_int_equal(own.count, 0);
	assert_null(etwd_providers_find(&providers, &guid));
}

static void test_providers__what_is_used_is_charged_and_given_back(void **state)
{
	enum {
		UID = 70000,
		SESSION_UID = 70001
	};
	static struct etwd_budget budget;
	uint8_t filter[100] = {0};
	GUID guid = guid_of(1);
	struct etwd_enable wanted = wish(7);

	(void)state;
	etwd_budget_init(&budget, 1, 1024);
	budget.limits[ETWD_REGISTRATIONS].each = 2;
	budget.limits[ETWD_ENABLES].each = 1;
	budget.limits[ETWD_FILTER_BYTES].each = 250;
	providers.budget = &budget;
	peer.who.uid = UID;
	assert_int_equal(do_register(1, guid, NULL), 0);
	assert_int_equal(do_register(1, guid, NULL), -EEXIST);
	assert_int_equal(do_register(2, guid, NULL), 0);
	assert_int_equal(do_register(3, guid, NULL), -ENOSPC);
	wanted.uid = SESSION_UID;
	etw_store32(filter, 1);
	etw_store32(filter + 4, sizeof(filter) - WIRE_FILTER_HEAD_BYTES);
	wanted.filters = filter;
	wanted.filter_bytes = sizeof(filter);
	for (int i = 0; i < 5; i++) /* each replaces the last one */
		assert_int_equal(etwd_providers_enable(&providers, &guid, &wanted), 0);
	assert_int_equal(etwd_budget_used(&budget, SESSION_UID, ETWD_FILTER_BYTES), 100);
	wanted.session_id = 8;
	assert_int_equal(etwd_providers_enable(&providers, &guid, &wanted), -ENOSPC);
	assert_int_equal(etwd_budget_used(&budget, SESSION_UID, ETWD_FILTER_BYTES), 100);
	assert_int_equal(disable(&guid, 7), 0);
	assert_int_equal(etwd_providers_unregister_some(&providers, &own, 1), 1);
	assert_int_equal(etwd_providers_unregister_some(&providers, &own, 5), 1);
	assert_int_equal(budget.account_count, 0);
	providers.budget = NULL;
	etwd_budget_done(&budget);
}

static void test_providers__slots_are_stable_and_limited(void **state)
{
	GUID guid = guid_of(1);
	struct etwd_provider *provider;

	(void)state;
	for (uint32_t i = 1; i <= WIRE_ENABLE_SLOTS; i++)
		assert_int_equal(do_enable(guid, i), 0);
	assert_int_equal(do_enable(guid, 100), -ENOSPC);
	provider = etwd_providers_find(&providers, &guid);
	assert_int_equal(disable(&guid, 3), 0);
	assert_int_equal(provider->enables[3].session_id, 4);
	assert_int_equal(do_enable(guid, 100), 0);
	assert_int_equal(provider->enables[2].session_id, 100);
	assert_int_equal(do_enable(guid, 4), 0); /* again: in its place */
	assert_int_equal(provider->enables[3].session_id, 4);
	assert_int_equal(provider->enable_count, WIRE_ENABLE_SLOTS);
}

/* A group is no provider of the same GUID, and is known as long as it has members or sessions. */
static void test_providers__groups_have_members(void **state)
{
	const GUID group = guid_of(1), other = guid_of(2), none = {0};
	struct etwd_registration *first, *second;
	struct etwd_enable wanted = wish(7);
	struct etwd_enabled found[2];

	(void)state;
	assert_int_equal(do_register(1, guid_of(1), &first), 0);
	assert_int_equal(do_register(2, guid_of(3), &second), 0);
	assert_null(etwd_providers_find_group(&providers, &group));
	assert_int_equal(etwd_providers_join(&providers, first, &group), 0);
	assert_int_equal(etwd_providers_join(&providers, second, &group), 0);
	assert_int_equal(etwd_providers_join(&providers, second, &group), 0);
	assert_ptr_equal(first->group, etwd_providers_find_group(&providers, &group));
	assert_ptr_not_equal(first->group, etwd_providers_find(&providers, &group));
	assert_ptr_equal(first->group->members, second);
	/* Into another one, and out of it. */
	assert_int_equal(etwd_providers_join(&providers, second, &other), 0);
	assert_ptr_equal(first->group->members, first);
	assert_int_equal(etwd_providers_join(&providers, second, &none), 0);
	assert_null(etwd_providers_find_group(&providers, &other));
	/* Enabled, it outlives its members. */
	wanted.property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP;
	assert_int_equal(etwd_providers_enable(&providers, &group, &wanted), 0);
	assert_null(etwd_provider_enable_in(etwd_providers_find(&providers, &group), 7));
	assert_non_null(etwd_provider_enable_in(first->group, 7));
	assert_int_equal(etwd_providers_unregister(&providers, &own, 1), 0);
	assert_non_null(etwd_providers_find_group(&providers, &group));
	assert_int_equal(etwd_providers_enabled(&providers, 7, found, 2), 1);
	assert_true(found[0].is_group);
	assert_int_equal(disable(&group, 7), -ENOENT);
	assert_int_equal(etwd_providers_disable(&providers, &found[0], 7), 0);
	assert_null(etwd_providers_find_group(&providers, &group));
}

static void test_providers__group_of_traits(void **state)
{
	static const uint8_t traits[] = {26, 0, 'P', 0, 3, 0, 9, 19, 0, 1, 1, 0, 0,
					 0,  1, 0,   2, 0, 3, 0, 0,  0, 0, 0, 0, 0};
	const GUID expected = guid_of(1);
	GUID found;

	(void)state;
	found = etwd_traits_group((struct etw_bytes){traits, sizeof(traits)});
	assert_memory_equal(&found, &expected, sizeof(found));
	for (size_t bytes = 0; bytes < sizeof(traits); bytes++) {
		found = etwd_traits_group((struct etw_bytes){traits, bytes});
		assert_true(etw_guid_is_null(&found));
	}
}

static int register_as(uint32_t number, uint32_t kind)
{
	const struct wire_register body = {
		.registration = number, .kind = kind, .provider = guid_of(1)};
	struct etwd_registration *registration;

	return etwd_providers_register(&providers, &peer, &own, &body, &registration);
}

/* RegisterTraceGuids: of several sessions the last has the provider, without an error for anybody. */
static void test_providers__classic_ones_are_of_one_session(void **state)
{
	struct etwd_enable first = wish(1), second = wish(2), third = wish(3);
	GUID guid = guid_of(1);
	struct wire_enable enable;

	(void)state;
	peer.who.uid = first.uid;
	/* Before it is known what kind of provider it is, it may be of many. */
	assert_int_equal(etwd_providers_enable(&providers, &guid, &first), 0);
	assert_int_equal(etwd_providers_enable(&providers, &guid, &second), 0);
	assert_int_equal(register_as(1, WIRE_REGISTRATION_CLASSIC), 0);
	assert_int_equal(providers.enable_count, 1);
	assert_int_equal(disable(&guid, 1), -ENOENT);
	third.match_any = 0xF00000007;
	third.level = 0;
	assert_int_equal(etwd_providers_enable(&providers, &guid, &third), 0);
	assert_int_equal(providers.enable_count, 1);
	describe_classic(&guid, &enable);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(enable.level, 0);
	assert_true(enable.match_any == 7);
	/* The same session again changes what it wants. */
	third.match_any = 0;
	assert_int_equal(etwd_providers_enable(&providers, &guid, &third), 0);
	describe_classic(&guid, &enable);
	assert_true(enable.match_any == 0);
	/* Where it is registered in both ways, the classic registration is told of the last session alone. */
	assert_int_equal(register_as(2, WIRE_REGISTRATION_MODERN), 0);
	assert_int_equal(etwd_providers_enable(&providers, &guid, &first), 0);
	assert_int_equal(providers.enable_count, 2);
	describe_classic(&guid, &enable);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		assert_true(!enable.slots[i].is_used || enable.slots[i].session_id == 1);
	assert_int_equal(disable(&guid, 1), 0);
	assert_int_equal(disable(&guid, 3), 0);
	describe_classic(&guid, &enable);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
	assert_int_equal(etwd_providers_unregister_some(&providers, &own, 2), 2);
}

/* Another user's registration takes the provider from nobody; root's does. */
static void test_providers__a_stranger_takes_no_classic_provider_away(void **state)
{
	struct etwd_enable first = wish(1), second = wish(2);
	GUID guid = guid_of(1);
	struct wire_enable enable;

	(void)state;
	first.uid = second.uid = 1000;
	assert_int_equal(etwd_providers_enable(&providers, &guid, &first), 0);
	assert_int_equal(etwd_providers_enable(&providers, &guid, &second), 0);
	peer.who.uid = 2000;
	assert_int_equal(register_as(1, WIRE_REGISTRATION_CLASSIC), 0);
	assert_int_equal(providers.enable_count, 2);
	assert_int_equal(etwd_providers_enable(&providers, &guid, &first), 0);
	assert_int_equal(providers.enable_count, 2);
	describe_classic(&guid, &enable);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		assert_true(!enable.slots[i].is_used || enable.slots[i].session_id == 1);
	peer.who.uid = 0;
	assert_int_equal(register_as(2, WIRE_REGISTRATION_CLASSIC), 0);
	assert_int_equal(providers.enable_count, 1);
	assert_int_equal(disable(&guid, 2), -ENOENT);
	assert_int_equal(disable(&guid, 1), 0);
	assert_int_equal(etwd_providers_unregister_some(&providers, &own, 2), 2);
}

static size_t put(uint8_t *list, size_t at, uint32_t type, const void *data, size_t bytes)
{
	const struct wire_filter filter = {type, {data, bytes}};
	const size_t taken = wire_filter_put(list + at, WIRE_FILTER_BYTES_MAX - at, &filter);

	assert_true(taken > 0);
	return at + taken;
}

static void test_providers__filters_are_copied_and_limited(void **state)
{
	static uint8_t list[WIRE_FILTER_BYTES_MAX], data[MAX_EVENT_FILTER_DATA_SIZE];
	static const uint8_t ids[] = {1, 0, 1, 0, 7, 0};
	struct etwd_enable wanted = wish(1);
	const struct etwd_enable *enable;
	struct wire_filter filter;
	struct etw_bytes rest;
	GUID guid = guid_of(1);
	uint32_t count = 0;
	size_t bytes;
	int r = 0;

	(void)state;
	bytes = put(list, 0, EVENT_FILTER_TYPE_SCHEMATIZED, data, sizeof(data));
	bytes = put(list, bytes, EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof(ids));
	wanted.filters = list;
	wanted.filter_bytes = (uint32_t)bytes;
	assert_int_equal(etwd_providers_enable(&providers, &guid, &wanted), 0);
	list[bytes - 4] = 99;
	/* Processes hear of those that are about events. */
	enable = etwd_provider_enable_in(etwd_providers_find(&providers, &guid), 1);
	assert_int_equal(enable->filter_bytes, bytes);
	rest = (struct etw_bytes){enable->filters, enable->event_filter_bytes};
	assert_true(wire_filter_next(&rest, &filter));
	assert_int_equal(filter.type, EVENT_FILTER_TYPE_EVENT_ID);
	assert_memory_equal(filter.data.at, ids, sizeof(ids));
	assert_int_equal(rest.left, 0);
	while (r == 0 && count < 10000) {
		GUID other = guid_of(100 + count++);

		r = etwd_providers_enable(&providers, &other, &wanted);
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(providers.filter_bytes <= ETWD_FILTER_BYTES_MAX);
	assert_int_equal(disable(&guid, 1), 0);
	assert_int_equal(etwd_providers_enable(&providers, &guid, &wanted), 0);
}

static void test_providers__enables_are_limited(void **state)
{
	uint32_t count = 0;

	(void)state;
	while (count < 2 * ETWD_ENABLES_MAX && do_enable(guid_of(count), 1) == 0)
		count++;
	assert_int_equal(count, ETWD_ENABLES_MAX);
	assert_int_equal(do_enable(guid_of(count), 1), -ENOSPC);
	assert_null(etwd_providers_find(&providers, &(GUID){count, 1, 2, {3}}));
}

static void test_providers__lists_what_a_session_enabled(void **state)
{
	struct etwd_enabled found[3];

	(void)state;
	assert_int_equal(do_enable(guid_of(1), 1), 0);
	assert_int_equal(do_enable(guid_of(2), 2), 0);
	assert_int_equal(do_enable(guid_of(3), 1), 0);
	assert_int_equal(etwd_providers_enabled(&providers, 1, found, 3), 2);
	assert_int_equal(found[0].guid.Data1 + found[1].guid.Data1, 4);
	assert_int_equal(etwd_providers_enabled(&providers, 1, NULL, 0), 2);
	assert_int_equal(etwd_providers_enabled(&providers, 9, found, 3), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_providers__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(provider_lives_as_long_as_somebody_needs_it),
		TEST(errors),
		TEST(what_is_used_is_charged_and_given_back),
		TEST(slots_are_stable_and_limited),
		TEST(groups_have_members),
		TEST(group_of_traits),
		TEST(classic_ones_are_of_one_session),
		TEST(a_stranger_takes_no_classic_provider_away),
		TEST(filters_are_copied_and_limited),
		TEST(enables_are_limited),
		TEST(lists_what_a_session_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
