/* SPDX-License-Identifier: MIT */
/* What TraceSetInformation leaves in a session, when it takes effect, and who may. */
#include "fixture.h"

#include <wmistr.h>

#include "daemon/information.h"
#include "daemon/patient_clock.h"

static int inform(struct fake_peer *fake, const struct wire_inform *body)
{
	struct wire_message head = fake_peer_head(fake, WIRE_INFORM);

	fake_peer_send(fake, wire_message_encode_inform(&head, body, fake->room));
	fake_peer_expect(fake, WIRE_INFORMATION);
	return fake->message.head.status;
}

/* Providers that are not enabled with their groups; each list takes the place of the one before. */
static void test_information__disallow_list(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	static const GUID too_many[WIRE_DISALLOWED_MAX + 1];
	const GUID guids[] = {fixture_guid(1), fixture_guid(2)};
	struct wire_inform set = {.is_set = 1,
				  .class_ = TraceSetDisallowList,
				  .bytes = {(const uint8_t *)guids, sizeof(guids)}};
	struct wire_inform query = {.class_ = TraceDisallowListQuery};
	struct wire_run run;

	(void)state;
	set.handle = query.handle = fake_peer_start(root, "one");
	assert_int_equal(inform(stranger, &set), -ENOENT);
	assert_int_equal(inform(root, &set), 0);
	assert_int_equal(inform(root, &query), 0);
	assert_int_equal(wire_message_decode_run(root->message.datagram, &run), 0);
	assert_int_equal(run.bytes.left, sizeof(guids));
	assert_memory_equal(run.bytes.at, guids, sizeof(guids));
	set.bytes.left = sizeof(guids) - 1;
	assert_int_equal(inform(root, &set), -EMSGSIZE);
	set.bytes = (struct etw_bytes){(const uint8_t *)too_many, sizeof(too_many)};
	assert_int_equal(inform(root, &set), -EINVAL);
	set.bytes.left = 0;
	assert_int_equal(inform(root, &set), 0);
	assert_int_equal(inform(root, &query), 0);
	assert_int_equal(wire_message_decode_run(root->message.datagram, &run), 0);
	assert_int_equal(run.bytes.left, 0);
	set.class_ = TraceStackTracingInfo;
	assert_int_equal(inform(root, &set), -EOPNOTSUPP);
	query.class_ = TraceStackTracingInfo;
	assert_int_equal(inform(root, &query), -EOPNOTSUPP);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

/* The next host has them, as the record says. */
static void test_information__is_handed_over(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	const struct {
		TRACE_PERIODIC_CAPTURE_STATE_INFO info;
		GUID guid;
	} list = {{5, 1, 0}, fixture_guid(3)};
	const struct wire_inform set = {.is_set = 1,
					.class_ = TracePeriodicCaptureStateListInfo,
					.handle = fake_peer_start(root, "one"),
					.bytes = {(const uint8_t *)&list, sizeof(list)}};
	struct etwd_session_settings *settings;

	(void)state;
	assert_int_equal(inform(root, &set), 0);
	settings = &etwd_sessions_find(&fixture_host->sessions, set.handle)->settings;
	settings->captured_count = 0;
	etwd_handover_recall(&fixture_host->handover);
	assert_int_equal(settings->captured_count, 1);
	assert_int_equal(settings->capture_s, 5);
	assert_memory_equal(settings->captured, &list.guid, sizeof(GUID));
	fake_peer_leave(root);
}

static void test_information__states_are_captured_when_due(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	const struct {
		TRACE_PERIODIC_CAPTURE_STATE_INFO info;
		GUID guid;
	} list = {{3600, 1, 0}, fixture_guid(3)};
	struct wire_inform set = {.is_set = 1,
				  .class_ = TracePeriodicCaptureStateListInfo,
				  .bytes = {(const uint8_t *)&list, sizeof(list)}};
	const uint64_t now_ms = etwd_patient_now_ms();
	struct wire_enable enable;
	uint64_t next_ms;
	unsigned sets;

	(void)state;
	assert_int_equal(etwd_information_check(&fixture_host->session_parts, now_ms), 0);
	set.handle = fake_peer_start(root, "one");
	assert_int_equal(fake_peer_register(provider, 1, list.guid), 0);
	assert_int_equal(fake_peer_enable(root, set.handle, list.guid), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(inform(root, &set), 0);
	next_ms = etwd_information_check(&fixture_host->session_parts, now_ms);
	assert_true(next_ms >= now_ms + 3600000);
	assert_true(fake_peer_is_silent(provider));
	assert_true(etwd_information_check(&fixture_host->session_parts, next_ms) > next_ms);
	fake_peer_take_enable(provider, &enable, &sets);
	assert_int_equal(enable.control_code, EVENT_CONTROL_CODE_CAPTURE_STATE);
	assert_int_equal(enable.level, 5);
	fake_peer_leave(provider);
	fake_peer_leave(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_information__disallow_list),
		TEST(test_information__is_handed_over),
		TEST(test_information__states_are_captured_when_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
