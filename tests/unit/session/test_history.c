/* SPDX-License-Identifier: MIT */
/* A buffering session: the last buffers stay in memory, a flush makes a whole file of them, and the next host has them. */
#include "session/history.h"

#include "fake_source.h"
#include "parts.h"
#include "session/session_internal.h"
#include "trace_reading.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define KEPT   5
#define EVENTS 2000 /* 43 a buffer */
#define BYTES  0x60

struct dumping {
	struct parts *parts;
	struct etw_history_dump dump;
};

struct scene {
	struct fixture fixture;
	struct wire_session_config config, target;
	struct wire_session_info info;
	struct etw_session *session;
	struct fixture_writer writer;
	struct reading reading;
};

static struct wire_session_config buffering(void)
{
	return (struct wire_session_config){
		.name = "history",
		.buffer_kib = 4,
		.minimum_buffers = KEPT,
		.maximum_buffers = 200,
		.log_file_mode = EVENT_TRACE_BUFFERING_MODE |
				 EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING,
	};
}

static void begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	fixture_open(&scene->fixture);
	scene->config = buffering();
	(void)snprintf(scene->target.log_file, sizeof(scene->target.log_file), "%s",
		       scene->fixture.path);
	scene->session = fixture_start(&scene->fixture, &scene->config);
	fixture_attach(&scene->fixture, scene->session, getuid(), 0, &scene->writer);
}

static void end(struct scene *scene)
{
	etw_session_stop(scene->session, &scene->info);
	etw_session_free(scene->session);
	etw_ring_set_unmap(&scene->writer.set);
	fixture_close(&scene->fixture);
}

/* Slowly enough for all of them to be taken. */
static void write_events(struct scene *scene, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i % 500 == 499)
			assert_int_equal(etw_session_flush(scene->session), 0);
		assert_int_equal(fixture_write(&scene->writer, BYTES), 0);
	}
}

/* The last ones, without a hole. */
static void assert_holds_the_end(struct scene *scene, const char *path)
{
	uint32_t first = 0;

	read_trace(path, &scene->reading);
	assert_int_equal(scene->reading.findings, 0);
	assert_int_equal(scene->reading.doubled, 0);
	assert_int_equal(scene->reading.out_of_order, 0);
	assert_int_equal(scene->reading.next_number[0], scene->writer.written);
	while (first < scene->writer.written && !scene->reading.seen[0][first])
		first++;
	assert_int_equal(scene->reading.events, scene->writer.written - first);
	reading_done(&scene->reading);
}

static uint64_t size_of(const char *path)
{
	struct stat info;

	assert_int_equal(stat(path, &info), 0);
	return (uint64_t)info.st_size;
}

static void test_history__the_oldest_make_room(void **state)
{
	static struct scene scene;
	uint8_t header[0x80];
	FILE *file;

	(void)state;
	begin(&scene);
	write_events(&scene, EVENTS);
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), 0);
	assert_holds_the_end(&scene, scene.fixture.path);
	/* What was sealed last, and the one that is being filled. */
	assert_in_range(scene.reading.events, KEPT * 40, (KEPT + 1) * 43);
	assert_int_equal(size_of(scene.fixture.path), (1 + KEPT + 1) * 4096);
	file = fopen(scene.fixture.path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(header, 1, sizeof(header), file), sizeof(header));
	assert_int_equal(fclose(file), 0);
	etw_session_info(scene.session, &scene.info);
	assert_int_equal(scene.info.events, EVENTS);
	assert_int_equal(scene.info.events_lost, 0);
	assert_int_equal(scene.info.log_buffers_lost, 0);
	end(&scene);
}

/* Each has all that there is at its moment, also what an earlier one had. */
static void test_history__several_flushes(void **state)
{
	static struct scene scene;
	char second[160];

	(void)state;
	begin(&scene);
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), 0);
	assert_int_equal(size_of(scene.fixture.path), 4096);
	assert_holds_the_end(&scene, scene.fixture.path);
	write_events(&scene, 30);
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), 0);
	assert_holds_the_end(&scene, scene.fixture.path);
	assert_int_equal(scene.reading.events, 30);
	write_events(&scene, 60);
	(void)snprintf(second, sizeof(second), "%s/second.etl", scene.fixture.folder);
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "%s", second);
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), 0);
	assert_holds_the_end(&scene, second);
	assert_int_equal(scene.reading.events, 90);
	/* An UPDATE with a name is a flush into that file. */
	write_events(&scene, 1);
	assert_int_equal(etw_session_update(scene.session, &scene.target, getuid(), NULL), 0);
	assert_holds_the_end(&scene, second);
	assert_int_equal(scene.reading.events, 91);
	assert_int_equal(unlink(second), 0);
	end(&scene);
}

static void test_history__what_is_refused(void **state)
{
	static struct scene scene;
	struct etw_session_subscribe request = {0};
	struct etw_session_subscribed subscribed;

	(void)state;
	begin(&scene);
	write_events(&scene, 10);
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "%s/none/x.etl",
		       scene.fixture.folder);
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), -ENOENT);
	scene.target.log_file[0] = '\0';
	assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), -EINVAL);
	/* It has no consumers, whatever its mode says. */
	scene.target.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	assert_int_equal(etw_session_update(scene.session, &scene.target, getuid(), NULL), 0);
	assert_int_equal(etw_session_subscribe(scene.session, &request, &subscribed), -EINVAL);
	end(&scene);
	assert_int_equal(scene.info.events, 10);
	assert_int_equal(scene.info.events_lost, 0);
}

/* Neither a part of the file nor an empty one, whichever write fails. */
static void test_history__nothing_is_left_of_what_failed(void **state)
{
	static struct scene scene;
	struct rlimit before, limit;
	struct stat info;

	(void)state;
	begin(&scene);
	write_events(&scene, EVENTS);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	/* The header buffer has no room; then the third of the others. */
	for (rlim_t bytes = 100; bytes < 20000; bytes += 4 * 4096) {
		limit = before;
		limit.rlim_cur = bytes;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()),
				 -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_int_equal(stat(scene.fixture.path, &info), -1);
	}
	end(&scene);
}

static void assert_update_is_refused(struct scene *scene, int error)
{
	assert_int_equal(etw_session_update(scene->session, &scene->target, getuid(), NULL), error);
	etw_session_info(scene->session, &scene->info);
	assert_int_equal(scene->info.config.flush_timer, 0);
	assert_int_equal(scene->info.config.maximum_buffers, scene->config.maximum_buffers);
}

/* An UPDATE that cannot flush changes nothing, and one that is refused flushes nothing. */
static void test_history__update_is_whole_or_nothing(void **state)
{
	static struct scene scene;
	struct stat info;

	(void)state;
	begin(&scene);
	etw_session_info(scene.session, &scene.info);
	scene.config.maximum_buffers = scene.info.config.maximum_buffers;
	scene.target.flush_timer = 7;
	scene.target.maximum_buffers = scene.config.maximum_buffers + 100;
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "relative.etl");
	assert_update_is_refused(&scene, -EINVAL);
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "%s/none/x.etl",
		       scene.fixture.folder);
	assert_update_is_refused(&scene, -ENOENT);
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "%s",
		       scene.fixture.path);
	scene.target.enable_flags = 1;
	assert_update_is_refused(&scene, -EINVAL);
	assert_int_equal(stat(scene.fixture.path, &info), -1);
	scene.target.enable_flags = 0;
	assert_int_equal(etw_session_update(scene.session, &scene.target, getuid(), NULL), 0);
	etw_session_info(scene.session, &scene.info);
	assert_int_equal(scene.info.config.flush_timer, 7);
	assert_int_equal(size_of(scene.fixture.path), 4096);
	end(&scene);
}

static int take_piece(void *context)
{
	struct dumping *dumping = context;

	return etw_history_take(&dumping->parts->outputs, &dumping->dump);
}

static void begin_dump(struct dumping *dumping, struct parts *parts)
{
	*dumping = (struct dumping){.parts = parts, .dump.names.name = "/x.etl"};
	assert_int_equal(etw_history_begin(&parts->outputs, &dumping->dump), 0);
}

static void end_dump(struct dumping *dumping)
{
	etw_history_end(&dumping->parts->outputs);
	etw_history_done(&dumping->dump);
}

/* As the last host left it, a buffer that it was just sealing included. */
static void test_history__survives_the_host(void **state)
{
	static struct fixture fixture;
	static struct parts parts, next;
	static struct dumping first, second;
	const struct wire_session_config config = buffering();
	struct fixture_writer writer;
	struct etw_state_record *record;

	(void)state;
	fixture_open(&fixture);
	parts_open(&parts, &fixture, &config, 1);
	(void)parts_attach(&parts, getuid(), 0, &writer);
	for (uint32_t i = 0; i < EVENTS; i++) {
		assert_int_equal(fixture_write(&writer, BYTES), 0);
		if (i % 100 == 99)
			(void)parts_move(&parts, etw_monotonic_ns(), /* is_flush= */ true);
	}
	(void)parts_move(&parts, etw_monotonic_ns(), /* is_flush= */ true);
	begin_dump(&first, &parts);
	assert_int_equal(take_piece(&first), 0);
	assert_int_equal(first.dump.piece_count, KEPT);
	assert_int_equal(first.dump.tail_count, 1);
	/* It dies behind the record, and before the buffer is where it belongs. */
	record = parts.outputs.all[0].record;
	record->sequence = parts.context.state.head->next_sequence;
	etw_output_copy(&parts.outputs, &parts.outputs.all[0], record->sequence,
			parts.outputs.all[0].buffer);
	record->is_sealed = 1;
	etw_state_commit(&parts.context.state, 0, record);
	parts_adopt(&next, &fixture, dup(parts.context.state.fd));
	begin_dump(&second, &next);
	assert_int_equal(take_piece(&second), 0);
	assert_int_equal(second.dump.piece_count, KEPT);
	assert_int_equal(second.dump.tail_count, 0);
	/* The same buffers, of which the oldest has made room. */
	for (uint32_t i = 0; i + 1 < KEPT; i++)
		assert_memory_equal(second.dump.piece + i * 4096, first.dump.piece + (i + 1) * 4096,
				    4096);
	assert_memory_equal(second.dump.piece + (KEPT - 1) * 4096 + 0x48, first.dump.tail + 0x48,
			    4096 - 0x48);
	end_dump(&second);
	end_dump(&first);
	parts_close(&next);
	parts_close(&parts);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

static void write_and_move(struct parts *parts, struct fixture_writer *writer, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(fixture_write(writer, BYTES), 0);
		if (i % 100 == 99)
			(void)parts_move(parts, etw_monotonic_ns(), /* is_flush= */ true);
	}
	(void)parts_move(parts, etw_monotonic_ns(), /* is_flush= */ true);
}

struct overtaking {
	struct dumping dumping;
	struct fixture_writer *writer;
};

/* Between two pieces all that is kept is overwritten, twice. */
static int take_overtaken(void *context)
{
	struct overtaking *overtaking = context;

	write_and_move(overtaking->dumping.parts, overtaking->writer, 2 * KEPT * 43);
	return take_piece(&overtaking->dumping);
}

/* What is overwritten while a flush goes on is in its file. */
static void test_history__a_flush_that_is_overtaken(void **state)
{
	static struct fixture fixture;
	static struct parts parts;
	static struct overtaking overtaking;
	static struct reading reading;
	struct wire_session_config config = buffering();
	struct fixture_writer writer;

	(void)state;
	fixture_open(&fixture);
	parts_open(&parts, &fixture, &config, 1);
	(void)parts_attach(&parts, getuid(), 0, &writer);
	write_and_move(&parts, &writer, EVENTS);
	begin_dump(&overtaking.dumping, &parts);
	/* While it goes on there is no other. */
	{
		struct etw_history_dump other = {.names.name = "/y.etl"};

		assert_int_equal(etw_history_begin(&parts.outputs, &other), -EBUSY);
		etw_history_done(&other);
	}
	overtaking.dumping.dump.piece_room = 2;
	overtaking.writer = &writer;
	memcpy(overtaking.dumping.dump.names.name, fixture.path, sizeof(fixture.path));
	assert_int_equal(etw_history_write(&parts.outputs, &overtaking.dumping.dump, take_overtaken,
					   &overtaking),
			 0);
	end_dump(&overtaking.dumping);
	read_trace(fixture.path, &reading);
	assert_int_equal(reading.findings, 0);
	assert_int_equal(reading.doubled, 0);
	assert_int_equal(reading.next_number[0], EVENTS);
	assert_in_range(reading.events, KEPT * 40, (KEPT + 1) * 43);
	for (uint32_t i = 0; i < reading.events; i++)
		assert_int_equal(reading.seen[0][EVENTS - 1 - i], 1);
	reading_done(&reading);
	parts_close(&parts);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

/* What all flushes keep has a budget: one that meets it fails, leaves no file, and the session goes on. */
static void test_history__an_overtaken_flush_without_room(void **state)
{
	static const struct etw_budget_limits limits = {
		.total = UINT64_MAX, .uid = 2 * 4096, .session = UINT64_MAX, .set = UINT64_MAX};
	static struct fixture fixture;
	static struct parts parts;
	static struct overtaking overtaking;
	struct wire_session_config config = buffering();
	struct etw_budget *budget;
	struct fixture_writer writer;
	struct stat info;

	(void)state;
	fixture_open(&fixture);
	assert_int_equal(etw_budget_create(&limits, &budget), 0);
	parts_open(&parts, &fixture, &config, 1);
	(void)parts_attach(&parts, getuid(), 0, &writer);
	write_and_move(&parts, &writer, EVENTS);
	parts.context.host.budget = budget;
	begin_dump(&overtaking.dumping, &parts);
	overtaking.writer = &writer;
	memcpy(overtaking.dumping.dump.names.name, fixture.path, sizeof(fixture.path));
	assert_int_equal(etw_history_write(&parts.outputs, &overtaking.dumping.dump, take_overtaken,
					   &overtaking),
			 -ENOMEM);
	assert_int_equal(stat(fixture.path, &info), -1);
	end_dump(&overtaking.dumping);
	/* All that was held is given back. */
	assert_int_equal(etw_budget_hold(budget, 2 * 4096), 0);
	assert_int_equal(etw_budget_hold(budget, 1), -ENOMEM);
	etw_budget_let_go(budget, 2 * 4096);
	parts.context.host.budget = fixture.host.budget;
	parts_close(&parts);
	etw_budget_free(budget);
	etw_ring_set_unmap(&writer.set);
	fixture_close(&fixture);
}

#define DESCRIBED 300

/* A flushed file of the kernel's events ends with what is there, of which the session itself keeps nothing. */
static void test_history__a_flush_describes_what_is_there(void **state)
{
	static struct scene scene;

	(void)state;
	memset(&scene, 0, sizeof(scene));
	fixture_open(&scene.fixture);
	fake_source_attach(&scene.fixture);
	fake_source_memory->described = DESCRIBED;
	scene.config = buffering();
	scene.config.log_file_mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	scene.config.enable_flags = EVENT_TRACE_FLAG_PROCESS;
	(void)snprintf(scene.target.log_file, sizeof(scene.target.log_file), "%s",
		       scene.fixture.path);
	scene.session = fixture_start(&scene.fixture, &scene.config);
	for (uint32_t i = 0; i < 10; i++)
		fake_source_produce(&scene.fixture.clock, 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(etw_session_flush_to(scene.session, &scene.target, getuid()), 0);
		read_trace(scene.fixture.path, &scene.reading);
		assert_int_equal(scene.reading.findings, 0);
		assert_int_equal(scene.reading.out_of_order, 0);
		assert_int_equal(scene.reading.kernel_events, 10 + DESCRIBED);
		assert_int_equal(scene.reading.kernel_disorder, 0);
		reading_done(&scene.reading);
	}
	etw_session_stop(scene.session, &scene.info);
	assert_int_equal(scene.info.events, 10);
	etw_session_free(scene.session);
	fake_source_detach();
	fixture_close(&scene.fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history__a_flush_that_is_overtaken),
		cmocka_unit_test(test_history__an_overtaken_flush_without_room),
		cmocka_unit_test(test_history__a_flush_describes_what_is_there),
		cmocka_unit_test(test_history__the_oldest_make_room),
		cmocka_unit_test(test_history__several_flushes),
		cmocka_unit_test(test_history__what_is_refused),
		cmocka_unit_test(test_history__nothing_is_left_of_what_failed),
		cmocka_unit_test(test_history__update_is_whole_or_nothing),
		cmocka_unit_test(test_history__survives_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
