/* SPDX-License-Identifier: MIT */
/* The steps of an expression, shared by its reader and its runner. Private to src/filter. */
#ifndef ETW_FILTER_REGEX_INTERNAL_H
#define ETW_FILTER_REGEX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/regex.h"

enum regex_op {
	REGEX_POINT, /* one code point */
	REGEX_ANY,   /* one character but a line's end */
	REGEX_CLASS, /* one of a class */
	REGEX_SPLIT, /* both at `x` and at `y` */
	REGEX_JUMP,  /* at `x` */
	REGEX_BEGIN, /* the text begins here */
	REGEX_END,   /* or ends */
	REGEX_EDGE,  /* a word begins or ends here */
	REGEX_NO_EDGE,
	REGEX_FOUND,
};

/* Ways are relative, so that a run of steps can be moved and repeated as it is. */
struct regex_step {
	uint8_t op;
	bool is_negated; /* CLASS */
	int16_t x, y;
	uint32_t point; /* POINT; CLASS: first range */
	uint32_t count; /* CLASS: ranges */
};

struct regex_range {
	uint32_t from, to; /* code points, inclusive */
};

#define REGEX_RANGES_MAX 2000 /* of all classes */

struct etw_regex {
	struct regex_step steps[ETW_REGEX_STEPS_MAX + 1];
	unsigned step_count;
	struct regex_range *ranges; /* owned */
	unsigned range_count;
	bool ignores_case;
	/* Of a run: the steps that are waited at, each once; and those still to be gone into. */
	uint16_t now[ETW_REGEX_STEPS_MAX + 1], next[ETW_REGEX_STEPS_MAX + 1];
	uint16_t stack[2 * ETW_REGEX_STEPS_MAX + 2];
	uint32_t seen[ETW_REGEX_STEPS_MAX + 1]; /* the place at which a step was met last */
};

/* etw_regex_fold() - a letter of ASCII as a small one. */
static inline uint32_t etw_regex_fold(uint32_t point)
{
	return point >= 'A' && point <= 'Z' ? point - 'A' + 'a' : point;
}

#endif
