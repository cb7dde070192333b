/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/common/grid.h"

static const struct etw_grid_column columns[] = {
	{.title = "n", .is_right = true},
	{.title = "name", .gives_way = true},
};

static void fill(struct etw_grid *grid)
{
	etw_grid_init(grid, columns, 2);
	etw_text_puts(etw_grid_cell(grid), "1,234");
	etw_text_puts(etw_grid_cell(grid), "short");
	etw_text_puts(etw_grid_cell(grid), "5");
	etw_text_puts(etw_grid_cell(grid), "a name that is \xC3\xA4 bit too long");
}

static void expect(size_t width, const char *bold, const char *expected)
{
	struct etw_text text = {0};
	struct etw_grid grid;

	fill(&grid);
	etw_grid_print(&grid, width, bold, "", &text);
	assert_string_equal(etw_text_string(&text), expected);
	etw_grid_done(&grid);
	etw_text_done(&text);
}

static void test_grid__aligned(void **state)
{
	(void)state;
	expect(0, "",
	       "      n  name\n"
	       "  1,234  short\n"
	       "      5  a name that is \xC3\xA4 bit too long\n");
}

static void test_grid__one_column_gives_way(void **state)
{
	(void)state;
	expect(30, "",
	       "      n  name\n"
	       "  1,234  short\n"
	       "      5  a name that is \xC3\xA4 b...\n");
	/* Never narrower than can be read. */
	expect(10, NULL,
	       "  1,234  short\n"
	       "      5  a name that i...\n");
}

static void test_grid__empty(void **state)
{
	struct etw_text text = {0};
	struct etw_grid grid;

	(void)state;
	etw_grid_init(&grid, columns, 2);
	etw_grid_print(&grid, 80, "", "", &text);
	assert_string_equal(etw_text_string(&text), "  n  name\n");
	etw_grid_done(&grid);
	etw_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grid__aligned),
		cmocka_unit_test(test_grid__one_column_gives_way),
		cmocka_unit_test(test_grid__empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
