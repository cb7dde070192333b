/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "filter/lex.h"

static struct etw_lexer lexer_of(const char *text)
{
	return (struct etw_lexer){.text = text, .bytes = strlen(text)};
}

static void test_lex__takes_words_and_symbols(void **state)
{
	struct etw_lexer lexer = lexer_of(" and\t( >= x");

	(void)state;
	assert_false(etw_lex_keyword(&lexer, "an"));
	assert_true(etw_lex_keyword(&lexer, "and"));
	assert_int_equal(etw_lex_peek(&lexer), '(');
	assert_true(etw_lex_take(&lexer, '('));
	assert_false(etw_lex_symbol(&lexer, "=="));
	assert_true(etw_lex_symbol(&lexer, ">="));
	assert_int_equal(etw_lex_word(&lexer).at, 10);
	assert_int_equal(etw_lex_here(&lexer).bytes, 1);
	assert_true(etw_lex_keyword(&lexer, "x"));
	assert_false(etw_lex_skip(&lexer));
	assert_int_equal(etw_lex_peek(&lexer), '\0');
	assert_int_equal(etw_lex_here(&lexer).bytes, 0);
}

static void check_path(const char *text, const char *path, bool is_plain, const char *part)
{
	struct etw_lexer lexer = lexer_of(text);
	struct etw_text out = {0};
	bool is_really;
	const char *sentence = etw_lex_path(&lexer, &out, &is_really);

	if (part) {
		assert_non_null(sentence);
		assert_non_null(strstr(sentence, part));
	} else {
		assert_null(sentence);
		assert_string_equal(etw_text_string(&out), path);
		assert_int_equal(is_really, is_plain);
	}
	etw_text_done(&out);
}

static void test_lex__takes_paths(void **state)
{
	(void)state;
	check_path("Name ", "Name", true, NULL);
	check_path("A.b[3].c=", "A.b[3].c", false, NULL);
	check_path("`odd name`.x", "odd name.x", false, NULL);
	check_path("\xC3\xA4#2", "\xC3\xA4#2", true, NULL);
	check_path("A.", NULL, false, "missing");
	check_path("A[]", NULL, false, "index");
	check_path("A[*]", NULL, false, "any element");
	check_path("A[123456789]", NULL, false, "so many");
	check_path("`x", NULL, false, "no second");
	check_path("``", NULL, false, "empty");
}

static void check_value(const char *text, const char *value, bool is_quoted, size_t bytes)
{
	struct etw_lexer lexer = lexer_of(text);
	struct etw_text out = {0};
	struct etw_lexeme place;
	bool is_really;

	assert_null(etw_lex_value(&lexer, &out, &is_really, &place));
	assert_string_equal(etw_text_string(&out), value);
	assert_int_equal(is_really, is_quoted);
	assert_int_equal(place.bytes, bytes);
	etw_text_done(&out);
}

static void test_lex__takes_values(void **state)
{
	struct etw_lexer open = lexer_of("'abc"), none = lexer_of("  )");
	struct etw_text out = {0};
	struct etw_lexeme place;
	bool is_quoted;

	(void)state;
	check_value("abc)", "abc", false, 3);
	check_value("1..5", "1", false, 1);
	check_value("10.0.0.1,", "10.0.0.1", false, 8);
	check_value("{12-34} x", "{12-34}", false, 7);
	check_value("\"C:\\Temp\\\"", "C:\\Temp\\", true, 10);
	check_value("'it''s'", "it's", true, 7);
	check_value("'a\"b'", "a\"b", true, 5);
	check_value("''", "", true, 2);
	assert_non_null(strstr(etw_lex_value(&open, &out, &is_quoted, &place), "second quote"));
	assert_int_equal(open.at, 0);
	assert_non_null(strstr(etw_lex_value(&none, &out, &is_quoted, &place), "missing"));
	etw_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lex__takes_words_and_symbols),
		cmocka_unit_test(test_lex__takes_paths),
		cmocka_unit_test(test_lex__takes_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
