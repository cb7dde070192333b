/* SPDX-License-Identifier: MIT */
#include "daemon/handover.h"

#include "unit/daemon/fixture.h"

/* What the next host finds: a copy of the snapshot, recalled by another one with the same sessions. */
static void test_handover__enables_grants_and_incarnation(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_grant grant = {(uint32_t)handle, STRANGER, fixture_guid(1)};
	GUID guid = fixture_guid(1);
	struct etwd_enabled found;
	struct wire_enable enable;
	unsigned sets;

	(void)state;
	assert_int_equal(fake_peer_enable(controller, handle, guid), 0);
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	fake_peer_take_enable(provider, &enable, &sets);
	fake_peer_leave(provider);
	/* As in a new process: nothing is known but the snapshot and the session. */
	assert_int_equal(etwd_providers_disable(&fixture_host->providers,
						&(struct etwd_enabled){.guid = guid},
						(uint32_t)handle),
			 0);
	etwd_grants_end_session(&fixture_host->grants, (uint32_t)handle);
	assert_false(etwd_grants_has(&fixture_host->grants, &grant));
	etwd_handover_recall_grants(&fixture_host->handover);
	assert_true(etwd_grants_has(&fixture_host->grants, &grant));
	etwd_handover_recall(&fixture_host->handover);
	assert_true(etwd_grants_has(&fixture_host->grants, &grant));
	assert_int_equal(
		etwd_providers_enabled(&fixture_host->providers, (uint32_t)handle, &found, 1), 1);
	assert_memory_equal(&found.guid, &guid, sizeof(guid));
	assert_false(found.is_group);
	fake_peer_free(controller);
}

/* What belongs to a session that did not come back is dropped. */
static void test_handover__of_sessions_that_are_gone(void **state)
{
	struct etwd_grant grant = {5, STRANGER, fixture_guid(1)};
	struct etwd_enable wanted = {.session_id = 5, .level = 1};

	(void)state;
	assert_int_equal(etwd_grants_add(&fixture_host->grants, &grant), 1);
	assert_int_equal(etwd_providers_enable(&fixture_host->providers, &grant.provider, &wanted),
			 0);
	assert_int_equal(etwd_handover_write(&fixture_host->handover), 0);
	assert_int_equal(etwd_handover_add_grant(&fixture_host->handover, &grant), 0);
	etwd_grants_end_session(&fixture_host->grants, 5);
	assert_int_equal(etwd_providers_disable(&fixture_host->providers,
						&(struct etwd_enabled){.guid = grant.provider}, 5),
			 0);
	etwd_handover_recall_grants(&fixture_host->handover);
	assert_true(etwd_grants_has(&fixture_host->grants, &grant));
	etwd_handover_recall(&fixture_host->handover);
	assert_false(etwd_grants_has(&fixture_host->grants, &grant));
	assert_int_equal(fixture_host->providers.enable_count, 0);
	assert_int_equal(fixture_host->budget.account_count, 0);
}

/* A grant costs one entry, however many there are; when there is no room, those that hold are written anew. */
static void test_handover__a_grant_is_an_entry(void **state)
{
	struct etwd_grant grant = {5, STRANGER, fixture_guid(1)};
	const uint8_t *record, *record_after, *entries;
	size_t bytes;

	(void)state;
	assert_int_equal(etwd_snapshot_load(&fixture_host->handover.snapshot, &record, &bytes), 0);
	assert_int_equal(etwd_grants_add(&fixture_host->grants, &grant), 1);
	for (size_t i = 1; i <= ETWD_SNAPSHOT_ENTRIES_MAX; i++) {
		assert_int_equal(etwd_handover_add_grant(&fixture_host->handover, &grant), 0);
		assert_int_equal(etwd_snapshot_entries(&fixture_host->handover.snapshot, &entries),
				 i);
	}
	assert_int_equal(etwd_handover_add_grant(&fixture_host->handover, &grant), 0);
	assert_int_equal(etwd_snapshot_entries(&fixture_host->handover.snapshot, &entries), 1);
	assert_memory_equal(entries, &grant, sizeof(grant));
	assert_int_equal(
		etwd_snapshot_load(&fixture_host->handover.snapshot, &record_after, &bytes), 0);
	assert_ptr_equal(record, record_after);
}

static void test_handover__leases(void **state)
{
	struct fake_peer *controller = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	uint64_t handle = fake_peer_start(controller, "one");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);

	(void)state;
	session->lease.is_held = true;
	session->lease.uid = STRANGER;
	assert_int_equal(etwd_handover_write(&fixture_host->handover), 0);
	session->lease.is_held = false;
	session->lease.uid = 0;
	etwd_handover_recall(&fixture_host->handover);
	assert_true(session->lease.is_held);
	assert_int_equal(session->lease.uid, STRANGER);
	assert_true(session->lease.by_ms > 0);
	fake_peer_free(controller);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(test_handover__##name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(enables_grants_and_incarnation),
		TEST(of_sessions_that_are_gone),
		TEST(a_grant_is_an_entry),
		TEST(leases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
