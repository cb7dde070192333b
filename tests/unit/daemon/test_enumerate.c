/* SPDX-License-Identifier: MIT */
/* Lists of providers in parts, and what a stranger sees of them. */
#include "fixture.h"

#include <evntcons.h>

#include "daemon/enumerate.h"

#define PROVIDERS 3000 /* more than fit into one part */
#define INSTANCES 1500 /* likewise, once sessions have enabled them */
#define HALF \
	3100 /* two such peers' are more than are looked at for a part, and groups than fit into one */

static uint64_t ask(struct fake_peer *fake, uint32_t code, GUID guid, uint64_t cursor,
		    uint32_t *ret_count)
{
	struct wire_message head = fake_peer_head(fake, WIRE_ENUMERATE);
	const struct wire_enumerate body = {code, guid, cursor};
	struct wire_enumerated answer;

	fake_peer_send(fake, wire_message_encode_enumerate(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_ENUMERATED);
	assert_int_equal(fake->message.head.status, 0);
	assert_int_equal(wire_message_decode_enumerated(fake->message.datagram, &answer), 0);
	*ret_count += answer.count;
	return answer.next;
}

static uint32_t count_all(struct fake_peer *fake, uint32_t code, GUID guid, unsigned *ret_parts)
{
	uint32_t count = 0;
	uint64_t cursor = 0;

	*ret_parts = 0;
	do {
		cursor = ask(fake, code, guid, cursor, &count);
		++*ret_parts;
	} while (cursor);
	return count;
}

static unsigned drain(struct fake_peer *fake)
{
	unsigned count = 0;

	while (fake_peer_has_message(fake))
		count++;
	return count;
}

/* Of a provider in a group, whose traits are no more than that. */
static void send_register(struct fake_peer *fake, uint32_t number, GUID provider, GUID group)
{
	struct wire_message head = fake_peer_head(fake, WIRE_REGISTER);
	uint8_t traits[2 + 1 + 3 + sizeof(group)] = {
		sizeof(traits), 0, 0, 3 + sizeof(group), 0, EtwProviderTraitTypeGroup};
	struct wire_register body = {
		.registration = number, .provider = provider, .traits = {traits, sizeof(traits)}};

	memcpy(traits + 6, &group, sizeof(group));
	fake_peer_send(fake, wire_message_encode_register(&head, &body, fake->room));
}

struct pattern {
	bool is_one_provider, has_groups;
};

/* As many as the socket takes at a time. */
static void register_like(struct fake_peer *fake, uint32_t count, struct pattern pattern)
{
	const size_t before = fixture_host->providers.registration_count;

	for (uint32_t i = 1; i <= count; i++) {
		const GUID provider = fixture_guid(pattern.is_one_provider ? 1 : i);

		if (pattern.has_groups)
			send_register(fake, i, provider, fixture_guid((uint32_t)before + i));
		else
			fake_peer_send_register(fake, i, provider);
		if (i % 64 && i != count)
			continue;
		while (fixture_host->providers.registration_count < before + i) {
			fixture_step();
			(void)drain(fake);
		}
	}
	(void)drain(fake);
}

static void register_many(struct fake_peer *fake, uint32_t count, bool is_one)
{
	register_like(fake, count, (struct pattern){.is_one_provider = is_one});
}

static void test_enumerate__in_parts(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	unsigned parts;

	(void)state;
	register_many(provider, PROVIDERS, /* is_one= */ false);
	assert_int_equal(count_all(root, WIRE_ENUMERATE_PROVIDERS, (GUID){0}, &parts), PROVIDERS);
	assert_true(parts >= 2);
	assert_int_equal(count_all(stranger, WIRE_ENUMERATE_PROVIDERS, (GUID){0}, &parts), 0);
	fake_peer_leave(stranger);
	fake_peer_leave(provider);
	fake_peer_leave(root);
}

static void test_enumerate__instances_in_parts(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	struct fake_peer *other = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	const GUID guid = fixture_guid(1);
	unsigned parts;

	(void)state;
	register_many(provider, INSTANCES, /* is_one= */ true);
	assert_int_equal(fake_peer_register(other, 1, guid), 0);
	assert_int_equal(count_all(root, WIRE_ENUMERATE_INSTANCES, guid, &parts), INSTANCES + 1);
	assert_int_equal(parts, 1);
	for (unsigned i = 0; i < 4; i++) {
		char name[] = "one0";

		name[3] = (char)('0' + i);
		assert_int_equal(fake_peer_enable(root, fake_peer_start(root, name), guid), 0);
		/* They read all they are told, as processes do. */
		while (drain(provider) + drain(other) > 0)
			fixture_step();
	}
	assert_int_equal(count_all(root, WIRE_ENUMERATE_INSTANCES, guid, &parts), INSTANCES + 1);
	assert_true(parts >= 2);
	assert_int_equal(count_all(stranger, WIRE_ENUMERATE_INSTANCES, guid, &parts), 1);
	fake_peer_leave(stranger);
	fake_peer_leave(other);
	fake_peer_leave(root);
	fake_peer_leave(provider);
}

static unsigned count_enables(struct fake_peer *fake, GUID guid)
{
	struct wire_message head = fake_peer_head(fake, WIRE_ENUMERATE);
	struct wire_enumerate body = {WIRE_ENUMERATE_INSTANCES, guid, 0};
	TRACE_PROVIDER_INSTANCE_INFO info;
	struct wire_provider_entry entry;
	struct wire_enumerated answer;

	fake_peer_send(fake, wire_message_encode_enumerate(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_ENUMERATED);
	assert_int_equal(wire_message_decode_enumerated(fake->message.datagram, &answer), 0);
	assert_int_equal(answer.count, 1);
	memcpy(&info, answer.bytes.at, sizeof(info));
	head = fake_peer_head(fake, WIRE_ENUMERATE);
	body.code = WIRE_ENUMERATE_PROVIDERS;
	fake_peer_send(fake, wire_message_encode_enumerate(&head, &body, fake->room));
	fake_peer_expect(fake, WIRE_ENUMERATED);
	assert_int_equal(wire_message_decode_enumerated(fake->message.datagram, &answer), 0);
	assert_int_equal(answer.count, 1);
	memcpy(&entry, answer.bytes.at, sizeof(entry));
	assert_int_equal(le32_get(entry.is_enabled), info.EnableCount > 0);
	return info.EnableCount;
}

/* The process is not told that the session wants its provider's events, so it must not be able to ask either. */
static void test_enumerate__a_secure_session_is_not_told(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(STRANGER, WIRE_ROLE_PROVIDER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	const GUID guid = fixture_guid(1);
	uint64_t handle = fake_peer_start(root, "secure");
	struct etwd_session *session = etwd_sessions_find(&fixture_host->sessions, handle);

	(void)state;
	assert_int_equal(fake_peer_register(provider, 1, guid), 0);
	session->is_secure = true;
	assert_int_equal(fake_peer_enable(root, handle, guid), 0);
	assert_int_equal(count_enables(stranger, guid), 0);
	assert_int_equal(count_enables(root, guid), 1);
	session->is_secure = false;
	assert_int_equal(count_enables(stranger, guid), 1);
	fake_peer_leave(stranger);
	fake_peer_leave(provider);
	fake_peer_leave(root);
}

static void expect_registered(struct fake_peer *fake)
{
	fake_peer_expect(fake, WIRE_REPLY);
	assert_int_equal(fake->message.head.status, 0);
}

/* Each group once, though the providers that are in it do not stand beside each other. */
static void test_enumerate__groups_once(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *provider = fake_peer_join(0, WIRE_ROLE_PROVIDER);
	unsigned parts;

	(void)state;
	for (uint32_t i = 1; i <= 6; i++) {
		send_register(provider, i, fixture_guid(i / 4), fixture_guid(100 + i % 2));
		expect_registered(provider);
	}
	assert_int_equal(count_all(root, WIRE_ENUMERATE_GROUPS, (GUID){0}, &parts), 2);
	assert_int_equal(count_all(root, WIRE_ENUMERATE_MEMBERS, fixture_guid(100), &parts), 2);
	assert_int_equal(count_all(root, WIRE_ENUMERATE_MEMBERS, fixture_guid(102), &parts), 0);
	assert_int_equal(parts, 1);
	fake_peer_leave(provider);
	fake_peer_leave(root);
}

/* More groups of one provider than a part has room for; and so many registrations are not all looked at for one part. */
static void test_enumerate__many_of_one_provider(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	struct fake_peer *providers[] = {fake_peer_join(0, WIRE_ROLE_PROVIDER),
					 fake_peer_join(0, WIRE_ROLE_PROVIDER)};
	const struct pattern pattern = {.is_one_provider = true, .has_groups = true};
	const struct etwd_registered *registered = &fixture_host->providers.registered;
	struct etwd_registration *last;
	uint32_t count = 0;
	uint64_t cursor;
	unsigned parts;

	(void)state;
	register_like(providers[0], HALF, pattern);
	register_like(providers[1], HALF, pattern);
	assert_int_equal(count_all(root, WIRE_ENUMERATE_GROUPS, (GUID){0}, &parts), 2 * HALF);
	assert_true(parts >= 2);
	/* Of those it sees none, and is not served longer for that. */
	assert_int_equal(count_all(stranger, WIRE_ENUMERATE_INSTANCES, fixture_guid(1), &parts), 0);
	assert_int_equal(parts, 2);
	assert_int_equal(count_all(stranger, WIRE_ENUMERATE_PROVIDERS, (GUID){0}, &parts), 0);
	assert_int_equal(parts, 2);
	/* The list goes on where it was, when the registration that it stopped at is gone. */
	cursor = ask(root, WIRE_ENUMERATE_INSTANCES, fixture_guid(1), 0, &count);
	last = registered->places[etwd_registered_before(registered, cursor)].registration;
	assert_int_equal(last->serial, cursor);
	assert_int_equal(etwd_providers_unregister(&fixture_host->providers,
						   &etwd_client_of(last->peer)->registrations,
						   last->number),
			 0);
	assert_int_equal(ask(root, WIRE_ENUMERATE_INSTANCES, fixture_guid(1), cursor, &count), 0);
	assert_int_equal(count, 2 * HALF);
	fake_peer_leave(providers[1]);
	fake_peer_leave(providers[0]);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_enumerate__in_parts),
		TEST(test_enumerate__instances_in_parts),
		TEST(test_enumerate__a_secure_session_is_not_told),
		TEST(test_enumerate__groups_once),
		TEST(test_enumerate__many_of_one_provider),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
