/* SPDX-License-Identifier: MIT */
/* Values by path and through handles, and the sentences about what cannot be. */
#include "support.h"

#include <errno.h>
#include <math.h>

static const uint8_t system_sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};

/* Event 1 with a value in every field. */
static struct libetw_event *all_kinds(void)
{
	static const uint8_t date[16] = {0xe6, 0x07, 6,  0, 6,  0, 18,   0,
					 4,    0,    26, 0, 40, 0, 0xf4, 1};
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_unsigned(builder, "Byte", 200));
	OK(libetw_builder_set_unsigned(builder, "Word", 40000));
	OK(libetw_builder_set_unsigned(builder, "Long", 3000000000u));
	OK(libetw_builder_set_unsigned(builder, "Quad", UINT64_MAX));
	OK(libetw_builder_set_signed(builder, "SByte", -100));
	OK(libetw_builder_set_signed(builder, "SWord", -30000));
	OK(libetw_builder_set_signed(builder, "SLong", -2000000000));
	OK(libetw_builder_set_signed(builder, "SQuad", INT64_MIN));
	OK(libetw_builder_set_unsigned(builder, "Bool", 1));
	OK(libetw_builder_set_double(builder, "Float", 0.5));
	OK(libetw_builder_set_double(builder, "Double", -2.25));
	OK(libetw_builder_set_unsigned(builder, "Pointer", UINT64_C(0xffff800012345678)));
	OK(libetw_builder_set_guid(builder, "Guid", &test_provider));
	OK(libetw_builder_set_unsigned(builder, "Time", UINT64_C(116444736000000001)));
	OK(libetw_builder_set_bytes(builder, "Date", date, sizeof(date)));
	OK(libetw_builder_set_bytes(builder, "Sid", system_sid, sizeof(system_sid)));
	OK(libetw_builder_set_text(builder, "Wide", "gr\xc3\xbc\xc3\x9f"));
	OK(libetw_builder_set_text(builder, "Ansi", "plain"));
	OK(libetw_builder_set_unsigned(builder, "Colour", 1));
	OK(libetw_builder_set_bytes(builder, "Blob", "\1\2\3", 3));
	OK(libetw_builder_finish(builder, &event));
	libetw_builder_free(builder);
	return event;
}

static struct libetw_event *lists(void)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	OK(libetw_builder_begin(builder, &test_provider, 2, 3));
	OK(libetw_builder_set_unsigned(builder, "Numbers[0]", 10));
	OK(libetw_builder_set_unsigned(builder, "Numbers[2]", 30));
	OK(libetw_builder_set_unsigned(builder, "Pairs[0].Left", 1));
	OK(libetw_builder_set_text(builder, "Pairs[0].Name", "one"));
	OK(libetw_builder_set_unsigned(builder, "Pairs[1].Left", 2));
	OK(libetw_builder_set_text(builder, "Pairs[1].Name", "two"));
	OK(libetw_builder_set_signed(builder, "One.x", -7));
	OK(libetw_builder_finish(builder, &event));
	libetw_builder_free(builder);
	return event;
}

#define EXPECT(kind, type, path, expected)                      \
	do {                                                    \
		struct libetw_field *field_;                    \
		type value_ = 0;                                \
		OK(libetw_get_##kind(event, path, &value_));    \
		assert_true(value_ == (expected));              \
		value_ = 0;                                     \
		OK(libetw_field_create(path, &field_));         \
		OK(libetw_read_##kind(event, field_, &value_)); \
		assert_true(value_ == (expected));              \
		OK(libetw_read_##kind(event, field_, &value_)); \
		assert_true(value_ == (expected));              \
		libetw_field_free(field_);                      \
	} while (0)

static void test_fields__numbers_of_every_type(void **state)
{
	struct libetw_event *event = all_kinds();

	(void)state;
	EXPECT(u8, uint8_t, "Byte", 200);
	EXPECT(u16, uint16_t, "Word", 40000);
	EXPECT(u32, uint32_t, "Long", 3000000000u);
	EXPECT(u64, uint64_t, "Quad", UINT64_MAX);
	EXPECT(i8, int8_t, "SByte", -100);
	EXPECT(i16, int16_t, "SWord", -30000);
	EXPECT(i32, int32_t, "SLong", -2000000000);
	EXPECT(i64, int64_t, "SQuad", INT64_MIN);
	EXPECT(bool, int, "Bool", 1);
	EXPECT(float, float, "Float", 0.5f);
	EXPECT(double, double, "Double", -2.25);
	EXPECT(pointer, uint64_t, "Pointer", UINT64_C(0xffff800012345678));
	EXPECT(filetime, int64_t, "Time", INT64_C(116444736000000001));
	EXPECT(time_ns, int64_t, "Time", 100);
	EXPECT(time_ns, int64_t, "Date", INT64_C(1655526400500000000));
	/* What fits is given whatever its width. */
	EXPECT(u64, uint64_t, "Byte", 200);
	EXPECT(i64, int64_t, "Long", 3000000000ll);
	EXPECT(u8, uint8_t, "Colour", 1);
	libetw_event_release(event);
}

static void test_fields__texts_and_bytes(void **state)
{
	struct libetw_event *event = all_kinds();
	struct libetw_field *field;
	const char *wide, *ansi, *sid, *text;
	const void *bytes;
	size_t count;
	GUID guid;

	(void)state;
	OK(libetw_get_string(event, "Wide", &wide, &count));
	assert_int_equal(count, 6);
	OK(libetw_field_create("Ansi", &field));
	OK(libetw_read_string(event, field, &ansi, NULL));
	OK(libetw_get_sid(event, "Sid", &sid, NULL));
	OK(libetw_get_text(event, "Colour", &text, NULL));
	/* All of them live together. */
	assert_string_equal(wide, "gr\xc3\xbc\xc3\x9f");
	assert_string_equal(ansi, "plain");
	assert_string_equal(sid, "S-1-5-18");
	assert_string_equal(text, "Red");
	OK(libetw_get_bytes(event, "Blob", &bytes, &count));
	assert_int_equal(count, 3);
	assert_memory_equal(bytes, "\1\2\3", 3);
	OK(libetw_get_guid(event, "Guid", &guid));
	assert_memory_equal(&guid, &test_provider, sizeof(guid));
	OK(libetw_event_message(event, &text));
	assert_string_equal(text, "Byte 200 of gr\xc3\xbc\xc3\x9f");
	libetw_field_free(field);
	libetw_event_release(event);
}

static void test_fields__paths_lead_into_arrays_and_structs(void **state)
{
	struct libetw_event *event = lists();
	const char *text;
	size_t count;

	(void)state;
	EXPECT(u32, uint32_t, "Count", 3);
	EXPECT(u32, uint32_t, "Numbers[0]", 10);
	EXPECT(u32, uint32_t, "Numbers[1]", 0);
	EXPECT(u32, uint32_t, "Numbers[2]", 30);
	EXPECT(u32, uint32_t, "Pairs[1].Left", 2);
	EXPECT(i32, int32_t, "One.x", -7);
	OK(libetw_get_string(event, "Pairs[1].Name", &text, NULL));
	assert_string_equal(text, "two");
	OK(libetw_get_count(event, "Numbers", &count));
	assert_int_equal(count, 3);
	OK(libetw_get_text(event, "Pairs", &text, NULL));
	assert_string_equal(text, "[{Left=1, Name=one}, {Left=2, Name=two}]");
	assert_string_equal(libetw_event_title(event), "Test-Provider/Task/Start v3");
	libetw_event_release(event);
}

static struct libetw_event *of_date(uint8_t day, uint16_t month)
{
	const uint8_t date[16] = {0xe6, 0x07, (uint8_t)month, (uint8_t)(month >> 8), 0, 0, day};
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_bytes(builder, "Date", date, sizeof(date)));
	OK(libetw_builder_finish(builder, &event));
	libetw_builder_free(builder);
	return event;
}

static void test_fields__errors_name_event_and_field(void **state)
{
	struct libetw_event *event = lists();
	uint32_t value = 5;
	const char *text;

	(void)state;
	assert_int_equal(libetw_get_u32(event, "NumbersX", &value), -ENOENT);
	assert_string_equal(libetw_error(), "Test-Provider/Task/Start v3: no field \"NumbersX\"; "
					    "it has Count, Numbers, PairCount, Pairs, One");
	assert_int_equal(libetw_get_u32(event, "Numbers[3]", &value), -ENODATA);
	assert_non_null(strstr(libetw_error(), "\"Numbers[3]\""));
	assert_int_equal(libetw_get_u32(event, "Pairs.Left", &value), -ENODATA);
	assert_int_equal(libetw_get_u32(event, "Numbers[x]", &value), -EINVAL);
	assert_int_equal(libetw_get_u32(event, "Numbers", &value), -EINVAL);
	assert_int_equal(libetw_get_u32(event, "One.x", &value), -ERANGE);
	assert_int_equal(libetw_get_string(event, "Count", &text, NULL), -EINVAL);
	assert_int_equal(libetw_get_sid(event, "Count", &text, NULL), -EINVAL);
	/* A handle that was not made is no path either, nor is nothing at all. */
	assert_int_equal(libetw_get_u32(event, NULL, &value), -EINVAL);
	assert_non_null(strstr(libetw_error(), "is no path"));
	assert_int_equal(libetw_get_u32(event, "", &value), -EINVAL);
	assert_int_equal(libetw_read_u32(event, NULL, &value), -EINVAL);
	assert_non_null(strstr(libetw_error(), "Task/Start v3: \"\" is no path"));
	assert_int_equal(value, 5);
	libetw_event_release(event);
	event = all_kinds();
	assert_int_equal(libetw_get_u8(event, "Word", (uint8_t *)&value), -ERANGE);
	assert_int_equal(libetw_get_double(event, "Byte", &(double){0}), -EINVAL);
	assert_int_equal(libetw_get_guid(event, "Byte", &(GUID){0}), -EINVAL);
	assert_int_equal(libetw_get_filetime(event, "Byte", &(int64_t){0}), -EINVAL);
	libetw_event_release(event);
	event = of_date(31, 2);
	assert_int_equal(libetw_get_filetime(event, "Date", &(int64_t){0}), -ERANGE);
	assert_non_null(strstr(libetw_error(), "no date of the calendar"));
	libetw_event_release(event);
	event = of_date(1, 257);
	assert_int_equal(libetw_get_time_ns(event, "Date", &(int64_t){0}), -ERANGE);
	libetw_event_release(event);
}

static void test_fields__an_event_nobody_knows_has_none(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 99, .Version = 1};
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;
	const char *text;
	uint32_t value;

	(void)state;
	OK(libetw_builder_begin_raw(builder, &test_provider, &descriptor, "abcd", 4));
	OK(libetw_builder_finish(builder, &event));
	assert_null(libetw_event_schema(event));
	assert_int_equal(libetw_event_decode_status(event), -ESRCH);
	assert_int_equal(libetw_event_message(event, &text), -ESRCH);
	assert_int_equal(libetw_get_u32(event, "Byte", &value), -ESRCH);
	assert_non_null(strstr(libetw_error(), "/99 v1: no field \"Byte\": "));
	libetw_event_release(event);
	libetw_builder_free(builder);
}

static void test_fields__a_short_payload_shows_what_fits(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1};
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;
	const char *text;
	uint32_t value;

	(void)state;
	OK(libetw_builder_begin_raw(builder, &test_provider, &descriptor, "\1\2\0\3", 4));
	OK(libetw_builder_finish(builder, &event));
	EXPECT(u16, uint16_t, "Word", 2);
	assert_int_equal(libetw_event_decode_status(event), -ENODATA);
	assert_int_equal(libetw_get_u32(event, "Long", &value), -ENODATA);
	assert_non_null(strstr(libetw_error(), "the payload ends before it"));
	libetw_event_release(event);
	/* Event 3 has no fields, and nobody wrote a message for it; four bytes are too many. */
	OK(libetw_builder_begin_raw(builder, &test_provider, &(EVENT_DESCRIPTOR){.Id = 3}, "abcd",
				    4));
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_decode_status(event), 1);
	assert_int_equal(libetw_event_message(event, &text), -ENOENT);
	libetw_event_release(event);
	libetw_builder_free(builder);
}

/* Only arrays of characters are one string; arrays of strings have elements. */
static void test_fields__arrays_that_are_strings(void **state)
{
	static const char manifest[] =
		"<instrumentationManifest"
		" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events>"
		"<provider name='Strings' guid='{11112222-3333-4444-5555-66667777888a}'>"
		"<templates><template tid='t'>"
		"<data name='Bytes' inType='win:UInt8' outType='xs:string' count='3'/>"
		"<data name='Texts' inType='win:UnicodeString' count='2'/>"
		"<data name='Sids' inType='win:SID' count='1'/>"
		"</template></templates><events><event value='1' template='t'/></events>"
		"</provider></events></instrumentation></instrumentationManifest>";
	const GUID provider = {
		0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x8a}};
	static const uint8_t payload[] = {'a', 'b', 'c', 'd', 0, 0, 0, 'e', 0, 0, 0, 1,
					  1,   0,   0,   0,   0, 0, 5, 18,  0, 0, 0};
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_builder *builder;
	struct libetw_event *event;
	const char *text = NULL;

	(void)state;
	OK(libetw_schemas_add_manifest(schemas, manifest, sizeof(manifest) - 1));
	OK(libetw_builder_create(schemas, &builder));
	OK(libetw_builder_begin_raw(builder, &provider, &(EVENT_DESCRIPTOR){.Id = 1}, payload,
				    sizeof(payload)));
	OK(libetw_builder_finish(builder, &event));
	OK(libetw_event_decode_status(event));
	OK(libetw_get_string(event, "Bytes", &text, NULL));
	assert_string_equal(text, "abc");
	assert_int_equal(libetw_get_string(event, "Texts", &text, NULL), -EINVAL);
	assert_int_equal(libetw_get_string(event, "Sids", &text, NULL), -EINVAL);
	assert_string_equal(text, "abc");
	OK(libetw_get_string(event, "Texts[1]", &text, NULL));
	assert_string_equal(text, "e");
	OK(libetw_get_text(event, "Texts", &text, NULL));
	assert_string_equal(text, "[d, e]");
	libetw_event_release(event);
	libetw_builder_free(builder);
	libetw_schemas_free(schemas);
}

/* With the number that the record carries. */
static void test_fields__messages_of_wpp(void **state)
{
	static const char tmf[] = "01e9b841-7d67-315a-7b92-23b2033356de Mod // SRC=File.c\n"
				  "#typev File_c77 10 \"%0no %7!d!: got %10!s! and %11!04x!\"\n"
				  "{\nname, ItemString -- 10\nvalue, ItemLong -- 11\n}\n";
	const EVENT_EXTENDED_ITEM_INSTANCE instance = {.InstanceId = 42};
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = EVENT_HEADER_EXT_TYPE_INSTANCE_INFO,
						.DataSize = sizeof(instance),
						.DataPtr = (uintptr_t)&instance};
	char payload[] = "it\0\x2a\0\0";
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = {0x01e9b841,
					       0x7d67,
					       0x315a,
					       {0x7b, 0x92, 0x23, 0xb2, 0x03, 0x33, 0x56, 0xde}},
				.EventDescriptor = {.Id = 10},
				.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE |
					 EVENT_HEADER_FLAG_64_BIT_HEADER},
		.ExtendedData = &item,
		.ExtendedDataCount = 1,
		.UserData = payload,
		.UserDataLength = sizeof(payload),
	};
	struct libetw_schemas *schemas = test_schemas();
	char path[] = "/tmp/etw-fields-XXXXXX.tmf";
	struct libetw_event *event;
	const char *text;
	int fd = mkstemps(path, 4);

	(void)state;
	assert_int_equal(write(fd, tmf, sizeof(tmf) - 1), sizeof(tmf) - 1);
	assert_int_equal(close(fd), 0);
	OK(libetw_schemas_add_file(schemas, path));
	OK(libetw_event_of_record(schemas, &record, &event));
	OK(libetw_event_message(event, &text));
	assert_string_equal(text, "no 42: got it and 002a");
	libetw_event_release(event);
	libetw_schemas_free(schemas);
	assert_int_equal(unlink(path), 0);
}

/* Who puts a record together from copies may forget one. */
static void test_fields__a_record_must_have_what_it_says(void **state)
{
	EVENT_HEADER_EXTENDED_DATA_ITEM item = {.ExtType = EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL,
						.DataSize = 40};
	EVENT_RECORD record = {.EventHeader = {.ProviderId = test_provider}, .UserDataLength = 8};
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_event *event;

	(void)state;
	assert_int_equal(libetw_event_of_record(schemas, &record, &event), -EINVAL);
	assert_non_null(strstr(libetw_error(), "lacks data"));
	record.UserDataLength = 0;
	record.ExtendedDataCount = 1;
	assert_int_equal(libetw_event_of_record(schemas, &record, &event), -EINVAL);
	record.ExtendedData = &item;
	assert_int_equal(libetw_event_of_record(schemas, &record, &event), -EINVAL);
	assert_int_equal(libetw_event_of_record(schemas, NULL, &event), -EINVAL);
	libetw_schemas_free(schemas);
}

/* The kernel's threads have got names in the midst of a version. */
static void test_fields__the_last_ones_may_be_absent(void **state)
{
	static uint8_t payload[72] = {1};
	const EVENT_RECORD record = {
		.EventHeader = {.ProviderId = {0x3d6fa8d1,
					       0xfe05,
					       0x11d0,
					       {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
				.EventDescriptor = {.Opcode = 1, .Version = 3},
				.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER |
					 EVENT_HEADER_FLAG_64_BIT_HEADER},
		.UserData = payload,
		.UserDataLength = sizeof(payload),
	};
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_event *event;
	const char *text;
	uint32_t value;

	(void)state;
	OK(libetw_event_of_record(schemas, &record, &event));
	assert_int_equal(libetw_event_decode_status(event), 0);
	OK(libetw_get_u32(event, "ProcessId", &value));
	assert_int_equal(libetw_get_string(event, "ThreadName", &text, NULL), -ENODATA);
	assert_non_null(
		strstr(libetw_error(), "\"ThreadName\" is not in this event, which may end"));
	libetw_event_release(event);
	libetw_schemas_free(schemas);
}

/* The same handle over kinds of events, and over schemas that came and went. */
static void test_fields__a_handle_serves_many_kinds(void **state)
{
	struct libetw_field *field;
	struct libetw_event *event;
	uint32_t value;

	(void)state;
	OK(libetw_field_create("Count", &field));
	for (int i = 0; i < 20; i++) {
		event = i & 1 ? lists() : all_kinds();
		assert_int_equal(libetw_read_u32(event, field, &value), i & 1 ? 0 : -ENOENT);
		libetw_event_release(event);
	}
	libetw_field_free(field);
	assert_int_equal(libetw_field_create("", &field), -EINVAL);
	assert_int_equal(libetw_field_create(NULL, &field), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields__numbers_of_every_type),
		cmocka_unit_test(test_fields__texts_and_bytes),
		cmocka_unit_test(test_fields__paths_lead_into_arrays_and_structs),
		cmocka_unit_test(test_fields__errors_name_event_and_field),
		cmocka_unit_test(test_fields__an_event_nobody_knows_has_none),
		cmocka_unit_test(test_fields__a_short_payload_shows_what_fits),
		cmocka_unit_test(test_fields__messages_of_wpp),
		cmocka_unit_test(test_fields__arrays_that_are_strings),
		cmocka_unit_test(test_fields__a_record_must_have_what_it_says),
		cmocka_unit_test(test_fields__the_last_ones_may_be_absent),
		cmocka_unit_test(test_fields__a_handle_serves_many_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
