/* SPDX-License-Identifier: MIT */
/* Who may do what at a host, with peers of several uids. */
#include "fixture.h"

#include <grp.h>
#include <sys/wait.h>

#include <wmistr.h>

#include "daemon/access.h"
#include "wire/security.h"
#include "wire/well_known.h"

static const GUID kernel = WIRE_KERNEL_LOGGER_GUID;

static int access_of(struct fake_peer *fake, uint32_t code, GUID guid, uint32_t operation,
		     uint32_t uid, uint32_t rights)
{
	const struct wire_sid sid = etw_sid_of_uid(uid);
	struct wire_message head = fake_peer_head(fake, WIRE_ACCESS);
	const struct wire_access body = {.code = code,
					 .guid = guid,
					 .operation = operation,
					 .rights = rights,
					 .is_allowed = 1,
					 .sid = {sid.bytes, sid.byte_count}};

	fake_peer_send(fake, wire_message_encode_access(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_DESCRIPTOR);
	return fake->message.head.status;
}

static int grant(struct fake_peer *fake, GUID guid, uint32_t uid, uint32_t rights)
{
	return access_of(fake, WIRE_ACCESS_CHANGE, guid, WIRE_SECURITY_ADD_DACL, uid, rights);
}

static int start(struct fake_peer *fake, const char *name, GUID guid, uint32_t mode)
{
	struct wire_session_config *config = fixture_config(name);
	struct wire_message head = fake_peer_head(fake, WIRE_START);

	config->guid = guid;
	config->log_file_mode = mode;
	fake_peer_send(fake, wire_message_encode_session_config(&head, config, fake->room));
	fake_peer_expect(fake, WIRE_SESSION);
	return fake->message.head.status;
}

static uint64_t handle_of(const struct fake_peer *fake)
{
	static struct wire_session_info info;

	assert_int_equal(wire_message_decode_session_info(fake->message.datagram, &info), 0);
	return info.handle;
}

static void test_access__start_takes_the_rights_of_its_modes(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	const uint32_t live = EVENT_TRACE_REAL_TIME_MODE;
	const GUID guid = fixture_guid(2);
	uint64_t handle;

	(void)state;
	assert_int_equal(start(stranger, "granted", guid, live), -EACCES);
	assert_int_equal(grant(root, guid, STRANGER, TRACELOG_CREATE_ONDISK), 0);
	assert_int_equal(start(stranger, "granted", guid, live), -EACCES);
	assert_int_equal(grant(root, guid, STRANGER, TRACELOG_CREATE_REALTIME), 0);
	assert_int_equal(start(stranger, "granted", fixture_guid(3), live), -EACCES);
	/* The kernel takes a right of its own. */
	assert_int_equal(start(stranger, "granted", guid, live | EVENT_TRACE_SYSTEM_LOGGER_MODE),
			 -EACCES);
	assert_int_equal(start(stranger, KERNEL_LOGGER_NAMEA, (GUID){0}, live), -EACCES);
	assert_int_equal(grant(root, kernel, STRANGER, TRACELOG_CREATE_REALTIME), 0);
	assert_int_equal(start(stranger, KERNEL_LOGGER_NAMEA, (GUID){0}, live), -EACCES);
	assert_int_equal(start(stranger, "granted", guid, live), 0);
	handle = handle_of(stranger);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_STOP), 0);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

static void test_access__others_sessions(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	const GUID guid = fixture_guid(4), provider = fixture_guid(5);
	uint64_t handle;

	(void)state;
	assert_int_equal(start(root, "others", guid, EVENT_TRACE_REAL_TIME_MODE), 0);
	handle = handle_of(root);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_QUERY), -ENOENT);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_STOP), -ENOENT);
	assert_int_equal(grant(root, guid, STRANGER, WMIGUID_QUERY), 0);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_QUERY), 0);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_FLUSH), -EACCES);
	assert_int_equal(fake_peer_enable(stranger, handle, provider), -EACCES);
	assert_int_equal(grant(root, guid, STRANGER, TRACELOG_CREATE_REALTIME), 0);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_FLUSH), 0);
	assert_int_equal(fake_peer_enable(stranger, handle, provider), -EACCES);
	assert_int_equal(grant(root, provider, STRANGER, TRACELOG_GUID_ENABLE), 0);
	assert_int_equal(fake_peer_enable(stranger, handle, provider), 0);
	assert_int_equal(fake_peer_control(stranger, handle, WIRE_CONTROL_STOP), 0);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

static void test_access__consuming(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONSUMER);
	const struct wire_subscribe subscribe = {.name = "watched"};
	struct wire_message head;
	const GUID guid = fixture_guid(6);
	int statuses[2];

	(void)state;
	assert_int_equal(start(root, "watched", guid, EVENT_TRACE_REAL_TIME_MODE), 0);
	for (unsigned i = 0; i < 2; i++) {
		head = fake_peer_head(stranger, WIRE_SUBSCRIBE);
		fake_peer_send(stranger,
			       wire_message_encode_subscribe(&head, &subscribe, stranger->room));
		fake_peer_expect(stranger, WIRE_SUBSCRIBED);
		statuses[i] = stranger->message.head.status;
		assert_int_equal(grant(root, guid, STRANGER, TRACELOG_ACCESS_REALTIME), 0);
	}
	assert_int_equal(statuses[0], -ENOENT);
	assert_int_equal(statuses[1], 0);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

static void test_access__registering(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	const GUID guid = fixture_guid(7);

	(void)state;
	assert_int_equal(fake_peer_register(stranger, 1, kernel), -EACCES);
	assert_int_equal(fake_peer_register(stranger, 1, guid), 0);
	/* Nobody but one uid, from now on. */
	assert_int_equal(access_of(root, WIRE_ACCESS_CHANGE, guid, WIRE_SECURITY_SET_DACL,
				   STRANGER + 1, TRACELOG_REGISTER_GUIDS),
			 0);
	assert_int_equal(fake_peer_register(stranger, 2, guid), -EACCES);
	assert_int_equal(grant(root, guid, STRANGER, TRACELOG_REGISTER_GUIDS), 0);
	assert_int_equal(fake_peer_register(stranger, 2, guid), 0);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

static unsigned used_slots(const struct wire_enable *enable)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		count += enable->slots[i].is_used;
	return count;
}

static void test_access__a_secure_session_takes_events_of_the_granted(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *trusted = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	const GUID guid = fixture_guid(8), provider = fixture_guid(9);
	struct wire_enable enable;
	unsigned sets;
	uint64_t handle;

	(void)state;
	assert_int_equal(
		start(root, "secure", guid, EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_SECURE_MODE),
		0);
	handle = handle_of(root);
	assert_int_equal(fake_peer_register(trusted, 1, provider), 0);
	assert_int_equal(fake_peer_register(stranger, 1, provider), 0);
	assert_int_equal(fake_peer_enable(root, handle, provider), 0);
	fake_peer_take_enable(trusted, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_equal(used_slots(&enable), 1);
	fake_peer_take_enable(stranger, &enable, &sets);
	assert_int_equal(sets, 0);
	assert_int_equal(used_slots(&enable), 0);
	assert_int_equal(grant(root, guid, STRANGER, TRACELOG_LOG_EVENT), 0);
	assert_int_equal(fake_peer_enable(root, handle, provider), 0);
	fake_peer_take_enable(stranger, &enable, &sets);
	assert_int_equal(sets, 1);
	assert_int_equal(used_slots(&enable), 1);
	fake_peer_leave(stranger);
	fake_peer_leave(trusted);
	fake_peer_leave(root);
}

static void test_access__what_a_configuration_takes(void **state)
{
	struct wire_session_config *config = fixture_config("x");

	(void)state;
	assert_int_equal(etwd_access_mode_rights(config), TRACELOG_CREATE_REALTIME);
	strcpy(config->log_file, "/x.etl");
	assert_int_equal(etwd_access_mode_rights(config),
			 TRACELOG_CREATE_REALTIME | TRACELOG_CREATE_ONDISK);
	config->log_file[0] = '\0';
	config->log_file_mode = EVENT_TRACE_BUFFERING_MODE;
	assert_int_equal(etwd_access_mode_rights(config), TRACELOG_CREATE_ONDISK);
}

#define MANY_GROUPS 3000

/* Of a process that is in so many groups: returns how many SIDs it has. */
static int count_sids_of_many_groups(void)
{
	static gid_t groups[MANY_GROUPS];
	struct etwd_peer peer = {.who = {getpid(), STRANGER, STRANGER}};
	struct etwd_token token;
	int ends[2];

	for (unsigned i = 0; i < MANY_GROUPS; i++)
		groups[i] = 100000 + i;
	if (setgroups(MANY_GROUPS, groups) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0)
		return 1;
	peer.fd = ends[0];
	if (etwd_token_init(&token, &peer) < 0)
		return 2;
	return token.count == MANY_GROUPS + 4 ? 0 : 3; /* everyone, authenticated, uid, gid */
}

/* An entry may deny any of them, so all count; and where they are not known nothing is allowed. */
static void test_access__all_groups_count(void **state)
{
	struct etwd_peer nowhere = {.fd = -1, .who = {getpid(), STRANGER, STRANGER}};
	const struct etwd_descriptors security = {0};
	const GUID guid = fixture_guid(1);
	struct etwd_token token;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(etwd_token_init(&token, &nowhere), -EACCES);
	etwd_token_done(&token);
	assert_int_equal(etwd_access_rights(&security, &nowhere, &guid), 0);
	assert_int_equal(etwd_access_check(&security, &nowhere, &guid, WMIGUID_QUERY, "look at"),
			 -EACCES);
	if (geteuid() != 0) /* no other may choose its groups */
		return;
	pid = fork();
	if (pid == 0)
		_exit(count_sids_of_many_groups());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_access__start_takes_the_rights_of_its_modes),
		TEST(test_access__others_sessions),
		TEST(test_access__consuming),
		TEST(test_access__registering),
		TEST(test_access__a_secure_session_takes_events_of_the_granted),
		cmocka_unit_test(test_access__what_a_configuration_takes),
		TEST(test_access__all_groups_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
