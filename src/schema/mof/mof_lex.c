/* SPDX-License-Identifier: MIT */
/* Tokens of MOF. Adjacent string literals are joined here, so that the grammar sees one string. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/utf.h"
#include "schema/mof/mof_internal.h"

static int refuse(struct mof_lexer *lexer, const char *sentence)
{
	return etw_fault_set(lexer->reterr, -EBADMSG, lexer->line, "MOF", NULL, sentence);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_name_part(char c)
{
	return is_name_start(c) || is_digit(c);
}

bool etw_mof_is_name(const char *left, const char *right)
{
	return left && right && strcasecmp(left, right) == 0;
}

bool etw_mof_is_identifier(const char *text)
{
	if (!text || !is_name_start(*text))
		return false;
	while (*text && is_name_part(*text))
		text++;
	return !*text;
}

static char peek(const struct mof_lexer *lexer, size_t ahead)
{
	return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static int skip_comment(struct mof_lexer *lexer)
{
	if (lexer->at[1] == '/') {
		while (lexer->at < lexer->end && *lexer->at != '\n')
			lexer->at++;
		return 0;
	}
	lexer->at += 2;
	while (lexer->at < lexer->end && !(*lexer->at == '*' && peek(lexer, 1) == '/')) {
		if (*lexer->at == '\n')
			lexer->line++;
		lexer->at++;
	}
	if (lexer->at == lexer->end)
		return refuse(lexer, "a comment is not closed");
	lexer->at += 2;
	return 0;
}

static int skip_space(struct mof_lexer *lexer)
{
	while (lexer->at < lexer->end) {
		char c = *lexer->at;

		if (c == '/' && (peek(lexer, 1) == '/' || peek(lexer, 1) == '*')) {
			TRY(skip_comment(lexer));
			continue;
		}
		/* Old editors end a file with the control character 26. */
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f' && c != '\v' &&
		    c != '\x1a')
			break;
		if (c == '\n')
			lexer->line++;
		lexer->at++;
	}
	return 0;
}

static int keep_text(struct mof_lexer *lexer, const char *at, size_t bytes)
{
	lexer->token.text = etw_arena_strndup(lexer->arena, at, bytes);
	return lexer->token.text ? 0 : -ENOMEM;
}

/* Up to four hexadecimal digits: a UTF-16 unit. */
static int read_unit(struct mof_lexer *lexer, uint32_t *ret)
{
	uint32_t unit = 0;
	unsigned count = 0;

	while (count < 4 && etw_hex_digit(peek(lexer, 0)) >= 0) {
		unit = unit << 4 | (uint32_t)etw_hex_digit(*lexer->at++);
		count++;
	}
	if (!count)
		return refuse(lexer, "an escape \\x has no hexadecimal digits");
	if (!unit)
		return refuse(lexer, "a string holds a NUL");
	*ret = unit;
	return 0;
}

static int read_hex_escape(struct mof_lexer *lexer, uint32_t *ret)
{
	uint32_t unit, low;

	TRY(read_unit(lexer, &unit));
	if (unit >= 0xd800 && unit < 0xdc00 && peek(lexer, 0) == '\\' &&
	    (peek(lexer, 1) | 0x20) == 'x') {
		lexer->at += 2;
		TRY(read_unit(lexer, &low));
		*ret = low >= 0xdc00 && low < 0xe000
			       ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
			       : 0xfffd;
		return 0;
	}
	*ret = unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;
	return 0;
}

/* Behind the backslash. */
static int read_escape(struct mof_lexer *lexer, uint32_t *ret)
{
	static const char names[] = "btnfr\"'\\";
	static const char meanings[] = "\b\t\n\f\r\"'\\";
	char c = peek(lexer, 0);
	const char *found = c ? strchr(names, c) : NULL;

	if (!c)
		return refuse(lexer, "a string does not end on its line");
	lexer->at++;
	if (c == 'x' || c == 'X')
		return read_hex_escape(lexer, ret);
	if (!found)
		return refuse(lexer, "a string has an unknown escape");
	*ret = (uint32_t)meanings[found - names];
	return 0;
}

/* One literal, from quote to quote; its text is appended to the scratch text. */
static int read_literal(struct mof_lexer *lexer)
{
	char encoded[4];
	uint32_t point;

	for (lexer->at++; lexer->at < lexer->end && *lexer->at != '"';) {
		const char *from = lexer->at;

		while (lexer->at < lexer->end && !strchr("\"\\\r\n", *lexer->at))
			lexer->at++;
		etw_text_append(&lexer->text, from, (size_t)(lexer->at - from));
		if (lexer->at == lexer->end || *lexer->at == '"')
			break;
		if (*lexer->at++ != '\\')
			return refuse(lexer, "a string does not end on its line");
		TRY(read_escape(lexer, &point));
		etw_text_append(&lexer->text, encoded, etw_utf8_encode(point, encoded));
	}
	if (lexer->at == lexer->end)
		return refuse(lexer, "a string does not end on its line");
	lexer->at++;
	return 0;
}

static int read_string(struct mof_lexer *lexer)
{
	lexer->token.kind = MOF_STRING;
	etw_text_clear(&lexer->text);
	while (peek(lexer, 0) == '"') {
		TRY(read_literal(lexer));
		TRY(skip_space(lexer));
	}
	TRY(etw_text_error(&lexer->text));
	return keep_text(lexer, etw_text_string(&lexer->text), lexer->text.bytes);
}

static int read_character(struct mof_lexer *lexer)
{
	uint32_t point;
	size_t used;

	lexer->token.kind = MOF_CHARACTER;
	lexer->at++;
	if (peek(lexer, 0) == '\\') {
		lexer->at++;
		TRY(read_escape(lexer, &point));
	} else {
		if (lexer->at == lexer->end || *lexer->at == '\'' || *lexer->at == '\n')
			return refuse(lexer, "a character constant is malformed");
		point = etw_utf8_decode((const uint8_t *)lexer->at,
					(size_t)(lexer->end - lexer->at), &used);
		lexer->at += used;
	}
	lexer->token.number = point;
	if (peek(lexer, 0) != '\'')
		return refuse(lexer, "a character constant is malformed");
	lexer->at++;
	return 0;
}

static int read_digits(struct mof_lexer *lexer, const char *at, const char *end, unsigned base)
{
	uint64_t number = 0;

	if (at == end)
		return refuse(lexer, "a number is malformed");
	for (; at < end; at++) {
		int digit = etw_hex_digit(*at);

		if (digit < 0 || (unsigned)digit >= base)
			return refuse(lexer, "a number is malformed");
		if (__builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, (unsigned)digit, &number))
			return refuse(lexer, "a number does not fit into 64 bits");
	}
	lexer->token.kind = MOF_INTEGER;
	lexer->token.number = number;
	return 0;
}

/* A real's value is of no use here; its end is. */
static int read_real(struct mof_lexer *lexer)
{
	while (is_name_part(peek(lexer, 0)) || peek(lexer, 0) == '.' ||
	       ((peek(lexer, 0) == '-' || peek(lexer, 0) == '+') &&
		(lexer->at[-1] | 0x20) == 'e')) {
		char c = peek(lexer, 0);

		if (!is_digit(c) && c != '.' && c != '-' && c != '+' && (c | 0x20) != 'e')
			return refuse(lexer, "a number is malformed");
		lexer->at++;
	}
	lexer->token.kind = MOF_REAL;
	return 0;
}

static int read_number(struct mof_lexer *lexer)
{
	const char *from, *end;

	if (*lexer->at == '-' || *lexer->at == '+')
		lexer->token.is_negative = *lexer->at++ == '-';
	from = lexer->at;
	if (!is_digit(peek(lexer, 0)))
		return refuse(lexer, "a sign stands before no number");
	while (is_digit(peek(lexer, 0)))
		lexer->at++;
	if (peek(lexer, 0) == '.' || (peek(lexer, 0) | 0x20) == 'e')
		return read_real(lexer);
	while (is_name_part(peek(lexer, 0)))
		lexer->at++;
	end = lexer->at;
	if (end - from >= 2 && from[0] == '0' && (from[1] | 0x20) == 'x')
		return read_digits(lexer, from + 2, end, 16);
	if ((end[-1] | 0x20) == 'b')
		return read_digits(lexer, from, end - 1, 2);
	return read_digits(lexer, from, end, from[0] == '0' ? 8 : 10);
}

/* @skip: bytes before the name. */
static int read_name(struct mof_lexer *lexer, enum mof_token_kind kind, size_t skip)
{
	const char *from = lexer->at += skip;

	while (is_name_part(peek(lexer, 0)))
		lexer->at++;
	if (lexer->at - from > ETW_MOF_NAME_BYTES_MAX)
		return refuse(lexer, "a name is too long");
	lexer->token.kind = kind;
	return keep_text(lexer, from, (size_t)(lexer->at - from));
}

static int read_directive(struct mof_lexer *lexer)
{
	TRY(read_name(lexer, MOF_PRAGMA, 1));
	return strcasecmp(lexer->token.text, "pragma") == 0
		       ? 0
		       : refuse(lexer, "a directive is not #pragma");
}

int etw_mof_next(struct mof_lexer *lexer)
{
	char c;

	TRY(skip_space(lexer));
	lexer->token = (struct mof_token){.kind = MOF_END, .line = lexer->line};
	if (lexer->at == lexer->end)
		return 0;
	c = *lexer->at;
	if (c == '"')
		return read_string(lexer);
	if (c == '\'')
		return read_character(lexer);
	if (is_digit(c) || c == '-' || c == '+')
		return read_number(lexer);
	if (is_name_start(c))
		return read_name(lexer, MOF_IDENTIFIER, 0);
	if (c == '$' && is_name_start(peek(lexer, 1)))
		return read_name(lexer, MOF_ALIAS, 1);
	if (c == '#')
		return read_directive(lexer);
	if (!c || !strchr("[](){}:;,=", c))
		return refuse(lexer, "a character has no meaning here");
	lexer->token.kind = MOF_PUNCTUATION;
	lexer->token.punctuation = c;
	lexer->at++;
	return 0;
}
