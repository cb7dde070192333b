/* SPDX-License-Identifier: MIT */
/* Flushes, looks and timers, at times that the tests say. No thread runs here, so nobody waits. */
#include "session/flushes.h"

#include "base/time.h"
#include "fixture.h"

#define T0 (UINT64_C(1000) * ETW_NS_PER_S)

static const struct etw_session_plan plan = {.file_flush_ns = 5 * ETW_NS_PER_S,
					     .batch_flush_ns = ETW_NS_PER_S};

static struct etw_session_round round_at(struct etw_session_flushes *flushes, uint64_t now_ns,
					 int64_t now_raw)
{
	struct etw_session_round round = {.now_ns = now_ns, .now_raw = now_raw};

	etw_flushes_begin(flushes, &round);
	return round;
}

static enum etw_flush_state look(struct etw_session_flushes *flushes,
				 const struct etw_session_round *round, int64_t merged_raw,
				 bool has_got_on)
{
	const struct etw_flush_progress progress = {
		.merged_raw = merged_raw,
		.has_got_on = has_got_on,
		.after_ns = round->now_ns,
	};

	return etw_flushes_look(flushes, round, &progress);
}

static void test_flushes__a_ticket_is_done_when_its_moment_is(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;
	uint64_t first, second;

	(void)state;
	etw_flushes_open(&flushes);
	round = round_at(&flushes, T0, 10);
	assert_false(round.is_flush);
	first = etw_flushes_ask(&flushes);
	round = round_at(&flushes, T0 + 1, 100);
	assert_true(round.is_flush);
	assert_false(round.is_stop);
	assert_int_equal(flushes.target_raw, 100);
	assert_true(etw_flushes_writes_file(&flushes));
	/* Who asks while a flush is under way gets the next one: its moment was before. */
	second = etw_flushes_ask(&flushes);
	round = round_at(&flushes, T0 + 2, 200);
	assert_int_equal(flushes.target_raw, 100);
	assert_int_equal(look(&flushes, &round, 99, false), ETW_FLUSH_GOES_ON);
	assert_int_equal(look(&flushes, &round, 100, false), ETW_FLUSH_REACHED);
	etw_flushes_finish(&flushes);
	assert_int_equal(etw_flushes_await(&flushes, first), 0);
	assert_int_equal(etw_flushes_await(&flushes, second), -ESHUTDOWN); /* there is no thread */
	round = round_at(&flushes, T0 + 3, 300);
	assert_true(round.is_flush);
	assert_int_equal(flushes.target_raw, 300);
	etw_flushes_finish(&flushes);
	assert_int_equal(etw_flushes_await(&flushes, second), 0);
	round = round_at(&flushes, T0 + 4, 400);
	assert_false(round.is_flush);
	etw_flushes_close(&flushes);
}

static void test_flushes__a_look_is_a_round_of_its_own(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;
	uint64_t ticket;

	(void)state;
	etw_flushes_open(&flushes);
	ticket = etw_flushes_ask_look(&flushes);
	round = round_at(&flushes, T0, 1);
	assert_true(round.is_look);
	assert_false(round.is_flush);
	assert_int_equal(round.look_ticket, ticket);
	/* One that is asked for behind the round's beginning is the next round's. */
	(void)etw_flushes_ask_look(&flushes);
	etw_flushes_finish_look(&flushes, &round);
	assert_int_equal(flushes.done_look, ticket);
	round = round_at(&flushes, T0 + 1, 2);
	assert_true(round.is_look);
	etw_flushes_finish_look(&flushes, &round);
	round = round_at(&flushes, T0 + 2, 3);
	assert_false(round.is_look);
	etw_flushes_await_look(&flushes, ticket); /* no thread: at once */
	etw_flushes_close(&flushes);
}

/* Both of the condition and of its deadline: else the wait would be none, or have no end. */
static void test_flushes__a_look_is_awaited_by_the_steady_clock(void **state)
{
	struct etw_session_flushes flushes;
	uint64_t begin_ns = etw_monotonic_ns();

	(void)state;
	etw_flushes_open(&flushes);
	etw_flushes_mark_ready(&flushes);
	etw_flushes_await_ready(&flushes); /* from now on there is a thread, which never looks */
	etw_flushes_await_look(&flushes, etw_flushes_ask_look(&flushes));
	assert_true(etw_monotonic_ns() - begin_ns >= 5000000);
	etw_flushes_close(&flushes);
}

/* The deadline is for a standstill; who was promised everything has it put off while there is progress. */
static void test_flushes__a_standstill_ends_a_flush(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;
	uint64_t now_ns = T0;

	(void)state;
	etw_flushes_open(&flushes);
	(void)etw_flushes_ask(&flushes);
	for (int i = 0; i < 50; i++) {
		round = round_at(&flushes, now_ns, 100 + i);
		assert_int_equal(look(&flushes, &round, 50, true), ETW_FLUSH_GOES_ON);
		now_ns += ETW_FLUSH_DEADLINE_NS - 1;
	}
	round = round_at(&flushes, now_ns, 1000);
	assert_int_equal(look(&flushes, &round, 50, false), ETW_FLUSH_GOES_ON);
	now_ns += 1;
	round = round_at(&flushes, now_ns, 1001);
	assert_int_equal(look(&flushes, &round, 50, false), ETW_FLUSH_REACHED);
	etw_flushes_close(&flushes);
}

/* A process that writes the past without end is not waited for without end. */
static void test_flushes__progress_puts_the_deadline_off_for_a_minute(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;
	uint64_t now_ns = T0;
	enum etw_flush_state result = ETW_FLUSH_GOES_ON;

	(void)state;
	etw_flushes_open(&flushes);
	(void)etw_flushes_ask(&flushes);
	while (result == ETW_FLUSH_GOES_ON && now_ns < T0 + 10 * ETW_FLUSH_MOST_NS) {
		round = round_at(&flushes, now_ns, 100);
		result = look(&flushes, &round, 50, true);
		now_ns += ETW_FLUSH_DEADLINE_NS / 2;
	}
	assert_int_equal(result, ETW_FLUSH_REACHED);
	assert_true(now_ns > T0 + ETW_FLUSH_MOST_NS);
	assert_true(now_ns < T0 + ETW_FLUSH_MOST_NS + 3 * ETW_FLUSH_DEADLINE_NS);
	etw_flushes_close(&flushes);
}

/* The last flush goes on without a source whose clock stands still; it ends with the second standstill. */
static void test_flushes__the_last_one_gives_the_source_up(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;
	struct etw_flush_progress progress = {.merged_raw = 50, .has_source = true};

	(void)state;
	etw_flushes_open(&flushes);
	flushes.is_ending = true;
	round = round_at(&flushes, T0, 100);
	assert_true(round.is_stop);
	progress.after_ns = T0;
	assert_int_equal(etw_flushes_look(&flushes, &round, &progress), ETW_FLUSH_GOES_ON);
	round = round_at(&flushes, T0 + ETW_FLUSH_DEADLINE_NS, 200);
	assert_int_equal(etw_flushes_look(&flushes, &round, &progress), ETW_FLUSH_GIVES_SOURCE_UP);
	progress.has_source = false;
	round = round_at(&flushes, T0 + ETW_FLUSH_DEADLINE_NS + 1, 200);
	assert_int_equal(etw_flushes_look(&flushes, &round, &progress), ETW_FLUSH_GOES_ON);
	round = round_at(&flushes, T0 + 2 * ETW_FLUSH_DEADLINE_NS, 200);
	assert_int_equal(etw_flushes_look(&flushes, &round, &progress), ETW_FLUSH_REACHED);
	assert_false(flushes.is_drained);
	etw_flushes_finish(&flushes);
	assert_true(flushes.is_drained);
	etw_flushes_close(&flushes);
}

/* Timers begin by themselves, run out, and begin anew; what stands behind a gap comes with the next one. */
static void test_flushes__timers(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;

	(void)state;
	etw_flushes_open(&flushes);
	assert_true(etw_flushes_due_ns(&flushes) == UINT64_MAX);
	etw_flushes_set_timers(&flushes, &plan, /* has_consumers= */ false, T0);
	assert_true(etw_flushes_due_ns(&flushes) == T0 + plan.file_flush_ns);
	etw_flushes_set_timers(&flushes, &plan, /* has_consumers= */ true, T0 + 1);
	assert_true(etw_flushes_due_ns(&flushes) == T0 + 1 + plan.batch_flush_ns);
	assert_false(etw_flushes_is_batch_due(&flushes, T0 + plan.batch_flush_ns));
	assert_true(etw_flushes_is_batch_due(&flushes, T0 + 1 + plan.batch_flush_ns));
	round = round_at(&flushes, T0 + 1 + plan.batch_flush_ns, 100);
	assert_true(round.is_flush);
	assert_false(etw_flushes_writes_file(&flushes));
	assert_int_equal(look(&flushes, &round, 50, true), ETW_FLUSH_GOES_ON);
	round.has_gap = true;
	assert_int_equal(look(&flushes, &round, 50, true), ETW_FLUSH_REACHED);
	etw_flushes_finish(&flushes);
	etw_flushes_set_timers(&flushes, &plan, true, round.now_ns);
	assert_true(etw_flushes_due_ns(&flushes) == round.now_ns + plan.batch_flush_ns);
	etw_flushes_set_timers(&flushes, &plan, false, round.now_ns);
	assert_true(etw_flushes_due_ns(&flushes) == T0 + plan.file_flush_ns);
	round = round_at(&flushes, T0 + plan.file_flush_ns, 200);
	assert_true(etw_flushes_writes_file(&flushes));
	etw_flushes_close(&flushes);
}

/* Who has been promised everything waits for a gap as long as there is progress, or the deadline has not come. */
static void test_flushes__a_gap_ends_no_flush_that_was_asked_for(void **state)
{
	struct etw_session_flushes flushes;
	struct etw_session_round round;

	(void)state;
	etw_flushes_open(&flushes);
	(void)etw_flushes_ask(&flushes);
	round = round_at(&flushes, T0, 100);
	round.has_gap = true;
	assert_int_equal(look(&flushes, &round, 50, false), ETW_FLUSH_GOES_ON);
	etw_flushes_close(&flushes);
}

static void test_flushes__a_stop_is_for_a_thread(void **state)
{
	struct etw_session_flushes flushes;
	uint64_t ticket;

	(void)state;
	etw_flushes_open(&flushes);
	assert_false(etw_flushes_ask_stop(&flushes));
	assert_false(etw_flushes_wants_stop(&flushes));
	etw_flushes_mark_ready(&flushes);
	etw_flushes_await_ready(&flushes); /* it is past its start */
	assert_true(etw_flushes_ask_stop(&flushes));
	assert_true(etw_flushes_wants_stop(&flushes));
	ticket = etw_flushes_ask(&flushes);
	etw_flushes_mark_stopped(&flushes);
	/* All that could be flushed is; who asks later finds nobody. */
	assert_int_equal(etw_flushes_await(&flushes, ticket), 0);
	assert_int_equal(etw_flushes_await(&flushes, etw_flushes_ask(&flushes)), -ESHUTDOWN);
	assert_false(etw_flushes_ask_stop(&flushes));
	etw_flushes_close(&flushes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flushes__a_ticket_is_done_when_its_moment_is),
		cmocka_unit_test(test_flushes__a_look_is_a_round_of_its_own),
		cmocka_unit_test(test_flushes__a_look_is_awaited_by_the_steady_clock),
		cmocka_unit_test(test_flushes__a_standstill_ends_a_flush),
		cmocka_unit_test(test_flushes__progress_puts_the_deadline_off_for_a_minute),
		cmocka_unit_test(test_flushes__the_last_one_gives_the_source_up),
		cmocka_unit_test(test_flushes__timers),
		cmocka_unit_test(test_flushes__a_gap_ends_no_flush_that_was_asked_for),
		cmocka_unit_test(test_flushes__a_stop_is_for_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
