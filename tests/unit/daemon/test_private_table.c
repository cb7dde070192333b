/* SPDX-License-Identifier: MIT */
#include "daemon/private_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <evntcons.h>
#include <evntrace.h>

#include "wire/filter_list.h"

#define STRANGER 70000 /* the first of some uids that are not trusted */

static const GUID guid = {0x77, 1, 2, {3}};
static const GUID other_guid = {0x78, 1, 2, {3}};

static struct etwd_private_table table;

static int set_up(void **state)
{
	(void)state;
	etwd_private_table_init(&table, true);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	etwd_private_table_done(&table);
	return 0;
}

static int add_id(uint32_t id, const char *name, uid_t uid, struct etwd_private_session **ret)
{
	static struct wire_session_config config;

	(void)snprintf(config.name, sizeof(config.name), "%s", name);
	config.guid = guid;
	return etwd_private_table_add(&table, id, &config, uid, ret);
}

static struct etwd_private_session *add(const char *name)
{
	struct etwd_private_session *session = NULL;

	assert_int_equal(add_id(0, name, 0, &session), 0);
	return session;
}

/* The result for one more session of @uid, whose name nobody has. */
static int add_one_more(uid_t uid)
{
	static unsigned number;
	struct etwd_private_session *session;
	char name[32];

	(void)snprintf(name, sizeof(name), "%u", number++);
	return add_id(0, name, uid, &session);
}

static void test_private_table__names(void **state)
{
	struct etwd_private_session *session = add("Some"), *another;

	(void)state;
	assert_int_equal(add_id(0, "sOME", STRANGER, &another), -EEXIST);
	assert_int_equal(add_id(0, "\xff", 0, &another), -EINVAL);
	assert_int_equal(etwd_private_table_count(&table), 1);
	assert_ptr_equal(etwd_private_table_find_name(&table, "SOME", NULL), session);
	assert_ptr_equal(etwd_private_table_find_name(&table, "some", &guid), session);
	assert_null(etwd_private_table_find_name(&table, "some", &other_guid));
	assert_null(etwd_private_table_find_name(&table, "so", NULL));
	assert_null(etwd_private_table_find_name(&table, "\xff", NULL));
	etwd_private_table_remove(&table, session);
	assert_null(etwd_private_table_find_name(&table, "Some", NULL));
	(void)add("some");
}

static void test_private_table__numbers(void **state)
{
	struct etwd_private_session *first = add("first"), *second = add("second"), *kept, *more;

	(void)state;
	assert_int_equal(first->id, WIRE_OUTSIDE_SESSION_ID_FIRST);
	assert_int_equal(second->id, WIRE_OUTSIDE_SESSION_ID_FIRST + 1);
	assert_ptr_equal(etwd_private_table_find(&table, second->id), second);
	/* A handle is no number with something above it. */
	assert_null(etwd_private_table_find(&table, second->id | UINT64_C(1) << 32));
	assert_null(etwd_private_table_find(&table, 0));
	assert_int_equal(add_id(second->id, "kept", 0, &kept), -EEXIST);
	assert_int_equal(add_id(WIRE_OUTSIDE_SESSION_ID_FIRST_USER - 1, "kept", 0, &kept), 0);
	/* No number is given again before all others were. */
	etwd_private_table_remove(&table, second);
	for (uint32_t id = WIRE_OUTSIDE_SESSION_ID_FIRST + 2; id < kept->id; id++) {
		more = add("more");
		assert_int_equal(more->id, id);
		etwd_private_table_remove(&table, more);
	}
	assert_int_equal(add("more")->id, WIRE_OUTSIDE_SESSION_ID_FIRST + 1);
}

static void test_private_table__a_users_host_has_numbers_of_its_own(void **state)
{
	(void)state;
	etwd_private_table_init(&table, false);
	assert_int_equal(add("first")->id, WIRE_OUTSIDE_SESSION_ID_FIRST_USER);
	table.last_id = WIRE_OUTSIDE_SESSION_ID_LAST - 1;
	assert_int_equal(add("last")->id, WIRE_OUTSIDE_SESSION_ID_LAST);
	assert_int_equal(add("next")->id, WIRE_OUTSIDE_SESSION_ID_FIRST_USER + 1);
}

static void test_private_table__limits(void **state)
{
	struct etwd_private_session *session;
	uid_t uid = STRANGER;

	(void)state;
	for (unsigned i = 0; i < ETWD_PRIVATE_OTHERS_MAX; i++) {
		if (i && i % ETWD_PRIVATE_UID_MAX == 0)
			assert_int_equal(add_one_more(uid++), -ETOOMANYREFS);
		assert_int_equal(add_one_more(uid), 0);
	}
	assert_int_equal(add_one_more(uid + 1), -EUSERS);
	for (unsigned i = ETWD_PRIVATE_OTHERS_MAX; i < ETWD_PRIVATE_MAX; i++)
		assert_int_equal(add_one_more(i % 2 ? 0 : geteuid()), 0);
	assert_int_equal(add_one_more(0), -EUSERS);
	assert_int_equal(etwd_private_table_count(&table), ETWD_PRIVATE_MAX);
	/* A session that ends makes room for one of anybody who has room. */
	session = etwd_private_table_find(&table, WIRE_OUTSIDE_SESSION_ID_FIRST);
	assert_non_null(session);
	assert_int_equal(session->uid, STRANGER);
	etwd_private_table_remove(&table, session);
	assert_int_equal(add_one_more(STRANGER + 1), -ETOOMANYREFS);
	assert_int_equal(add_one_more(STRANGER), 0);
	assert_int_equal(add_one_more(0), -EUSERS);
}

static GUID provider_of(uint32_t number)
{
	GUID provider = guid;

	provider.Data1 = number;
	return provider;
}

static int note(struct etwd_private_session *session, uint32_t number, uint32_t code,
		struct etw_bytes filters)
{
	const struct wire_enable_provider request = {
		.provider = provider_of(number), .code = code, .level = 5, .filters = filters};

	return etwd_private_note(session, &request);
}

static int note_plain(struct etwd_private_session *session, uint32_t number, uint32_t code)
{
	return note(session, number, code, (struct etw_bytes){0});
}

/* Whether the session wants these providers in this order. */
static bool wants(const struct etwd_private_session *session, const uint32_t *numbers,
		  unsigned count)
{
	const struct etwd_private_enable *at = session->enables;

	for (unsigned i = 0; i < count; i++, at = at->next) {
		if (!at || at->request.provider.Data1 != numbers[i])
			return false;
	}
	return !at;
}

static void test_private_table__what_is_enabled(void **state)
{
	struct etwd_private_session *session = add("some");

	(void)state;
	assert_int_equal(note_plain(session, 1, EVENT_CONTROL_CODE_DISABLE_PROVIDER), 0);
	assert_true(wants(session, NULL, 0));
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(note_plain(session, i, EVENT_CONTROL_CODE_ENABLE_PROVIDER), 0);
	assert_true(wants(session, (const uint32_t[]){1, 2, 3}, 3));
	assert_int_equal(note_plain(session, 1, EVENT_CONTROL_CODE_CAPTURE_STATE), 0);
	assert_int_equal(note_plain(session, 4, EVENT_CONTROL_CODE_CAPTURE_STATE), 0);
	assert_true(wants(session, (const uint32_t[]){1, 2, 3}, 3));
	assert_int_equal(note_plain(session, 1, EVENT_CONTROL_CODE_ENABLE_PROVIDER), 0);
	assert_true(wants(session, (const uint32_t[]){2, 3, 1}, 3));
	assert_int_equal(note_plain(session, 3, EVENT_CONTROL_CODE_DISABLE_PROVIDER), 0);
	assert_true(wants(session, (const uint32_t[]){2, 1}, 2));
}

static void test_private_table__so_many_are_enabled(void **state)
{
	struct etwd_private_session *session = add("some");

	(void)state;
	for (uint32_t i = 0; i < ETWD_PRIVATE_ENABLES_MAX; i++)
		assert_int_equal(note_plain(session, i, EVENT_CONTROL_CODE_ENABLE_PROVIDER), 0);
	assert_int_equal(note_plain(session, 99, EVENT_CONTROL_CODE_ENABLE_PROVIDER), -ENOSPC);
	assert_int_equal(note_plain(session, 99, EVENT_CONTROL_CODE_DISABLE_PROVIDER), 0);
	assert_int_equal(note_plain(session, 3, EVENT_CONTROL_CODE_ENABLE_PROVIDER), 0);
	assert_int_equal(note_plain(session, 3, EVENT_CONTROL_CODE_DISABLE_PROVIDER), 0);
	assert_int_equal(note_plain(session, 99, EVENT_CONTROL_CODE_ENABLE_PROVIDER), 0);
}

static struct etw_bytes filter_of(uint32_t type, uint8_t *room, size_t bytes)
{
	static const uint8_t data[] = {1, 2, 3, 4};
	const struct wire_filter filter = {type, {data, sizeof(data)}};
	const size_t count = wire_filter_put(room, bytes, &filter);

	assert_int_not_equal(count, 0);
	return (struct etw_bytes){room, count};
}

static void test_private_table__filters(void **state)
{
	struct etwd_private_session *session = add("some");
	uint8_t room[64];
	struct etw_bytes filters = filter_of(EVENT_FILTER_TYPE_SCHEMATIZED, room, sizeof(room));
	struct wire_filter kept;

	(void)state;
	assert_int_equal(note(session, 1, EVENT_CONTROL_CODE_ENABLE_PROVIDER, filters), 0);
	memset(room, 0xff, sizeof(room)); /* the message is gone */
	filters = session->enables->request.filters;
	assert_true(wire_filter_next(&filters, &kept));
	assert_int_equal(kept.type, EVENT_FILTER_TYPE_SCHEMATIZED);
	assert_int_equal(kept.data.left, 4);
	assert_int_equal(kept.data.at[3], 4);
	/* What is refused changes nothing. */
	filters = filter_of(EVENT_FILTER_TYPE_PID, room, sizeof(room));
	assert_int_equal(note(session, 1, EVENT_CONTROL_CODE_ENABLE_PROVIDER, filters),
			 -EOPNOTSUPP);
	filters = filter_of(EVENT_FILTER_TYPE_EVENT_ID, room, sizeof(room));
	assert_int_equal(note(session, 2, EVENT_CONTROL_CODE_ENABLE_PROVIDER, filters),
			 -EOPNOTSUPP);
	assert_true(wants(session, (const uint32_t[]){1}, 1));
	assert_int_not_equal(session->enables->request.filters.left, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_private_table__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names),   TEST(numbers),         TEST(a_users_host_has_numbers_of_its_own),
		TEST(limits),  TEST(what_is_enabled), TEST(so_many_are_enabled),
		TEST(filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
