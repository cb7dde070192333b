/* SPDX-License-Identifier: MIT */
/* What stands behind an operator: a value, a range or a list; and whether it can be compared so. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "filter/parse_internal.h"

struct reading {
	struct etw_filter_parser *parser;
	struct etw_filter *filter;
	const struct etw_filter_operator *operator;
	struct etw_lexeme place; /* of the value */
	bool is_quoted;
	bool is_range;
};

static void value_done(struct etw_filter_value *value)
{
	etw_filter_value_done(value);
}

/* "pid wants a process id, not ..." */
static int refuse_value(const struct reading *reading)
{
	const struct etw_filter_operand *operand = reading->filter->operand;
	const char *text = reading->parser->lexer.text + reading->place.at;

	return etw_filter_refuse(
		reading->parser, reading->place, "%s wants %s, not %.*s", operand->name,
		operand->wants, (int)(reading->place.bytes < 60 ? reading->place.bytes : 60), text);
}

/* Words that stand for numbers, and texts of which only some exist. */
static int check_names(const struct reading *reading, struct etw_filter_value *value)
{
	const uint8_t id = reading->filter->operand->id;
	int level;

	if (id == ETW_FILTER_LEVEL && !(value->readings & ETW_FILTER_INTEGER) &&
	    !reading->is_range) {
		level = etw_filter_level(value->text);
		if (level < 0)
			return refuse_value(reading);
		value->readings = ETW_FILTER_INTEGER;
		value->from = value->to = level;
	}
	if (id == ETW_FILTER_STATUS &&
	    reading->operator->how == ETW_FILTER_EQUALS && !etw_filter_status_exists(value->text))
		return refuse_value(reading);
	return 0;
}

static int check_operand(const struct reading *reading, struct etw_filter_value *value)
{
	const struct etw_filter_operand *operand = reading->filter->operand;

	TRY(check_names(reading, value));
	value->readings &= operand->readings;
	if (value->readings & (ETW_FILTER_INTEGER | ETW_FILTER_GUID))
		value->readings &= (uint16_t)~ETW_FILTER_TEXT;
	if (!value->readings)
		return refuse_value(reading);
	if (value->readings & ETW_FILTER_INTEGER &&
	    (value->from < 0 || value->to > (etw_filter_integer)operand->max))
		return etw_filter_refuse(reading->parser, reading->place,
					 "%s is a number from 0 to %llu", operand->name,
					 (unsigned long long)operand->max);
	return 0;
}

/* A star in a word that is compared as a whole is most likely meant as a wildcard. */
static int check_star(const struct reading *reading, const struct etw_filter_value *value)
{
	if (reading->is_quoted ||
	    reading->operator->class != OPERATOR_EQUALS || !(value->readings & ETW_FILTER_TEXT) ||
	    !memchr(value->text, '*', value->text_bytes))
		return 0;
	return etw_filter_refuse(
		reading->parser, reading->place,
		"\"*\" is a wildcard with \"like\" only; put the text in quotes if "
		"the character is meant");
}

static int check_order(const struct reading *reading, struct etw_filter_value *value)
{
	if (etw_filter_value_bound(value, (enum etw_filter_bound)reading->operator->how))
		return 0;
	if (reading->filter->operand)
		return etw_filter_refuse(
			reading->parser, reading->place,
			"%s has no order: it can be = or != something, or in a list",
			reading->filter->operand->name);
	return etw_filter_refuse(reading->parser, reading->place, "\"%s\" wants a number or a time",
				 reading->operator->word);
}

static int check_mask(const struct reading *reading, struct etw_filter_value *value)
{
	value->readings &= ETW_FILTER_INTEGER;
	value->how = reading->operator->how;
	if (value->readings && value->from >= 0 && value->from <= UINT64_MAX)
		return 0;
	return etw_filter_refuse(reading->parser, reading->place,
				 "\"%s\" wants a number whose bits are to be looked for",
				 reading->operator->word);
}

static int check_text(const struct reading *reading, struct etw_filter_value *value)
{
	struct etw_filter_parser *parser = reading->parser;
	const struct etw_filter_operand *operand = reading->filter->operand;
	struct etw_regex_fault fault = {0};
	int result;

	if ((operand && !(operand->readings & ETW_FILTER_TEXT)) ||
	    reading->filter->ask == ETW_FILTER_COUNT)
		return etw_filter_refuse(
			parser, reading->place, "\"%s\" is for texts, and %s is none",
			reading->operator->word, operand ? operand->name : "a count");
	value->readings = ETW_FILTER_TEXT;
	if (reading->operator->how ==
	    ETW_FILTER_MATCHES && ++ parser->regexes> ETW_FILTER_REGEXES_MAX)
		return etw_filter_refuse(parser, reading->place,
					 "an expression has %d regular expressions at most",
					 ETW_FILTER_REGEXES_MAX);
	result = etw_filter_value_set_how(value, (enum etw_filter_how)reading->operator->how,
					  reading->operator->is_exact, &fault);
	if (result == -EINVAL) {
		const size_t at = reading->place.at + reading->is_quoted + fault.at;
		const size_t end = reading->place.at + reading->place.bytes;
		const struct etw_lexeme place = {at < end ? at : end, at < end};

		return etw_filter_refuse(parser, place, "%s", fault.sentence);
	}
	return result;
}

/* Leaves the readings that count; how the text is compared is set for all of them. */
static int check(const struct reading *reading, struct etw_filter_value *value)
{
	const struct etw_filter_operator *operator= reading->operator;
	const struct etw_filter *filter = reading->filter;

	if (operator->class == OPERATOR_TEXT)
		return check_text(reading, value);
	if (filter->operand)
		TRY(check_operand(reading, value));
	if (filter->ask == ETW_FILTER_COUNT) {
		value->readings &= ETW_FILTER_INTEGER;
		if (!value->readings)
			return etw_filter_refuse(reading->parser, reading->place,
						 "a count is compared with a number");
	}
	if (operator->class == OPERATOR_ORDER)
		return check_order(reading, value);
	if (operator->class == OPERATOR_MASK)
		return check_mask(reading, value);
	TRY(check_star(reading, value));
	return etw_filter_value_set_how(value, ETW_FILTER_EQUALS, operator->is_exact, NULL);
}

/* A word that goes on with the expression where a value should be. */
static bool is_misplaced(const struct etw_lexer *lexer, struct etw_lexeme place)
{
	return etw_lex_is(lexer, place, "and") || etw_lex_is(lexer, place, "or") ||
	       etw_lex_is(lexer, place, "not") || etw_lex_is(lexer, place, "in");
}

static int read_end(struct reading *reading, struct etw_filter_value *ret)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	struct etw_filter_parser *parser = reading->parser;
	const char *sentence = etw_lex_value(&parser->lexer, &text, &reading->is_quoted,
					     &reading->place);

	if (sentence)
		return etw_filter_refuse(parser, etw_lex_here(&parser->lexer), "%s", sentence);
	if (etw_text_error(&text))
		return -ENOMEM;
	if (!reading->is_quoted && is_misplaced(&parser->lexer, reading->place))
		return etw_filter_refuse(
			parser, reading->place,
			"a value is missing in front of \"%.*s\"; put it in quotes "
			"if the word is meant",
			(int)reading->place.bytes, parser->lexer.text + reading->place.at);
	return etw_filter_value_read(etw_text_string(&text), text.bytes, reading->is_quoted, ret);
}

/* Behind "..". */
static int read_range(struct reading *reading, struct etw_filter_value *value)
{
	CLEANUP(value_done) struct etw_filter_value end = {0};
	const size_t start = reading->place.at;

	TRY(read_end(reading, &end));
	reading->place = (struct etw_lexeme){start, reading->parser->lexer.at - start};
	reading->is_range = true;
	if (reading->operator->class != OPERATOR_EQUALS)
		return etw_filter_refuse(reading->parser, reading->place,
					 "\"%s\" wants one value, no range",
					 reading->operator->word);
	if (etw_filter_value_extend(value, &end))
		return 0;
	return etw_filter_refuse(reading->parser, reading->place,
				 "a range wants two numbers, times or addresses, the lower one "
				 "first");
}

static int read_value(struct reading *reading)
{
	CLEANUP(value_done) struct etw_filter_value value = {0};

	reading->is_range = false;
	TRY(read_end(reading, &value));
	if (++reading->parser->values > ETW_FILTER_VALUES_MAX)
		return etw_filter_refuse(reading->parser, reading->place,
					 "an expression has %d values at most",
					 ETW_FILTER_VALUES_MAX);
	if (etw_lex_symbol(&reading->parser->lexer, ".."))
		TRY(read_range(reading, &value));
	TRY(check(reading, &value));
	return etw_filter_add_value(reading->filter, &value);
}

int etw_filter_parse_values(struct etw_filter_parser *parser, struct etw_filter *filter,
			    const struct etw_filter_operator *operator)
{
	struct reading reading = {.parser = parser, .filter = filter, .operator= operator};
	struct etw_lexer *lexer = &parser->lexer;

	if (!etw_lex_skip(lexer))
		return etw_filter_refuse(parser, (struct etw_lexeme){lexer->at, 0},
					 "the expression ends where a value is expected behind "
					 "\"%s\"",
					 operator->word);
	if (etw_lex_peek(lexer) != '(')
		return read_value(&reading);
	if (operator->class == OPERATOR_ORDER || operator->class == OPERATOR_MASK)
		return etw_filter_refuse(parser, etw_lex_here(lexer),
					 "\"%s\" wants one value, no list", operator->word);
	lexer->at++;
	do {
		TRY(read_value(&reading));
	} while (etw_lex_take(lexer, ','));
	if (etw_lex_take(lexer, ')'))
		return 0;
	return etw_filter_refuse(parser, etw_lex_here(lexer),
				 "\",\" or \")\" is expected here; texts with blanks need quotes");
}
