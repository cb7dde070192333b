/* SPDX-License-Identifier: MIT */
#include "daemon/unable.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct etwd_unable_word word_of(uid_t uid, uint32_t pid, uint64_t events)
{
	return (struct etwd_unable_word){
		.uid = uid, .pid = pid, .status = -ENOMEM, .events = events};
}

static void test_unable__names_process_user_and_reason(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word = word_of(1000, 1234, 0);
	char text[512] = "first";

	(void)state;
	assert_true(etwd_unable_note(&unable, &word));
	etwd_unable_describe(&unable, text, sizeof(text));
	assert_string_equal(text, "first; process 1234 of uid 1000 cannot write to this session: "
				  "Cannot allocate memory");
}

static void test_unable__adds_up_what_a_user_says(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word = word_of(1000, 1234, 5);
	char text[512] = "";

	(void)state;
	(void)etwd_unable_note(&unable, &word);
	word.pid = 99;
	word.events = UINT64_MAX;
	assert_false(etwd_unable_note(&unable, &word));
	etwd_unable_describe(&unable, text, sizeof(text));
	assert_string_equal(text,
			    "process 1234 and others of uid 1000 cannot write to this session: "
			    "Cannot allocate memory (it says that 1099511627776 events were "
			    "refused)");
}

static void test_unable__late_ones_are_told_apart(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word = {.uid = 7, .pid = 8, .status = -EMFILE, .late_ms = 12345};
	char text[512] = "";

	(void)state;
	(void)etwd_unable_note(&unable, &word);
	etwd_unable_describe(&unable, text, sizeof(text));
	assert_string_equal(text, "process 8 of uid 7 could not connect for 12.3 s, in which its "
				  "events are missing: Too many open files");
}

static void test_unable__many_users_hide_nobody_who_is_trusted(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word;
	char text[512] = "";

	(void)state;
	for (uid_t uid = 1000; uid < 2000; uid++) {
		word = word_of(uid, uid, 1);
		(void)etwd_unable_note(&unable, &word);
	}
	word = word_of(0, 1, 3);
	word.is_trusted = true;
	assert_true(etwd_unable_note(&unable, &word));
	assert_int_equal(unable.count, ETWD_UNABLE_UIDS);
	etwd_unable_describe(&unable, text, sizeof(text));
	assert_ptr_equal(strstr(text, "process 1 of uid 0 "), text);
	assert_true(strlen(text) < sizeof(text));
}

static void test_unable__what_is_new_is_one_note(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word = word_of(1000, 1234, 0);
	struct wire_session_note note;

	(void)state;
	assert_false(etwd_unable_take_note(&unable, &note));
	(void)etwd_unable_note(&unable, &word);
	assert_true(etwd_unable_take_note(&unable, &note));
	assert_int_equal(note.kind, WIRE_NOTE_CANNOT_WRITE);
	assert_int_equal(note.numbers[0], 1000);
	assert_int_equal(note.numbers[1], 1234);
	assert_int_equal(note.numbers[2], 0);
	assert_string_equal(note.message, "process 1234 of uid 1000 cannot write to this session: "
					  "Cannot allocate memory");
	(void)etwd_unable_note(&unable, &word);
	assert_false(etwd_unable_take_note(&unable, &note));
	word.events = 7;
	(void)etwd_unable_note(&unable, &word);
	assert_true(etwd_unable_take_note(&unable, &note));
	assert_int_equal(note.numbers[2], 7);
	assert_non_null(strstr(note.message, "7 events were refused"));
	assert_false(etwd_unable_take_note(&unable, &note));
}

static void test_unable__another_process_and_another_delay_are_new(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word = word_of(1000, 1234, 0);
	struct wire_session_note note;

	(void)state;
	(void)etwd_unable_note(&unable, &word);
	assert_true(etwd_unable_take_note(&unable, &note));
	word.pid = 5;
	(void)etwd_unable_note(&unable, &word);
	assert_true(etwd_unable_take_note(&unable, &note));
	assert_non_null(strstr(note.message, "and others"));
	word.pid = 6;
	(void)etwd_unable_note(&unable, &word);
	assert_false(etwd_unable_take_note(&unable, &note));
	word.late_ms = 10;
	(void)etwd_unable_note(&unable, &word);
	assert_true(etwd_unable_take_note(&unable, &note));
}

static void test_unable__users_without_a_place_are_one_note(void **state)
{
	struct etwd_unable unable = {0};
	struct etwd_unable_word word;
	struct wire_session_note note;
	unsigned count = 0;

	(void)state;
	for (uid_t uid = 1000; uid < 2000; uid++) {
		word = word_of(uid, uid, 1);
		(void)etwd_unable_note(&unable, &word);
		while (etwd_unable_take_note(&unable, &note))
			count++;
	}
	assert_int_equal(count, ETWD_UNABLE_UIDS + 1);
	assert_int_equal(note.numbers[0], UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unable__names_process_user_and_reason),
		cmocka_unit_test(test_unable__adds_up_what_a_user_says),
		cmocka_unit_test(test_unable__late_ones_are_told_apart),
		cmocka_unit_test(test_unable__many_users_hide_nobody_who_is_trusted),
		cmocka_unit_test(test_unable__what_is_new_is_one_note),
		cmocka_unit_test(test_unable__another_process_and_another_delay_are_new),
		cmocka_unit_test(test_unable__users_without_a_place_are_one_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
