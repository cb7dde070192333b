/* SPDX-License-Identifier: MIT */
/* Whether a word means an event: by number, or by a pattern for one of its names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/event_name.h"

static const struct etw_schema start = {
	.source = DecodingSourceXMLFile,
	.task_name = "Process ",
	.opcode_name = "win:Start",
};

static void test_event_name__words_and_patterns(void **state)
{
	static const struct {
		const char *word;
		bool expected;
	} rows[] = {{"Process/Start", true},
		    {"process/start", true},
		    {"Process/win:Start", true},
		    {"Process", true},
		    {"START", true},
		    {"win:Start", true},
		    {"Proc*", true},
		    {"*/St*", true},
		    {"Process/Stop", false},
		    {"Process/", false},
		    {"rocess", false},
		    {"", false},
		    {"Process /win:Start", false}};
	const EVENT_HEADER header = {.EventDescriptor = {.Id = 7, .Opcode = 1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (etw_schema_event_is(rows[i].word, &header, &start) != rows[i].expected)
			fail_msg("\"%s\" is not %d", rows[i].word, rows[i].expected);
	}
	assert_false(etw_schema_event_is("*", &header, NULL));
}

static void test_event_name__numbers_mean_ids_and_opcodes(void **state)
{
	const EVENT_HEADER modern = {.EventDescriptor = {.Id = 7, .Opcode = 1}};
	const EVENT_HEADER classic = {.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER,
				      .EventDescriptor = {.Id = 7, .Opcode = 1}};

	(void)state;
	assert_true(etw_schema_event_is("7", &modern, NULL));
	assert_true(etw_schema_event_is("0x7", &modern, &start));
	assert_false(etw_schema_event_is("1", &modern, NULL));
	assert_true(etw_schema_event_is("1", &classic, NULL));
	assert_false(etw_schema_event_is("7", &classic, NULL));
	assert_true(etw_schema_word_is_number("65535"));
	assert_false(etw_schema_word_is_number("65536"));
	assert_false(etw_schema_word_is_number("Process"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_name__words_and_patterns),
		cmocka_unit_test(test_event_name__numbers_mean_ids_and_opcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
