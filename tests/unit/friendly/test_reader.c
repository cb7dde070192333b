/* SPDX-License-Identifier: MIT */
/* Reading through etw/reader.h: callbacks, counts, windows, stopping, and the schemas of a reader. */
#include "reader_fixture.h"

/* Processes are told by the events themselves: each start is about the process that starts. */
static void test_reader__knows_processes(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct seen named = {0}, one = {0}, writer = {0};

	(void)state;
	OK(libetw_reader_on(reader, libetw_filter("process = A.EXE", NULL), see, &named));
	OK(libetw_reader_on(reader, libetw_filter("pid = 1100 and process = a.exe", NULL), see,
			    &one));
	OK(libetw_reader_on(reader, libetw_filter("header_pid = 44 and pid = 44", NULL), see,
			    &writer));
	OK(libetw_reader_run(reader));
	assert_int_equal(named.count, EVENTS / 10);
	assert_int_equal(one.count, 1);
	assert_int_equal(writer.count, EVENTS - EVENTS / 10);
	libetw_reader_free(reader);
}

static void test_reader__calls_back_by_predicate(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct seen ours = {0}, kernel = {0}, unknown = {0}, starts = {0}, all = {0};
	struct libetw_stats stats;
	uint64_t expected = 0;

	(void)state;
	for (int i = 0; i < EVENTS; i++)
		expected += i % 10 && i % 50 != 7 ? (uint64_t)i : 0;
	OK(libetw_field_create("Numbers[0]", &ours.number));
	OK(libetw_reader_on(reader, libetw_provider(&test_provider), see, &ours));
	OK(libetw_reader_on(reader, libetw_event_named("Process/Start"), see, &starts));
	OK(libetw_reader_on(reader,
			    libetw_and(libetw_event_named("Process/Start"),
				       libetw_unsigned_in("ProcessId", 1000, 1099)),
			    see, &kernel));
	OK(libetw_reader_on_unknown(reader, see, &unknown));
	OK(libetw_reader_on(reader, libetw_any(), see, &all));
	OK(libetw_reader_run(reader));
	assert_int_equal(ours.count, EVENTS - EVENTS / 10);
	assert_int_equal(ours.sum, expected);
	assert_int_equal(starts.count, EVENTS / 10);
	assert_int_equal(kernel.count, 10);
	assert_int_equal(unknown.count, EVENTS / 50);
	libetw_reader_stats(reader, &stats);
	assert_int_equal(stats.events, all.count);
	assert_int_equal(stats.unknown, EVENTS / 50);
	assert_int_equal(stats.events_lost, 0);
	assert_true(stats.buffers > 10);
	assert_int_equal(libetw_reader_is_complete(reader, INT64_MIN, INT64_MAX), 1);
	libetw_field_free(ours.number);
	libetw_reader_free(reader);
}

static int check_provider(void *context, const GUID *guid, const char *name, uint64_t events,
			  uint64_t payload_bytes)
{
	if (memcmp(guid, &test_provider, sizeof(*guid)))
		return 0;
	assert_string_equal(name, "Test-Provider");
	*(uint64_t *)context = events;
	return payload_bytes ? 5 : 0;
}

static void test_reader__counts_by_provider(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	uint64_t events = 0;

	(void)state;
	OK(libetw_reader_run(reader));
	assert_int_equal(libetw_reader_each_provider(reader, check_provider, &events), 5);
	assert_int_equal(events, EVENTS - EVENTS / 10);
	libetw_reader_free(reader);
}

static int list_provider(void *context, const GUID *guid, const char *name, uint64_t events,
			 uint64_t payload_bytes)
{
	char *list = context;

	(void)guid;
	(void)events;
	(void)payload_bytes;
	(void)snprintf(list + strlen(list), 100 - strlen(list), "%s ", name);
	return 0;
}

static void test_reader__lists_providers_in_the_order_of_their_first_events(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	char list[100] = "";

	(void)state;
	OK(libetw_reader_run(reader));
	OK(libetw_reader_each_provider(reader, list_provider, list));
	assert_string_equal(list, "EventTrace Process Test-Provider ");
	libetw_reader_free(reader);
}

#define UNRELATED 70000

static int count_one(void *context, const GUID *guid, const char *name, uint64_t events,
		     uint64_t payload_bytes)
{
	(void)guid;
	(void)name;
	(void)payload_bytes;
	assert_in_range(events, 1, 2);
	++*(uint64_t *)context;
	return 0;
}

/* Who writes with ever new GUIDs does not fill the memory of who reads. */
static void test_reader__counts_by_provider_end(void **state)
{
	static struct made_event event;
	const struct maker_options options = {0};
	const struct made_ids ids = {.process_id = 44, .thread_id = 55};
	FILE *file = fopen(path, "w+");
	struct libetw_reader *reader;
	struct libetw_stats stats;
	struct maker *maker;
	uint64_t listed = 0;

	(void)state;
	assert_non_null(file);
	maker = maker_open(&options, file);
	for (uint32_t i = 0; i < UNRELATED; i++) {
		const GUID stranger = {.Data1 = i};
		const struct made_descriptor descriptor = {.provider = &stranger, .id = 1};

		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, T0_RAW + 1 + i, &ids);
		maker_add(maker, 0, &event);
	}
	(void)maker_close(maker, &(size_t){0});
	assert_int_equal(fclose(file), 0);
	OK(libetw_reader_create(NULL, &reader));
	OK(libetw_reader_add_file(reader, path));
	OK(libetw_reader_run(reader));
	OK(libetw_reader_each_provider(reader, count_one, &listed));
	libetw_reader_stats(reader, &stats);
	assert_int_equal(listed, 65536);
	assert_true(stats.events > UNRELATED);
	libetw_reader_free(reader);
}

static void test_reader__keeps_to_the_window(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct seen seen = {0};

	(void)state;
	OK(libetw_reader_on(reader, libetw_provider(&test_provider), see, &seen));
	libetw_reader_set_window(reader, T0_NS + 102000000, T0_NS + 201000000);
	OK(libetw_reader_run(reader));
	assert_int_equal(seen.count, 90);
	assert_int_equal(seen.last_ns, T0_NS + 200000000);
	libetw_reader_free(reader);
}

static void test_reader__stops_when_told(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	struct seen seen = {.stop_after = 10, .reader = reader};

	(void)state;
	OK(libetw_reader_on(reader, libetw_any(), see, &seen));
	assert_int_equal(libetw_reader_run(reader), LIBETW_STOPPED);
	assert_int_equal(seen.count, 10);
	/* Before a run, it stops the next one. */
	libetw_reader_stop(reader);
	assert_int_equal(libetw_reader_run(reader), LIBETW_STOPPED);
	assert_int_equal(seen.count, 10);
	seen = (struct seen){.stop_after = 3, .verdict = -42};
	assert_int_equal(libetw_reader_run(reader), -42);
	assert_int_equal(seen.count, 3);
	seen = (struct seen){0};
	OK(libetw_reader_run(reader));
	assert_true(seen.count > EVENTS);
	libetw_reader_free(reader);
}

static int try_changes(void *context, struct libetw_event *event)
{
	struct libetw_reader *reader = context;

	(void)event;
	assert_int_equal(libetw_reader_add_file(reader, path), -EBUSY);
	assert_int_equal(libetw_reader_add_session(reader, "x"), -EBUSY);
	assert_int_equal(libetw_reader_on(reader, libetw_any(), try_changes, NULL), -EBUSY);
	assert_int_equal(libetw_reader_on_unknown(reader, try_changes, NULL), -EBUSY);
	assert_int_equal(libetw_reader_run(reader), -EBUSY);
	return 1;
}

static void test_reader__refuses_what_cannot_be(void **state)
{
	struct libetw_reader *reader = open_reader(&(struct made){0});
	char pipe_path[sizeof(folder) + 8];

	(void)state;
	assert_int_equal(libetw_reader_add_file(reader, "/nowhere/x.etl"), -ENOENT);
	assert_non_null(strstr(libetw_error(), "/nowhere/x.etl"));
	assert_int_equal(libetw_reader_add_file(reader, "/dev/null"), -EBADMSG);
	assert_int_equal(libetw_reader_add_file(reader, folder), -EISDIR);
	(void)snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", folder);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_int_equal(libetw_reader_add_file(reader, pipe_path), -EINVAL);
	assert_int_equal(unlink(pipe_path), 0);
	assert_int_equal(libetw_reader_add_file(reader, NULL), -EINVAL);
	assert_int_equal(libetw_reader_add_session(reader, NULL), -EINVAL);
	assert_int_equal(libetw_reader_on(reader, libetw_any(), NULL, NULL), -EINVAL);
	assert_int_equal(libetw_reader_on_unknown(reader, NULL, NULL), -EINVAL);
	assert_int_equal(libetw_reader_on(reader, NULL, try_changes, NULL), -EINVAL);
	OK(libetw_reader_on(reader, libetw_any(), try_changes, reader));
	assert_int_equal(libetw_reader_run(reader), 1);
	libetw_reader_free(reader);
}

struct busy {
	struct libetw_schemas *schemas;
	struct libetw_builder *builder;
	struct libetw_reader *other; /* of the same schemas; NULL behind its first use */
	uint64_t seen;
};

static void build_another(struct libetw_builder *builder)
{
	struct libetw_event *built;
	int64_t value;

	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_text(builder, "Wide", "of another length"));
	OK(libetw_builder_finish(builder, &built));
	OK(libetw_get_i64(built, "SQuad", &value));
	libetw_event_release(built);
	assert_int_equal(libetw_builder_begin(builder, &test_provider, 77, 0), -ESRCH);
}

static void copy_elsewhere(struct libetw_schemas *schemas)
{
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = test_provider, .EventDescriptor = {.Id = 3}}};
	struct libetw_event *copy;

	OK(libetw_event_of_record(schemas, &record, &copy));
	libetw_event_release(copy);
}

static void check_own_fields(struct libetw_event *event)
{
	struct libetw_event *kept;
	uint32_t value = 0;

	OK(libetw_get_u32(event, "One.x", &value));
	assert_int_equal(value, PAYLOAD_X);
	assert_int_equal(libetw_event_decode_status(event), 0);
	OK(libetw_event_copy(event, &kept));
	OK(libetw_get_u32(kept, "One.x", &value));
	assert_int_equal(value, PAYLOAD_X);
	libetw_event_release(kept);
}

/* Each of these decodes other events by the same schemas. */
static int decode_others(void *context, struct libetw_event *event)
{
	struct busy *busy = context;
	struct libetw_reader *other = busy->other;

	check_own_fields(event);
	build_another(busy->builder);
	check_own_fields(event);
	copy_elsewhere(busy->schemas);
	check_own_fields(event);
	busy->other = NULL;
	if (other)
		OK(libetw_reader_run(other));
	check_own_fields(event);
	busy->seen++;
	return 0;
}

static void test_reader__a_callback_may_use_the_schemas_for_other_events(void **state)
{
	struct libetw_schemas *schemas = test_schemas();
	struct busy busy = {.schemas = schemas};
	struct libetw_reader *reader, *other;
	struct seen seen = {0};

	(void)state;
	make_file(&(struct made){0});
	OK(libetw_builder_create(schemas, &busy.builder));
	OK(libetw_reader_create(schemas, &reader));
	OK(libetw_reader_create(schemas, &other));
	libetw_schemas_free(schemas);
	busy.other = other;
	OK(libetw_reader_add_file(reader, path));
	OK(libetw_reader_add_file(other, path));
	OK(libetw_reader_on(other, libetw_has_field("ImageFileName"), see, &seen));
	OK(libetw_reader_on(reader, libetw_and(libetw_provider(&test_provider), libetw_id(2)),
			    decode_others, &busy));
	OK(libetw_reader_run(reader));
	assert_int_equal(busy.seen, EVENTS - EVENTS / 10 - EVENTS / 50);
	assert_int_equal(seen.count, EVENTS / 10);
	libetw_reader_free(other);
	libetw_reader_free(reader);
	libetw_builder_free(busy.builder);
}

static void test_reader__delivers_built_events(void **state)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_reader *reader;
	struct libetw_event *event;
	struct seen seen = {.last_ns = INT64_MIN, .stop_after = 2, .verdict = 9};

	(void)state;
	OK(libetw_reader_create(schemas, &reader));
	libetw_schemas_free(schemas);
	OK(libetw_reader_on(reader, libetw_pid(12), see, &seen));
	OK(libetw_builder_begin(builder, &test_provider, 3, 0));
	libetw_builder_ids(builder, 12, 13);
	libetw_builder_time_ns(builder, 5000);
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_time_ns(event), 5000);
	OK(libetw_reader_deliver(reader, event));
	assert_int_equal(libetw_reader_deliver(reader, event), 9);
	libetw_event_release(event);
	libetw_builder_free(builder);
	libetw_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader__knows_processes),
		cmocka_unit_test(test_reader__calls_back_by_predicate),
		cmocka_unit_test(test_reader__counts_by_provider),
		cmocka_unit_test(test_reader__lists_providers_in_the_order_of_their_first_events),
		cmocka_unit_test(test_reader__counts_by_provider_end),
		cmocka_unit_test(test_reader__keeps_to_the_window),
		cmocka_unit_test(test_reader__stops_when_told),
		cmocka_unit_test(test_reader__refuses_what_cannot_be),
		cmocka_unit_test(test_reader__a_callback_may_use_the_schemas_for_other_events),
		cmocka_unit_test(test_reader__delivers_built_events),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
