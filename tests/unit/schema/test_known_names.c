/* SPDX-License-Identifier: MIT */
/* Names as a manifest needs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema_internal.h"

static void test_known_names__numbers_get_names_and_names_are_told_apart(void **state)
{
	struct etw_schema events[] = {
		{.descriptor = {.Id = 1, .Task = 5, .Opcode = 12, .Level = 17, .Keyword = 0x5},
		 .task_name = "of no number",
		 .channel_name = "unlisted"},
		{.descriptor = {.Id = 2, .Task = 1, .Opcode = 1, .Level = 4}},
	};
	const struct etw_task tasks[] = {{.named = {.value = 1, .name = "Same"}},
					 {.named = {.value = 2, .name = "Same"}}};
	const struct etw_named keywords[] = {{.value = 1, .name = "with blank"}};
	const struct etw_opcode opcodes[] = {
		{.named = {.value = 11, .name = "Own"}, .task = 1, .is_task_given = true},
		{.named = {.value = 11, .name = "Own"}, .task = 2, .is_task_given = true},
		{.named = {.value = 1, .name = "of winmeta"}},
		{.named = {.value = 13, .name = "nobody's"}, .task = 77, .is_task_given = true},
	};
	struct etw_provider_schema schema = {
		.schemas = events,
		.schema_count = ARRAY_SIZE(events),
		.tasks = tasks,
		.task_count = ARRAY_SIZE(tasks),
		.keywords = keywords,
		.keyword_count = ARRAY_SIZE(keywords),
		.opcodes = opcodes,
		.opcode_count = ARRAY_SIZE(opcodes),
	};
	struct etw_arena arena;

	(void)state;
	etw_arena_init(&arena);
	assert_int_equal(etw_known_complete_names(&arena, &schema), 0);
	assert_int_equal(schema.task_count, 3);
	assert_string_equal(schema.tasks[1].named.name, "Same_2");
	assert_string_equal(schema.tasks[2].named.name, "task_5");
	assert_string_equal(events[0].task_name, "task_5");
	assert_string_equal(events[1].task_name, "Same");
	/* Two tasks may each have one of the name. */
	assert_int_equal(schema.opcode_count, 3);
	assert_string_equal(schema.opcodes[0].named.name, "Own");
	assert_string_equal(schema.opcodes[1].named.name, "Own");
	assert_string_equal(events[0].opcode_name, "opcode_12");
	assert_string_equal(events[1].opcode_name, "win:Start");
	assert_string_equal(events[0].level_name, "level_17");
	assert_string_equal(events[1].level_name, "win:Informational");
	assert_string_equal(events[0].keywords, "with_blank; keyword_4");
	assert_null(events[0].channel_name);
	etw_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_names__numbers_get_names_and_names_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
