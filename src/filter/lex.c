/* SPDX-License-Identifier: MIT */
#include "filter/lex.h"

#include <string.h>

#include "base/utf.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Letters beyond ASCII count as such. */
static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '#' || c == '@' || (unsigned char)c >= 0x80;
}

bool etw_lex_skip(struct etw_lexer *lexer)
{
	while (lexer->at < lexer->bytes && is_blank(lexer->text[lexer->at]))
		lexer->at++;
	return lexer->at < lexer->bytes;
}

char etw_lex_peek(struct etw_lexer *lexer)
{
	return etw_lex_skip(lexer) ? lexer->text[lexer->at] : '\0';
}

bool etw_lex_take(struct etw_lexer *lexer, char c)
{
	if (!etw_lex_skip(lexer) || lexer->text[lexer->at] != c)
		return false;
	lexer->at++;
	return true;
}

bool etw_lex_symbol(struct etw_lexer *lexer, const char *symbol)
{
	const size_t bytes = strlen(symbol);

	if (!etw_lex_skip(lexer) || lexer->bytes - lexer->at < bytes ||
	    memcmp(lexer->text + lexer->at, symbol, bytes) != 0)
		return false;
	lexer->at += bytes;
	return true;
}

struct etw_lexeme etw_lex_word(struct etw_lexer *lexer)
{
	struct etw_lexeme word;

	(void)etw_lex_skip(lexer);
	word = (struct etw_lexeme){lexer->at, 0};
	while (lexer->at + word.bytes < lexer->bytes &&
	       is_word(lexer->text[lexer->at + word.bytes]))
		word.bytes++;
	return word;
}

bool etw_lex_is(const struct etw_lexer *lexer, struct etw_lexeme lexeme, const char *word)
{
	return strlen(word) == lexeme.bytes && !memcmp(lexer->text + lexeme.at, word, lexeme.bytes);
}

bool etw_lex_keyword(struct etw_lexer *lexer, const char *word)
{
	const struct etw_lexeme next = etw_lex_word(lexer);

	if (!etw_lex_is(lexer, next, word))
		return false;
	lexer->at += next.bytes;
	return true;
}

/* Behind "`". */
static const char *take_quoted_name(struct etw_lexer *lexer, struct etw_text *path)
{
	const char *start = lexer->text + lexer->at;
	const char *end = memchr(start, '`', lexer->bytes - lexer->at);

	if (!end) {
		lexer->at--;
		return "this \"`\" has no second one";
	}
	if (end == start)
		return "the name is empty";
	etw_text_append(path, start, (size_t)(end - start));
	lexer->at += (size_t)(end - start) + 1;
	return NULL;
}

/* "[12]", copied as it is. */
static const char *take_index(struct etw_lexer *lexer, struct etw_text *path)
{
	const char *start = lexer->text + lexer->at;
	size_t bytes = 1;

	while (lexer->at + bytes < lexer->bytes && start[bytes] >= '0' && start[bytes] <= '9')
		bytes++;
	if (bytes == 1 || lexer->at + bytes == lexer->bytes || start[bytes] != ']')
		return "an index is a number in brackets, as in [0]; without one any element "
		       "counts";
	if (bytes > 8)
		return "no array has so many elements";
	etw_text_append(path, start, bytes + 1);
	lexer->at += bytes + 1;
	return NULL;
}

static const char *take_name(struct etw_lexer *lexer, struct etw_text *path, bool *ret_is_plain)
{
	struct etw_lexeme word;

	if (lexer->at < lexer->bytes && lexer->text[lexer->at] == '`') {
		*ret_is_plain = false;
		lexer->at++;
		return take_quoted_name(lexer, path);
	}
	word = etw_lex_word(lexer);
	if (!word.bytes)
		return "the name of a field is missing here";
	etw_text_append(path, lexer->text + word.at, word.bytes);
	lexer->at += word.bytes;
	return NULL;
}

const char *etw_lex_path(struct etw_lexer *lexer, struct etw_text *path, bool *ret_is_plain)
{
	(void)etw_lex_skip(lexer);
	*ret_is_plain = true;
	for (;;) {
		const char *sentence = take_name(lexer, path, ret_is_plain);

		if (!sentence && lexer->at < lexer->bytes && lexer->text[lexer->at] == '[') {
			*ret_is_plain = false;
			sentence = take_index(lexer, path);
		}
		if (sentence)
			return sentence;
		if (lexer->at == lexer->bytes || lexer->text[lexer->at] != '.')
			return NULL;
		*ret_is_plain = false;
		etw_text_putc(path, '.');
		lexer->at++;
	}
}

/* A quote within a text is written twice. */
static const char *take_quoted(struct etw_lexer *lexer, struct etw_text *text)
{
	const size_t start = lexer->at;
	const char quote = lexer->text[lexer->at++];

	while (lexer->at < lexer->bytes) {
		const char *rest = lexer->text + lexer->at;
		const char *end = memchr(rest, quote, lexer->bytes - lexer->at);
		const size_t bytes = end ? (size_t)(end - rest) : 0;

		if (!end)
			break;
		etw_text_append(text, rest, bytes);
		lexer->at += bytes + 1;
		if (lexer->at == lexer->bytes || lexer->text[lexer->at] != quote)
			return NULL;
		etw_text_putc(text, quote);
		lexer->at++;
	}
	lexer->at = start;
	return "this text has no second quote";
}

/* Of a value without quotes: up to a blank, a range's "..", or what belongs to the expression. */
static size_t measure_bare(const struct etw_lexer *lexer)
{
	size_t at = lexer->at;

	for (; at < lexer->bytes; at++) {
		const char c = lexer->text[at];

		if (is_blank(c) || (c && strchr("(),\"'`=<>!&|", c)))
			break;
		if (c == '.' && at + 1 < lexer->bytes && lexer->text[at + 1] == '.')
			break;
	}
	return at - lexer->at;
}

const char *etw_lex_value(struct etw_lexer *lexer, struct etw_text *text, bool *ret_is_quoted,
			  struct etw_lexeme *ret)
{
	const char *sentence = NULL;
	const char next = etw_lex_peek(lexer);
	const size_t start = lexer->at;

	*ret_is_quoted = next == '"' || next == '\'';
	if (*ret_is_quoted) {
		sentence = take_quoted(lexer, text);
	} else {
		const size_t bytes = measure_bare(lexer);

		if (!bytes)
			return "a value is missing here";
		etw_text_append(text, lexer->text + lexer->at, bytes);
		lexer->at += bytes;
	}
	*ret = (struct etw_lexeme){start, lexer->at - start};
	return sentence;
}

struct etw_lexeme etw_lex_here(struct etw_lexer *lexer)
{
	struct etw_lexeme word = etw_lex_word(lexer);
	size_t used = 0;

	if (word.bytes || lexer->at == lexer->bytes)
		return word;
	(void)etw_utf8_decode((const uint8_t *)lexer->text + lexer->at, lexer->bytes - lexer->at,
			      &used);
	word.bytes = used;
	return word;
}
