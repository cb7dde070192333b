/* SPDX-License-Identifier: MIT */
/* The outputs for a resource compiler where no genuine file says what they are: names, cultures, limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "compile/message_table.h"
#include "compile/rc.h"

#define LONGEST_TEXT 32761 /* an entry's size has 16 bits: with head, CR LF and NUL */

static struct mc_culture german = {.name = "de-DE", .index = 1};
static struct mc_culture english = {.next = &german, .name = "en-US"};
static struct mc_manifest manifest = {.cultures = &english, .culture_count = 2};

static void test_rc__names_the_files(void **state)
{
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(etw_compile_rc(&manifest, "base", false, &out, NULL), 0);
	assert_string_equal(etw_text_string(&out), "LANGUAGE 0x9,0x1\n"
						   "1 11 \"MSG00001.bin\"\n"
						   "1 WEVT_TEMPLATE \"baseTEMP.BIN\"\n"
						   "LANGUAGE 0x7,0x1\n"
						   "1 11 \"MSG00002.bin\"\n");
}

static void test_rc__puts_the_base_before_names(void **state)
{
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(etw_compile_rc(&manifest, "base", true, &out, NULL), 0);
	assert_non_null(strstr(etw_text_string(&out), "\"base_MSG00001.bin\""));
}

static void test_rc__refuses_an_unknown_culture(void **state)
{
	CLEANUP(etw_text_done) struct etw_text out = {0};
	struct mc_culture culture = {.name = "xx-YY"};
	struct mc_manifest unknown = {.cultures = &culture, .culture_count = 1};
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(etw_compile_rc(&unknown, "base", false, &out, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.sentence, "culture"));
}

/* A table of one message; returns what etw_compile_message_table() does. */
static int make_table(const char *text, const char *other, const struct mc_culture *culture,
		      bool is_line_kept, struct etw_text *out, struct etw_fault *reterr)
{
	const char *texts[] = {text, other};
	struct mc_message message = {.texts = texts, .id = 7};
	struct mc_manifest one = {.messages = &message, .cultures = &english, .culture_count = 2};

	return etw_compile_message_table(&one, culture, is_line_kept, out, reterr);
}

static void test_messages__are_of_the_culture(void **state)
{
	static const uint8_t hallo[] = {16, 0, 1, 0, 'H', 0, 'a', 0, 'l', 0, 'l', 0, 'o', 0, 0, 0};
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(make_table("Hello", "Hallo", &german, false, &out, NULL), 0);
	assert_int_equal(out.bytes, 16 + sizeof(hallo));
	assert_memory_equal(out.at + 16, hallo, sizeof(hallo));
}

static void test_messages__that_lack_are_of_the_primary_culture(void **state)
{
	CLEANUP(etw_text_done) struct etw_text out = {0};

	(void)state;
	assert_int_equal(make_table("Hello", NULL, &german, true, &out, NULL), 0);
	assert_int_equal(etw_load16((const uint8_t *)out.at + 20), 'H');
	assert_int_equal(etw_load16((const uint8_t *)out.at + 22), 'e');
}

static void test_messages__have_a_longest_text(void **state)
{
	CLEANUP(etw_text_done) struct etw_text out = {0};
	struct etw_fault fault = {0};
	char *text = calloc(1, LONGEST_TEXT + 2);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONGEST_TEXT);
	assert_int_equal(make_table(text, NULL, &english, true, &out, &fault), 0);
	text[LONGEST_TEXT] = 'x';
	etw_text_clear(&out);
	assert_int_equal(make_table(text, NULL, &english, true, &out, &fault), -EFBIG);
	assert_non_null(strstr(fault.sentence, "32761"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rc__names_the_files),
		cmocka_unit_test(test_rc__puts_the_base_before_names),
		cmocka_unit_test(test_rc__refuses_an_unknown_culture),
		cmocka_unit_test(test_messages__are_of_the_culture),
		cmocka_unit_test(test_messages__that_lack_are_of_the_primary_culture),
		cmocka_unit_test(test_messages__have_a_longest_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
