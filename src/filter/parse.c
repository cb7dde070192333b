/* SPDX-License-Identifier: MIT */
/* The grammar of docs/format/filter.md: and, or, not, parentheses; parse_comparison.c has what stands between. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/utf.h"
#include "filter/parse_internal.h"

#define DEPTH_MAX 100 /* of parentheses; reading them uses the stack */

int etw_filter_refuse(struct etw_filter_parser *parser, struct etw_lexeme place, const char *format,
		      ...)
{
	va_list arguments;

	parser->fault.at = place.at;
	parser->fault.bytes = place.bytes;
	va_start(arguments, format);
	(void)vsnprintf(parser->fault.sentence, sizeof(parser->fault.sentence), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int parse_or(struct etw_filter_parser *parser, struct etw_filter **ret);

static bool take_not(struct etw_lexer *lexer)
{
	return etw_lex_keyword(lexer, "not") || etw_lex_take(lexer, '!');
}

static int enter(struct etw_filter_parser *parser)
{
	if (++parser->depth > DEPTH_MAX)
		return etw_filter_refuse(parser, etw_lex_here(&parser->lexer),
					 "the expression is nested more than %d deep", DEPTH_MAX);
	return 0;
}

/* Behind "(". */
static int parse_group(struct etw_filter_parser *parser, size_t start, struct etw_filter **ret)
{
	struct etw_filter *filter;

	TRY(parse_or(parser, &filter));
	if (etw_lex_take(&parser->lexer, ')')) {
		*ret = filter;
		return 0;
	}
	etw_filter_free(filter);
	if (etw_lex_skip(&parser->lexer))
		return etw_filter_refuse(parser, etw_lex_here(&parser->lexer),
					 "\"and\", \"or\" or \")\" is expected here");
	return etw_filter_refuse(parser, (struct etw_lexeme){start, 1}, "this \"(\" has no \")\"");
}

static int parse_constant(bool is_true, struct etw_filter **ret)
{
	struct etw_filter *filter = etw_filter_any();

	if (!filter)
		return -ENOMEM;
	if (is_true) {
		*ret = filter;
		return 0;
	}
	return etw_filter_not(filter, ret);
}

static int parse_not(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;
	struct etw_filter *filter;
	int result;

	if (take_not(lexer)) {
		TRY(enter(parser));
		TRY(parse_not(parser, &filter));
		parser->depth--;
		return etw_filter_not(filter, ret);
	}
	if (etw_lex_keyword(lexer, "true"))
		return parse_constant(true, ret);
	if (etw_lex_keyword(lexer, "false"))
		return parse_constant(false, ret);
	if (!etw_lex_take(lexer, '('))
		return etw_filter_parse_comparison(parser, ret);
	TRY(enter(parser));
	result = parse_group(parser, lexer->at - 1, ret);
	parser->depth--;
	return result;
}

/* What an expression goes on with: the part is freed when it cannot. */
static int parse_and(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;
	struct etw_filter *filter, *next;

	TRY(parse_not(parser, &filter));
	while (etw_lex_keyword(lexer, "and") || etw_lex_symbol(lexer, "&&")) {
		int result = parse_not(parser, &next);

		if (result) {
			etw_filter_free(filter);
			return result;
		}
		TRY(etw_filter_and(filter, next, &filter));
	}
	*ret = filter;
	return 0;
}

static int parse_or(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;
	struct etw_filter *filter, *next;

	TRY(parse_and(parser, &filter));
	while (etw_lex_keyword(lexer, "or") || etw_lex_symbol(lexer, "||")) {
		int result = parse_and(parser, &next);

		if (result) {
			etw_filter_free(filter);
			return result;
		}
		TRY(etw_filter_or(filter, next, &filter));
	}
	*ret = filter;
	return 0;
}

/* Something stands behind a whole expression. What people write there who know other languages is named. */
static int refuse_rest(struct etw_filter_parser *parser)
{
	static const char *const words[] = {"and", "or", "not"};
	struct etw_lexer *lexer = &parser->lexer;
	const struct etw_lexeme word = etw_lex_word(lexer);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (word.bytes == strlen(words[i]) &&
		    !strncasecmp(lexer->text + word.at, words[i], word.bytes) &&
		    !etw_lex_is(lexer, word, words[i]))
			return etw_filter_refuse(parser, word,
						 "the words of the language are in small letters: "
						 "\"%s\"",
						 words[i]);
	}
	if (etw_lex_peek(lexer) == ',')
		return etw_filter_refuse(parser, (struct etw_lexeme){lexer->at, 1},
					 "several values stand in parentheses: (1, 2)");
	return etw_filter_refuse(
		parser, etw_lex_here(lexer),
		"\"and\" or \"or\" is expected here; texts with blanks need quotes");
}

static int parse_all(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;

	if (!etw_utf8_is_valid((const uint8_t *)lexer->text, lexer->bytes))
		return etw_filter_refuse(parser, (struct etw_lexeme){0},
					 "the expression is no UTF-8");
	if (!etw_lex_skip(lexer))
		return etw_filter_refuse(parser, (struct etw_lexeme){lexer->at, 0},
					 "the expression is empty; an example is "
					 "\"process = notepad.exe and level <= warning\"");
	TRY(parse_or(parser, ret));
	if (!etw_lex_skip(lexer))
		return 0;
	etw_filter_free(*ret);
	if (etw_lex_peek(lexer) == ')')
		return etw_filter_refuse(parser, (struct etw_lexeme){lexer->at, 1},
					 "this \")\" has no \"(\"");
	return refuse_rest(parser);
}

int etw_filter_parse(const char *text, size_t bytes, struct etw_filter **ret,
		     struct etw_filter_fault *reterr)
{
	struct etw_filter_parser parser = {.lexer = {.text = text, .bytes = bytes}};
	struct etw_filter *filter = NULL;
	int result;

	if (bytes > ETW_FILTER_BYTES_MAX)
		result = etw_filter_refuse(&parser, (struct etw_lexeme){ETW_FILTER_BYTES_MAX, 0},
					   "an expression has %zu bytes at most",
					   ETW_FILTER_BYTES_MAX);
	else
		result = parse_all(&parser, &filter);
	/* Its own depth is below the limit of trees. */
	if (result == -E2BIG)
		result = etw_filter_refuse(&parser, (struct etw_lexeme){0, bytes},
					   "the expression is nested too deep");
	if (result) {
		if (result == -EINVAL)
			*reterr = parser.fault;
		return result;
	}
	etw_filter_sort(filter);
	*ret = filter;
	return 0;
}
