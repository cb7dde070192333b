/* SPDX-License-Identifier: MIT */
/* EventAccessControl, EventAccessQuery and EventAccessRemove at the host: who may, and what is no request. */
#include "fixture.h"

#include <wmistr.h>

#include "wire/security.h"

#define READ_CONTROL 0x00020000

static const GUID guid = {0x77, 1, 2, {3}};

/* An entry for the stranger, as root wants it. */
static struct wire_access entry(const struct wire_sid *sid)
{
	return (struct wire_access){.code = WIRE_ACCESS_CHANGE,
				    .guid = guid,
				    .operation = WIRE_SECURITY_ADD_DACL,
				    .rights = WMIGUID_READ_DESCRIPTION,
				    .is_allowed = 1,
				    .sid = {sid->bytes, sid->byte_count}};
}

static int request(struct fake_peer *fake, const struct wire_access *body)
{
	struct wire_message head = fake_peer_head(fake, WIRE_ACCESS);

	fake_peer_send(fake, wire_message_encode_access(&head, body, fake->room));
	fake_peer_expect(fake, WIRE_DESCRIPTOR);
	return fake->message.head.status;
}

static int request_code(struct fake_peer *fake, uint32_t code)
{
	const struct wire_access body = {.code = code, .guid = guid};

	return request(fake, &body);
}

static void test_access_requests__who_may(void **state)
{
	static const uint32_t reading[] = {WMIGUID_READ_DESCRIPTION, READ_CONTROL};
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	struct fake_peer *stranger = fake_peer_join(STRANGER, WIRE_ROLE_CONTROLLER);
	const struct wire_sid sid = etw_sid_of_uid(STRANGER);
	struct wire_access body = entry(&sid);

	(void)state;
	assert_int_equal(request(stranger, &body), -EACCES);
	assert_int_equal(request_code(stranger, WIRE_ACCESS_QUERY), -EACCES);
	assert_int_equal(request_code(stranger, WIRE_ACCESS_REMOVE), -EACCES);
	for (size_t i = 0; i < sizeof(reading) / sizeof(reading[0]); i++) {
		body.rights = reading[i];
		assert_int_equal(request(root, &body), 0);
		assert_int_equal(request_code(stranger, WIRE_ACCESS_QUERY), 0);
		assert_int_equal(request_code(stranger, WIRE_ACCESS_REMOVE), -EACCES);
		assert_int_equal(request_code(root, WIRE_ACCESS_REMOVE), 0);
		assert_int_equal(request_code(stranger, WIRE_ACCESS_QUERY), -EACCES);
	}
	/* Who controls the instance reads, and changes nothing. */
	stranger->peer->is_privileged = true;
	assert_int_equal(request_code(stranger, WIRE_ACCESS_QUERY), 0);
	assert_int_equal(request(stranger, &body), -EACCES);
	assert_int_equal(request_code(stranger, WIRE_ACCESS_REMOVE), -EACCES);
	assert_int_equal(request_code(root, WIRE_ACCESS_REMOVE), -ENOENT);
	fake_peer_leave(stranger);
	fake_peer_leave(root);
}

/* Nothing has changed after any of them. */
static void test_access_requests__what_is_no_entry(void **state)
{
	struct fake_peer *root = fake_peer_join(0, WIRE_ROLE_CONTROLLER);
	const struct wire_sid sid = etw_sid_of_uid(STRANGER);
	struct wire_access body = entry(&sid);
	uint8_t long_sid[WIRE_SID_BYTES_MAX] = {0};

	(void)state;
	body.operation = WIRE_SECURITY_ADD_SACL + 1;
	assert_int_equal(request(root, &body), -EINVAL);
	body = entry(&sid);
	body.rights = UINT32_C(0x40000000);
	assert_int_equal(request(root, &body), -EINVAL);
	body = entry(&sid);
	body.sid.left = 0;
	assert_int_equal(request(root, &body), -EBADMSG);
	body.sid.left = sid.byte_count - 1;
	assert_int_equal(request(root, &body), -EBADMSG);
	memcpy(long_sid, sid.bytes, sid.byte_count);
	body.sid = (struct etw_bytes){long_sid, sid.byte_count + 1};
	assert_int_equal(request(root, &body), -EBADMSG);
	assert_int_equal(request_code(root, WIRE_ACCESS_REMOVE), -ENOENT);
	body = entry(&sid);
	assert_int_equal(request(root, &body), 0);
	assert_int_equal(request_code(root, WIRE_ACCESS_REMOVE), 0);
	fake_peer_leave(root);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_access_requests__who_may),
		TEST(test_access_requests__what_is_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
