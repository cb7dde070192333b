/* SPDX-License-Identifier: MIT */
/* Configuration files of AutoLoggers: what each value means, and which line is refused why. */
#include "autologger/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntprov.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/filter_list.h"

#define GUID_LINE "Guid = {11111111-2222-3333-4444-555555555555}\n"

static int parse(const char *name, const char *text, struct etw_autologger *ret,
		 struct etw_fault *reterr)
{
	return etw_autologger_parse(name, text, strlen(text), ret, reterr);
}

static void test_config__values_are_the_registrys(void **state)
{
	static const char text[] =
		"# as exported\r\n"
		"  guid = {11111111-2222-3333-4444-555555555555}  \r\n"
		"START=1\nBufferSize=128\nMinimumBuffers=4\nMaximumBuffers=40\nFlushTimer=7\n"
		"ClockType=2\nLogFileMode=0x2\nMaxFileSize=12\nFileMax=16\n"
		"FileName=%SystemRoot%\\x = y.etl\nDisableRealtimePersistence=1\n"
		"Status=0xC0000022\nFileCounter=3\nboot=1\n"
		"\n; the provider\n[{22222222-2222-3333-4444-555555555555}]\n"
		"Enabled=0\nEnableLevel=5\nEnableProperty=0x40\nMatchAnyKeyword="
		"0xFFFFFFFFFFFFFFFF\n"
		"MatchAllKeyword=1\n[33333333-2222-3333-4444-555555555555]\nEnabled=1\nEnableFlags="
		"9"
		"\n[44444444-2222-3333-4444-555555555555]\nEnableLevel=1";
	static struct etw_autologger read;
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(parse("My session", text, &read, &fault), 0);
	assert_string_equal(read.config.name, "My session");
	assert_int_equal(read.config.guid.Data1, 0x11111111);
	assert_true(read.starts);
	assert_int_equal(read.config.buffer_kib, 128);
	assert_int_equal(read.config.minimum_buffers, 4);
	assert_int_equal(read.config.maximum_buffers, 40);
	assert_int_equal(read.config.flush_timer, 7);
	assert_int_equal(read.config.clock_type, 2);
	assert_int_equal(read.config.log_file_mode, EVENT_TRACE_FILE_MODE_CIRCULAR);
	assert_int_equal(read.config.maximum_file_size, 12);
	assert_int_equal(read.file_max, 16);
	assert_string_equal(read.config.log_file, "%SystemRoot%\\x = y.etl");
	assert_int_equal(read.provider_count, 3);
	assert_false(read.providers[2].is_enabled); /* by default */
	assert_false(read.providers[0].is_enabled);
	assert_int_equal(read.providers[0].level, 5);
	assert_int_equal(read.providers[0].property, 0x40);
	assert_true(read.providers[0].match_any == UINT64_MAX);
	assert_int_equal(read.providers[0].match_all, 1);
	assert_true(read.providers[1].is_enabled);
	assert_int_equal(read.providers[1].match_any, 9);
	etw_autologger_done(&read);
}

static void test_config__defaults_are_windows(void **state)
{
	static struct etw_autologger read;

	(void)state;
	assert_int_equal(parse("s", GUID_LINE, &read, NULL), 0);
	assert_false(read.starts);
	assert_int_equal(read.config.log_file_mode, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
	assert_int_equal(read.config.maximum_file_size, 100);
	assert_int_equal(read.provider_count, 0);
	etw_autologger_done(&read);
	assert_int_equal(parse("s", GUID_LINE "MaxFileSize=0\n", &read, NULL), 0);
	assert_int_equal(read.config.maximum_file_size, 0);
	etw_autologger_done(&read);
}

static void test_config__global_logger_needs_no_guid(void **state)
{
	static struct etw_autologger read;

	(void)state;
	assert_int_equal(parse("globallogger",
			       "Start=1\n[{22222222-2222-3333-4444-555555555555}]\nLevel=3\n",
			       &read, NULL),
			 0);
	assert_int_equal(read.config.guid.Data1, 0xe8908abc);
	assert_true(read.providers[0].is_enabled);
	etw_autologger_done(&read);
	assert_int_equal(parse("GlobalLogger", "EnableKernelFlags=3\n", &read, NULL), 0);
	assert_string_equal(read.config.name, KERNEL_LOGGER_NAMEA);
	assert_int_equal(read.config.guid.Data1, 0x9e814aad);
	assert_int_equal(read.config.enable_flags, 3);
	assert_true(read.config.log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE);
	etw_autologger_done(&read);
}

/* As Windows' registry has them: words of masks; and the kernel as providers. */
static void test_config__kernel_masks(void **state)
{
	static const char *const bad[] = {"hex:",
					  "hex:07,00,00",
					  "hex:0",
					  "hex:0g,00,00,00",
					  "hex:07 00 00 00",
					  "hex:07,00,00,00,,",
					  "hex:,"};
	struct etw_autologger read;
	struct etw_fault fault;
	char line[256];
	size_t used;

	(void)state;
	assert_int_equal(parse("GlobalLogger",
			       "EnableKernelFlags=hex:03,00,00,00,06,00,00,00,40,00,00,00\n"
			       "[{151f55dc-467d-471f-83b5-5f889d46ff66}]\nEnabled=1\n"
			       "MatchAnyKeyword=0x1000\n"
			       "[{16156bd9-fab4-4cfa-a232-89d1099058e3}]\nEnabled=0\n",
			       &read, NULL),
			 0);
	assert_int_equal(read.config.kernel.parts, WIRE_KERNEL_MASKS);
	assert_int_equal(read.config.kernel.group_masks[0], 0x7);
	assert_int_equal(read.config.kernel.group_masks[1], 0x6);
	assert_int_equal(read.config.kernel.group_masks[2], 0x40);
	assert_int_equal(read.config.enable_flags, 7 | EVENT_TRACE_FLAG_PROFILE |
							   EVENT_TRACE_FLAG_CSWITCH |
							   EVENT_TRACE_FLAG_SYSTEMCALL);
	assert_string_equal(read.config.name, KERNEL_LOGGER_NAMEA);
	etw_autologger_done(&read);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(line, sizeof(line), "EnableKernelFlags=%s\n", bad[i]);
		assert_int_equal(parse("GlobalLogger", line, &read, &fault), -EINVAL);
	}
	used = (size_t)snprintf(line, sizeof(line), "EnableKernelFlags=hex:");
	for (int i = 0; i < 33; i++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s01", i ? "," : "");
	assert_int_equal(parse("GlobalLogger", line, &read, &fault), -EINVAL);
	line[strlen(line) - 3] = '\0';
	assert_int_equal(parse("GlobalLogger", line, &read, &fault), 0);
	assert_int_equal(read.config.kernel.group_masks[7], 0x01010101);
	etw_autologger_done(&read);
}

static void test_config__each_fault_has_its_line(void **state)
{
	static const struct {
		const char *text;
		uint64_t line;
		const char *part;
	} rows[] = {
		{"Start=1\n", 0, "no GUID"},
		{GUID_LINE "what\n", 2, "neither"},
		{GUID_LINE "Startt=1\n", 2, "no such value of a session"},
		{GUID_LINE "Start=2\n", 2, "no number"},
		{GUID_LINE "Start=\n", 2, "no number"},
		{GUID_LINE "BufferSize=4294967296\n", 2, "too large"},
		{GUID_LINE "ClockType=4\n", 2, "too large"},
		{GUID_LINE "FileMax=17\n", 2, "too large"},
		{"Guid=x\n", 1, "no GUID"},
		{GUID_LINE "LogFileMode=8\n", 0, "new-file"},
		{GUID_LINE "[x]\n", 2, "no GUID of a provider"},
		{GUID_LINE "[\n", 2, "does not end"},
		{GUID_LINE "[{22222222-2222-3333-4444-555555555555}\n", 2, "does not end"},
		{GUID_LINE "[{22222222-2222-3333-4444-555555555555}]\nStart=1\n", 3,
		 "no such value of a provider"},
		{GUID_LINE "[{22222222-2222-3333-4444-555555555555}]\nEnableLevel=256\n", 3,
		 "too large"},
		{GUID_LINE "[{22222222-2222-3333-4444-555555555555}]\n"
			   "[22222222-2222-3333-4444-555555555555]\n",
		 3, "already"},
		{GUID_LINE "\xFF\n", 0, "UTF-8"},
	};
	static struct etw_autologger read;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_fault fault = {0};

		assert_int_equal(parse("s", rows[i].text, &read, &fault), -EINVAL);
		assert_int_equal(fault.offset, rows[i].line);
		assert_non_null(strstr(fault.sentence, rows[i].part));
		assert_null(read.providers);
	}
	assert_int_equal(etw_autologger_parse("s", "a\0b", 3, &read, NULL), -EINVAL);
}

#define PROVIDER "[{22222222-2222-3333-4444-555555555555}]\nEnabled=1\n"
#define FILTERS  "[{22222222-2222-3333-4444-555555555555}\\Filters]\n"

/* Each form of a value, and what EVENT_FILTER_DESCRIPTOR has of it. */
static void test_config__filters_are_those_of_an_enable(void **state)
{
	static const struct {
		const char *line;
		uint32_t type;
		const char *data;
		size_t bytes;
	} rows[] = {
		{"EVENT_ID = in 1, 515", EVENT_FILTER_TYPE_EVENT_ID, "\1\0\2\0\1\0\3\2", 8},
		{"event_id=OUT 0x7", EVENT_FILTER_TYPE_EVENT_ID, "\0\0\1\0\7\0", 6},
		{"STACKWALK = in 8", EVENT_FILTER_TYPE_STACKWALK, "\1\0\1\0\x8\0", 6},
		{"PID = 1 65536", EVENT_FILTER_TYPE_PID, "\1\0\0\0\0\0\1\0", 8},
		{"EXECUTABLE_NAME = a;b", EVENT_FILTER_TYPE_EXECUTABLE_NAME, "a\0;\0b\0", 6},
		{"PACKAGE_ID = p", EVENT_FILTER_TYPE_PACKAGE_ID, "p\0", 2},
		{"EVENT_NAME = in A;Be", EVENT_FILTER_TYPE_EVENT_NAME,
		 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\0A\0Be\0", 25},
		{"STACKWALK_LEVEL_KW = hex:01,00,00,00,00,00,00,00, 00 00 00 00 00 00 00 00 04 01",
		 EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\4\1", 18},
		{"0x80000200 = HEX:01,00,01,00,aB,00", EVENT_FILTER_TYPE_EVENT_ID, "\1\0\1\0\xAB\0",
		 6},
		{"SCHEMATIZED = hex:ff", EVENT_FILTER_TYPE_SCHEMATIZED, "\xFF", 1},
		{"17 = hex:", 17, "", 0}, /* a type of the provider's own */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static struct etw_autologger read;
		const struct etw_autologger_filters *filters;
		struct etw_bytes list;
		struct wire_filter filter;
		char text[400];

		(void)snprintf(text, sizeof(text), GUID_LINE PROVIDER FILTERS "%s\n", rows[i].line);
		assert_int_equal(parse("s", text, &read, NULL), 0);
		filters = &read.providers[0].filters;
		list = (struct etw_bytes){filters->list, filters->bytes};
		assert_true(wire_filter_next(&list, &filter));
		assert_int_equal(list.left, 0);
		assert_int_equal(filter.type, rows[i].type);
		assert_int_equal(filter.data.left, rows[i].bytes);
		assert_memory_equal(filter.data.at, rows[i].data, rows[i].bytes);
		etw_autologger_done(&read);
	}
}

static void test_config__filters_that_are_refused(void **state)
{
	static const struct {
		const char *lines; /* the last one is refused */
		int result;
		const char *part;
	} rows[] = {
		{"EVENTID = in 1", -EINVAL, "no such filter"},
		{"0 = hex:01", -EINVAL, "no such filter"},
		{"CONTAINER = hex:01", -EOPNOTSUPP, "not built"},
		{"SYSTEM_FLAGS = hex:01", -EOPNOTSUPP, "not built"},
		{"0x80040000 = hex:01", -EOPNOTSUPP, "not built"},
		{"EVENT_ID = 1", -EINVAL, "none of this filter"},
		{"EVENT_ID = in 65536", -EINVAL, "none of this filter"},
		{"EVENT_ID = in 1x", -EINVAL, "none of this filter"},
		{"EVENT_NAME = in ", -EINVAL, "none of this filter"},
		{"EVENT_NAME = in A;;B", -EINVAL, "none of this filter"},
		{"PAYLOAD = 1", -EINVAL, "none of this filter"},
		{"PID = hex:0", -EINVAL, "none of this filter"},
		{"PID = hex:00", -EINVAL, "not sound"},
		{"PID = 1 2 3 4 5 6 7 8 9", -EINVAL, "not sound"},
		{"PAYLOAD = hex:00", -EINVAL, "not sound"},
		{"EXECUTABLE_NAME = ;", -EINVAL, "not sound"},
		{"PID = 1\nPID = 2", -EINVAL, "already"},
		{"SCHEMATIZED = hex:01\n17 = hex:01", -EINVAL, "already"},
		{"[{33333333-2222-3333-4444-555555555555}\\Filters]", -EINVAL, "no section above"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static struct etw_autologger read;
		struct etw_fault fault = {0};
		char text[400];

		(void)snprintf(text, sizeof(text), GUID_LINE PROVIDER FILTERS "%s", rows[i].lines);
		assert_int_equal(parse("s", text, &read, &fault), rows[i].result);
		assert_int_equal(fault.offset, strchr(rows[i].lines, '\n') ? 6 : 5);
		assert_non_null(strstr(fault.sentence, rows[i].part));
		assert_null(read.providers);
	}
}

static void test_config__sizes_are_limited(void **state)
{
	static struct etw_autologger read;
	static char text[ETW_AUTOLOGGER_BYTES_MAX + 2];
	static char name[WIRE_MESSAGE_NAME_MAX + 2];
	int chars = snprintf(text, sizeof(text), GUID_LINE);

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	assert_int_equal(parse(name, GUID_LINE, &read, NULL), -ENAMETOOLONG);
	memset(text + chars, ' ', sizeof(text) - 1 - (size_t)chars);
	assert_int_equal(etw_autologger_parse("s", text, ETW_AUTOLOGGER_BYTES_MAX, &read, NULL), 0);
	etw_autologger_done(&read);
	assert_int_equal(etw_autologger_parse("s", text, ETW_AUTOLOGGER_BYTES_MAX + 1, &read, NULL),
			 -EFBIG);
	chars += snprintf(text + chars, 32, "FileName=");
	memset(text + chars, 'f', WIRE_MESSAGE_NAME_MAX + 1);
	assert_int_equal(etw_autologger_parse("s", text, (size_t)chars + WIRE_MESSAGE_NAME_MAX + 1,
					      &read, NULL),
			 -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config__values_are_the_registrys),
		cmocka_unit_test(test_config__defaults_are_windows),
		cmocka_unit_test(test_config__global_logger_needs_no_guid),
		cmocka_unit_test(test_config__kernel_masks),
		cmocka_unit_test(test_config__each_fault_has_its_line),
		cmocka_unit_test(test_config__filters_are_those_of_an_enable),
		cmocka_unit_test(test_config__filters_that_are_refused),
		cmocka_unit_test(test_config__sizes_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
