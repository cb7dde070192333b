/* SPDX-License-Identifier: MIT */
/* Constant expressions, by precedence; all numbers have 64 bits. See print_format.h. */
#include <string.h>

#include "schema/tracepoint/print_format.h"

#define DEPTH_MAX 64

struct input {
	const char *at, *end;
	unsigned depth;
};

static bool parse_level(struct input *input, unsigned level, uint64_t *ret);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static void skip_blanks(struct input *input)
{
	while (input->at < input->end && (*input->at == ' ' || *input->at == '\t'))
		input->at++;
}

static bool take(struct input *input, const char *token)
{
	const size_t bytes = strlen(token);

	skip_blanks(input);
	if ((size_t)(input->end - input->at) < bytes || memcmp(input->at, token, bytes) != 0)
		return false;
	input->at += bytes;
	return true;
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool parse_number(struct input *input, uint64_t *ret)
{
	int base = 10;
	uint64_t value = 0;

	if (*input->at == '0') {
		base = 8;
		if (input->end - input->at > 2 && (input->at[1] | 0x20) == 'x') {
			base = 16;
			input->at += 2;
			if (digit_of(*input->at) >= 16)
				return false;
		}
	}
	for (; input->at < input->end && digit_of(*input->at) < base; input->at++)
		value = value * (uint64_t)base + (uint64_t)digit_of(*input->at);
	while (input->at < input->end && ((*input->at | 0x20) == 'u' || (*input->at | 0x20) == 'l'))
		input->at++;
	if (input->at < input->end && is_word(*input->at))
		return false;
	*ret = value;
	return true;
}

/* "(type)" in front of a value is passed over: what is cast has the bits of its type already. */
static bool take_cast(struct input *input)
{
	const char *at = input->at + 1;
	bool has_word = false;

	while (at < input->end && (is_word(*at) || *at == ' ' || *at == '*')) {
		has_word |= is_word(*at) && !is_digit(*at);
		if (!has_word && is_digit(*at))
			return false;
		at++;
	}
	if (!has_word || at >= input->end || *at != ')')
		return false;
	for (at++; at < input->end && *at == ' '; at++)
		;
	if (at >= input->end || (!is_word(*at) && !strchr("(~-'", *at)))
		return false;
	input->at = at;
	return true;
}

static bool parse_character(struct input *input, uint64_t *ret)
{
	if (input->end - input->at < 3 || input->at[1] == '\\' || input->at[2] != '\'')
		return false;
	*ret = (uint8_t)input->at[1];
	input->at += 3;
	return true;
}

static bool parse_primary(struct input *input, uint64_t *ret)
{
	skip_blanks(input);
	if (input->at >= input->end)
		return false;
	if (is_digit(*input->at))
		return parse_number(input, ret);
	if (*input->at == '\'')
		return parse_character(input, ret);
	if (*input->at != '(')
		return false;
	if (take_cast(input))
		return parse_level(input, 0, ret);
	input->at++;
	return parse_level(input, 1, ret) && take(input, ")");
}

static bool parse_unary(struct input *input, uint64_t *ret)
{
	if (take(input, "-")) {
		if (!parse_level(input, 0, ret))
			return false;
		*ret = 0 - *ret;
		return true;
	}
	if (take(input, "~")) {
		if (!parse_level(input, 0, ret))
			return false;
		*ret = ~*ret;
		return true;
	}
	return parse_primary(input, ret);
}

static const struct operator
{
	const char *token;
	unsigned precedence; /* the higher, the tighter */
}
operators[] = {{"<<", 4}, {">>", 4}, {"|", 1}, {"^", 2}, {"&", 3}, {"+", 5}, {"-", 5}, {"*", 6}};

static const struct operator* next_operator(struct input *input, unsigned least)
{
	skip_blanks(input);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		const char *before = input->at;

		if (operators[i].precedence < least || !take(input, operators[i].token))
			continue;
		/* "||" and "&&" are none of these. */
		if (input->at < input->end && (*input->at == '|' || *input->at == '&') &&
		    *input->at == *operators[i].token) {
			input->at = before;
			return NULL;
		}
		return &operators[i];
	}
	return NULL;
}

static uint64_t apply(char token, uint64_t left, uint64_t right)
{
	switch (token) {
	case '<':
		return right < 64 ? left << right : 0;
	case '>':
		return right < 64 ? left >> right : 0;
	case '|':
		return left | right;
	case '^':
		return left ^ right;
	case '&':
		return left & right;
	case '+':
		return left + right;
	case '-':
		return left - right;
	default:
		return left * right;
	}
}

/* @level: 0: no operators with two sides; else the least precedence */
static bool parse_level(struct input *input, unsigned level, uint64_t *ret)
{
	const struct operator* operator;
	uint64_t right;
	bool is_one;

	if (input->depth >= DEPTH_MAX)
		return false;
	input->depth++;
	is_one = parse_unary(input, ret);
	while (is_one && level && (operator= next_operator(input, level))) {
		is_one = parse_level(input, operator->precedence + 1, &right);
		if (is_one)
			*ret = apply(*operator->token, *ret, right);
	}
	input->depth--;
	return is_one;
}

bool etw_tracepoint_constant(const char **at, const char *end, int64_t *ret)
{
	struct input input = {.at = *at, .end = end};
	uint64_t value;

	if (!parse_level(&input, 1, &value))
		return false;
	skip_blanks(&input);
	*at = input.at;
	*ret = (int64_t)value;
	return true;
}
