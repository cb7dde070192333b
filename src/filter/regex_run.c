/* SPDX-License-Identifier: MIT */
/* Following all ways through an expression at once: at each character there is a set of steps that wait for it. */
#include <string.h>

#include "base/utf.h"
#include "filter/regex_internal.h"

#define NOTHING UINT32_MAX /* before and behind the text */

/* A place between two characters. */
struct place {
	uint32_t before, behind;
	uint32_t stamp; /* another one at each place */
};

static bool is_word(uint32_t point)
{
	return point < 128 && ((etw_regex_fold(point) >= 'a' && etw_regex_fold(point) <= 'z') ||
			       (point >= '0' && point <= '9') || point == '_');
}

static bool is_edge(const struct place *place)
{
	return is_word(place->before) != is_word(place->behind);
}

/*
 * Adds the steps that wait for a character and can be reached from @first without one. Returns whether the end
 * of the expression can.
 */
static bool reach(struct etw_regex *regex, unsigned first, const struct place *place,
		  uint16_t *waiting, unsigned *count)
{
	unsigned depth = 0;

	regex->stack[depth++] = (uint16_t)first;
	while (depth) {
		const unsigned at = regex->stack[--depth];
		const struct regex_step *step = &regex->steps[at];
		bool goes_on = false;

		if (regex->seen[at] == place->stamp)
			continue;
		regex->seen[at] = place->stamp;
		switch (step->op) {
		case REGEX_FOUND:
			return true;
		case REGEX_SPLIT:
			regex->stack[depth++] = (uint16_t)((int)at + step->y);
			regex->stack[depth++] = (uint16_t)((int)at + step->x);
			break;
		case REGEX_JUMP:
			regex->stack[depth++] = (uint16_t)((int)at + step->x);
			break;
		case REGEX_BEGIN:
			goes_on = place->before == NOTHING;
			break;
		case REGEX_END:
			goes_on = place->behind == NOTHING;
			break;
		case REGEX_EDGE:
			goes_on = is_edge(place);
			break;
		case REGEX_NO_EDGE:
			goes_on = !is_edge(place);
			break;
		default:
			waiting[(*count)++] = (uint16_t)at;
		}
		if (goes_on)
			regex->stack[depth++] = (uint16_t)(at + 1);
	}
	return false;
}

static bool is_in(const struct etw_regex *regex, const struct regex_step *step, uint32_t point)
{
	for (uint32_t i = step->point; i < step->point + step->count; i++) {
		if (point >= regex->ranges[i].from && point <= regex->ranges[i].to)
			return true;
	}
	return false;
}

static bool is_of_class(const struct etw_regex *regex, const struct regex_step *step,
			uint32_t point)
{
	bool is_there = is_in(regex, step, point);

	if (!is_there && regex->ignores_case && point < 128) {
		const uint32_t small = etw_regex_fold(point);

		is_there = is_in(regex, step, small) ||
			   (small >= 'a' && small <= 'z' && is_in(regex, step, small - 'a' + 'A'));
	}
	return is_there != step->is_negated;
}

static bool fits(const struct etw_regex *regex, const struct regex_step *step, uint32_t point)
{
	switch (step->op) {
	case REGEX_POINT:
		return step->point == (regex->ignores_case ? etw_regex_fold(point) : point);
	case REGEX_ANY:
		return point != '\n';
	default:
		return is_of_class(regex, step, point);
	}
}

static uint32_t decode(const char *text, size_t bytes, size_t at, size_t *ret_used)
{
	uint32_t point;

	*ret_used = 0;
	if (at == bytes)
		return NOTHING;
	point = etw_utf8_decode((const uint8_t *)text + at, bytes - at, ret_used);
	return point == UINT32_MAX ? 0xFFFD : point;
}

bool etw_regex_matches(struct etw_regex *regex, const char *text, size_t bytes)
{
	uint16_t *now = regex->now, *next = regex->next;
	struct place place = {.before = NOTHING, .stamp = 1};
	unsigned now_count = 0;
	size_t at = 0, used;

	memset(regex->seen, 0, sizeof(regex->seen));
	place.behind = decode(text, bytes, 0, &used);
	for (;;) {
		uint16_t *spare = now;
		unsigned next_count = 0;

		/* The expression may begin at each place; steps that wait here already are not added twice. */
		if (reach(regex, 0, &place, now, &now_count))
			return true;
		if (place.behind == NOTHING)
			return false;
		at += used;
		place.before = place.behind;
		place.behind = decode(text, bytes, at, &used);
		place.stamp++;
		for (unsigned i = 0; i < now_count; i++) {
			if (fits(regex, &regex->steps[now[i]], place.before) &&
			    reach(regex, now[i] + 1u, &place, next, &next_count))
				return true;
		}
		now = next;
		next = spare;
		now_count = next_count;
	}
}
