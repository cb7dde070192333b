/* SPDX-License-Identifier: MIT */
/* What the grammar and its comparisons share. Private to src/filter. */
#ifndef ETW_FILTER_PARSE_INTERNAL_H
#define ETW_FILTER_PARSE_INTERNAL_H

#include "filter/filter_internal.h"
#include "filter/lex.h"
#include "filter/parse.h"

struct etw_filter_parser {
	struct etw_lexer lexer;
	unsigned depth; /* of parentheses and "not" */
	size_t values;  /* so far */
	size_t regexes; /* likewise */
	struct etw_filter_fault fault;
};

/* etw_filter_refuse() - notes what is wrong with a piece of the expression. Returns -EINVAL. */
int etw_filter_refuse(struct etw_filter_parser *parser, struct etw_lexeme place, const char *format,
		      ...) __attribute__((format(printf, 3, 4)));

/* etw_filter_parse_comparison() - "pid = 4", "has Field", "count(List) > 3". 0 with an owned leaf, -EINVAL, -ENOMEM. */
int etw_filter_parse_comparison(struct etw_filter_parser *parser, struct etw_filter **ret);

/* An operator, with what stands before it. */
struct etw_filter_operator {
	const char *word;
	uint8_t class; /* enum operator_class */
	uint8_t how;   /* enum etw_filter_how, or enum etw_filter_bound */
	bool is_negated;
	bool is_exact;
};

enum operator_class {
	OPERATOR_EQUALS, /* and "in" */
	OPERATOR_ORDER,
	OPERATOR_MASK,
	OPERATOR_TEXT,
};

/* etw_filter_parse_values() - what stands behind an operator, into the leaf. */
int etw_filter_parse_values(struct etw_filter_parser *parser, struct etw_filter *filter,
			    const struct etw_filter_operator *operator);

#endif
