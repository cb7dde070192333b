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

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"

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
		cmocka_unit_test(test_config__each_fault_has_its_line),
		cmocka_unit_test(test_config__sizes_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
