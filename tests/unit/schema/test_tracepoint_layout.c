/* SPDX-License-Identifier: MIT */
/* Fields, names of values and payloads; the last test takes every tracepoint of this machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/guid_name.h"
#include "schema/metadata/event_info.h"
#include "schema/metadata/event_info_write.h"
#include "schema/tracepoint/layout.h"
#include "schema/tracepoint/print_format.h"
#include "schema/tracepoint/tracefs.h"
#include "schema/types.h"

static struct etw_arena arena;

#define HEAD                                                                           \
	"name: wake\nID: 372\nformat:\n"                                               \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(text) "\tfield:" text "\n"

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static const struct etw_tracepoint_layout *make(const char *text)
{
	const struct etw_tracepoint_identity identity = {
		.provider_name = "linux:test", .id = 7, .keyword = 0x40};
	struct etw_tracepoint_format *format = NULL;
	struct etw_tracepoint_layout *layout = NULL;

	assert_int_equal(etw_tracepoint_format_parse(&arena, text, strlen(text), &format, NULL), 0);
	assert_int_equal(etw_tracepoint_layout_make(&arena, format, &identity, &layout), 0);
	assert_null(etw_schema_fields_check(&layout->schema));
	return layout;
}

static const struct etw_field *field_of(const struct etw_tracepoint_layout *layout,
					const char *name)
{
	for (uint32_t i = 0; i < layout->schema.field_count; i++)
		if (strcmp(layout->schema.fields[i].name, name) == 0)
			return &layout->schema.fields[i];
	fail_msg("no field %s", name);
	return NULL;
}

static void check_type(const struct etw_tracepoint_layout *layout, const char *name,
		       uint16_t in_type, uint16_t out_type)
{
	const struct etw_field *field = field_of(layout, name);

	assert_int_equal(field->in_type, in_type);
	assert_int_equal(field->out_type, out_type);
}

static void test_layout__numbers(void **state)
{
	static const char text[] = HEAD FIELD("pid_t pid;\toffset:8;\tsize:4;\tsigned:1;")
		FIELD("bool on;\toffset:12;\tsize:1;\tsigned:0;")
			FIELD("u16 port;\toffset:14;\tsize:2;\tsigned:0;")
				FIELD("unsigned long "
				      "flags;\toffset:16;\tsize:8;\tsigned:0;")
					FIELD("void * skb;\toffset:24;\tsize:8;\tsigned:0;")
						FIELD("struct in6 "
						      "odd;\toffset:32;\tsize:12;\tsigned:"
						      "0;") "print fmt: \"%d %d 0x%lx\", "
							    "REC->pid, REC->on, (unsigned "
							    "long)REC->flags\n";
	const struct etw_tracepoint_layout *layout = make(text);

	(void)state;
	check_type(layout, "pid", TDH_INTYPE_INT32, TDH_OUTTYPE_INT);
	check_type(layout, "on", TDH_INTYPE_UINT8, TDH_OUTTYPE_BOOLEAN);
	check_type(layout, "port", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT);
	check_type(layout, "flags", TDH_INTYPE_HEXINT64, TDH_OUTTYPE_HEXINT64);
	check_type(layout, "skb", TDH_INTYPE_POINTER, TDH_OUTTYPE_HEXINT64);
	check_type(layout, "odd", TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY);
	assert_int_equal(field_of(layout, "odd")->length, 12);
	check_type(layout, "common_flags", TDH_INTYPE_UINT8, TDH_OUTTYPE_UNSIGNEDBYTE);
	assert_int_equal(layout->schema.field_count, 8); /* without common_type and common_pid */
	assert_string_equal(layout->schema.task_name, "wake");
	assert_int_equal(layout->schema.descriptor.Id, 7);
	assert_int_equal(layout->schema.descriptor.Level, 4);
	assert_int_equal(layout->schema.descriptor.Keyword, 0x40);
}

static void test_layout__maps(void **state)
{
	const struct etw_tracepoint_layout *layout = make(
		HEAD FIELD("int state;\toffset:8;\tsize:4;\tsigned:1;")
			FIELD("u32 bits;\toffset:12;\tsize:4;\tsigned:0;")
				FIELD("int error;\toffset:16;\tsize:4;\tsigned:1;")
					FIELD("u64 "
					      "wide;\toffset:24;\tsize:8;\tsigned:"
					      "0;") "print fmt: \"%s %s %s %s\", "
						    "__print_symbolic((int)REC->"
						    "state, { 1, \"one\" }, "
						    "{ NAME, \"unread\" }, { (1 << "
						    "2) | 1, \"fi\\\"ve\" }), "
						    "__print_flags(REC->bits & "
						    "0xff, "
						    "\"|\", {( unsigned long)(1UL "
						    "<< 4), \"X\"}, {~0xfffffffeU & "
						    "0xffU, \"Y\" }), "
						    "__print_symbolic(REC->error, "
						    "{-1, \"bad\"}), "
						    "__print_flags(REC->wide, "
						    "\"|\", {1, "
						    "\"a\"})\n");
	const struct etw_map *map = field_of(layout, "state")->map;

	(void)state;
	check_type(layout, "state", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT);
	assert_non_null(map);
	assert_string_equal(map->name, "wake.state");
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(map->count, 2);
	assert_int_equal(map->entries[0].value, 1);
	assert_string_equal(map->entries[0].text, "one");
	assert_int_equal(map->entries[1].value, 5);
	assert_string_equal(map->entries[1].text, "fi\"ve");
	map = field_of(layout, "bits")->map;
	assert_non_null(map);
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	assert_int_equal(map->entries[0].value, 16);
	assert_int_equal(map->entries[1].value, 1);
	/* TDH has no names for numbers with a sign, nor for those of 64 bits. */
	assert_null(field_of(layout, "error")->map);
	check_type(layout, "error", TDH_INTYPE_INT32, TDH_OUTTYPE_INT);
	assert_null(field_of(layout, "wide")->map);
}

static void check_constant(const char *text, bool is_one, int64_t value)
{
	const char *at = text;
	int64_t number = 0;

	assert_int_equal(etw_tracepoint_constant(&at, text + strlen(text), &number), is_one);
	if (is_one) {
		assert_int_equal(number, value);
		assert_string_equal(at, "");
	}
}

static void test_layout__constants(void **state)
{
	char deep[512];

	(void)state;
	check_constant("0x10", true, 16);
	check_constant("010", true, 8);
	check_constant("1UL << 3 | 2", true, 10);
	check_constant("( gfp_t)((((1UL))) << (10))", true, 1024);
	check_constant("(1 + 2) * 3 - 4", true, 5);
	check_constant("-22", true, -22);
	check_constant("~0 & 0xff", true, 255);
	check_constant("'a'", true, 'a');
	check_constant("1 << 64", true, 0);
	check_constant("TCP_ESTABLISHED", false, 0);
	check_constant("((void *)0)", true, 0);
	check_constant("(NAME)", false, 0);
	check_constant("0x", false, 0);
	check_constant("12abc", false, 0);
	check_constant("(1", false, 0);
	check_constant("", false, 0);
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	check_constant(deep, false, 0);
}

static void test_payload__fixed(void **state)
{
	const struct etw_tracepoint_layout *layout = make(
		HEAD FIELD("char comm[8];\toffset:8;\tsize:8;\tsigned:0;")
			FIELD("u8 mac[6];\toffset:16;\tsize:6;\tsigned:0;")
				FIELD("u16 pair[2];\toffset:22;\tsize:4;\tsigned:0;")
					FIELD("int pid;\toffset:28;\tsize:4;\tsigned:1;"));
	const uint8_t record[32] = "\x74\1\5\2\x11\x22\x33\x44"
				   "sh\0xxxxx"
				   "ABCDEF"
				   "\1\0\2\0\xee\xee\7\0\0";
	uint8_t payload[64];
	int bytes = etw_tracepoint_payload(layout, (struct etw_bytes){record, 32}, payload,
					   sizeof(payload));

	(void)state;
	check_type(layout, "comm", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_UTF8);
	check_type(layout, "mac", TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY);
	assert_int_equal(field_of(layout, "pair")->count, 2);
	assert_true(field_of(layout, "pair")->flags & PropertyParamFixedCount);
	assert_int_equal(bytes, 19);
	assert_memory_equal(payload, "sh\0ABCDEF\1\0\2\0\7\0\0\0\5\2", 19);
	assert_int_equal(etw_tracepoint_payload(layout, (struct etw_bytes){record, 31}, payload,
						sizeof(payload)),
			 -EBADMSG);
	assert_int_equal(
		etw_tracepoint_payload(layout, (struct etw_bytes){record, 32}, payload, 18),
		-EMSGSIZE);
}

static void test_payload__full_text_gets_its_nul(void **state)
{
	const struct etw_tracepoint_layout *layout =
		make(HEAD FIELD("char comm[4];\toffset:8;\tsize:4;\tsigned:0;"));
	const uint8_t record[12] = "\0\0\0\0\0\0\0\0abcd";
	uint8_t payload[16];

	(void)state;
	assert_int_equal(etw_tracepoint_payload(layout, (struct etw_bytes){record, 12}, payload,
						sizeof(payload)),
			 7);
	assert_memory_equal(payload, "abcd\0\0\0", 7);
}

static void test_payload__dynamic(void **state)
{
	const struct etw_tracepoint_layout *layout = make(
		HEAD FIELD("__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;")
			FIELD("__rel_loc u16[] list;\toffset:12;\tsize:4;\tsigned:0;")
				FIELD("__data_loc u8[] raw;\toffset:16;\tsize:4;\tsigned:0;"));
	uint8_t record[32] = {0};
	uint8_t payload[64];

	(void)state;
	check_type(layout, "name", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_UTF8);
	check_type(layout, "list_count", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT);
	check_type(layout, "list", TDH_INTYPE_UINT16, TDH_OUTTYPE_UNSIGNEDSHORT);
	assert_true(field_of(layout, "list")->flags & PropertyParamCount);
	check_type(layout, "raw_length", TDH_INTYPE_UINT32, TDH_OUTTYPE_UNSIGNEDINT);
	assert_true(field_of(layout, "raw")->flags & PropertyParamLength);
	etw_store32(record + 8, 3 << 16 | 20);  /* "hi" */
	etw_store32(record + 12, 5 << 16 | 8);  /* from 16 on: at 24, and half an element */
	etw_store32(record + 16, 0 << 16 | 99); /* nothing, anywhere */
	memcpy(record + 20, "hi\0", 3);
	memcpy(record + 24, "\1\0\2\0\3", 5);
	assert_int_equal(etw_tracepoint_payload(layout, (struct etw_bytes){record, 32}, payload,
						sizeof(payload)),
			 17);
	assert_memory_equal(payload, "hi\0\2\0\0\0\1\0\2\0\0\0\0\0\0\0", 17);
	etw_store32(record + 8, 13 << 16 | 20); /* one byte too many */
	assert_int_equal(etw_tracepoint_payload(layout, (struct etw_bytes){record, 32}, payload,
						sizeof(payload)),
			 -EBADMSG);
}

static void test_payload__bits(void **state)
{
	const struct etw_tracepoint_layout *layout = make(
		HEAD FIELD("u16 low:4;\toffset:8;\tsize:2;\tsigned:0;")
			FIELD("u16 high:7;\toffset:8;\tsize:2;\tsigned:0;"));
	const uint8_t record[10] = "\0\0\0\0\0\0\0\0\x5a\x07";
	uint8_t payload[16];

	(void)state;
	assert_int_equal(etw_tracepoint_payload(layout, (struct etw_bytes){record, 10}, payload,
						sizeof(payload)),
			 6);
	assert_memory_equal(payload, "\x0a\0\x75\0\0\0", 6);
}

static void test_layout__addresses(void **state)
{
	const struct etw_tracepoint_layout *layout = make(
		HEAD FIELD("__u8 four[4];\toffset:8;\tsize:4;\tsigned:0;") FIELD(
			"__u8 six[16];\toffset:12;\tsize:16;\tsigned:0;") "print fmt: \"a=%pI4 "
									  "b=%pI6c\", REC->four, "
									  "REC->six\n");

	(void)state;
	check_type(layout, "four", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4);
	check_type(layout, "six", TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6);
}

static void test_layout__char_array_shown_as_bytes(void **state)
{
	const struct etw_tracepoint_layout *layout = make(HEAD FIELD(
		"__data_loc char[] data;\toffset:8;\tsize:4;\tsigned:0;") "print fmt: \"%s\", "
									  "__print_hex(__get_"
									  "dynamic_array(data), "
									  "3)\n");

	(void)state;
	check_type(layout, "data", TDH_INTYPE_BINARY, TDH_OUTTYPE_HEXBINARY);
}

/* As TRACE_EVENT_INFO and back, and a payload of the least record. */
static void check_event(const struct etw_schema *schema)
{
	struct etw_schema *again = NULL;
	struct etw_fault fault = {0};
	uint8_t *blob;
	size_t bytes;

	assert_null(etw_schema_fields_check(schema));
	assert_int_equal(etw_event_info_write(schema, &blob, &bytes), 0);
	assert_int_equal(
		etw_event_info_parse(&arena, (struct etw_bytes){blob, bytes}, &again, &fault), 0);
	assert_int_equal(again->field_count, schema->field_count);
	assert_string_equal(again->task_name, schema->task_name);
	free(blob);
}

static void test_tracefs__all_of_this_machine(void **state)
{
	struct etw_tracefs_names systems = {0};
	struct etw_fault fault = {0};
	unsigned events = 0;
	int fd = -1;

	(void)state;
	if (etw_tracefs_open(NULL, &fd, &fault)) {
		print_message("SKIP: %s\n", fault.sentence);
		skip();
	}
	assert_int_equal(etw_tracefs_systems(fd, &systems), 0);
	assert_true(systems.count > 0);
	for (uint32_t i = 0; i < systems.count; i++) {
		struct etw_tracefs_names names = {0};
		struct etw_provider_schema *provider = NULL;
		struct etw_arena_mark mark = etw_arena_mark(&arena);

		assert_int_equal(etw_tracefs_events(fd, systems.at[i], &names), 0);
		assert_int_equal(etw_tracefs_read_provider(fd, systems.at[i], &arena, &provider),
				 0);
		/* Each of them could be read. */
		assert_int_equal(provider->schema_count, names.count);
		for (size_t j = 0; j < provider->schema_count; j++) {
			assert_string_equal(provider->schemas[j].task_name, names.at[j]);
			assert_int_equal(provider->schemas[j].descriptor.Id, j + 1);
			check_event(&provider->schemas[j]);
			events++;
		}
		etw_tracefs_names_done(&names);
		etw_arena_release(&arena, mark);
	}
	print_message("%u tracepoints of %u systems\n", events, systems.count);
	assert_int_equal(etw_tracefs_names_find(&systems, "no such"), UINT32_MAX);
	etw_tracefs_names_done(&systems);
	close(fd);
}

static void test_tracefs__what_is_not_there(void **state)
{
	struct etw_tracefs_names names = {0};
	struct etw_fault fault = {0};
	GUID guid, expected;
	int fd = -1;

	(void)state;
	assert_int_equal(etw_tracefs_open("/proc/self/no-such", &fd, &fault), -ENOENT);
	assert_non_null(strstr(fault.sentence, "mount -t tracefs"));
	assert_int_equal(etw_tracefs_open("/proc/self", &fd, &fault), 0);
	assert_int_equal(etw_tracefs_events(fd, "../self", &names), -ENOENT);
	assert_int_equal(etw_tracefs_events(fd, "", &names), -ENOENT);
	assert_int_equal(etw_tracefs_events(fd, "no-such", &names), -ENOENT);
	close(fd);
	assert_int_equal(etw_tracefs_guid("sched", &guid), 0);
	assert_int_equal(etw_guid_of_name("linux:sched", &expected), 0);
	assert_memory_equal(&guid, &expected, sizeof(guid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_layout__numbers, begin, end),
		cmocka_unit_test_setup_teardown(test_layout__maps, begin, end),
		cmocka_unit_test_setup_teardown(test_layout__constants, begin, end),
		cmocka_unit_test_setup_teardown(test_layout__addresses, begin, end),
		cmocka_unit_test_setup_teardown(test_layout__char_array_shown_as_bytes, begin, end),
		cmocka_unit_test_setup_teardown(test_payload__fixed, begin, end),
		cmocka_unit_test_setup_teardown(test_payload__full_text_gets_its_nul, begin, end),
		cmocka_unit_test_setup_teardown(test_payload__dynamic, begin, end),
		cmocka_unit_test_setup_teardown(test_payload__bits, begin, end),
		cmocka_unit_test_setup_teardown(test_tracefs__all_of_this_machine, begin, end),
		cmocka_unit_test_setup_teardown(test_tracefs__what_is_not_there, begin, end),
	};

	return cmocka_run_group_tests_name("unit.schema.tracepoint_layout", tests, NULL, NULL);
}
