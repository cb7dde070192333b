/* SPDX-License-Identifier: MIT */
#include "daemon/wishes.h"

#include "base/guid.h"
#include "unit/daemon/fixture.h"

static struct fake_peer *controller, *provider;
static uint64_t one, two;

static int set_up(void **state)
{
	if (fixture_set_up(state))
		return -1;
	controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	one = fake_peer_start(controller, "one");
	two = fake_peer_start(controller, "two");
	return 0;
}

static int tear_down(void **state)
{
	fake_peer_free(controller);
	fake_peer_free(provider);
	return fixture_tear_down(state);
}

/* The only registration of @guid. */
static struct etwd_registration *registration_of(GUID guid)
{
	struct etwd_provider *of = etwd_providers_find(&fixture_host->providers, &guid);

	assert_non_null(of);
	assert_non_null(of->registrations);
	return of->registrations;
}

static void enable(GUID guid, const struct etwd_enable *wanted)
{
	assert_int_equal(etwd_providers_enable(&fixture_host->providers, &guid, wanted), 0);
}

static struct etwd_enable wish(uint64_t session, uint8_t level, uint64_t any, uint64_t all)
{
	return (struct etwd_enable){.session_id = (uint32_t)session,
				    .level = level,
				    .match_any = any,
				    .match_all = all};
}

static struct etwd_enable group_wish(uint64_t session, uint8_t level, uint64_t any)
{
	struct etwd_enable wanted = wish(session, level, any, 0);

	wanted.property = EVENT_ENABLE_PROPERTY_PROVIDER_GROUP;
	return wanted;
}

static struct wire_enable described(const struct etwd_registration *registration,
				    size_t left_out_count)
{
	struct etwd_described enables;
	struct etwd_wishes left_out;
	struct wire_enable state;

	etwd_wishes_describe(&fixture_host->sessions, registration, &state, &enables, &left_out);
	assert_int_equal(left_out.count, left_out_count);
	return state;
}

static void test_wishes__description_sums_up(void **state)
{
	const GUID guid = fixture_guid(1);
	struct etwd_enable first = wish(one, 4, 6, 3), second = wish(two, 2, 8, 6);
	struct wire_enable said;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	assert_false(etwd_wishes_exist(registration_of(guid)));
	second.source = fixture_guid(55);
	enable(guid, &first);
	enable(guid, &second);
	assert_true(etwd_wishes_exist(registration_of(guid)));
	said = described(registration_of(guid), 0);
	assert_int_equal(said.control_code, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	assert_int_equal(said.level, 4);
	assert_true(said.match_any == 14 && said.match_all == 2);
	assert_true(etw_guid_is_null(&said.source)); /* of a call, not of the state */
	/* Nothing asked for means everything. */
	second.level = 0;
	second.match_any = 0;
	enable(guid, &second);
	said = described(registration_of(guid), 0);
	assert_int_equal(said.level, 0xFF);
	assert_true(said.match_any == UINT64_MAX);
	assert_int_equal(said.slots[0].level, 4);
	assert_int_equal(said.slots[1].level, 0xFF);
	assert_int_equal(said.slots[2].is_used, 0);
}

/* A session that has enabled both has a slot for each; the callback hears of their sum. */
static void test_wishes__provider_and_group_add_up(void **state)
{
	const GUID guid = fixture_guid(1), group = fixture_guid(9);
	const struct etwd_enable own = wish(one, 2, 1, 1);
	const struct etwd_enable by_group = group_wish(one, 5, 2);
	const struct etwd_enable other = group_wish(two, 3, 4);
	struct etwd_registration *registration;
	struct wire_enable said;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	registration = registration_of(guid);
	enable(group, &by_group);
	assert_false(etwd_wishes_exist(registration));
	assert_int_equal(etwd_providers_join(&fixture_host->providers, registration, &group), 0);
	assert_true(etwd_wishes_exist(registration));
	enable(guid, &own);
	enable(group, &other);
	said = described(registration, 0);
	assert_int_equal(said.level, 5);
	assert_true(said.match_any == 7 && said.match_all == 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(said.slots[i].is_used, i < 3);
	assert_int_equal(said.slots[0].level, 2);
	assert_int_equal(said.slots[1].level, 5);
	assert_int_equal(said.slots[1].session_id, one);
	assert_true(said.slots[1].property & EVENT_ENABLE_PROPERTY_PROVIDER_GROUP);
	assert_int_equal(said.slots[2].session_id, two);
	assert_int_equal(
		etwd_wishes_of(&fixture_host->sessions, registration, (uint32_t)one)->level, 2);
	assert_int_equal(
		etwd_wishes_of(&fixture_host->sessions, registration, (uint32_t)two)->level, 3);
}

static void test_wishes__disallowed_providers_are_left_out(void **state)
{
	const GUID guid = fixture_guid(1), group = fixture_guid(9);
	const struct etwd_enable by_group = group_wish(one, 5, 2), other = group_wish(two, 3, 4);
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, (uint32_t)one);
	struct etwd_registration *registration;
	struct wire_enable said;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	registration = registration_of(guid);
	assert_int_equal(etwd_providers_join(&fixture_host->providers, registration, &group), 0);
	enable(group, &by_group);
	enable(group, &other);
	session->settings.disallowed = malloc(sizeof(GUID));
	assert_non_null(session->settings.disallowed);
	*session->settings.disallowed = guid;
	session->settings.disallowed_count = 1;
	said = described(registration, 0);
	assert_int_equal(said.level, 3);
	assert_int_equal(said.slots[0].session_id, two);
	assert_int_equal(said.slots[1].is_used, 0);
	assert_null(etwd_wishes_of(&fixture_host->sessions, registration, (uint32_t)one));
}

/* The message has eight places, of which a provider's own sessions come first. */
static void test_wishes__more_than_there_are_places(void **state)
{
	const GUID guid = fixture_guid(1), group = fixture_guid(9);
	struct etwd_registration *registration;
	struct wire_enable said;

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	registration = registration_of(guid);
	assert_int_equal(etwd_providers_join(&fixture_host->providers, registration, &group), 0);
	for (uint32_t i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		const struct etwd_enable own = wish(100 + i, 1, 1, 0);
		const struct etwd_enable by_group = group_wish(200 + i, 5, 2);

		if (i % 2)
			enable(guid, &own);
		enable(group, &by_group);
	}
	said = described(registration, WIRE_ENABLE_SLOTS / 2);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++) {
		assert_int_equal(said.slots[i].is_used, 1);
		assert_int_equal(said.slots[i].session_id < 200, i < WIRE_ENABLE_SLOTS / 2);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_wishes__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(description_sums_up),
		TEST(provider_and_group_add_up),
		TEST(disallowed_providers_are_left_out),
		TEST(more_than_there_are_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
