/* SPDX-License-Identifier: MIT */
/* What a reader says of loss. */
#include "reader_fixture.h"

static int note_range(void *context, int64_t from_ns, int64_t to_ns)
{
	int64_t *range = context;

	assert_int_equal(range[0], 0);
	range[0] = from_ns;
	range[1] = to_ns;
	return 0;
}

static void test_reader_loss__says_when_something_was_lost(void **state)
{
	struct libetw_reader *reader =
		open_reader(&(struct made){.is_lossy = true, .events_lost = 5});
	struct libetw_stats stats;
	int64_t range[2] = {0};

	(void)state;
	OK(libetw_reader_run(reader));
	libetw_reader_stats(reader, &stats);
	assert_int_equal(stats.events_lost, 5);
	assert_int_equal(stats.loss_marks, 1);
	assert_int_equal(stats.late_events, 0);
	OK(libetw_reader_each_loss(reader, note_range, range));
	/* The flag was set on the buffer that held event 1000, at 1.001 s. */
	assert_true(range[0] > T0_NS && range[0] < T0_NS + 1001000000);
	assert_true(range[1] >= T0_NS + 1001000000 && range[1] < T0_NS + 2000000000);
	assert_int_equal(libetw_reader_is_complete(reader, T0_NS, range[0] - 1), 1);
	assert_int_equal(libetw_reader_is_complete(reader, T0_NS, range[0]), 0);
	assert_int_equal(libetw_reader_is_complete(reader, range[1] + 1, INT64_MAX), 1);
	libetw_reader_free(reader);
}

static void test_reader_loss__loss_without_a_place_is_everywhere(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){.events_lost = 5});

	(void)state;
	OK(libetw_reader_run(reader));
	assert_int_equal(libetw_reader_is_complete(reader, T0_NS, T0_NS + 1), 0);
	libetw_reader_free(reader);
}

/* A buffer behind the window's end may tell of what was lost before it. */
static void test_reader_loss__a_window_leaves_its_end_in_doubt(void **state)
{
	struct libetw_reader *reader =
		open_reader(&(struct made){.is_lossy = true, .events_lost = 5});

	(void)state;
	libetw_reader_set_window(reader, INT64_MIN, T0_NS + 900000000);
	OK(libetw_reader_run(reader));
	assert_int_equal(libetw_reader_is_complete(reader, T0_NS, T0_NS + 100000000), 0);
	libetw_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_loss__says_when_something_was_lost),
		cmocka_unit_test(test_reader_loss__loss_without_a_place_is_everywhere),
		cmocka_unit_test(test_reader_loss__a_window_leaves_its_end_in_doubt),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
