/* SPDX-License-Identifier: MIT */
/* The account of a session: what is summed up, and how far it is believed. No thread runs here. */
#include "session/common/account.h"

#include "parts.h"
#include "session/common/claims.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct wire_session_info info;
};

static void begin(struct scene *scene)
{
	struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE; /* with two outputs */
	fixture_open(&scene->fixture);
	parts_open(&scene->parts, &scene->fixture, &config, 2);
}

static void end(struct scene *scene)
{
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

/* Numbers are those of the records that hold, over all outputs. */
static void test_account__sums_up_what_is_committed(void **state)
{
	static struct scene scene;
	struct etw_state_record *record;

	(void)state;
	begin(&scene);
	for (uint32_t i = 0; i < 2; i++) {
		record = scene.parts.outputs.all[i].record;
		record->counts = (struct etw_state_counts){.events = 10 + i,
							   .gaps = 1,
							   .rejected = 2,
							   .too_large = 3,
							   .file_events = 4,
							   .file_buffers = 5,
							   .slow_pieces = 2,
							   .unheard_pieces = 4};
	}
	assert_int_equal(parts_counts(&scene.parts).events, 0);
	etw_state_commit(&scene.parts.context.state, 0, scene.parts.outputs.all[0].record);
	assert_int_equal(parts_counts(&scene.parts).events, 10);
	etw_state_commit(&scene.parts.context.state, 1, record);
	etw_state_source(&scene.parts.context.state, 0, 0)->lost = 100;
	etw_state_source(&scene.parts.context.state, 0, 2)->lost = 1000;
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.events, 21);
	assert_int_equal(scene.info.loss.gaps, 2);
	assert_int_equal(scene.info.loss.rejected, 4);
	assert_int_equal(scene.info.loss.source, 6 + 100 + 1000);
	assert_int_equal(scene.info.loss.file, 8);
	assert_int_equal(scene.info.events_lost, 2 + 4 + 1106 + 8);
	assert_int_equal(etw_account_lost_on_the_way(&scene.info.loss), 2 + 4 + 1106);
	assert_int_equal(scene.info.log_buffers_lost, 10);
	assert_int_equal(scene.info.real_time_buffers_lost, 12);
	end(&scene);
}

/* A process makes as many gaps and refused events as it likes: others have a part of the field alone. */
static void test_account__others_have_a_bounded_part(void **state)
{
	struct etw_state_counts counts = {.gaps = 7, .others_gaps = 7, .rejected = 8};
	struct wire_session_loss loss = {0};

	(void)state;
	etw_account_refused(&counts, &loss);
	assert_int_equal(loss.gaps, 7);
	assert_int_equal(loss.rejected, 8);
	assert_int_equal(loss.others, 0);
	counts.others_gaps = ETW_CLAIM_COUNTED_MAX + 100;
	counts.gaps = counts.others_gaps + 1;
	etw_account_refused(&counts, &loss);
	assert_int_equal(loss.gaps, ETW_CLAIM_COUNTED_MAX + 1);
	assert_int_equal(loss.others, 100);
}

/* Sums end at the largest number, whatever the counters say. */
static void test_account__sums_do_not_run_over(void **state)
{
	const struct wire_session_loss loss = {
		.no_buffer = UINT64_MAX - 1, .too_large = 5, .file = 1};

	(void)state;
	assert_true(etw_account_lost_on_the_way(&loss) == UINT64_MAX);
	assert_true(etw_account_events_lost(&loss) == UINT32_MAX);
}

/* What consumers lost between two memories: of a live one what its next memory will have lost, too. */
static void test_account__missed_pieces_are_of_live_and_former_consumers(void **state)
{
	static struct scene scene;
	struct etw_state_consumer *consumers;

	(void)state;
	begin(&scene);
	consumers = scene.parts.context.state.head->consumers;
	consumers[0] = (struct etw_state_consumer){.missed = 3, .missed_next = 100};
	consumers[1] = (struct etw_state_consumer){.status = ETW_STATE_CONSUMER_LIVE,
						   .missed = 3,
						   .missed_next = 40,
						   .unread = 5,
						   .unread_next = 100};
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.real_time_buffers_lost, 48);
	consumers[1].status = ETW_STATE_CONSUMER_LEAVING;
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.real_time_buffers_lost, 143);
	consumers[1].status = ETW_STATE_CONSUMER_FREE;
	end(&scene);
}

/* Without ring sets the buffers are those that one would have; and never are more free than there are. */
static void test_account__buffers(void **state)
{
	static struct scene scene;
	const struct etw_session_plan *plan = &scene.parts.context.plan;
	struct fixture_writer writer;
	uint32_t buffers;

	(void)state;
	begin(&scene);
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.number_of_buffers, plan->ring_buffers * 2);
	assert_int_equal(scene.info.free_buffers, plan->ring_buffers * 2);
	assert_int_equal(scene.info.logger_thread_id, 0);
	buffers = parts_attach(&scene.parts, getuid(), 0, &writer)->map.buffer_count * 2;
	etw_ring_set_unmap(&writer.set);
	scene.parts.sets.free_buffers = 3;
	scene.parts.context.thread_id = 12;
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.number_of_buffers, buffers);
	assert_int_equal(scene.info.free_buffers, 3);
	assert_int_equal(scene.info.logger_thread_id, 12);
	scene.parts.sets.free_buffers = UINT64_MAX;
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.info.free_buffers, buffers);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account__sums_up_what_is_committed),
		cmocka_unit_test(test_account__others_have_a_bounded_part),
		cmocka_unit_test(test_account__sums_do_not_run_over),
		cmocka_unit_test(test_account__missed_pieces_are_of_live_and_former_consumers),
		cmocka_unit_test(test_account__buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
