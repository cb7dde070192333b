/* SPDX-License-Identifier: MIT */
/* Which events a predicate means. */
#include "support.h"

#include <errno.h>

static const uint8_t system_sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};

/* Event 1 with what the tests ask for. */
static struct libetw_event *make_event(void)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	libetw_builder_ids(builder, 10, 20);
	OK(libetw_builder_set_unsigned(builder, "Word", 500));
	OK(libetw_builder_set_signed(builder, "SLong", -5));
	OK(libetw_builder_set_double(builder, "Double", 1.5));
	OK(libetw_builder_set_guid(builder, "Guid", &test_provider));
	OK(libetw_builder_set_text(builder, "Wide", "C:\\Windows\\Notepad.exe"));
	OK(libetw_builder_set_unsigned(builder, "Colour", 1));
	OK(libetw_builder_set_unsigned(builder, "Bool", 1));
	OK(libetw_builder_set_unsigned(builder, "Time", 116444736000000010));
	OK(libetw_builder_set_bytes(builder, "Sid", system_sid, sizeof(system_sid)));
	OK(libetw_builder_set_bytes(builder, "Blob", "ab", 2));
	OK(libetw_builder_finish(builder, &event));
	libetw_builder_free(builder);
	return event;
}

struct row {
	struct libetw_predicate *predicate; /* owned */
	int expected;
};

static void check(struct libetw_event *event, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].predicate)
			fail_msg("row %zu: %s", i, libetw_error());
		/* The second time what was looked up is known. */
		for (int again = 0; again < 2; again++) {
			if (libetw_predicate_matches(rows[i].predicate, event) != rows[i].expected)
				fail_msg("row %zu is not %d", i, rows[i].expected);
		}
		libetw_predicate_free(rows[i].predicate);
	}
	libetw_event_release(event);
}

#define CHECK(event, rows) check(event, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_predicate__asks_the_header(void **state)
{
	static const GUID other;
	const struct row rows[] = {
		{libetw_any(), 1},
		{libetw_provider(&test_provider), 1},
		{libetw_provider(&other), 0},
		{libetw_provider_named(NULL, "{11112222-3333-4444-5555-666677778888}"), 1},
		{libetw_id(1), 1},
		{libetw_id(2), 0},
		{libetw_version(0), 1},
		{libetw_version(1), 0},
		{libetw_opcode(0), 1},
		{libetw_opcode(1), 0},
		{libetw_task(7), 1},
		{libetw_task(8), 0},
		{libetw_pid(10), 1},
		{libetw_pid(20), 0},
		{libetw_tid(20), 1},
		{libetw_tid(10), 0},
		{libetw_level(3), 1},
		{libetw_level(2), 0},
		{libetw_keyword_any(3), 1},
		{libetw_keyword_any(2), 0},
		{libetw_keyword_all(1), 1},
		{libetw_keyword_all(3), 0},
		{libetw_event_named("Task"), 1},
		{libetw_event_named("task"), 1},
		{libetw_event_named("T*k"), 1},
		{libetw_event_named("Task/Start"), 0},
		{libetw_event_named("1"), 1},
		{libetw_event_named("2"), 0},
	};

	(void)state;
	CHECK(make_event(), rows);
}

static void test_predicate__asks_fields(void **state)
{
	const struct row rows[] = {
		{libetw_has_field("Word"), 1},
		{libetw_has_field("Words"), 0},
		{libetw_unsigned_is("Word", 500), 1},
		{libetw_unsigned_is("Word", 501), 0},
		{libetw_unsigned_in("Word", 500, 600), 1},
		{libetw_unsigned_in("Word", 400, 500), 1},
		{libetw_unsigned_in("Word", 501, 600), 0},
		{libetw_unsigned_in("SLong", 0, UINT64_MAX), 0},
		{libetw_signed_is("SLong", -5), 1},
		{libetw_signed_in("SLong", -6, 0), 1},
		{libetw_signed_in("SLong", -4, 0), 0},
		{libetw_double_in("Double", 1, 2), 1},
		{libetw_double_in("Double", 2, 3), 0},
		{libetw_guid_is("Guid", &test_provider), 1},
		{libetw_guid_is("Word", &test_provider), 0},
		{libetw_text_is("Wide", LIBETW_TEXT_EQUALS, "C:\\Windows\\Notepad.exe"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_EQUALS, "C:\\Windows\\Notepad"), 0},
		{libetw_text_is("Wide", LIBETW_TEXT_CONTAINS, "Windows"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_CONTAINS, "windows"), 0},
		{libetw_text_is("Wide", LIBETW_TEXT_CONTAINS | LIBETW_TEXT_ANY_CASE, "WINDOWS"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_BEGINS, "C:\\"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_BEGINS, "Windows"), 0},
		{libetw_text_is("Wide", LIBETW_TEXT_ENDS, ".exe"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_ENDS, ".ex"), 0},
		{libetw_text_is("Wide", LIBETW_TEXT_CONTAINS, ""), 1},
		{libetw_text_is("Colour", LIBETW_TEXT_EQUALS, "Red"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_ENDS | LIBETW_TEXT_ANY_CASE, ".EXE"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_BEGINS | LIBETW_TEXT_ANY_CASE, "c:\\w"), 1},
		{libetw_text_is("Wide", LIBETW_TEXT_CONTAINS, "Windows\\Notepad.exe?"), 0},
		{libetw_bool_is("Bool", 7), 1},
		{libetw_bool_is("Bool", 0), 0},
		{libetw_bool_is("Wide", 1), 0},
		{libetw_filetime_in("Time", 116444736000000010, 116444736000000010), 1},
		{libetw_filetime_in("Time", 0, 116444736000000009), 0},
		{libetw_filetime_in("Word", 0, 1000), 0},
		{libetw_time_ns_in("Time", 1000, 1000), 1},
		{libetw_time_ns_in("Time", INT64_MIN, 999), 0},
		{libetw_sid_is("Sid", "S-1-5-18"), 1},
		{libetw_sid_is("Sid", "S-1-5-19"), 0},
		{libetw_sid_is("Wide", "S-1-5-18"), 0},
		{libetw_bytes_is("Blob", "ab", 2), 1},
		{libetw_bytes_is("Blob", "ac", 2), 0},
		{libetw_bytes_is("Blob", "abc", 3), 0},
		{libetw_count_in("Word", 1, 1), 1},
		{libetw_count_in("Words", 0, 9), 0},
	};

	(void)state;
	CHECK(make_event(), rows);
}

/* A range that nothing can be in is a slip, not a wish. */
static void test_predicate__ranges_begin_below(void **state)
{
	(void)state;
	assert_null(libetw_unsigned_in("Word", 2, 1));
	assert_string_equal(libetw_error(),
			    "\"Word\" cannot be from 2 to 1: the lower end comes first");
	assert_null(libetw_signed_in("SLong", 0, -1));
	assert_non_null(strstr(libetw_error(), "from 0 to -1"));
	assert_null(libetw_double_in("Double", 2.5, 1));
	assert_non_null(strstr(libetw_error(), "from 2.5 to 1"));
	assert_null(libetw_double_in("Double", 0, __builtin_nan("")));
	assert_null(libetw_filetime_in("Time", 1, 0));
	assert_null(libetw_time_ns_in("Time", 1, 0));
	assert_null(libetw_count_in("Numbers", 1, 0));
}

/* Of what is compared with itself, at every place nearly all is equal: to look at each anew would take hours. */
static void test_predicate__a_search_is_proportional(void **state)
{
	enum {
		HAY = 30000,
		NEEDLE = 15000
	};
	struct libetw_builder *builder = test_builder();
	static char text[HAY + 1];
	struct libetw_predicate *predicate;
	struct libetw_event *event;

	(void)state;
	memset(text, 'a', HAY);
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_text(builder, "Ansi", text));
	OK(libetw_builder_finish(builder, &event));
	text[NEEDLE] = '\0';
	text[0] = 'B';
	predicate = libetw_text_is("Ansi", LIBETW_TEXT_CONTAINS | LIBETW_TEXT_ANY_CASE, text);
	assert_non_null(predicate);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(libetw_predicate_matches(predicate, event), 0);
	libetw_predicate_free(predicate);
	text[0] = 'a';
	text[NEEDLE - 1] = 'b';
	predicate = libetw_text_is("Ansi", LIBETW_TEXT_CONTAINS, text);
	assert_non_null(predicate);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(libetw_predicate_matches(predicate, event), 0);
	libetw_predicate_free(predicate);
	libetw_event_release(event);
	libetw_builder_free(builder);
}

static int count_calls(void *context, struct libetw_event *event)
{
	(void)event;
	return ++*(int *)context > 0;
}

static void test_predicate__combine(void **state)
{
	int calls = 0;
	const struct row rows[] = {
		{libetw_and(libetw_id(1), libetw_pid(10)), 1},
		{libetw_and(libetw_id(1), libetw_pid(11)), 0},
		{libetw_or(libetw_id(2), libetw_pid(10)), 1},
		{libetw_or(libetw_id(2), libetw_pid(11)), 0},
		{libetw_not(libetw_id(2)), 1},
		{libetw_not(libetw_id(1)), 0},
		/* The right side is asked only when it matters. */
		{libetw_and(libetw_id(2), libetw_function(count_calls, &calls)), 0},
		{libetw_or(libetw_id(1), libetw_function(count_calls, &calls)), 1},
	};
	const struct row asked[] = {{libetw_function(count_calls, &calls), 1}};

	(void)state;
	CHECK(make_event(), rows);
	assert_int_equal(calls, 0);
	CHECK(make_event(), asked);
	assert_int_equal(calls, 2);
}

static void test_predicate__what_cannot_be_made_is_null(void **state)
{
	struct libetw_predicate *deep = libetw_any();

	(void)state;
	assert_null(libetw_and(libetw_id(1), libetw_has_field("")));
	assert_null(libetw_or(libetw_text_is("x", 77, ""), libetw_any()));
	assert_null(libetw_not(libetw_provider_named(NULL, "")));
	assert_null(libetw_event_named(""));
	assert_null(libetw_sid_is("Sid", "LocalSystem"));
	assert_non_null(strstr(libetw_error(), "S-1-"));
	assert_null(libetw_bytes_is("Blob", NULL, 1));
	assert_null(libetw_text_is("Wide", LIBETW_TEXT_EQUALS, NULL));
	assert_null(libetw_guid_is("Guid", NULL));
	assert_null(libetw_provider(NULL));
	assert_null(libetw_function(NULL, NULL));
	for (int i = 0; deep && i < 1000; i++)
		deep = libetw_not(deep);
	assert_null(deep);
	assert_non_null(strstr(libetw_error(), "deep"));
	libetw_predicate_free(NULL);
}

/* Expressions and functions make the same predicates, and go together. */
static void test_predicate__of_expressions(void **state)
{
	const struct row rows[] = {
		{libetw_filter("Word = 500 and Wide ends with notepad.exe", NULL), 1},
		{libetw_filter("Word > 500 or Colour = Green", NULL), 0},
		{libetw_filter("Colour = Red and header_pid = 10 and task = Task", NULL), 1},
		{libetw_filter("provider = Test-Provider and event = Task", NULL), 1},
		{libetw_filter("Sid = S-1-5-18 and SLong in -10..0 and Double < 2", NULL), 1},
		{libetw_and(libetw_filter("Nothing != 1", NULL), libetw_any()), 0},
		{libetw_and(libetw_id(1), libetw_not(libetw_filter("has Nothing", NULL))), 1},
	};
	size_t at = 99;

	(void)state;
	CHECK(make_event(), rows);
	assert_null(libetw_filter("Word = 500 and level <= loud", &at));
	assert_int_equal(at, 24);
	assert_non_null(strstr(libetw_error(), "level wants a number"));
	assert_null(libetw_and(libetw_any(), libetw_filter("(", NULL)));
	assert_null(libetw_filter(NULL, &at));
}

/* A provider that a manifest names. */
static void test_predicate__knows_names_of_manifests(void **state)
{
	struct libetw_schemas *schemas = test_schemas();
	const struct row rows[] = {{libetw_provider_named(schemas, "test-PROVIDER"), 1},
				   {libetw_provider_named(NULL, "Test-Provider"), 0}};

	(void)state;
	CHECK(make_event(), rows);
	libetw_schemas_free(schemas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicate__asks_the_header),
		cmocka_unit_test(test_predicate__asks_fields),
		cmocka_unit_test(test_predicate__ranges_begin_below),
		cmocka_unit_test(test_predicate__a_search_is_proportional),
		cmocka_unit_test(test_predicate__combine),
		cmocka_unit_test(test_predicate__what_cannot_be_made_is_null),
		cmocka_unit_test(test_predicate__of_expressions),
		cmocka_unit_test(test_predicate__knows_names_of_manifests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
