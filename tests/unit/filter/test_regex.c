/* SPDX-License-Identifier: MIT */
/* Which regular expressions can be written. */
#include "support.h"

#include "filter/regex.h"

static bool fits(const char *expression, const char *text)
{
	struct etw_regex_fault fault = {0};
	struct etw_regex *regex;
	bool is_there;

	if (etw_regex_compile(expression, strlen(expression), false, &regex, &fault))
		fail_msg("%s: %s", expression, fault.sentence);
	is_there = etw_regex_matches(regex, text, strlen(text));
	etw_regex_free(regex);
	return is_there;
}

/* Each part of the language, with a text that it matches or not. */
static const struct {
	const char *expression, *text;
	bool expected;
} parts[] = {
	{"", "", true},
	{"", "a", true},
	{"a", "bab", true},
	{"a", "bbb", false},
	{"^a", "ba", false},
	{"a$", "ab", false},
	{"^a$", "a", true},
	{"a.c", "abc", true},
	{"a.c", "a\nc", false},
	{"ab|cd", "xcd", true},
	{"ab|cd|ef", "ef", true},
	{"^(ab|cd)$", "abcd", false},
	{"^(?:ab|cd)+$", "abcd", true},
	{"ab*c", "ac", true},
	{"ab*c", "abbbc", true},
	{"ab+c", "ac", false},
	{"ab?c", "abc", true},
	{"ab?c", "abbc", false},
	{"^a{3}$", "aaa", true},
	{"^a{3}$", "aaaa", false},
	{"^a{2,}$", "a", false},
	{"^a{2,}$", "aaaaa", true},
	{"^a{1,3}$", "aaaa", false},
	{"^a{0}$", "", true},
	{"^a{0,2}?$", "aa", true},
	{"a*?b", "aab", true},
	{"[abc]x", "bx", true},
	{"[^abc]x", "bx", false},
	{"[a-f0-9]+z", "12efz", true},
	{"[]]", "]", true},
	{"[^]]", "]", false},
	{"[a-]", "-", true},
	{"[\\d\\s]", " ", true},
	{"[\\]]", "]", true},
	{"\\d+", "x12", true},
	{"\\D", "12", false},
	{"\\w\\W", "a-", true},
	{"\\s", "a\tb", true},
	{"\\bcat\\b", "a cat!", true},
	{"\\bcat\\b", "concat", false},
	{"\\Bcat", "concat", true},
	{"\\x41\\.", "A.", true},
	{"\\.", "a", false},
	{"\\\\", "C:\\", true},
	{"(a*)*b", "aaab", true},
	{"(a|b)*c", "ababc", true},
	{"()", "", true},
	{"()*x", "x", true},
	{"(|a)b", "b", true},
	{"\xC3\xA4+", "x\xC3\xA4\xC3\xA4", true},
	{"^.$", "\xC3\xA4", true},
	{"[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true},
	{"^.$", "\xFF", true},
	{"(ab){2}c", "ababc", true},
	{"(ab){2}c", "abc", false},
	{"\t", "\t", true},
	{"\\t\\n\\r", "\t\n\r", true},
};

static void test_regex__knows_its_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (fits(parts[i].expression, parts[i].text) != parts[i].expected)
			fail_msg("%s of \"%s\" is not %d", parts[i].expression, parts[i].text,
				 parts[i].expected);
	}
}

static void test_regex__refuses_with_the_place(void **state)
{
	static const struct {
		const char *expression;
		size_t at;
		const char *part;
	} rows[] = {
		{"a(b", 1, "has no \")\""},   {"a)b", 1, "has no \"(\""},
		{"[a", 0, "has no \"]\""},    {"*a", 0, "nothing"},
		{"a**", 2, "group"},          {"a{2", 1, "has no \"}\""},
		{"a{x}", 2, "number"},        {"a{3,2}", 1, "ends before"},
		{"a{256}", 2, "255"},         {"\\q", 0, "means nothing"},
		{"a\\", 1, "nothing behind"}, {"\\xZ1", 0, "two hexadecimal"},
		{"(?=a)", 0, "(?:"},          {"[z-a]", 1, "ends before"},
		{"\\1", 0, "means nothing"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct etw_regex_fault fault = {0};
		struct etw_regex *regex;

		assert_int_equal(etw_regex_compile(rows[i].expression, strlen(rows[i].expression),
						   true, &regex, &fault),
				 -22);
		if (fault.at != rows[i].at || !strstr(fault.sentence, rows[i].part))
			fail_msg("%s: %zu: %s", rows[i].expression, fault.at, fault.sentence);
	}
}

static void refuse(const char *text, size_t bytes, const char *part)
{
	struct etw_regex_fault fault = {0};
	struct etw_regex *regex;

	assert_int_equal(etw_regex_compile(text, bytes, false, &regex, &fault), -22);
	assert_non_null(strstr(fault.sentence, part));
}

static void test_regex__has_limits(void **state)
{
	static char text[20000];

	(void)state;
	memset(text, 'a', sizeof(text));
	refuse(text, ETW_REGEX_STEPS_MAX + 1, "too long");
	refuse("(a{200}){200}", 13, "too long");
	memset(text, '(', sizeof(text));
	refuse(text, sizeof(text), "too deep");
	memset(text, '|', sizeof(text));
	refuse(text, sizeof(text), "choices");
	text[0] = '[';
	for (size_t i = 1; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 20);
	refuse(text, sizeof(text), "classes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regex__knows_its_parts),
		cmocka_unit_test(test_regex__refuses_with_the_place),
		cmocka_unit_test(test_regex__has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
