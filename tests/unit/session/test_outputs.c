/* SPDX-License-Identifier: MIT */
/*
 * Outputs: what flows in from rings and the source, in which order, and what becomes of it. No thread runs here: the test
 * writes into the rings, and then moves what a round would.
 */
#include "session/outputs.h"

#include "base/time.h"
#include "fake_source.h"
#include "parts.h"
#include "session/merge.h"
#include "trace_reading.h"
#include "wire/etl_buffer.h"

struct scene {
	struct fixture fixture;
	struct parts parts;
	struct fixture_writer own, other;
	struct etw_session_set *set, *other_set;
	uint64_t now_ns;
};

/* A file session with one output, and two uids that write to it. */
static void begin(struct scene *scene, uint32_t mode)
{
	struct wire_session_config config;

	*scene = (struct scene){.now_ns = etw_monotonic_ns()};
	fixture_open(&scene->fixture);
	fake_source_attach(&scene->fixture);
	config = fixture_config(&scene->fixture);
	config.log_file_mode |= EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | mode;
	config.enable_flags = mode & EVENT_TRACE_SYSTEM_LOGGER_MODE ? EVENT_TRACE_FLAG_PROCESS : 0;
	parts_open(&scene->parts, &scene->fixture, &config, 2);
	etw_source_feed_open(&scene->parts.feeds.all[0], /* is_adopted= */ false);
	scene->set = parts_attach(&scene->parts, getuid(), 0, &scene->own);
	scene->other_set = parts_attach(&scene->parts, PARTS_USER, 1, &scene->other);
}

static void end(struct scene *scene)
{
	etw_ring_set_unmap(&scene->own.set);
	etw_ring_set_unmap(&scene->other.set);
	parts_close(&scene->parts);
	fake_source_detach();
	fixture_close(&scene->fixture);
}

/* Everything that was written is in the outputs. Behind what was written last, as writers' clocks may differ. */
static void move_all(struct scene *scene)
{
	int64_t wanted_raw = etw_context_now(&scene->parts.context);

	do {
		etw_source_feed_collect(&scene->parts.feeds.all[0], &scene->parts.round);
		(void)parts_move(&scene->parts, scene->now_ns, /* is_flush= */ true);
	} while (etw_outputs_merged_raw(&scene->parts.outputs) < wanted_raw);
}

static struct reading read_file(struct scene *scene)
{
	struct reading reading;

	etw_outputs_flush(&scene->parts.outputs);
	etw_session_file_end(&scene->parts.outputs.file, 0);
	read_trace(scene->fixture.path, &reading);
	return reading;
}

static void test_outputs__two_rings_are_merged_by_time(void **state)
{
	static struct scene scene;
	struct reading reading;

	(void)state;
	begin(&scene, 0);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(fixture_write(i % 3 ? &scene.own : &scene.other, 0x60), 0);
	move_all(&scene);
	/* All of it is committed, and the rings have their buffers back. */
	assert_int_equal(parts_counts(&scene.parts).events, 300);
	assert_int_equal(scene.set->streams[0].status, ETW_STREAM_EMPTY);
	assert_false(etw_output_must_commit(&scene.parts.outputs.all[0]));
	reading = read_file(&scene);
	assert_int_equal(reading.by_writer[0], scene.own.written);
	assert_int_equal(reading.by_writer[1], scene.other.written);
	assert_int_equal(reading.doubled + reading.out_of_order + reading.findings, 0);
	reading_done(&reading);
	end(&scene);
}

/* An event that somebody is writing holds up what is later, for 100 ms and in its ring's output. */
static void test_outputs__a_gap_holds_the_merge(void **state)
{
	static struct scene scene;
	struct etw_ring_span span;

	(void)state;
	begin(&scene, 0);
	assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	assert_int_equal(etw_ring_reserve(&scene.own.set, scene.own.clock, 0x60, &span), 0);
	assert_int_equal(fixture_write(&scene.other, 0x60), 0);
	(void)parts_move(&scene.parts, scene.now_ns, true);
	assert_true(scene.parts.round.has_gap);
	assert_int_equal(parts_counts(&scene.parts).events, 1);
	assert_false(etw_outputs_got_on(&scene.parts.outputs, INT64_MIN));
	assert_true(etw_outputs_got_on(&scene.parts.outputs, INT64_MAX));
	scene.now_ns +=
		ETW_STREAM_GAP_NS; /* its buffer is closed now; then the gap is waited for */
	(void)parts_move(&scene.parts, scene.now_ns, true);
	scene.now_ns += 2 * ETW_STREAM_GAP_NS;
	(void)parts_move(&scene.parts, scene.now_ns, true);
	(void)parts_move(&scene.parts, scene.now_ns, true);
	assert_int_equal(parts_counts(&scene.parts).events, 2);
	assert_int_equal(parts_counts(&scene.parts).gaps, 1);
	end(&scene);
}

/* What the check refuses never reaches a buffer, and counts; of whom is known. */
static void test_outputs__refused_events_count(void **state)
{
	static struct scene scene;
	struct wire_session_loss loss;

	(void)state;
	begin(&scene, 0);
	scene.fixture.refuses_pid = true;
	assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	assert_int_equal(fixture_write(&scene.other, 0x60), 0);
	move_all(&scene);
	assert_int_equal(parts_counts(&scene.parts).events, 0);
	assert_int_equal(parts_counts(&scene.parts).rejected, 2);
	assert_int_equal(parts_counts(&scene.parts).others_rejected, 1);
	etw_account_loss(&scene.parts.sets, &loss);
	assert_int_equal(etw_account_events_lost(&loss), 2);
	assert_int_equal(etw_output_loss(&scene.parts.outputs, &scene.parts.outputs.all[0]), 2);
	end(&scene);
}

/* A buffer is sealed when an event does not fit; the last one of a flush has the marker. */
static void test_outputs__buffers_are_sealed_in_order(void **state)
{
	static struct scene scene;
	const struct etw_state_head *head;
	const struct etw_state_file *file;
	uint32_t bytes;

	(void)state;
	begin(&scene, 0);
	head = scene.parts.context.state.head;
	file = etw_state_file(&scene.parts.context.state);
	bytes = scene.parts.context.plan.buffer_bytes;
	for (int i = 0; i < 9; i++)
		assert_int_equal(fixture_write(&scene.own, 1000), 0);
	move_all(&scene);
	assert_int_equal(head->next_sequence, 3); /* four to a buffer of 4 KB */
	assert_int_equal(file->next_offset, 3 * bytes);
	assert_int_equal(file->last_flags & WIRE_BUFFER_FLUSH_MARKER, 0);
	assert_false(etw_output_is_empty(&scene.parts.outputs.all[0]));
	etw_outputs_flush(&scene.parts.outputs);
	assert_int_equal(head->next_sequence, 4);
	assert_int_equal(file->next_offset, 4 * bytes);
	assert_int_not_equal(file->last_flags & WIRE_BUFFER_FLUSH_MARKER, 0);
	assert_true(etw_output_is_empty(&scene.parts.outputs.all[0]));
	etw_outputs_flush(&scene.parts.outputs); /* there is nothing to seal */
	assert_int_equal(head->next_sequence, 4);
	end(&scene);
}

/* The next host goes on behind what was committed: no event is lost, none comes twice. */
static void test_outputs__the_next_host_goes_on(void **state)
{
	static struct scene scene;
	struct reading reading;
	int fd;

	(void)state;
	begin(&scene, 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	move_all(&scene);
	for (int i = 0; i < 50; i++) /* which this host never sees */
		assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	fd = dup(scene.parts.context.state.fd);
	parts_close(&scene.parts);
	parts_adopt(&scene.parts, &scene.fixture, fd);
	assert_int_equal(scene.parts.context.complaint[0], 0);
	move_all(&scene);
	assert_int_equal(parts_counts(&scene.parts).events, 100);
	reading = read_file(&scene);
	assert_int_equal(reading.by_writer[0], 100);
	assert_int_equal(reading.doubled + reading.out_of_order + reading.findings, 0);
	reading_done(&reading);
	end(&scene);
}

/* A source's events are held to its watermark, which others wait for. */
static void test_outputs__the_source_is_waited_for(void **state)
{
	static struct scene scene;
	struct parts *parts = &scene.parts;

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE);
	fake_source_memory->is_standing = true;
	fake_source_produce(&scene.fixture.clock, 1);
	assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	etw_source_feed_collect(&parts->feeds.all[0], &parts->round);
	(void)parts_move(parts, scene.now_ns, true);
	assert_true(parts->round.awaits_source);
	/* It has one processor's event, but the other's may be earlier. */
	assert_int_equal(parts_counts(parts).events, 0);
	fake_source_memory->is_standing = false;
	move_all(&scene);
	assert_int_equal(parts_counts(parts).events, 2);
	end(&scene);
}

/* What a source has and nobody waits for any more is lost, and counts. */
static void test_outputs__what_the_source_leaves_counts(void **state)
{
	static struct scene scene;
	struct parts *parts = &scene.parts;

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE);
	for (int i = 0; i < 5; i++)
		fake_source_produce(&scene.fixture.clock, 1);
	etw_source_feed_collect(&parts->feeds.all[0], &parts->round);
	etw_outputs_gather(&parts->outputs);
	etw_outputs_settle_sources(&parts->outputs, INT64_MAX);
	assert_int_equal(parts_counts(parts).rejected, 5);
	assert_int_equal(parts->outputs.all[0].stream_count, 0);
	etw_source_feed_close(&parts->feeds.all[0]);
	end(&scene);
}

/* A set that is closed has brought its numbers into the account, and no output has it any more. */
static void test_outputs__a_closed_set_stays_in_the_account(void **state)
{
	static struct scene scene;
	struct parts *parts = &scene.parts;
	struct wire_session_loss loss;

	(void)state;
	begin(&scene, 0);
	while (scene.own.refused == 0)
		(void)fixture_write(&scene.own, 0x60);
	move_all(&scene);
	etw_output_reject_rest(&scene.set->streams[0]);
	etw_session_set_retire_replaced(&parts->sets, scene.set);
	etw_outputs_settle_set(&parts->outputs, scene.set);
	etw_session_set_close(&parts->sets, scene.set);
	assert_int_equal(parts->outputs.all[0].stream_count, 0);
	etw_account_loss(&parts->sets, &loss);
	assert_int_equal(parts_counts(parts).events, scene.own.written);
	assert_int_equal(loss.no_buffer, 1);
	assert_int_equal(etw_output_loss(&parts->outputs, &parts->outputs.all[0]), 1);
	move_all(&scene);
	end(&scene);
}

/* Notes stand behind what an output has, and are events as any other. */
static void test_outputs__notes_are_written_behind_what_is_there(void **state)
{
	static struct scene scene;
	struct parts *parts = &scene.parts;
	struct wire_session_note note;
	struct reading reading;

	(void)state;
	begin(&scene, 0);
	assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	etw_note_make(&note, WIRE_NOTE_NOT_COLLECTED, (const uint64_t[]){0, 6, 0, 0, 0}, "a note");
	etw_notes_put(&parts->notes, &note);
	move_all(&scene);
	assert_int_equal(parts->notes.count, 0);
	assert_int_equal(parts->outputs.all[0].record->buffer_notes, 1);
	assert_int_equal(parts->outputs.all[0].record->noted_missing[0], 6);
	etw_outputs_put_note(&parts->outputs, &note);
	assert_int_equal(fixture_write(&scene.own, 0x60), 0);
	move_all(&scene);
	reading = read_file(&scene);
	assert_int_equal(reading.events, 2);
	assert_int_equal(reading.notes, 2);
	assert_int_equal(reading.out_of_order, 0);
	reading_done(&reading);
	end(&scene);
}

/* All that was in a file which somebody deletes is lost, but for what is not written yet. */
static void test_outputs__a_deleted_file_counts_as_lost(void **state)
{
	static struct scene scene;
	struct parts *parts = &scene.parts;

	(void)state;
	begin(&scene, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(fixture_write(&scene.own, 1000), 0);
	move_all(&scene);
	etw_outputs_look_at_file(&parts->outputs);
	assert_int_equal(etw_state_file(&parts->context.state)->status, 0);
	assert_int_equal(unlink(scene.fixture.path), 0);
	etw_outputs_look_at_file(&parts->outputs);
	assert_int_equal(etw_state_file(&parts->context.state)->status, -ENOENT);
	assert_int_equal(parts_counts(parts).file_events, 4);
	assert_non_null(strstr(parts->context.complaint, "deleted"));
	etw_outputs_flush(&parts->outputs);
	assert_int_equal(parts->outputs.all[0].record->counts.file_events, 5);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs__two_rings_are_merged_by_time),
		cmocka_unit_test(test_outputs__a_gap_holds_the_merge),
		cmocka_unit_test(test_outputs__refused_events_count),
		cmocka_unit_test(test_outputs__buffers_are_sealed_in_order),
		cmocka_unit_test(test_outputs__the_next_host_goes_on),
		cmocka_unit_test(test_outputs__the_source_is_waited_for),
		cmocka_unit_test(test_outputs__what_the_source_leaves_counts),
		cmocka_unit_test(test_outputs__a_closed_set_stays_in_the_account),
		cmocka_unit_test(test_outputs__notes_are_written_behind_what_is_there),
		cmocka_unit_test(test_outputs__a_deleted_file_counts_as_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
