/* SPDX-License-Identifier: MIT */
/* Schemas that nobody names: of installed providers, out of the trace, put right; and what stands before what. */
#include "support.h"

#include <errno.h>
#include <sys/stat.h>

#include "synthetic/maker.h"
#include "unit/registry/fixture.h"
#include "wire/etl_buffer.h"

#define T0_RAW 1000000

static char trace_path[sizeof(fixture_folder) + 16];

static int begin(void **state)
{
	if (fixture_begin(state) || setenv("ETW_TRACEFS", "", 1))
		return -1;
	(void)snprintf(trace_path, sizeof(trace_path), "%s/t.etl", fixture_folder);
	return 0;
}

/* The symbol of event 1 of "P7", as the schemas have it now. */
static const char *symbol_of(struct libetw_schemas *schemas)
{
	const GUID guid = fixture_guid(7);
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = guid, .EventDescriptor = {.Id = 1}}};
	static char symbol[64];
	struct libetw_event *event;
	const struct libetw_schema *schema;

	OK(libetw_event_of_record(schemas, &record, &event));
	schema = libetw_event_schema(event);
	(void)snprintf(symbol, sizeof(symbol), "%s",
		       schema ? libetw_schema_text(schema, LIBETW_SCHEMA_SYMBOL) : "unknown");
	libetw_event_release(event);
	return symbol;
}

static int note_provider(void *context, const GUID *guid, const char *name, size_t event_count)
{
	const GUID expected = fixture_guid(7);

	assert_memory_equal(guid, &expected, sizeof(*guid));
	assert_string_equal(name, "P7");
	assert_int_equal(event_count, 1);
	++*(int *)context;
	return 0;
}

static int count_event(void *context, const struct libetw_schema *schema)
{
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_SYMBOL), "Installed");
	++*(int *)context;
	return 0;
}

static void test_installed__providers_are_known(void **state)
{
	const GUID expected = fixture_guid(7);
	struct libetw_schemas *schemas;
	int providers = 0, events = 0;
	GUID guid;

	(void)state;
	assert_int_equal(fixture_import(7, "Installed"), 0);
	OK(libetw_schemas_create(&schemas));
	assert_null(libetw_schemas_trouble(schemas));
	OK(libetw_schemas_each_provider(schemas, note_provider, &providers));
	assert_int_equal(providers, 1);
	OK(libetw_schemas_find_provider(schemas, "p7", &guid));
	assert_memory_equal(&guid, &expected, sizeof(guid));
	assert_string_equal(libetw_schemas_provider_name(schemas, &guid), "P7");
	assert_string_equal(symbol_of(schemas), "Installed");
	OK(libetw_schemas_each_event(schemas, &guid, count_event, &events));
	assert_int_equal(events, 1);
	/* Also now that it is loaded, it is told of once. */
	OK(libetw_schemas_each_provider(schemas, note_provider, &providers));
	assert_int_equal(providers, 2);
	libetw_schemas_free(schemas);
}

/* One file, one change: both are loaded when either is asked for. */
static void import_two(void)
{
	static const char manifest[] =
		"<instrumentationManifest><instrumentation><events>"
		"<provider name='P7' guid='{11112229-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='Installed'/></events></provider>"
		"<provider name='P8' guid='{1111222a-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='Installed'/></events></provider>"
		"</events></instrumentation></instrumentationManifest>";
	struct etw_registry_change *change;
	struct etw_registry_item item;

	assert_int_equal(etw_registry_item_parse(WIRE_REGISTRY_MANIFEST,
						 (struct etw_bytes){(const uint8_t *)manifest,
								    sizeof(manifest) - 1},
						 "/from/here.man", &item, NULL),
			 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_true(etw_registry_change_add(change, &item) >= 0);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	etw_registry_item_done(&item);
}

struct walk {
	struct libetw_schemas *schemas;
	char names[64];
	int events;
};

static int walk_events(void *context, const GUID *guid, const char *name, size_t event_count)
{
	struct walk *walk = context;

	assert_int_equal(event_count, 1);
	(void)strcat(walk->names, name);
	return libetw_schemas_each_event(walk->schemas, guid, count_event, &walk->events);
}

static void test_installed__a_walk_over_providers_may_ask_for_their_events(void **state)
{
	struct walk walk = {0};

	(void)state;
	import_two();
	OK(libetw_schemas_create(&walk.schemas));
	OK(libetw_schemas_each_provider(walk.schemas, walk_events, &walk));
	assert_string_equal(walk.names, "P7P8");
	assert_int_equal(walk.events, 2);
	/* Now both are loaded. */
	OK(libetw_schemas_each_provider(walk.schemas, walk_events, &walk));
	assert_string_equal(walk.names, "P7P8P7P8");
	assert_int_equal(walk.events, 4);
	libetw_schemas_free(walk.schemas);
}

static void test_installed__can_be_left_out(void **state)
{
	const GUID installed = fixture_guid(7);
	struct libetw_schemas *schemas = NULL;
	GUID guid;

	(void)state;
	assert_int_equal(fixture_import(7, "Installed"), 0);
	assert_int_equal(libetw_schemas_create_with(4, &schemas), -EINVAL);
	assert_null(schemas);
	OK(libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED, &schemas));
	OK(libetw_schemas_find_provider(schemas, "P7", &guid));
	assert_memory_not_equal(&guid, &installed, sizeof(guid));
	assert_string_equal(symbol_of(schemas), "unknown");
	libetw_schemas_free(schemas);
}

/* A user's manifest goes before what is installed. */
static void test_installed__yields_to_what_is_named(void **state)
{
	static const char manifest[] =
		"<instrumentationManifest><instrumentation><events>"
		"<provider name='P7' guid='{11112229-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='Named'/></events></provider></events>"
		"</instrumentation></instrumentationManifest>";
	struct libetw_schemas *schemas;

	(void)state;
	assert_int_equal(fixture_import(7, "Installed"), 0);
	OK(libetw_schemas_create(&schemas));
	assert_string_equal(symbol_of(schemas), "Installed");
	OK(libetw_schemas_add_manifest(schemas, manifest, sizeof(manifest) - 1));
	assert_string_equal(symbol_of(schemas), "Named");
	libetw_schemas_free(schemas);
}

/* Two events of P7; between them, as late as can be, EventSource says what they are. */
static void make_trace(void)
{
	static const char manifest[] =
		"<instrumentationManifest><instrumentation><events>"
		"<provider name='P7' guid='{11112229-3333-4444-5555-000000000000}'>"
		"<events><event value='1' symbol='OfTrace'/></events></provider></events>"
		"</instrumentation></instrumentationManifest>";
	static const uint8_t head[8] = {1, 1, 0, 0x5b, 1, 0, 0, 0};
	static struct made_event event;
	const GUID guid = fixture_guid(7);
	const struct maker_options options = {0};
	const struct made_ids ids = {.process_id = 44, .thread_id = 55};
	FILE *file = fopen(trace_path, "w+");
	struct maker *maker;

	assert_non_null(file);
	maker = maker_open(&options, file);
	for (int i = 0; i < 3; i++) {
		struct made_descriptor descriptor = {.provider = &guid, .id = 1};

		if (i == 1) {
			descriptor.id = 0xfffe;
			descriptor.task = 0xfffe;
			descriptor.opcode = 0xfe;
		}
		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, T0_RAW + 1000 * (i + 1),
			    &ids);
		if (i == 1) {
			made_put(&event, head, sizeof(head));
			made_put(&event, manifest, sizeof(manifest) - 1);
		}
		maker_add(maker, 0, &event);
	}
	(void)maker_close(maker, &(size_t){0});
	assert_int_equal(fclose(file), 0);
}

static int check_symbol(void *context, struct libetw_event *event)
{
	const struct libetw_schema *schema = libetw_event_schema(event);

	assert_non_null(schema);
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_SYMBOL), "OfTrace");
	++*(int *)context;
	return 0;
}

static void read_trace(struct libetw_schemas *schemas)
{
	struct libetw_reader *reader;
	int count = 0;

	OK(libetw_reader_create(schemas, &reader));
	OK(libetw_reader_add_file(reader, trace_path));
	OK(libetw_reader_on(reader, libetw_id(1), check_symbol, &count));
	OK(libetw_reader_run(reader));
	assert_int_equal(count, 2);
	libetw_reader_free(reader);
}

static void test_installed__yields_to_the_trace(void **state)
{
	struct libetw_schemas *schemas;

	(void)state;
	assert_int_equal(fixture_import(7, "Installed"), 0);
	make_trace();
	OK(libetw_schemas_create(&schemas));
	read_trace(schemas);
	libetw_schemas_free(schemas);
	/* Also where it was loaded before the trace was read. */
	OK(libetw_schemas_create(&schemas));
	assert_string_equal(symbol_of(schemas), "Installed");
	read_trace(schemas);
	libetw_schemas_free(schemas);
}

static void test_installed__a_damaged_registry_is_told_of(void **state)
{
	char index_path[sizeof(fixture_folder) + 16];
	struct libetw_schemas *schemas;
	FILE *file;

	(void)state;
	assert_int_equal(fixture_import(7, "Installed"), 0);
	(void)snprintf(index_path, sizeof(index_path), "%s/index", fixture_folder);
	file = fopen(index_path, "r+");
	assert_non_null(file);
	assert_int_equal(fputs("not an index", file) >= 0, 1);
	assert_int_equal(fclose(file), 0);
	OK(libetw_schemas_create(&schemas));
	assert_non_null(strstr(libetw_schemas_trouble(schemas), fixture_folder));
	assert_string_equal(symbol_of(schemas), "unknown");
	libetw_schemas_free(schemas);
}

static const char network_manifest[] =
	"<instrumentationManifest"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='N' guid='{7dd42a49-5329-4832-8dfd-43d979153a88}'>"
	"<templates><template tid='T'><data name='seqnum' inType='win:UInt32'/>"
	"<data name='connid' inType='win:UInt32'/></template></templates>"
	"<events><event value='10' template='T'/></events>"
	"</provider></events></instrumentation></instrumentationManifest>";

/* The manifest says 32 bits, the kernel writes a pointer: docs/format/decode-leftovers.md. */
static void test_installed__known_errors_are_put_right(void **state)
{
	static const uint8_t payload[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
	const EVENT_RECORD record = {
		.EventHeader =
			{
				.ProviderId = {0x7dd42a49,
					       0x5329,
					       0x4832,
					       {0x8d, 0xfd, 0x43, 0xd9, 0x79, 0x15, 0x3a, 0x88}},
				.EventDescriptor = {.Id = 10},
				.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER,
			},
		.UserData = (void *)(uintptr_t)payload,
		.UserDataLength = sizeof(payload),
	};
	struct libetw_schemas *schemas;
	struct libetw_event *event;
	uint64_t connection = 0;

	(void)state;
	OK(libetw_schemas_create(&schemas));
	OK(libetw_schemas_add_manifest(schemas, network_manifest, sizeof(network_manifest) - 1));
	OK(libetw_event_of_record(schemas, &record, &event));
	assert_int_equal(libetw_event_decode_status(event), 0);
	OK(libetw_get_u64(event, "connid", &connection));
	assert_int_equal(connection, UINT64_C(0x300000002));
	libetw_event_release(event);
	libetw_schemas_free(schemas);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_installed__providers_are_known),
		TEST(test_installed__a_walk_over_providers_may_ask_for_their_events),
		TEST(test_installed__can_be_left_out),
		TEST(test_installed__yields_to_what_is_named),
		TEST(test_installed__yields_to_the_trace),
		TEST(test_installed__a_damaged_registry_is_told_of),
		TEST(test_installed__known_errors_are_put_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
