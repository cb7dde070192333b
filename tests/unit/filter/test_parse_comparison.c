/* SPDX-License-Identifier: MIT */
/* What can be compared, and by which operators. */
#include "filter/parse.h"
#include "support.h"

static void test_parse_comparison__knows_all_operators(void **state)
{
	static const struct test_row rows[] = {
		{"Byte = 5", true},
		{"Byte == 5", true},
		{"Byte != 5", false},
		{"Byte < 5", false},
		{"Byte <= 5", true},
		{"Byte > 4", true},
		{"Byte >= 6", false},
		{"Byte in (4, 5)", true},
		{"Byte in 4..6", true},
		{"Byte not in (4, 5)", false},
		{"Byte not = 4", true},
		{"Byte any 4", true},
		{"Byte any 2", false},
		{"Byte all 0x5", true},
		{"Byte all 7", false},
		{"Byte not all 7", true},
		{"Path contains \"temp\"", true},
		{"Path not contains \"temp\"", false},
		{"Path exactly contains \"temp\"", false},
		{"Path exactly contains \"Temp\"", true},
		{"Path not exactly contains \"temp\"", true},
		{"Path starts c:", true},
		{"Path starts with 'C:\\'", true},
		{"Path ends with emp", true},
		{"Path like \"c:?t*p\"", true},
		{"Path matches \"^c:.temp$\"", true},
		{"Path exactly = \"c:\\temp\"", false},
		{"Path exactly = 'C:\\Temp'", true},
		{"count(List) = 3", true},
		{"count (List) > 3", false},
		{"count(Byte) = 1", true},
		{"count(Nothing) = 0", false},
		{"has List", true},
		{"has Nothing", false},
		{"not has Nothing", true},
		{"has pid", true},
		{"has process", false},
		{"fields.level = high", true},
		{"`level` = high", true},
		{"level = warning", true},
		{"`odd name` = 9", true},
		{"fields.`odd name` = 9", true},
	};
	struct test_event event;

	(void)state;
	test_begin(&event, &test_schema);
	TEST_ROWS(&event, rows);
	test_end(&event);
}

/* Expressions have no end but their length. */
static void test_parse_comparison__reads_no_further_than_it_may(void **state)
{
	struct etw_filter_fault fault = {0};
	struct etw_filter *filter;

	(void)state;
	for (size_t bytes = 0; bytes <= 16; bytes++) {
		char *text = malloc(bytes + !bytes);

		assert_non_null(text);
		memcpy(text, "has fields.level", bytes);
		if (!etw_filter_parse(text, bytes, &filter, &fault))
			etw_filter_free(filter);
		free(text);
	}
}

static void test_parse_comparison__refuses_with_the_place(void **state)
{
	(void)state;
	test_refused("pid", 3, 0, "operator is expected behind \"pid\"");
	test_refused("pid ~ 4", 4, 1, "operator is expected");
	test_refused("pid not 4", 8, 1, "operator is expected");
	test_refused("pid not < 4", 8, 1, "reverse");
	test_refused("pid exactly < 4", 12, 1, "for texts");
	test_refused("= 4", 0, 1, "name of a field");
	test_refused("in (4)", 0, 2, "missing in front of");
	test_refused("has", 3, 0, "name of a field");
	test_refused("count(pid) = 1", 6, 3, "fields.pid");
	test_refused("count(List = 1", 11, 1, "\")\"");
	test_refused("List[x] = 1", 4, 1, "index");
	test_refused("A..b = 1", 2, 1, "missing");
	test_refused("`a = 1", 0, 1, "no second");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_comparison__knows_all_operators),
		cmocka_unit_test(test_parse_comparison__reads_no_further_than_it_may),
		cmocka_unit_test(test_parse_comparison__refuses_with_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
