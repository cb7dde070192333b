/* SPDX-License-Identifier: MIT */
/* What is known: files, enumeration, fields, maps; and records from elsewhere. */
#include "support.h"

#include <errno.h>
#include <sys/stat.h>
#include <tdh.h>

static int count_provider(void *context, const GUID *guid, const char *name, size_t event_count)
{
	assert_memory_equal(guid, &test_provider, sizeof(*guid));
	assert_string_equal(name, "Test-Provider");
	assert_int_equal(event_count, 3);
	++*(int *)context;
	return 4;
}

static int find_event(void *context, const struct libetw_schema *schema)
{
	const struct libetw_schema **ret = context;

	if (libetw_schema_descriptor(schema)->Id != 1)
		return 0;
	*ret = schema;
	return 1;
}

static void test_schemas__are_enumerated(void **state)
{
	struct libetw_schemas *schemas = test_schemas();
	const struct libetw_schema *schema = NULL;
	struct libetw_field_info field;
	uint32_t value;
	char name[3];
	int count = 0;

	(void)state;
	assert_int_equal(libetw_schemas_each_provider(schemas, count_provider, &count), 4);
	assert_int_equal(count, 1);
	assert_int_equal(libetw_schemas_each_event(schemas, &test_provider, find_event, &schema),
			 1);
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_PROVIDER_NAME),
			    "Test-Provider");
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_TASK_NAME), "Task");
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_LEVEL_NAME), "win:Warning");
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_KEYWORDS), "First");
	assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_MESSAGE), "Byte %1 of %17");
	assert_null(libetw_schema_text(schema, LIBETW_SCHEMA_EVENT_NAME));
	assert_int_equal(libetw_schema_name(schema, name, sizeof(name)), 4);
	assert_string_equal(name, "Ta");
	assert_int_equal(libetw_schema_top_count(schema), 21);
	assert_int_equal(libetw_schema_field_count(schema), 21);
	OK(libetw_schema_field(schema, 18, &field));
	assert_string_equal(field.name, "Colour");
	assert_string_equal(field.map_name, "Colours");
	assert_int_equal(field.in_type, TDH_INTYPE_UINT32);
	assert_int_equal(libetw_map_count(field.map), 1);
	assert_int_equal(libetw_map_is_bits(field.map), 0);
	assert_string_equal(libetw_map_entry(field.map, 0, &value), "Red");
	assert_int_equal(value, 1);
	assert_null(libetw_map_entry(field.map, 1, NULL));
	assert_int_equal(libetw_schema_field(schema, 21, &field), -ENOENT);
	libetw_schemas_free(schemas);
}

/* Masks, numbers of bits, and bits by their place are all given as masks. */
static void test_schemas__maps_of_classes(void **state)
{
	static const char mof[] =
		"[Dynamic, Guid(\"{11112222-3333-4444-5555-66667777888c}\")]\n"
		"class Bits : EventTrace { };\n"
		"[Dynamic, EventType(10), EventTypeName(\"Set\")]\n"
		"class Bits_Set : Bits {\n"
		"[WmiDataId(1), read, Values{\"A\", \"B\"}, ValueMap{\"1\", \"6\"},"
		" ValueType(\"flag\")] uint32 Flags;\n"
		"[WmiDataId(2), read, BitValues{\"A\", \"B\"}, BitMap{\"0\", \"5\"}] uint32 Bits;\n"
		"[WmiDataId(3), read, BitValues{\"A\", \"B\"}] uint32 Places;\n"
		"[WmiDataId(4), read, Values{\"A\", \"B\"}] uint32 Numbers;\n"
		"};\n";
	static const uint32_t values[][2] = {{1, 6}, {1, 32}, {1, 2}, {0, 1}};
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = {0x11112222,
					       0x3333,
					       0x4444,
					       {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x8c}},
				.EventDescriptor = {.Opcode = 10},
				.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER},
	};
	char path[] = "/tmp/etw-schemas-XXXXXX.mof";
	struct libetw_field_info field;
	struct libetw_schemas *schemas;
	struct libetw_event *event;
	int fd = mkstemps(path, 4);

	(void)state;
	assert_int_equal(write(fd, mof, sizeof(mof) - 1), sizeof(mof) - 1);
	assert_int_equal(close(fd), 0);
	OK(libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED, &schemas));
	OK(libetw_schemas_add_file(schemas, path));
	OK(libetw_event_of_record(schemas, &record, &event));
	for (unsigned i = 0; i < 4; i++) {
		uint32_t value;

		OK(libetw_schema_field(libetw_event_schema(event), i, &field));
		assert_non_null(field.map);
		assert_int_equal(libetw_map_is_bits(field.map), i < 3);
		for (unsigned j = 0; j < 2; j++) {
			assert_string_equal(libetw_map_entry(field.map, j, &value), j ? "B" : "A");
			assert_int_equal(value, values[i][j]);
		}
	}
	libetw_event_release(event);
	libetw_schemas_free(schemas);
	assert_int_equal(unlink(path), 0);
}

/* A provider of Windows that no trace describes here. */
static void test_schemas__known_providers_can_be_left_out(void **state)
{
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = {0x22fb2cd6,
					       0x0e7b,
					       0x422b,
					       {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}},
				.EventDescriptor = {.Id = 1}},
	};
	struct libetw_schemas *schemas;
	struct libetw_event *event;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const struct libetw_schema *schema;

		OK(libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED |
						      (i ? LIBETW_SCHEMAS_NOT_KNOWN : 0),
					      &schemas));
		assert_null(libetw_schemas_trouble(schemas));
		OK(libetw_event_of_record(schemas, &record, &event));
		schema = libetw_event_schema(event);
		assert_int_equal(schema == NULL, i);
		if (schema) {
			assert_string_equal(libetw_schema_text(schema, LIBETW_SCHEMA_ORIGIN),
					    "known");
			assert_null(libetw_schema_text(schema, LIBETW_SCHEMA_MARKS));
		}
		libetw_event_release(event);
		libetw_schemas_free(schemas);
	}
}

static void test_schemas__files_are_read_or_refused(void **state)
{
	static const char bad[] = "<instrumentationManifest><oops>";
	struct libetw_schemas *schemas;
	char path[] = "/tmp/etw-schemas-XXXXXX";
	int fd = mkstemp(path);
	GUID guid;

	(void)state;
	assert_true(fd >= 0);
	OK(libetw_schemas_create(&schemas));
	assert_int_equal(libetw_schemas_add_file(schemas, "/nowhere.man"), -ENOENT);
	assert_int_equal(libetw_schemas_add_file(schemas, "/"), -EISDIR);
	assert_int_equal(libetw_schemas_add_file(schemas, NULL), -EINVAL);
	/* A sparse file: nothing of it is read. */
	assert_int_equal(truncate(path, INT64_C(2) << 30), 0);
	assert_int_equal(libetw_schemas_add_file(schemas, path), -EFBIG);
	assert_int_equal(truncate(path, 10), 0);
	assert_int_equal(libetw_schemas_add_file(schemas, path), -EBADMSG);
	assert_non_null(strstr(libetw_error(), path));
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(libetw_schemas_add_file(schemas, path), -EBADMSG);
	assert_int_equal(libetw_schemas_add_manifest(schemas, bad, sizeof(bad) - 1), -EBADMSG);
	assert_int_equal(write(fd, test_manifest, sizeof(test_manifest) - 1),
			 sizeof(test_manifest) - 1);
	OK(libetw_schemas_add_file(schemas, path));
	OK(libetw_schemas_find_provider(schemas, "Test-Provider", &guid));
	assert_memory_equal(&guid, &test_provider, sizeof(guid));
	assert_string_equal(libetw_schemas_provider_name(schemas, &guid), "Test-Provider");
	assert_int_equal(libetw_schemas_find_provider(schemas, "", &guid), -EINVAL);
	assert_int_equal(libetw_schemas_find_provider(schemas, NULL, &guid), -EINVAL);
	assert_int_equal(libetw_schemas_find_provider(NULL, NULL, &guid), -EINVAL);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
	libetw_schemas_free(schemas);
}

static const char disk_class[] = "[Dynamic, Guid(\"{11112222-3333-4444-5555-666677778888}\")]\n"
				 "class Disk : EventTrace { };\n"
				 "[Dynamic, EventType(10), EventTypeName(\"Read\")]\n"
				 "class Disk_Read : Disk { [WmiDataId(1), read] uint32 Size; };\n";

static struct libetw_event *event_of_class(struct libetw_schemas *schemas, uint32_t *payload)
{
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = test_provider,
				.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
				.EventDescriptor = {.Opcode = 10}},
		.UserData = payload,
		.UserDataLength = sizeof(*payload),
	};
	struct libetw_event *event;

	OK(libetw_event_of_record(schemas, &record, &event));
	return event;
}

static void test_schemas__mof_files_are_read(void **state)
{
	char path[] = "/tmp/etw-schemas-XXXXXX.mof";
	int fd = mkstemps(path, 4);
	struct libetw_schemas *schemas;
	struct libetw_event *event;
	uint32_t payload = 4096, size = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, disk_class, sizeof(disk_class) - 1), sizeof(disk_class) - 1);
	assert_int_equal(close(fd), 0);
	OK(libetw_schemas_create(&schemas));
	OK(libetw_schemas_add_file(schemas, path));
	event = event_of_class(schemas, &payload);
	OK(libetw_get_u32(event, "Size", &size));
	assert_int_equal(size, 4096);
	libetw_event_release(event);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(libetw_schemas_add_file(schemas, path), -ENODATA);
	assert_int_equal(unlink(path), 0);
	libetw_schemas_free(schemas);
}

/* Nobody writes into it: to wait for somebody would be for ever. */
static void test_schemas__a_fifo_is_no_file(void **state)
{
	static const char *const names[] = {"x.man", "x.mof", "x.tmf", "x.pdb", "x.dll"};
	char folder[] = "/tmp/etw-schemas-XXXXXX", path[sizeof(folder) + 8];
	struct libetw_schemas *schemas;

	(void)state;
	assert_non_null(mkdtemp(folder));
	OK(libetw_schemas_create(&schemas));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		assert_int_equal(mkfifo(path, 0600), 0);
		assert_int_equal(libetw_schemas_add_file(schemas, path), -EINVAL);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	libetw_schemas_free(schemas);
}

/* A TraceLogging event brings its schema along. */
static void test_schemas__records_from_elsewhere_are_events(void **state)
{
	static const uint8_t metadata[] = "\x10\0\0Made\0Number\0\x08";
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {
		.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
		.DataSize = 16,
		.DataPtr = (uintptr_t)metadata,
	};
	uint32_t number = 77, value = 0;
	EVENT_RECORD record = {
		.UserData = &number,
		.UserDataLength = sizeof(number),
		.ExtendedData = &item,
		.ExtendedDataCount = 1,
	};
	struct libetw_schemas *schemas;
	struct libetw_event *event, *again;

	(void)state;
	OK(libetw_schemas_create(&schemas));
	OK(libetw_event_of_record(schemas, &record, &event));
	libetw_schemas_free(schemas);
	number = 0;
	OK(libetw_event_copy(event, &again));
	libetw_event_release(event);
	OK(libetw_get_u32(again, "Number", &value));
	assert_int_equal(value, 77);
	assert_non_null(strstr(libetw_event_title(again), "/Made v0"));
	libetw_event_release(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schemas__are_enumerated),
		cmocka_unit_test(test_schemas__maps_of_classes),
		cmocka_unit_test(test_schemas__known_providers_can_be_left_out),
		cmocka_unit_test(test_schemas__files_are_read_or_refused),
		cmocka_unit_test(test_schemas__mof_files_are_read),
		cmocka_unit_test(test_schemas__a_fifo_is_no_file),
		cmocka_unit_test(test_schemas__records_from_elsewhere_are_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
