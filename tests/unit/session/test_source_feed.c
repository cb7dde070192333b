/* SPDX-License-Identifier: MIT */
/* A session's source of kernel events: what is said of it, and what it costs. No thread runs here. */
#include "session/source_feed.h"

#include "base/fault.h"
#include "fake_source.h"
#include "parts.h"

#define ASKED (EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_CSWITCH)

struct scene {
	struct fixture fixture;
	struct parts parts;
};

static void begin(struct scene *scene, uint32_t mode, uint32_t enable_flags, uint32_t clock_type)
{
	struct wire_session_config config = parts_realtime();

	*scene = (struct scene){0};
	fixture_open(&scene->fixture);
	fake_source_attach(&scene->fixture);
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE | mode;
	config.enable_flags = enable_flags;
	config.clock_type = clock_type;
	parts_open(&scene->parts, &scene->fixture, &config, 2);
}

static void end(struct scene *scene)
{
	parts_close(&scene->parts);
	fake_source_detach();
	fixture_close(&scene->fixture);
}

static void collect(struct scene *scene)
{
	scene->parts.round = (struct etw_session_round){0};
	etw_source_feed_collect(&scene->parts.feeds.all[0], &scene->parts.round);
}

static void test_source_feed__is_for_kernel_sessions(void **state)
{
	static struct scene scene;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];

	(void)state;
	begin(&scene, 0, 0, 0);
	etw_source_feed_open(feed, false);
	assert_null(feed->source);
	assert_int_equal(etw_source_feed_due_ns(feed), 0);
	/* All of it is harmless without one. */
	collect(&scene);
	etw_source_feed_release(feed);
	etw_source_feed_count_loss(feed);
	etw_source_feed_stop(feed);
	etw_source_feed_close(feed);
	assert_int_equal(fake_source_memory->opened, 0);
	end(&scene);
}

static void test_source_feed__tells_what_is_not_collected(void **state)
{
	static struct scene scene;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];
	struct wire_session_note note;
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, ASKED, 0);
	etw_source_feed_open(feed, false);
	assert_non_null(feed->source);
	assert_int_equal(fake_source_memory->enabled_flags, ASKED & ~EVENT_TRACE_FLAG_CSWITCH);
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	assert_true(etw_source_feed_due_ns(feed) > 0);
	assert_non_null(strstr(scene.parts.context.complaint, "not collected"));
	assert_true(etw_notes_take(&scene.parts.notes, &note));
	assert_int_equal(note.kind, WIRE_NOTE_NOT_COLLECTED);
	assert_int_equal(note.numbers[0], EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_CSWITCH);
	wire_session_note_masks(&note, masks);
	assert_int_equal(masks[0], EVENT_TRACE_FLAG_DISK_IO);
	assert_int_equal(masks[1], 0x4);
	assert_false(etw_notes_take(&scene.parts.notes, &note));
	etw_source_feed_stop(feed);
	assert_int_equal(fake_source_memory->rundowns[1], 1);
	end(&scene);
}

static void change(struct etw_source_feed *feed, uint32_t flags)
{
	struct wire_kernel_request wanted = {.parts = WIRE_KERNEL_PARTS};

	etw_group_masks_of_flags(flags, wanted.group_masks);
	etw_source_feed_change(feed, &wanted);
}

/* EVENT_TRACE_CONTROL_UPDATE: from nothing, to other flags, to nothing. */
static void test_source_feed__other_flags_are_wanted(void **state)
{
	static struct scene scene;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, 0);
	etw_source_feed_open(feed, false);
	assert_null(feed->source);
	change(feed, EVENT_TRACE_FLAG_NO_SYSCONFIG);
	assert_null(feed->source);
	change(feed, EVENT_TRACE_FLAG_PROCESS);
	assert_non_null(feed->source);
	assert_int_equal(fake_source_memory->opened, 1);
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	assert_int_equal(fake_source_memory->enabled_flags, EVENT_TRACE_FLAG_PROCESS);
	assert_string_equal(scene.parts.context.complaint, "");
	change(feed, EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_DISK_IO);
	assert_int_equal(fake_source_memory->opened, 1);
	assert_non_null(strstr(scene.parts.context.complaint, "not collected"));
	change(feed, 0);
	assert_int_equal(fake_source_memory->enabled_flags, 0);
	assert_non_null(feed->source);
	end(&scene);
}

/* All that a session can want reaches the source; stacks that will not come are told, in the trace too. */
static void test_source_feed__everything_is_carried(void **state)
{
	static struct scene scene;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];
	const struct etw_source_request *request;
	struct wire_session_note note;
	struct wire_kernel_request wanted = {
		.parts = WIRE_KERNEL_PARTS,
		.group_masks = {EVENT_TRACE_FLAG_THREAD, 0, 0, 0, 0, 0, 0x4},
		.profile_interval_ft = 2500,
		.only_pid = 77,
		.options = WIRE_KERNEL_UNWIND,
		.profile_sources = 0x6,
		.source_intervals = {[2] = 5000},
		.stack_hook_count = 3,
		.stack_hooks = {0x0501, 0x0524, 0x0FFF},
	};

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0);
	etw_source_feed_open(feed, false);
	etw_source_feed_change(feed, &wanted);
	request = &fake_source_memory->request;
	assert_memory_equal(request->group_masks, wanted.group_masks, sizeof(wanted.group_masks));
	assert_int_equal(request->profile_interval_ft, 2500);
	assert_int_equal(request->only_pid, 77);
	assert_int_equal(request->options, ETW_SOURCE_UNWIND);
	assert_int_equal(request->profile_sources, 0x6);
	assert_memory_equal(request->source_intervals, wanted.source_intervals,
			    sizeof(wanted.source_intervals));
	assert_int_equal(request->stack_hook_count, 3);
	assert_memory_equal(request->stack_hooks, wanted.stack_hooks, 3 * sizeof(uint16_t));
	assert_non_null(strstr(scene.parts.context.complaint,
			       "no stacks, as not recorded or not served: CSwitch, 0x0fff"));
	assert_true(etw_notes_take(&scene.parts.notes, &note));
	assert_int_equal(note.kind, WIRE_NOTE_NO_STACKS);
	assert_int_equal(note.numbers[0], 2);
	assert_true(etw_notes_take(&scene.parts.notes, &note));
	assert_int_equal(note.kind, WIRE_NOTE_NOT_AS_ASKED);
	assert_int_equal(note.numbers[0], ETW_SOURCE_ONLY_PID | ETW_SOURCE_UNWIND);
	/* Stacks of events that nobody wants. */
	wanted.group_masks[0] = EVENT_TRACE_FLAG_PROCESS;
	wanted.stack_hook_count = 1;
	wanted.only_pid = wanted.options = 0;
	etw_source_feed_change(feed, &wanted);
	assert_true(etw_notes_take(&scene.parts.notes, &note));
	assert_string_equal(note.message, "no stacks, as not recorded or not served: ThreadCreate");
	assert_false(etw_notes_take(&scene.parts.notes, &note));
	end(&scene);
}

/* Stacks do not show how they were followed. */
static void test_source_feed__tables_of_unwinding_are_told(void **state)
{
	static struct scene scene;
	struct etw_source_ops able = fake_source_ops;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];
	struct wire_session_note note;
	struct wire_kernel_request wanted = {
		.group_masks = {EVENT_TRACE_FLAG_THREAD},
		.options = WIRE_KERNEL_UNWIND,
		.stack_hook_count = 1,
		.stack_hooks = {0x0501},
	};

	(void)state;
	able.options = ETW_SOURCE_UNWIND;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, 0, 0);
	feed->ops = &able;
	etw_source_feed_open(feed, false);
	etw_source_feed_change(feed, &wanted);
	assert_true(etw_notes_take(&scene.parts.notes, &note));
	assert_int_equal(note.kind, WIRE_NOTE_STACKS_BY_TABLES);
	assert_false(etw_notes_take(&scene.parts.notes, &note));
	/* Without stacks there is nothing to tell, and neither by frame pointers. */
	wanted.stack_hook_count = 0;
	etw_source_feed_change(feed, &wanted);
	wanted.stack_hook_count = 1;
	wanted.options = 0;
	etw_source_feed_change(feed, &wanted);
	assert_false(etw_notes_take(&scene.parts.notes, &note));
	end(&scene);
}

/*
 * The host of @scene is killed, so that nobody closes its source, or asks it once more; and the next one opens the source of
 * the session that it left.
 */
static void take_over(struct scene *scene, const struct etw_source_ops *ops)
{
	int fd = dup(scene->parts.context.state.fd);

	free(scene->parts.feeds.all[0].source);
	scene->parts.feeds.all[0].source = NULL;
	parts_close(&scene->parts);
	parts_adopt(&scene->parts, &scene->fixture, fd);
	scene->parts.feeds.all[0].ops = ops;
	etw_source_feed_open(&scene->parts.feeds.all[0], true);
}

/* The next host tells what the last one could not write, and nothing twice. */
static void test_source_feed__tables_of_unwinding_are_told_once_over_hosts(void **state)
{
	static struct scene scene;
	struct etw_source_ops able = fake_source_ops;
	struct wire_session_note note;
	struct wire_kernel_request *wanted;

	(void)state;
	able.options = ETW_SOURCE_UNWIND;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_THREAD, 0);
	wanted = &scene.parts.context.state.head->config.kernel;
	wanted->options = WIRE_KERNEL_UNWIND;
	wanted->stack_hook_count = 1;
	wanted->stack_hooks[0] = 0x0501;
	scene.parts.feeds.all[0].ops = &able;
	etw_source_feed_open(&scene.parts.feeds.all[0], false);
	assert_int_equal(scene.parts.notes.count, 1);
	take_over(&scene, &able);
	assert_int_equal(scene.parts.notes.count, 1);
	etw_outputs_write_notes(&scene.parts.outputs);
	etw_outputs_flush(&scene.parts.outputs);
	take_over(&scene, &able);
	assert_false(etw_notes_take(&scene.parts.notes, &note));
	end(&scene);
}

/* A session whose source cannot be had goes on without it. */
static void test_source_feed__a_source_that_fails_is_a_complaint(void **state)
{
	static struct scene scene;

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0);
	fake_source_memory->open_error = -EACCES;
	etw_source_feed_open(&scene.parts.feeds.all[0], false);
	assert_null(scene.parts.feeds.all[0].source);
	assert_non_null(strstr(scene.parts.context.complaint, "the fake is told to fail"));
	assert_int_equal(scene.parts.notes.count, 1);
	end(&scene);
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0);
	scene.parts.feeds.all[0].ops = NULL; /* a host without one */
	etw_source_feed_open(&scene.parts.feeds.all[0], false);
	assert_non_null(strstr(scene.parts.context.complaint, "no source of kernel events"));
	end(&scene);
	/* Its times and the counter have nothing in common where the clock is not the counter. */
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, ETW_CLOCK_CYCLE);
	etw_source_feed_open(&scene.parts.feeds.all[0], false);
	assert_null(scene.parts.feeds.all[0].source);
	assert_non_null(strstr(scene.parts.context.complaint, "no clock on this machine"));
	end(&scene);
}

static void test_source_feed__the_watermark_only_rises(void **state)
{
	static struct scene scene;
	struct etw_source_feed *feed = &scene.parts.feeds.all[0];
	int64_t before_raw;

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0);
	etw_source_feed_open(feed, false);
	before_raw = etw_context_now(&scene.parts.context);
	collect(&scene);
	assert_true(feed->watermark_raw >= before_raw);
	assert_false(scene.parts.round.has_more);
	before_raw = feed->watermark_raw;
	fake_source_memory->is_standing = true;
	collect(&scene);
	assert_true(feed->watermark_raw == before_raw);
	fake_source_memory->is_standing = false;
	fake_source_memory->cpus[0].is_busy = 1; /* there is more to read at once */
	collect(&scene);
	assert_true(scene.parts.round.has_more);
	assert_true(feed->watermark_raw == before_raw);
	end(&scene);
}

/*
 * A count that began anew for this host adds to what the former one had lost; one that went on has it still. Both are of
 * one source: the kernel's counts outlive a host, and its own do not.
 */
static void test_source_feed__loss_adds_up_over_hosts(void **state)
{
	static struct scene scene;
	const struct etw_state_source *source;
	struct wire_session_loss loss;

	(void)state;
	begin(&scene, EVENT_TRACE_SYSTEM_LOGGER_MODE, EVENT_TRACE_FLAG_PROCESS, 0);
	etw_source_feed_open(&scene.parts.feeds.all[0], false);
	fake_source_memory->lost = 5;
	fake_source_memory->lost_by_host = 100;
	fake_source_memory->without_fields = 1000;
	etw_source_feed_count_loss(&scene.parts.feeds.all[0]);
	for (uint64_t lost = 7; lost != UINT64_MAX; lost = lost == 7 ? 2 : UINT64_MAX) {
		fake_source_memory->lost = lost;
		fake_source_memory->lost_by_host = 3;
		take_over(&scene, scene.parts.feeds.all[0].ops);
		etw_account_loss(&scene.parts.sets, &loss);
		assert_int_equal(loss.source, 100 + 3 + (lost == 7 ? 7 : 7 + 2));
	}
	source = etw_state_source(&scene.parts.context.state, 0,
				  scene.parts.context.plan.cpu_count);
	assert_int_equal(source->former.events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_TASKS], 7);
	assert_int_equal(source->now.events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_TASKS], 2);
	assert_int_equal(source->lost, 9);
	source = etw_state_source(&scene.parts.context.state, 0, 0);
	assert_int_equal(source->former.events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_ANY], 100);
	assert_int_equal(source->lost, 103);
	assert_int_equal(loss.sources[0].cause, ETW_LOSS_RING_FULL);
	assert_int_equal(loss.sources[0].class_number, ETW_LOSS_OF_TASKS);
	assert_int_equal(loss.sources[0].events, 9);
	assert_int_equal(loss.sources[1].cause, ETW_LOSS_NO_MEMORY);
	assert_int_equal(loss.sources[1].events, 103);
	/* No loss, but told. */
	assert_int_equal(loss.sources[2].cause, ETW_LOSS_NO_FIELDS);
	assert_int_equal(loss.sources[2].events, 1000);
	assert_int_equal(loss.sources[3].events, 0);
	assert_int_equal(fake_source_memory->rundowns[0], 1);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_feed__is_for_kernel_sessions),
		cmocka_unit_test(test_source_feed__tells_what_is_not_collected),
		cmocka_unit_test(test_source_feed__other_flags_are_wanted),
		cmocka_unit_test(test_source_feed__everything_is_carried),
		cmocka_unit_test(test_source_feed__tables_of_unwinding_are_told),
		cmocka_unit_test(test_source_feed__tables_of_unwinding_are_told_once_over_hosts),
		cmocka_unit_test(test_source_feed__a_source_that_fails_is_a_complaint),
		cmocka_unit_test(test_source_feed__the_watermark_only_rises),
		cmocka_unit_test(test_source_feed__loss_adds_up_over_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
