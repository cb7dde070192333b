/* SPDX-License-Identifier: MIT */
/* Stretches of loss: put together, in order, and not too many, in time that is proportional to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/friendly/loss.h"

/* A processor's buffers each end and tell of loss at these times. */
static void mark(struct etw_loss *loss, struct etw_loss_source *source, uint16_t processor,
		 int64_t from_ft, int64_t to_ft)
{
	source->now_ft = from_ft;
	assert_int_equal(etw_loss_buffer(loss, source, processor), 0);
	source->now_ft = to_ft;
	assert_int_equal(etw_loss_mark(loss, source, processor, to_ft), 0);
	assert_int_equal(etw_loss_buffer(loss, source, processor), 0);
}

static void test_loss__stretches_are_ordered_and_united(void **state)
{
	struct etw_loss_source source = {0};
	struct etw_loss loss = {0};

	(void)state;
	etw_loss_begin(&source, 0);
	mark(&loss, &source, 0, 500, 600);
	mark(&loss, &source, 1, 100, 200);
	mark(&loss, &source, 2, 550, 700);
	mark(&loss, &source, 3, 200, 250);
	assert_int_equal(etw_loss_settle(&loss), 0);
	assert_int_equal(loss.count, 2);
	assert_int_equal(loss.ranges[0].from_ft, 100);
	assert_int_equal(loss.ranges[0].to_ft, 250);
	assert_int_equal(loss.ranges[1].from_ft, 500);
	assert_int_equal(loss.ranges[1].to_ft, 700);
	/* What comes later between them is put in its place, and what joins them joins them. */
	mark(&loss, &source, 0, 300, 400);
	assert_int_equal(etw_loss_settle(&loss), 0);
	assert_int_equal(loss.count, 3);
	assert_int_equal(loss.ranges[1].from_ft, 300);
	mark(&loss, &source, 0, 240, 510);
	assert_int_equal(etw_loss_settle(&loss), 0);
	assert_int_equal(loss.count, 1);
	assert_int_equal(loss.ranges[0].to_ft, 700);
	assert_int_equal(source.marks, 6);
	etw_loss_done(&loss);
	etw_loss_source_done(&source);
}

/* Backwards in time, as only a file that means it has them: each once stood before all others. */
static void test_loss__a_million_are_thinned_out(void **state)
{
	enum {
		STRETCHES = 1000000,
		PERIOD = 10
	};
	struct etw_loss_source source = {0};
	struct etw_loss loss = {0};

	(void)state;
	etw_loss_begin(&source, 0);
	for (int64_t i = STRETCHES; i > 0; i--)
		mark(&loss, &source, 0, i * PERIOD, i * PERIOD + 2);
	/* One far from the others stays by itself. */
	mark(&loss, &source, 0, INT64_MIN + 1, INT64_MIN + 2);
	mark(&loss, &source, 0, INT64_MAX - 2, INT64_MAX - 1);
	assert_int_equal(etw_loss_settle(&loss), 0);
	assert_int_equal(loss.count, ETW_LOSS_RANGES_MAX);
	assert_true(loss.room <= (size_t)2 * ETW_LOSS_RANGES_MAX);
	assert_int_equal(source.marks, STRETCHES + 2);
	assert_true(loss.ranges[0].to_ft == INT64_MIN + 2);
	assert_int_equal(loss.ranges[1].from_ft, PERIOD);
	assert_int_equal(loss.ranges[ETW_LOSS_RANGES_MAX - 2].to_ft, STRETCHES * PERIOD + 2);
	assert_true(loss.ranges[ETW_LOSS_RANGES_MAX - 1].from_ft == INT64_MAX - 2);
	for (size_t i = 1; i < loss.count; i++)
		assert_true(loss.ranges[i].from_ft > loss.ranges[i - 1].to_ft);
	etw_loss_done(&loss);
	etw_loss_source_done(&source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss__stretches_are_ordered_and_united),
		cmocka_unit_test(test_loss__a_million_are_thinned_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
