/* SPDX-License-Identifier: MIT */
/* A session's numbers by cause and by processor: each is told once, and the rows add up to the sums. */
#include "session/statistics.h"

#include "parts.h"
#include "session/common/claims.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct wire_statistics told;
	struct wire_session_info info;
};

static void begin(struct scene *scene, uint32_t cpus)
{
	struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	fixture_open(&scene->fixture);
	parts_open(&scene->parts, &scene->fixture, &config, cpus);
}

static void end(struct scene *scene)
{
	parts_close(&scene->parts);
	fixture_close(&scene->fixture);
}

static void test_statistics__rows_add_up_to_the_sums(void **state)
{
	static struct scene scene;
	uint64_t slow = 0, unheard = 0, loss = 0;

	(void)state;
	begin(&scene, 2);
	for (uint32_t i = 0; i < 2; i++) {
		struct etw_state_record *record = scene.parts.outputs.all[i].record;

		record->counts = (struct etw_state_counts){.events = 10 + i,
							   .notes = 1,
							   .gaps = 1,
							   .rejected = 2,
							   .too_large = 3,
							   .file_events = 4,
							   .file_buffers = 5,
							   .buffers = 9,
							   .pieces = 20,
							   .piece_events = 30,
							   .slow_pieces = 2,
							   .slow_events = 7,
							   .unheard_pieces = 4,
							   .unheard_events = 8};
		etw_state_commit(&scene.parts.context.state, i, record);
	}
	etw_state_source(&scene.parts.context.state, 0, 1)->lost = 40;
	etw_state_source(&scene.parts.context.state, 0, 2)->lost = 100;
	scene.parts.context.state.head->consumers[3].unread = 11;
	scene.parts.context.state.head->consumers[2].missed = 12;
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	etw_account_info(&scene.parts.sets, &scene.info);
	assert_int_equal(scene.told.handle, 7);
	assert_int_equal(scene.told.cpu_count, 2);
	assert_int_equal(scene.told.told_cpus, 2);
	assert_int_equal(scene.told.cpus[1].events, 11);
	assert_int_equal(scene.told.cpus[1].notes, 1);
	assert_int_equal(scene.told.cpus[1].buffers_written, 4);
	assert_int_equal(scene.told.cpus[1].log_buffers_lost, 5);
	assert_int_equal(scene.told.cpus[1].delivered_buffers, 20);
	assert_int_equal(scene.told.cpus[1].delivered_events, 30);
	assert_int_equal(scene.told.cpus[1].slow_events, 7);
	assert_int_equal(scene.told.cpus[1].unheard_events, 8);
	/* With the first is what no processor is known of. */
	assert_int_equal(scene.told.cpus[0].source, 103);
	assert_int_equal(scene.told.cpus[1].source, 43);
	for (uint32_t i = 0; i < 2; i++) {
		const struct wire_cpu_statistics *cpu = &scene.told.cpus[i];

		slow += cpu->slow_buffers;
		unheard += cpu->unheard_buffers;
		loss += cpu->no_buffer + cpu->too_large + cpu->gaps + cpu->rejected + cpu->source +
			cpu->file;
	}
	assert_int_equal(slow + unheard + scene.told.missed_buffers + scene.told.unread_buffers,
			 scene.info.real_time_buffers_lost);
	assert_int_equal(scene.info.real_time_buffers_lost, 12 + 23);
	assert_int_equal(loss, scene.info.events_lost);
	assert_memory_equal(&scene.told.loss, &scene.info.loss, sizeof(scene.info.loss));
	end(&scene);
}

/* What a ring's writers claim is of its processor, also when the ring is closed. */
static void test_statistics__claims_stay_with_their_processor(void **state)
{
	static struct scene scene;
	struct fixture_writer writer;
	struct etw_session_set *set;
	struct etw_session_stream *stream;

	(void)state;
	begin(&scene, 2);
	set = parts_attach(&scene.parts, getuid(), 0, &writer);
	stream = &set->streams[1];
	stream->claims->too_large.seen = 5;
	stream->claims->too_large.offset = 2;
	stream->claims->no_buffer.seen = 4;
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.cpus[0].too_large, 0);
	assert_int_equal(scene.told.cpus[1].too_large, 3);
	assert_int_equal(scene.told.cpus[1].no_buffer, 4);
	assert_int_equal(scene.told.cpus[0].buffers + scene.told.cpus[1].buffers,
			 scene.told.number_of_buffers);
	/* The next of the same place has claims of its own. */
	for (int i = 0; i < 2; i++) {
		etw_session_set_close(&scene.parts.sets, set);
		etw_ring_set_unmap(&writer.set);
		set = parts_attach(&scene.parts, getuid(), 0, &writer);
	}
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.cpus[1].too_large, 3);
	assert_int_equal(scene.told.cpus[1].no_buffer, 4);
	assert_int_equal(scene.told.loss.too_large, 3);
	assert_int_equal(scene.told.loss.no_buffer, 4);
	assert_int_equal(scene.told.cpus[0].no_buffer, 0);
	etw_ring_set_unmap(&writer.set);
	end(&scene);
}

/* What filters took away is no loss, and stays when the rings are closed; impossible numbers are not taken up. */
static void test_statistics__filtered_is_no_loss(void **state)
{
	static struct scene scene;
	struct fixture_writer writer;
	struct etw_session_set *set;
	struct wire_ring *ring;

	(void)state;
	begin(&scene, 2);
	set = parts_attach(&scene.parts, getuid(), 0, &writer);
	etw_ring_count_filtered(&writer.set);
	etw_ring_count_filtered(&writer.set);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.filtered, 2);
	ring = (struct wire_ring *)(uintptr_t)etw_ring_reader_head(set->streams[0].reader);
	store_relaxed(&ring->filtered, UINT64_MAX / 2);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_in_range(scene.told.filtered, 0, 2);
	etw_ring_count_filtered(&writer.set);
	etw_session_set_close(&scene.parts.sets, set);
	etw_ring_set_unmap(&writer.set);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_in_range(scene.told.filtered, 1, 3);
	/* Of a user that is neither the owner nor root it is a claim. */
	set = parts_attach(&scene.parts, getuid() + 1, 0, &writer);
	etw_ring_count_filtered(&writer.set);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_in_range(scene.told.filtered, 1, 3);
	assert_int_equal(scene.told.others_filtered, 1);
	etw_session_set_close(&scene.parts.sets, set);
	etw_ring_set_unmap(&writer.set);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.others_filtered, 1);
	assert_int_equal(etw_account_events_lost(&scene.told.loss), 0);
	assert_int_equal(scene.told.loss.others + scene.told.loss.disregarded, 0);
	end(&scene);
}

static void test_statistics__buffers_that_are_free(void **state)
{
	static struct scene scene;
	struct fixture_writer writer;
	struct etw_session_set *set;

	(void)state;
	begin(&scene, 2);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.free_buffers, scene.told.number_of_buffers);
	assert_int_equal(scene.told.cpus[0].free_buffers, scene.told.cpus[0].buffers);
	set = parts_attach(&scene.parts, getuid(), 0, &writer);
	etw_session_sets_count_free(&scene.parts.sets);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.free_buffers, scene.told.number_of_buffers);
	assert_int_equal(scene.told.cpus[1].free_buffers, scene.told.cpus[1].buffers);
	for (int i = 0; i < 200; i++) /* several buffers full, which nobody has taken yet */
		assert_int_equal(fixture_write(&writer, 0x60), 0);
	for (uint32_t i = 0; i < set->stream_count; i++)
		assert_int_equal(etw_ring_reader_look(set->streams[i].reader, ETW_RING_LOOK_BUMP,
						      etw_context_now(&scene.parts.context)),
				 0);
	etw_session_sets_count_free(&scene.parts.sets);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_in_range(scene.told.number_of_buffers - scene.told.free_buffers, 1, 200);
	assert_int_equal(scene.told.cpus[0].free_buffers + scene.told.cpus[1].free_buffers,
			 scene.told.free_buffers);
	etw_ring_set_unmap(&writer.set);
	end(&scene);
}

/* More processors than one answer holds come in several; one that there is not in none. */
static void test_statistics__come_in_pages(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene, WIRE_STATISTICS_CPUS + 3);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, 0, &scene.told);
	assert_int_equal(scene.told.cpu_count, WIRE_STATISTICS_CPUS + 3);
	assert_int_equal(scene.told.told_cpus, WIRE_STATISTICS_CPUS);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, WIRE_STATISTICS_CPUS,
		       &scene.told);
	assert_int_equal(scene.told.first_cpu, WIRE_STATISTICS_CPUS);
	assert_int_equal(scene.told.told_cpus, 3);
	etw_statistics(&scene.parts.sets, &scene.parts.consumers, UINT32_MAX, &scene.told);
	assert_int_equal(scene.told.told_cpus, 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statistics__rows_add_up_to_the_sums),
		cmocka_unit_test(test_statistics__claims_stay_with_their_processor),
		cmocka_unit_test(test_statistics__filtered_is_no_loss),
		cmocka_unit_test(test_statistics__buffers_that_are_free),
		cmocka_unit_test(test_statistics__come_in_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
