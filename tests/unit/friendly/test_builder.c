/* SPDX-License-Identifier: MIT */
/* Events made up: what a payload becomes, and what is refused. */
#include "support.h"

#include <errno.h>

static void test_builder__refuses_what_is_not_there(void **state)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	(void)state;
	assert_int_equal(libetw_builder_finish(builder, &event), -EINVAL);
	assert_int_equal(libetw_builder_set_unsigned(builder, "Byte", 1), -EINVAL);
	assert_int_equal(libetw_builder_begin_class(builder, &test_provider, 1, 0), -ESRCH);
	assert_int_equal(libetw_builder_begin(builder, &test_provider, 44, 0), -ESRCH);
	assert_non_null(strstr(libetw_error(), "Test-Provider/44 v0"));
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	assert_int_equal(libetw_builder_set_unsigned(builder, "Bite", 1), -ENOENT);
	assert_int_equal(libetw_builder_set_unsigned(builder, "Byte[0]", 1), -EINVAL);
	assert_int_equal(libetw_builder_set_unsigned(builder, "Byte[", 1), -EINVAL);
	assert_int_equal(libetw_builder_set_unsigned(builder, "Byte", 256), -ERANGE);
	assert_int_equal(libetw_builder_set_signed(builder, "Byte", -1), -ERANGE);
	assert_int_equal(libetw_builder_set_signed(builder, "SByte", -129), -ERANGE);
	assert_int_equal(libetw_builder_set_signed(builder, "SByte", 128), -ERANGE);
	assert_int_equal(libetw_builder_set_unsigned(builder, "Wide", 1), -EINVAL);
	assert_int_equal(libetw_builder_set_text(builder, "Byte", "x"), -EINVAL);
	assert_int_equal(libetw_builder_set_double(builder, "Byte", 1), -EINVAL);
	assert_int_equal(libetw_builder_set_guid(builder, "Byte", &test_provider), -EINVAL);
	assert_int_equal(libetw_builder_set_bytes(builder, "Long", "abc", 3), -ERANGE);
	assert_int_equal(libetw_builder_set_unsigned(builder, NULL, 1), -EINVAL);
	assert_int_equal(libetw_builder_set_text(builder, "Wide", NULL), -EINVAL);
	assert_int_equal(libetw_builder_set_guid(builder, "Guid", NULL), -EINVAL);
	assert_int_equal(libetw_builder_set_bytes(builder, "Sid", NULL, 3), -EINVAL);
	OK(libetw_builder_begin(builder, &test_provider, 2, 3));
	assert_int_equal(libetw_builder_set_unsigned(builder, "Numbers", 1), -EINVAL);
	assert_int_equal(libetw_builder_set_unsigned(builder, "One", 1), -EINVAL);
	libetw_builder_free(builder);
}

static void test_builder__a_count_that_lies_is_found_out(void **state)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	(void)state;
	OK(libetw_builder_begin(builder, &test_provider, 2, 3));
	OK(libetw_builder_set_unsigned(builder, "Count", 5));
	OK(libetw_builder_set_unsigned(builder, "Numbers[0]", 1));
	assert_int_equal(libetw_builder_finish(builder, &event), -EBADMSG);
	libetw_builder_free(builder);
}

/* Blobs without bytes, 65535 in each of as many structs. */
static const char many_manifest[] =
	"<instrumentationManifest"
	" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
	"<instrumentation><events>"
	"<provider name='Many' guid='{11112222-3333-4444-5555-66667777aaaa}'>"
	"<templates><template tid='T'><data name='Fixed' inType='win:UInt8' count='2'/>"
	"<struct name='Each' count='65535'><data name='Size' inType='win:UInt16'/>"
	"<data name='Blobs' inType='win:Binary' length='Size' count='65535'/>"
	"</struct></template></templates>"
	"<events><event value='1' template='T'/></events>"
	"</provider></events></instrumentation></instrumentationManifest>";

static void test_builder__what_was_set_serves_for_more_events(void **state)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *first, *second;
	uint32_t value;

	(void)state;
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_unsigned(builder, "Long", 7));
	OK(libetw_builder_finish(builder, &first));
	OK(libetw_builder_set_unsigned(builder, "Byte", 9));
	OK(libetw_builder_finish(builder, &second));
	libetw_builder_free(builder);
	OK(libetw_get_u32(first, "Byte", &value));
	assert_int_equal(value, 0);
	OK(libetw_get_u32(second, "Byte", &value));
	assert_int_equal(value, 9);
	OK(libetw_get_u32(second, "Long", &value));
	assert_int_equal(value, 7);
	libetw_event_release(first);
	libetw_event_release(second);
}

static void test_builder__arrays_have_ends(void **state)
{
	GUID provider = test_provider;
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_builder *builder;
	struct libetw_event *event;

	(void)state;
	provider.Data4[6] = 0xaa;
	provider.Data4[7] = 0xaa;
	OK(libetw_schemas_add_manifest(schemas, many_manifest, sizeof(many_manifest) - 1));
	OK(libetw_builder_create(schemas, &builder));
	libetw_schemas_free(schemas);
	OK(libetw_builder_begin(builder, &provider, 1, 0));
	OK(libetw_builder_set_unsigned(builder, "Fixed[1]", 1));
	assert_int_equal(libetw_builder_set_unsigned(builder, "Fixed[2]", 1), -ENOENT);
	assert_int_equal(libetw_builder_finish(builder, &event), -E2BIG);
	libetw_builder_free(builder);
}

static void test_builder__payloads_end_at_64_kib(void **state)
{
	const EVENT_DESCRIPTOR descriptor = {0};
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;
	uint8_t *bytes = calloc(1, 65536);

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(
		libetw_builder_begin_raw(builder, &test_provider, &descriptor, bytes, 65536),
		-EMSGSIZE);
	OK(libetw_builder_begin_raw(builder, &test_provider, &descriptor, bytes, 65535));
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_record(event)->UserDataLength, 65535);
	libetw_event_release(event);
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	OK(libetw_builder_set_bytes(builder, "Blob", bytes, 65500));
	assert_int_equal(libetw_builder_finish(builder, &event), -EMSGSIZE);
	free(bytes);
	libetw_builder_free(builder);
}

static void test_builder__lengths_that_the_schema_gives(void **state)
{
	static const char manifest[] =
		"<instrumentationManifest"
		" xmlns:win='http://manifests.microsoft.com/win/2004/08/windows/events'>"
		"<instrumentation><events>"
		"<provider name='Lengths' guid='{11112222-3333-4444-5555-66667777888b}'>"
		"<templates><template tid='t'>"
		"<data name='Address' inType='win:Binary' outType='win:IPv6'/>"
		"<data name='Wide' inType='win:UnicodeString' length='4'/>"
		"<data name='Ansi' inType='win:AnsiString' length='4'/>"
		"<data name='Blob' inType='win:Binary' length='3'/>"
		"</template></templates><events><event value='1' template='t'/></events>"
		"</provider></events></instrumentation></instrumentationManifest>";
	const GUID provider = {
		0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x8b}};
	struct libetw_schemas *schemas = test_schemas();
	struct libetw_builder *builder;
	struct libetw_event *event;
	const char *text;

	(void)state;
	OK(libetw_schemas_add_manifest(schemas, manifest, sizeof(manifest) - 1));
	OK(libetw_builder_create(schemas, &builder));
	OK(libetw_builder_begin(builder, &provider, 1, 0));
	assert_int_equal(libetw_builder_set_text(builder, "Wide", "abcde"), -ERANGE);
	assert_string_equal(libetw_error(), "Lengths/1 v0: \"Wide\" has not as much room");
	assert_int_equal(libetw_builder_set_text(builder, "Ansi", "abcdefgh"), -ERANGE);
	assert_int_equal(libetw_builder_set_bytes(builder, "Ansi", "abcdefgh", 8), -ERANGE);
	assert_int_equal(libetw_builder_set_bytes(builder, "Blob", "\1\2\3\4", 4), -ERANGE);
	assert_int_equal(libetw_builder_set_bytes(builder, "Address", "12345678123456789", 17),
			 -ERANGE);
	/* Four characters, of two bytes each in UTF-8, and an address that nobody set. */
	OK(libetw_builder_set_text(builder, "Wide", "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f"));
	OK(libetw_builder_set_text(builder, "Ansi", "abc"));
	OK(libetw_builder_set_bytes(builder, "Blob", "\1\2", 2));
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_record(event)->UserDataLength, 16 + 8 + 4 + 3);
	OK(libetw_get_text(event, "Address", &text, NULL));
	assert_string_equal(text, "::");
	OK(libetw_get_string(event, "Wide", &text, NULL));
	assert_string_equal(text, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f");
	libetw_event_release(event);
	libetw_builder_free(builder);
	libetw_schemas_free(schemas);
}

static void test_builder__fills_the_header(void **state)
{
	struct libetw_builder *builder = test_builder();
	struct libetw_event *event;

	(void)state;
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	assert_non_null(builder);
	libetw_builder_ids(builder, 1, 2);
	libetw_builder_time_ns(builder, 1000);
	libetw_builder_activity(builder, &test_provider);
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_pid(event), 1);
	assert_int_equal(libetw_event_tid(event), 2);
	assert_int_equal(libetw_event_time_ns(event), 1000);
	assert_int_equal(libetw_event_level(event), 3);
	assert_int_equal(libetw_event_keyword(event), 1);
	assert_memory_equal(&libetw_event_record(event)->EventHeader.ActivityId, &test_provider,
			    sizeof(GUID));
	libetw_event_release(event);
	OK(libetw_builder_begin(builder, &test_provider, 1, 0));
	libetw_builder_level(builder, 5);
	libetw_builder_keyword(builder, 6);
	OK(libetw_builder_finish(builder, &event));
	assert_int_equal(libetw_event_level(event), 5);
	assert_int_equal(libetw_event_keyword(event), 6);
	assert_int_equal(libetw_event_decode_status(event), 0);
	libetw_event_release(event);
	libetw_builder_free(builder);
}

struct walk {
	struct libetw_builder *builder;
	unsigned built;
};

static int build_empty(void *context, const struct libetw_schema *schema)
{
	const EVENT_DESCRIPTOR *descriptor = libetw_schema_descriptor(schema);
	struct walk *walk = context;
	struct libetw_event *event;

	OK(libetw_builder_begin_class(walk->builder, libetw_schema_provider(schema),
				      descriptor->Opcode, descriptor->Version));
	OK(libetw_builder_finish(walk->builder, &event));
	assert_int_equal(libetw_event_decode_status(event), 0);
	libetw_event_release(event);
	walk->built++;
	return 0;
}

/* All versions of Process, Thread, Image, DiskIo: SIDs of MOF, texts to the end, optional fields. */
static void test_builder__every_kernel_class_can_be_built(void **state)
{
	static const GUID classes[] = {
		{0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
		{0x3d6fa8d1, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
		{0x2cb15d1d, 0x5fc1, 0x11d2, {0xab, 0xe1, 0, 0xa0, 0xc9, 0x11, 0xf5, 0x18}},
		{0x3d6fa8d4, 0xfe05, 0x11d0, {0x9d, 0xda, 0, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}},
	};
	struct libetw_schemas *schemas = test_schemas();
	struct walk walk = {0};

	(void)state;
	OK(libetw_builder_create(schemas, &walk.builder));
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		OK(libetw_schemas_each_event(schemas, &classes[i], build_empty, &walk));
	assert_true(walk.built > 20);
	libetw_builder_free(walk.builder);
	libetw_schemas_free(schemas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builder__refuses_what_is_not_there),
		cmocka_unit_test(test_builder__a_count_that_lies_is_found_out),
		cmocka_unit_test(test_builder__what_was_set_serves_for_more_events),
		cmocka_unit_test(test_builder__arrays_have_ends),
		cmocka_unit_test(test_builder__payloads_end_at_64_kib),
		cmocka_unit_test(test_builder__lengths_that_the_schema_gives),
		cmocka_unit_test(test_builder__fills_the_header),
		cmocka_unit_test(test_builder__every_kernel_class_can_be_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
