/* SPDX-License-Identifier: MIT */
/* Manifests that are made to cost more than they are worth: what many parts refer to is kept and looked at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "base/text.h"
#include "unit/schema/manifest_text.h"

#define LONG_BYTES ((size_t)256 * 1024)
#define MANY       2000u
#define ENOUGH     ((size_t)4 << 20) /* for all of a manifest that has one text of LONG_BYTES */

static struct etw_arena arena;

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

static void put_long(struct etw_text *text, char c)
{
	char *to = etw_text_begin(text, LONG_BYTES);

	assert_non_null(to);
	memset(to, c, LONG_BYTES);
	etw_text_end(text, to + LONG_BYTES);
}

static void test_manifest_bounds__a_message_is_kept_once(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;
	const struct etw_schema *schemas;

	(void)state;
	etw_text_puts(&text, MANIFEST_PROVIDER "<events>");
	for (unsigned i = 0; i < MANY; i++)
		etw_text_printf(&text, "<event value='%u' message='$(%s)'/>", i,
				i % 2 ? "string.s" : "mc.M");
	etw_text_puts(&text, "</events></provider><messageTable><message value='1' symbol='M' "
			     "message='$(string.s)'/></messageTable></events></instrumentation>"
			     "<localization><resources culture='en-US'><stringTable>"
			     "<string id='s' value='");
	put_long(&text, 'x');
	etw_text_puts(&text, "%7!s'/></stringTable></resources></localization>" MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->schema_count, MANY);
	schemas = definition->providers[0].schemas;
	assert_int_equal(strlen(schemas[0].message), LONG_BYTES + 4);
	for (unsigned i = 0; i < MANY; i++)
		assert_ptr_equal(schemas[i].message, schemas[0].message);
	/* What is wrong with the text is told of each that shows it. */
	assert_int_equal(definition->complaint_total, MANY);
	assert_string_equal(definition->complaints[1].sentence,
			    "a message inserts a field that the event does not have");
	assert_in_range(etw_arena_bytes(&arena), LONG_BYTES, ENOUGH);
}

/* A complaint shows the beginning of a long name, with no character cut in two. */
static void test_manifest_bounds__complaints_show_the_beginning_of_a_name(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(
		&text, MANIFEST_PROVIDER
		"<tasks><task name='t' value='1'><opcodes><opcode name='own' value='20'/></opcodes>"
		"</task></tasks><opcodes><opcode value='20' name='");
	for (size_t i = 0; i < LONG_BYTES; i += 2)
		etw_text_puts(&text, "\xc3\xa4");
	etw_text_puts(&text, "'/></opcodes><events><task name='t'><event value='1' opcode='");
	for (size_t i = 0; i < LONG_BYTES; i += 2)
		etw_text_puts(&text, "\xc3\xa4");
	etw_text_puts(&text, "'/></task></events>" MANIFEST_TAIL MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->complaint_total, 1);
	assert_string_equal(definition->complaints[0].sentence,
			    "the value of an event's opcode is that of its task's own one");
	assert_int_equal(strlen(definition->complaints[0].name), ETW_COMPLAINT_NAME_BYTES_MAX - 1);
}

/* Events in a group whose name nobody would write have the task that a group without name has. */
static void test_manifest_bounds__names_of_groups_have_an_end(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, MANIFEST_PROVIDER "<events><task name='");
	put_long(&text, 't');
	etw_text_puts(&text, "'>");
	for (unsigned i = 0; i < MANY; i++)
		etw_text_printf(&text, "<event value='%u'/>", i);
	etw_text_puts(&text, "</task></events>" MANIFEST_TAIL MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->schema_count, MANY);
	assert_string_equal(definition->providers[0].schemas[0].task_name, "");
	assert_int_equal(definition->complaint_total, 1 + MANY);
	assert_string_equal(definition->complaints[0].sentence,
			    "the name of a group of events is too long");
	assert_true(etw_arena_bytes(&arena) < ENOUGH);
}

/* Of a template's fields that no filter should have, each filter that uses it tells of the first. */
static void test_manifest_bounds__filters_tell_of_one_field(void **state)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const struct etw_definition *definition;

	(void)state;
	etw_text_puts(&text, MANIFEST_PROVIDER "<templates><template tid='t'>");
	for (unsigned i = 0; i < 90; i++)
		etw_text_printf(&text, "<data name='f%u' inType='win:UInt8' count='2'/>", i);
	etw_text_puts(&text,
		      "</template></templates><filters><filter name='a' value='1' tid='t'/>"
		      "<filter name='b' value='2' tid='t'/></filters>" MANIFEST_TAIL MANIFEST_END);
	definition = manifest_text_read(&arena, etw_text_string(&text));
	assert_int_equal(definition->complaint_total, 2);
	assert_string_equal(definition->complaints[1].name, "f0");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_manifest_bounds__a_message_is_kept_once),
		TEST(test_manifest_bounds__complaints_show_the_beginning_of_a_name),
		TEST(test_manifest_bounds__names_of_groups_have_an_end),
		TEST(test_manifest_bounds__filters_tell_of_one_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
