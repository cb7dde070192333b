/* SPDX-License-Identifier: MIT */
#include "wire/security.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <wmistr.h>

#include "base/macros.h"

#define SOMEBODY 1234
#define GROUP    77

static uint8_t room[WIRE_SECURITY_BYTES_MAX], other[WIRE_SECURITY_BYTES_MAX];

static struct etw_bytes by_default(void)
{
	return (struct etw_bytes){room, etw_security_default(room)};
}

static struct wire_security_entry entry_of(struct wire_sid sid, uint32_t rights, bool is_allowed)
{
	return (struct wire_security_entry){sid, rights, is_allowed};
}

static uint32_t rights_of(struct etw_bytes descriptor, struct wire_sid sid)
{
	const struct wire_sid sids[] = {etw_sid_of_kind(WIRE_SID_EVERYONE), sid};

	return etw_security_rights(descriptor, sids, ARRAY_SIZE(sids));
}

/* The next one, in the other room. */
static struct etw_bytes changed(struct etw_bytes before, enum wire_security_operation operation,
				struct wire_security_entry entry)
{
	struct etw_bytes after = {before.at == room ? other : room, 0};

	assert_int_equal(etw_security_change(before, operation, &entry,
					     after.at == room ? room : other, &after.left),
			 0);
	assert_int_equal(etw_security_check(after), 0);
	return after;
}

static void test_security__sids(void **state)
{
	static const uint8_t admins[] = {1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0};
	static const uint8_t everyone[] = {1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0};
	static const uint8_t user[] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xE8, 3, 0, 0};
	struct wire_sid sid = etw_sid_of_kind(WIRE_SID_ADMINISTRATORS);
	uint8_t longest[WIRE_SID_BYTES_MAX + 4] = {1, 15};

	(void)state;
	assert_int_equal(sid.byte_count, sizeof(admins));
	assert_memory_equal(sid.bytes, admins, sizeof(admins));
	sid = etw_sid_of_kind(WIRE_SID_EVERYONE);
	assert_int_equal(sid.byte_count, sizeof(everyone));
	assert_memory_equal(sid.bytes, everyone, sizeof(everyone));
	sid = etw_sid_of_uid(1000);
	assert_int_equal(sid.byte_count, sizeof(user));
	assert_memory_equal(sid.bytes, user, sizeof(user));
	assert_int_equal(etw_sid_bytes((struct etw_bytes){user, sizeof(user)}), sizeof(user));
	assert_int_equal(etw_sid_bytes((struct etw_bytes){user, sizeof(user) - 1}), 0);
	assert_int_equal(etw_sid_bytes((struct etw_bytes){longest, sizeof(longest)}), 68);
	longest[1] = 16;
	assert_int_equal(etw_sid_bytes((struct etw_bytes){longest, sizeof(longest)}), 0);
	longest[0] = 2;
	longest[1] = 1;
	assert_int_equal(etw_sid_bytes((struct etw_bytes){longest, sizeof(longest)}), 0);
}

static void test_security__the_default(void **state)
{
	struct etw_bytes descriptor = by_default();

	(void)state;
	assert_int_equal(etw_security_check(descriptor), 0);
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY)),
			 TRACELOG_REGISTER_GUIDS | TRACELOG_JOIN_GROUP);
	assert_int_equal(rights_of(descriptor, etw_sid_of_kind(WIRE_SID_SYSTEM)),
			 WMIGUID_ALL_ACCESS);
	assert_int_equal(rights_of(descriptor, etw_sid_of_kind(WIRE_SID_ADMINISTRATORS)),
			 WMIGUID_ALL_ACCESS);
	assert_int_equal(rights_of(descriptor, etw_sid_of_kind(WIRE_SID_LOG_USERS)), 0x1FE5);
}

static void test_security__entries_are_added(void **state)
{
	struct etw_bytes descriptor = by_default();
	size_t bytes;

	(void)state;
	descriptor = changed(descriptor, WIRE_SECURITY_ADD_DACL,
			     entry_of(etw_sid_of_uid(SOMEBODY), TRACELOG_GUID_ENABLE, true));
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY)),
			 TRACELOG_GUID_ENABLE | 0x1800);
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY + 1)), 0x1800);
	bytes = descriptor.left;
	descriptor = changed(descriptor, WIRE_SECURITY_ADD_DACL,
			     entry_of(etw_sid_of_uid(SOMEBODY), TRACELOG_GUID_ENABLE, true));
	assert_int_equal(descriptor.left, bytes); /* it was there */
}

static void test_security__a_denial_goes_first(void **state)
{
	struct etw_bytes descriptor = by_default();

	(void)state;
	descriptor = changed(descriptor, WIRE_SECURITY_ADD_DACL,
			     entry_of(etw_sid_of_gid(GROUP), TRACELOG_REGISTER_GUIDS, false));
	assert_int_equal(rights_of(descriptor, etw_sid_of_gid(GROUP)), TRACELOG_JOIN_GROUP);
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(GROUP)), 0x1800);
}

static void test_security__a_list_is_set(void **state)
{
	struct etw_bytes descriptor = by_default();

	(void)state;
	descriptor = changed(descriptor, WIRE_SECURITY_SET_DACL,
			     entry_of(etw_sid_of_uid(SOMEBODY), WIRE_GENERIC_ALL, true));
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY)) & WMIGUID_ALL_ACCESS,
			 WMIGUID_ALL_ACCESS);
	assert_int_equal(rights_of(descriptor, etw_sid_of_kind(WIRE_SID_LOG_USERS)), 0);
}

static void test_security__audits(void **state)
{
	const struct wire_sid sid = etw_sid_of_uid(SOMEBODY);
	struct etw_bytes descriptor = by_default();

	(void)state;
	assert_false(etw_security_audits(descriptor, &sid, 1, WMIGUID_QUERY, true));
	descriptor = changed(descriptor, WIRE_SECURITY_ADD_SACL,
			     entry_of(sid, WMIGUID_QUERY, false));
	assert_true(etw_security_audits(descriptor, &sid, 1, WMIGUID_QUERY, true));
	assert_true(etw_security_audits(descriptor, &sid, 1, WMIGUID_QUERY, false));
	assert_false(etw_security_audits(descriptor, &sid, 1, WMIGUID_SET, true));
	assert_int_equal(rights_of(descriptor, sid), 0x1800); /* it grants nothing */
	descriptor = changed(descriptor, WIRE_SECURITY_SET_SACL, entry_of(sid, WMIGUID_SET, false));
	assert_false(etw_security_audits(descriptor, &sid, 1, WMIGUID_QUERY, true));
}

static void test_security__without_a_dacl_everybody_may_do_everything(void **state)
{
	const struct wire_security_head head = {.revision = 1,
						.control = le16_of(WIRE_SECURITY_SELF_RELATIVE)};
	struct etw_bytes descriptor = {(const uint8_t *)&head, sizeof(head)};

	(void)state;
	assert_int_equal(etw_security_check(descriptor), 0);
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY)), WMIGUID_ALL_ACCESS);
	descriptor = changed(descriptor, WIRE_SECURITY_ADD_DACL,
			     entry_of(etw_sid_of_uid(SOMEBODY), WMIGUID_SET, false));
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(SOMEBODY)),
			 WMIGUID_ALL_ACCESS & ~WMIGUID_SET);
	assert_int_equal(rights_of(descriptor, etw_sid_of_uid(1)), WMIGUID_ALL_ACCESS);
}

static void test_security__a_full_list_takes_no_more(void **state)
{
	struct etw_bytes descriptor = by_default();
	struct wire_security_entry entry;
	size_t bytes;
	uint32_t uid = 0;
	int r = 0;

	(void)state;
	while (r == 0) {
		struct etw_bytes after = {descriptor.at == room ? other : room, 0};

		entry = entry_of(etw_sid_of_uid(uid++), WMIGUID_QUERY, true);
		r = etw_security_change(descriptor, WIRE_SECURITY_ADD_DACL, &entry,
					after.at == room ? room : other, &after.left);
		if (r == 0)
			descriptor = after;
		assert_true(uid < WIRE_SECURITY_BYTES_MAX);
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(etw_security_check(descriptor), 0);
	assert_int_equal(etw_security_change(descriptor, (enum wire_security_operation)4, &entry,
					     descriptor.at == room ? other : room, &bytes),
			 -EINVAL);
}

/* Whatever a file holds: refused, or sound enough to be asked and changed, without a byte read beside it. */
static void test_security__any_byte_changed_is_refused_or_sound(void **state)
{
	struct etw_bytes sound = by_default();
	const struct wire_security_entry entry = entry_of(etw_sid_of_uid(SOMEBODY), WMIGUID_QUERY,
							  true);
	static const uint8_t masks[] = {0x01, 0x04, 0x80, 0xFF};

	(void)state;
	for (size_t i = 0; i < sound.left * ARRAY_SIZE(masks); i++) {
		uint8_t *tight = malloc(sound.left);
		struct etw_bytes descriptor = {tight, sound.left};
		size_t bytes;

		assert_non_null(tight);
		memcpy(tight, sound.at, sound.left);
		tight[i / ARRAY_SIZE(masks)] ^= masks[i % ARRAY_SIZE(masks)];
		(void)rights_of(descriptor, entry.sid);
		if (etw_security_check(descriptor) == 0 &&
		    etw_security_change(descriptor, WIRE_SECURITY_ADD_DACL, &entry, other,
					&bytes) == 0)
			assert_int_equal(etw_security_check((struct etw_bytes){other, bytes}), 0);
		free(tight);
	}
	for (size_t cut = 0; cut < sound.left; cut++) {
		uint8_t *tight = malloc(cut + !cut);

		assert_non_null(tight);
		memcpy(tight, sound.at, cut);
		assert_int_equal(etw_security_check((struct etw_bytes){tight, cut}), -EBADMSG);
		free(tight);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_security__sids),
		cmocka_unit_test(test_security__the_default),
		cmocka_unit_test(test_security__entries_are_added),
		cmocka_unit_test(test_security__a_denial_goes_first),
		cmocka_unit_test(test_security__a_list_is_set),
		cmocka_unit_test(test_security__audits),
		cmocka_unit_test(test_security__without_a_dacl_everybody_may_do_everything),
		cmocka_unit_test(test_security__a_full_list_takes_no_more),
		cmocka_unit_test(test_security__any_byte_changed_is_refused_or_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
