/* SPDX-License-Identifier: MIT */
/* Reading an expression: each part appends its steps; what repeats or chooses wraps those that are there. */
#include "filter/regex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/utf.h"
#include "filter/regex_internal.h"

#define REPEAT_MAX 255        /* in {n,m} */
#define NO_LIMIT   UINT32_MAX /* in {n,} */

struct reader {
	const char *text;
	size_t bytes, at;
	unsigned depth;
	struct etw_regex *regex;
	struct etw_regex_fault fault;
};

static int refuse(struct reader *reader, size_t at, const char *sentence)
{
	reader->fault = (struct etw_regex_fault){at, sentence};
	return -EINVAL;
}

static bool has(const struct reader *reader, char c)
{
	return reader->at < reader->bytes && reader->text[reader->at] == c;
}

static bool take(struct reader *reader, char c)
{
	bool is_there = has(reader, c);

	reader->at += is_there;
	return is_there;
}

static int make_room(struct reader *reader, unsigned count)
{
	if (count > ETW_REGEX_STEPS_MAX - reader->regex->step_count)
		return refuse(reader, reader->at, "the regular expression is too long");
	return 0;
}

static int append(struct reader *reader, struct regex_step step)
{
	TRY(make_room(reader, 1));
	reader->regex->steps[reader->regex->step_count++] = step;
	return 0;
}

/* A step before those from @first on. */
static int insert(struct reader *reader, unsigned first, struct regex_step step)
{
	struct regex_step *steps = reader->regex->steps;

	TRY(make_room(reader, 1));
	memmove(&steps[first + 1], &steps[first],
		(reader->regex->step_count - first) * sizeof(*steps));
	steps[first] = step;
	reader->regex->step_count++;
	return 0;
}

static uint32_t next_point(struct reader *reader)
{
	size_t used;
	uint32_t point = etw_utf8_decode((const uint8_t *)reader->text + reader->at,
					 reader->bytes - reader->at, &used);

	reader->at += used;
	return point == UINT32_MAX ? 0xFFFD : point;
}

static int add_range(struct reader *reader, uint32_t from, uint32_t to)
{
	struct etw_regex *regex = reader->regex;
	struct regex_range *ranges;

	if (regex->range_count == REGEX_RANGES_MAX)
		return refuse(reader, reader->at, "the regular expression has too many classes");
	if (!(regex->range_count & (regex->range_count + 1)) || !regex->ranges) {
		ranges = reallocarray(regex->ranges, 2 * (size_t)regex->range_count + 2,
				      sizeof(*ranges));
		if (!ranges)
			return -ENOMEM;
		regex->ranges = ranges;
	}
	regex->ranges[regex->range_count++] = (struct regex_range){from, to};
	return 0;
}

/* What \d, \w and \s mean; a capital letter means all else. */
static const struct regex_range digits[] = {{'0', '9'}};
static const struct regex_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const struct regex_range blanks[] = {{'\t', '\r'}, {' ', ' '}};

static size_t named_class(char letter, const struct regex_range **ret)
{
	switch (letter) {
	case 'd':
	case 'D':
		*ret = digits;
		return ARRAY_SIZE(digits);
	case 'w':
	case 'W':
		*ret = words;
		return ARRAY_SIZE(words);
	case 's':
	case 'S':
		*ret = blanks;
		return ARRAY_SIZE(blanks);
	default:
		return 0;
	}
}

/* All code points but those of the ranges, which are in order. */
static int add_others(struct reader *reader, const struct regex_range *ranges, size_t count)
{
	uint32_t from = 0;

	for (size_t i = 0; i < count; i++) {
		if (ranges[i].from > from)
			TRY(add_range(reader, from, ranges[i].from - 1));
		from = ranges[i].to + 1;
	}
	return add_range(reader, from, 0x10FFFF);
}

/* Behind a backslash: 1 when it was a class, whose ranges were added. */
static int read_named_class(struct reader *reader)
{
	const struct regex_range *ranges;
	const char letter = reader->at < reader->bytes ? reader->text[reader->at] : '\0';
	const size_t count = named_class(letter, &ranges);

	if (!count)
		return 0;
	reader->at++;
	if (letter <= 'Z')
		TRY(add_others(reader, ranges, count));
	else
		for (size_t i = 0; i < count; i++)
			TRY(add_range(reader, ranges[i].from, ranges[i].to));
	return 1;
}

/* Behind a backslash: one character. */
static int read_escape(struct reader *reader, uint32_t *ret)
{
	const size_t start = reader->at - 1;
	uint32_t point;

	if (reader->at == reader->bytes)
		return refuse(reader, start, "there is nothing behind the \"\\\"");
	point = next_point(reader);
	if (point == 'x') {
		int high = reader->at < reader->bytes ? etw_hex_digit(reader->text[reader->at])
						      : -1;
		int low = reader->at + 1 < reader->bytes
				  ? etw_hex_digit(reader->text[reader->at + 1])
				  : -1;

		if (high < 0 || low < 0)
			return refuse(reader, start, "\"\\x\" wants two hexadecimal digits");
		reader->at += 2;
		*ret = (uint32_t)(high * 16 + low);
		return 0;
	}
	if (point == 't' || point == 'n' || point == 'r') {
		*ret = point == 't' ? '\t' : point == 'n' ? '\n' : '\r';
		return 0;
	}
	if (point < 128 && (etw_regex_fold(point) - 'a' < 26 || point - '0' < 10))
		return refuse(reader, start,
			      "this letter or digit means nothing behind a \"\\\"; known are "
			      "\\d \\w \\s \\D \\W \\S \\b \\B \\t \\n \\r \\xHH");
	*ret = point;
	return 0;
}

static int read_class_point(struct reader *reader, uint32_t *ret)
{
	if (take(reader, '\\'))
		return read_escape(reader, ret);
	*ret = next_point(reader);
	return 0;
}

/* A part of a class: one character, two with "-" between, or \d and the like. */
static int read_class_part(struct reader *reader)
{
	const size_t start = reader->at;
	uint32_t from, to;

	if (take(reader, '\\')) {
		int result = read_named_class(reader);

		if (result)
			return result;
		reader->at--;
	}
	TRY(read_class_point(reader, &from));
	to = from;
	if (has(reader, '-') && reader->at + 1 < reader->bytes &&
	    reader->text[reader->at + 1] != ']') {
		reader->at++;
		TRY(read_class_point(reader, &to));
	}
	if (to < from)
		return refuse(reader, start, "this range ends before it begins");
	return add_range(reader, from, to);
}

/* Behind "[". */
static int read_class(struct reader *reader)
{
	const size_t start = reader->at - 1;
	struct regex_step step = {.op = REGEX_CLASS, .point = reader->regex->range_count};
	bool is_first = true;

	step.is_negated = take(reader, '^');
	while (is_first || !has(reader, ']')) {
		if (reader->at == reader->bytes)
			return refuse(reader, start, "this \"[\" has no \"]\"");
		TRY(read_class_part(reader));
		is_first = false;
	}
	reader->at++;
	step.count = reader->regex->range_count - step.point;
	return append(reader, step);
}

/* Behind a backslash. */
static int read_backslash(struct reader *reader)
{
	struct regex_step step = {.op = REGEX_CLASS, .point = reader->regex->range_count};
	int result = read_named_class(reader);

	if (result < 0)
		return result;
	if (result) {
		step.count = reader->regex->range_count - step.point;
		return append(reader, step);
	}
	if (take(reader, 'b'))
		return append(reader, (struct regex_step){.op = REGEX_EDGE});
	if (take(reader, 'B'))
		return append(reader, (struct regex_step){.op = REGEX_NO_EDGE});
	step = (struct regex_step){.op = REGEX_POINT};
	TRY(read_escape(reader, &step.point));
	if (reader->regex->ignores_case)
		step.point = etw_regex_fold(step.point);
	return append(reader, step);
}

static int read_choice(struct reader *reader);

/* Behind "(". */
static int read_group(struct reader *reader)
{
	const size_t start = reader->at - 1;

	if (++reader->depth > ETW_REGEX_DEPTH_MAX)
		return refuse(reader, start, "groups are nested too deep");
	if (take(reader, '?') && !take(reader, ':'))
		return refuse(reader, start, "of groups with \"?\" there is only \"(?:\"");
	TRY(read_choice(reader));
	if (!take(reader, ')'))
		return refuse(reader, start, "this \"(\" has no \")\"");
	reader->depth--;
	return 0;
}

static int read_atom(struct reader *reader)
{
	struct regex_step step = {.op = REGEX_POINT};

	switch (reader->text[reader->at]) {
	case '(':
		reader->at++;
		return read_group(reader);
	case '[':
		reader->at++;
		return read_class(reader);
	case '\\':
		reader->at++;
		return read_backslash(reader);
	case '*':
	case '+':
	case '?':
	case '{':
		return refuse(reader, reader->at, "there is nothing that this could repeat");
	case '.':
		step.op = REGEX_ANY;
		break;
	case '^':
		step.op = REGEX_BEGIN;
		break;
	case '$':
		step.op = REGEX_END;
		break;
	default:
		step.point = next_point(reader);
		if (reader->regex->ignores_case)
			step.point = etw_regex_fold(step.point);
		return append(reader, step);
	}
	reader->at++;
	return append(reader, step);
}

static int read_count(struct reader *reader, uint32_t *ret)
{
	const size_t start = reader->at;
	uint32_t count = 0;

	for (; reader->at < reader->bytes; reader->at++) {
		const char c = reader->text[reader->at];

		if (c < '0' || c > '9')
			break;
		count = 10 * count + (uint32_t)(c - '0');
		if (count > REPEAT_MAX)
			return refuse(reader, start, "a part can be repeated 255 times at most");
	}
	if (reader->at == start)
		return refuse(reader, start, "a number is missing; use \"\\{\" for the character");
	*ret = count;
	return 0;
}

/* "*", "+", "?", "{n}", "{n,}", "{n,m}". Returns whether there is one. */
static int read_repeat(struct reader *reader, uint32_t *ret_from, uint32_t *ret_to)
{
	const size_t start = reader->at;

	*ret_from = 0;
	*ret_to = NO_LIMIT;
	if (take(reader, '*'))
		return 1;
	if (take(reader, '+')) {
		*ret_from = 1;
		return 1;
	}
	if (take(reader, '?')) {
		*ret_to = 1;
		return 1;
	}
	if (!take(reader, '{'))
		return 0;
	TRY(read_count(reader, ret_from));
	*ret_to = *ret_from;
	if (take(reader, ',')) {
		*ret_to = NO_LIMIT;
		if (!has(reader, '}'))
			TRY(read_count(reader, ret_to));
	}
	if (!take(reader, '}'))
		return refuse(reader, start, "this \"{\" has no \"}\"");
	if (*ret_to < *ret_from)
		return refuse(reader, start, "this range ends before it begins");
	return 1;
}

/* The steps from @first on once more. */
static int copy_steps(struct reader *reader, const struct regex_step *steps, unsigned count)
{
	TRY(make_room(reader, count));
	memcpy(&reader->regex->steps[reader->regex->step_count], steps, count * sizeof(*steps));
	reader->regex->step_count += count;
	return 0;
}

/* The steps from @first on become optional; with @repeats any number of them. */
static int wrap(struct reader *reader, unsigned first, bool repeats)
{
	const int16_t length = (int16_t)(reader->regex->step_count - first);
	const struct regex_step split = {
		.op = REGEX_SPLIT, .x = 1, .y = (int16_t)(length + 1 + repeats)};

	TRY(insert(reader, first, split));
	if (!repeats)
		return 0;
	return append(reader, (struct regex_step){.op = REGEX_JUMP, .x = (int16_t)(-length - 1)});
}

/* What was read from @first on, as often as it is wanted. */
static int repeat(struct reader *reader, unsigned first, uint32_t from, uint32_t to)
{
	struct etw_regex *regex = reader->regex;
	const unsigned count = regex->step_count - first;
	CLEANUP(freep) struct regex_step *part = calloc(count + 1, sizeof(*part));
	const uint32_t optional = to == NO_LIMIT ? 1 : to - from;

	if (!part)
		return -ENOMEM;
	memcpy(part, &regex->steps[first], count * sizeof(*part));
	regex->step_count = first;
	for (uint32_t i = 0; i < from && count; i++)
		TRY(copy_steps(reader, part, count));
	for (uint32_t i = 0; i < optional && count; i++) {
		const unsigned start = regex->step_count;

		TRY(copy_steps(reader, part, count));
		TRY(wrap(reader, start, to == NO_LIMIT));
	}
	return 0;
}

static int read_sequence(struct reader *reader)
{
	while (reader->at < reader->bytes && !has(reader, '|') && !has(reader, ')')) {
		const unsigned first = reader->regex->step_count;
		uint32_t from, to;
		int result;

		TRY(read_atom(reader));
		result = read_repeat(reader, &from, &to);
		if (result < 0)
			return result;
		if (!result)
			continue;
		TRY(repeat(reader, first, from, to));
		/* As few as possible: which of them it is does not matter to whether there is one. */
		(void)take(reader, '?');
		if (has(reader, '*') || has(reader, '+') || has(reader, '{'))
			return refuse(reader, reader->at,
				      "what is repeated already needs a group \"(...)\"");
	}
	return 0;
}

static int read_choice(struct reader *reader)
{
	const unsigned first = reader->regex->step_count;
	unsigned length;
	unsigned rest;

	TRY(read_sequence(reader));
	if (!take(reader, '|'))
		return 0;
	length = reader->regex->step_count - first;
	TRY(insert(reader, first,
		   (struct regex_step){.op = REGEX_SPLIT, .x = 1, .y = (int16_t)(length + 2)}));
	TRY(append(reader, (struct regex_step){.op = REGEX_JUMP}));
	rest = reader->regex->step_count;
	if (++reader->depth > ETW_REGEX_DEPTH_MAX)
		return refuse(reader, reader->at, "there are too many choices");
	TRY(read_choice(reader));
	reader->depth--;
	reader->regex->steps[rest - 1].x = (int16_t)(reader->regex->step_count - rest + 1);
	return 0;
}

int etw_regex_compile(const char *text, size_t bytes, bool ignores_case, struct etw_regex **ret,
		      struct etw_regex_fault *reterr)
{
	struct etw_regex *regex = calloc(1, sizeof(*regex));
	struct reader reader = {.text = text, .bytes = bytes, .regex = regex};
	int result;

	if (!regex)
		return -ENOMEM;
	regex->ignores_case = ignores_case;
	result = read_choice(&reader);
	if (!result && reader.at < bytes)
		result = refuse(&reader, reader.at, "this \")\" has no \"(\"");
	if (!result) {
		regex->steps[regex->step_count++] = (struct regex_step){.op = REGEX_FOUND};
		*ret = regex;
		return 0;
	}
	if (result == -EINVAL)
		*reterr = reader.fault;
	etw_regex_free(regex);
	return result;
}

void etw_regex_free(struct etw_regex *regex)
{
	if (!regex)
		return;
	free(regex->ranges);
	free(regex);
}
