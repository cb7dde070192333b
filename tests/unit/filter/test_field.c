/* SPDX-License-Identifier: MIT */
/* Decoded fields: the type of the field chooses how a value is read. */
#include "support.h"

static void test_field__compares_by_its_type(void **state)
{
	static const struct test_row rows[] = {
		{"Signed = -5", true},
		{"Signed < 0", true},
		{"Signed in -10..0", true},
		{"Signed = 4294967291", false},
		{"Signed < -4.5", true},
		{"Big = 18446744073709551615", true},
		{"Big = 0xffffffffffffffff", true},
		{"Big > 18446744073709551614", true},
		{"Hex = 0xC000001F", true},
		{"Hex = 3221225503", true},
		{"Hex contains C000", true},
		{"Hex = 0xC000001E", false},
		{"Real = 1.5", true},
		{"Real > 1", true},
		{"Real < 1.5", false},
		{"Real <= 1.5", true},
		{"Real in 1..2", true},
		{"Truth = true", true},
		{"Truth = 1", true},
		{"Truth = false", false},
		{"Truth = \"true\"", true},
		{"Id = {11112222-3333-4444-5555-666677778888}", true},
		{"Id != 00000000-0000-0000-0000-000000000000", true},
		{"Id contains 4444", true},
		{"When = 1970-01-01T00:00:00.000001Z", true},
		{"When > 1970-01-01", true},
		{"When < +1s", true},
		{"When = 116444736000000010", true},
		{"Address = 10.0.0.7", true},
		{"Address = 10.0.0.0/24", true},
		{"Address in (10.0.1.0/24, 10.0.0.1..10.0.0.9)", true},
		{"Address = fe80::1", false},
		{"Address starts '10.'", true},
		{"Port = 443", true},
		{"Port < 1024", true},
		{"Colour = 4", true},
		{"Colour = 'dark blue'", true},
		{"Colour = Red", false},
		{"Colour starts Dark", true},
		{"Flags = 3", true},
		{"Flags = Red", true},
		{"Flags = 'Red|Green'", true},
		{"Flags = 'Dark Blue'", false},
		{"Flags any 2", true},
		{"User = S-1-5-18", true},
		{"User = s-1-5-18", true},
		{"Path = 10", false},
		{"Path < 10", false},
		{"Path != 10", true},
		{"not Path < 10", true},
		{"not Nothing = 1", true},
		{"Nothing != 1", false},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

static void test_field__goes_into_arrays_and_structs(void **state)
{
	static const struct test_row rows[] = {
		{"List = 2", true},
		{"List = 4", false},
		{"List != 4", true},
		{"List != 2", false},
		{"List[1] = 2", true},
		{"List[0] = 2", false},
		{"has List[2]", true},
		{"has List[3]", false},
		{"List[3] != 9", false},
		{"Pairs.Value = two", true},
		{"Pairs[0].Value = two", false},
		{"Pairs[1].Value = two", true},
		{"Pairs.Key > 1", true},
		{"Pairs.Key in 3..9", false},
		{"Pairs.Nothing = 1", false},
		{"Pairs = 1", false},
		{"has Pairs", true},
		{"has Pairs.Key", true},
		{"count(Pairs) = 2", true},
		{"count(List) in 1..3", true},
		{"fields contains TEMP", true},
		{"fields = two", true},
		{"fields = 443", true},
		{"fields = nothing", false},
		{"fields matches '^S-1-5-\\d+$'", true},
		{"has fields", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

/* The functions of etw/predicate.h compare by type alone, and one value. */
static void test_field__compares_strictly_for_functions(void **state)
{
	struct etw_filter *filter = etw_filter_of_field("Truth", ETW_FILTER_COMPARE);
	struct etw_filter_value value = {.readings = ETW_FILTER_INTEGER, .from = 1, .to = 1};
	struct etw_filter *list = etw_filter_of_field("List", ETW_FILTER_COMPARE);
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	assert_int_equal(etw_filter_add_value(filter, &value), 0);
	assert_int_equal(etw_filter_add_value(list, &value), 0);
	assert_true(etw_filter_matches(filter, &event.subject));
	assert_false(etw_filter_matches(list, &event.subject));
	etw_filter_free(filter);
	etw_filter_free(list);
	test_end(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_field__compares_by_its_type),
		cmocka_unit_test(test_field__goes_into_arrays_and_structs),
		cmocka_unit_test(test_field__compares_strictly_for_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
