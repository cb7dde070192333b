/* SPDX-License-Identifier: MIT */
/* One comparison of an expression: what is compared, the operator, and what with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "filter/parse_internal.h"

#define OPERATORS "= != < <= > >= in any all contains starts ends like matches"

static const struct etw_filter_operator symbols[] = {
	{"==", OPERATOR_EQUALS, ETW_FILTER_EQUALS, false, false},
	{"!=", OPERATOR_EQUALS, ETW_FILTER_EQUALS, true, false},
	{"<=", OPERATOR_ORDER, ETW_FILTER_UP_TO, false, false},
	{">=", OPERATOR_ORDER, ETW_FILTER_FROM, false, false},
	{"=", OPERATOR_EQUALS, ETW_FILTER_EQUALS, false, false},
	{"<", OPERATOR_ORDER, ETW_FILTER_BELOW, false, false},
	{">", OPERATOR_ORDER, ETW_FILTER_ABOVE, false, false},
};

static const struct etw_filter_operator words[] = {
	{"in", OPERATOR_EQUALS, ETW_FILTER_EQUALS, false, false},
	{"any", OPERATOR_MASK, ETW_FILTER_MASK_ANY, false, false},
	{"all", OPERATOR_MASK, ETW_FILTER_MASK_ALL, false, false},
	{"contains", OPERATOR_TEXT, ETW_FILTER_CONTAINS, false, false},
	{"starts", OPERATOR_TEXT, ETW_FILTER_STARTS, false, false},
	{"ends", OPERATOR_TEXT, ETW_FILTER_ENDS, false, false},
	{"like", OPERATOR_TEXT, ETW_FILTER_LIKE, false, false},
	{"matches", OPERATOR_TEXT, ETW_FILTER_MATCHES, false, false},
};

/* Words that mean something where a field could stand: as names they need quotes. */
static bool is_reserved(const struct etw_lexer *lexer, struct etw_lexeme word)
{
	static const char *const reserved[] = {"and",     "or",       "not",    "in",   "any",
					       "all",     "contains", "starts", "ends", "like",
					       "matches", "exactly",  "has"};

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (etw_lex_is(lexer, word, reserved[i]))
			return true;
	}
	return false;
}

static bool take_symbol(struct etw_lexer *lexer, struct etw_filter_operator *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		if (etw_lex_symbol(lexer, symbols[i].word)) {
			*ret = symbols[i];
			return true;
		}
	}
	return false;
}

static bool take_word(struct etw_lexer *lexer, struct etw_filter_operator *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!etw_lex_keyword(lexer, words[i].word))
			continue;
		*ret = words[i];
		/* "starts with" reads better, and says no more. */
		if (ret->how == ETW_FILTER_STARTS || ret->how == ETW_FILTER_ENDS)
			(void)etw_lex_keyword(lexer, "with");
		return true;
	}
	return false;
}

/* "not exactly contains": the operator with what stands before it. */
static int parse_operator(struct etw_filter_parser *parser, struct etw_lexeme operand,
			  struct etw_filter_operator *ret)
{
	struct etw_lexer *lexer = &parser->lexer;
	const bool is_negated = etw_lex_keyword(lexer, "not");
	const bool is_exact = etw_lex_keyword(lexer, "exactly");
	const struct etw_lexeme here = etw_lex_here(lexer);

	if (!(is_negated ? take_word(lexer, ret) || take_symbol(lexer, ret)
			 : take_symbol(lexer, ret) || take_word(lexer, ret)))
		return etw_filter_refuse(parser, here,
					 "an operator is expected behind \"%.*s\": one of %s",
					 (int)(operand.bytes < 60 ? operand.bytes : 60),
					 lexer->text + operand.at, OPERATORS);
	if (is_negated && ret->class == OPERATOR_ORDER)
		return etw_filter_refuse(parser, here, "there is no \"not %s\"; use the reverse",
					 ret->word);
	if (is_exact && ret->class != OPERATOR_EQUALS && ret->class != OPERATOR_TEXT)
		return etw_filter_refuse(
			parser, here,
			"\"exactly\" is for texts, whose upper and lower case then "
			"differ; \"%s\" compares none",
			ret->word);
	ret->is_negated ^= is_negated;
	ret->is_exact = is_exact;
	return 0;
}

static int make_leaf(const struct etw_filter_operand *operand, const char *path,
		     enum etw_filter_ask ask, struct etw_filter **ret)
{
	struct etw_filter *filter =
		operand ? etw_filter_of_operand((enum etw_filter_operand_id)operand->id)
			: etw_filter_of_field(path, ask);

	if (!filter)
		return -ENOMEM;
	filter->ask = (uint8_t)ask;
	filter->shows = true;
	/* What is there of names is only known with the names. */
	if (ask == ETW_FILTER_HAS && operand && operand->text_cost > filter->cost)
		filter->cost = operand->text_cost;
	*ret = filter;
	return 0;
}

/* A name of the language, "fields", "fields.X", or the path of a field. @ask: COUNT within "count(...)" */
static int parse_operand(struct etw_filter_parser *parser, enum etw_filter_ask ask,
			 struct etw_lexeme *ret_place, struct etw_filter **ret)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_lexer *lexer = &parser->lexer;
	const struct etw_filter_operand *operand = NULL;
	const struct etw_lexeme here = etw_lex_here(lexer);
	const char *sentence, *path;
	bool is_plain;

	if (is_reserved(lexer, here))
		return etw_filter_refuse(parser, here,
					 "what is to be compared is missing in front of \"%.*s\"; "
					 "a field of this name is written `%.*s`",
					 (int)here.bytes, lexer->text + here.at, (int)here.bytes,
					 lexer->text + here.at);
	sentence = etw_lex_path(lexer, &text, &is_plain);
	if (sentence)
		return etw_filter_refuse(parser, etw_lex_here(lexer), "%s", sentence);
	if (etw_text_error(&text))
		return -ENOMEM;
	*ret_place = (struct etw_lexeme){here.at, lexer->at - here.at};
	path = etw_text_string(&text);
	if (text.bytes > ETW_PATH_BYTES_MAX || strlen(path) != text.bytes)
		return etw_filter_refuse(parser, *ret_place, "this is no name of a field");
	if (is_plain)
		operand = etw_filter_operand_find(path, text.bytes);
	if (operand && ask == ETW_FILTER_COUNT)
		return etw_filter_refuse(parser, *ret_place,
					 "count() is for fields; a field of this name is written "
					 "fields.%s",
					 path);
	if (etw_lex_is(lexer, here, "fields") && !strncmp(path, "fields.", 7))
		path += 7;
	else if (is_plain && !strcmp(path, "fields"))
		path = "";
	TRY(make_leaf(operand, path, ask, ret));
	(*ret)->at = here.at;
	return 0;
}

static int parse_has(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexeme place;

	return parse_operand(parser, ETW_FILTER_HAS, &place, ret);
}

/* Behind "count": "(path)"; without a parenthesis it is a field of this name. */
static int parse_count(struct etw_filter_parser *parser, struct etw_lexeme *place,
		       struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;

	lexer->at++;
	TRY(parse_operand(parser, ETW_FILTER_COUNT, place, ret));
	if (etw_lex_take(lexer, ')'))
		return 0;
	etw_filter_free(*ret);
	return etw_filter_refuse(parser, etw_lex_here(lexer), "\")\" is expected here");
}

static bool is_count(struct etw_lexer *lexer)
{
	const size_t start = lexer->at;

	if (etw_lex_keyword(lexer, "count") && etw_lex_peek(lexer) == '(')
		return true;
	lexer->at = start;
	return false;
}

int etw_filter_parse_comparison(struct etw_filter_parser *parser, struct etw_filter **ret)
{
	struct etw_lexer *lexer = &parser->lexer;
	struct etw_filter_operator operator;
	struct etw_filter *filter;
	struct etw_lexeme place;
	int result;

	if (!etw_lex_skip(lexer))
		return etw_filter_refuse(parser, (struct etw_lexeme){lexer->at, 0},
					 "the expression ends where a comparison is expected");
	if (etw_lex_keyword(lexer, "has"))
		return parse_has(parser, ret);
	if (is_count(lexer))
		TRY(parse_count(parser, &place, &filter));
	else
		TRY(parse_operand(parser, ETW_FILTER_COMPARE, &place, &filter));
	result = parse_operator(parser, place, &operator);
	if (!result) {
		filter->is_negated = operator.is_negated;
		result = etw_filter_parse_values(parser, filter, &operator);
	}
	if (result) {
		etw_filter_free(filter);
		return result;
	}
	*ret = filter;
	return 0;
}
