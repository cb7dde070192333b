/* SPDX-License-Identifier: MIT */
/* Trees: making, combining, ordering and freeing them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "filter/filter_internal.h"

/* Without parts; NULL when memory ran out. */
static struct etw_filter *create_node(enum etw_filter_kind kind)
{
	struct etw_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->kind = (uint8_t)kind;
	filter->depth = 1;
	return filter;
}

void etw_filter_free(struct etw_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->part_count; i++)
		etw_filter_free(filter->parts[i]);
	for (size_t i = 0; i < filter->value_count; i++)
		etw_filter_value_done(&filter->values[i]);
	if (filter->context_done)
		filter->context_done(filter->context);
	free(filter->parts);
	free(filter->values);
	free(filter->path);
	free(filter->cache);
	free(filter->classes);
	etw_text_done(&filter->text);
	etw_text_done(&filter->folded);
	free(filter);
}

void etw_filter_freep(struct etw_filter **filter)
{
	etw_filter_free(*filter);
}

struct etw_filter *etw_filter_any(void)
{
	return create_node(ETW_FILTER_ANY);
}

/* Takes the part only when there is room. */
static int add_part(struct etw_filter *filter, struct etw_filter *part)
{
	if (filter->part_count == filter->part_room) {
		const size_t room = 2 * filter->part_room + 2;
		struct etw_filter **parts = reallocarray(filter->parts, room,
							 sizeof(struct etw_filter *));

		if (!parts)
			return -ENOMEM;
		filter->parts = parts;
		filter->part_room = room;
	}
	filter->parts[filter->part_count++] = part;
	if (part->depth >= filter->depth)
		filter->depth = (uint16_t)(part->depth + 1);
	if (part->cost > filter->cost)
		filter->cost = part->cost;
	filter->has_function |= part->has_function;
	return 0;
}

/* Makes a node over one or two; both are left alone when it fails. */
static int make(enum etw_filter_kind kind, struct etw_filter *left, struct etw_filter *right,
		struct etw_filter **ret)
{
	struct etw_filter *filter;

	if (!left || (!right && kind != ETW_FILTER_NOT))
		return -ENOMEM;
	/* "a and b and c" is one node with three parts. */
	if (left->kind == kind && kind != ETW_FILTER_NOT && !left->is_watched) {
		if (right->depth >= ETW_FILTER_DEPTH_MAX)
			return -E2BIG;
		TRY(add_part(left, right));
		*ret = left;
		return 0;
	}
	if (left->depth >= ETW_FILTER_DEPTH_MAX || (right && right->depth >= ETW_FILTER_DEPTH_MAX))
		return -E2BIG;
	filter = create_node(kind);
	if (!filter || add_part(filter, left) || (right && add_part(filter, right))) {
		if (filter)
			filter->part_count = 0;
		etw_filter_free(filter);
		return -ENOMEM;
	}
	*ret = filter;
	return 0;
}

static int combine(enum etw_filter_kind kind, struct etw_filter *left, struct etw_filter *right,
		   struct etw_filter **ret)
{
	int result = make(kind, left, right, ret);

	if (result) {
		etw_filter_free(left);
		etw_filter_free(right);
	}
	return result;
}

int etw_filter_not(struct etw_filter *filter, struct etw_filter **ret)
{
	return combine(ETW_FILTER_NOT, filter, NULL, ret);
}

int etw_filter_and(struct etw_filter *left, struct etw_filter *right, struct etw_filter **ret)
{
	return combine(ETW_FILTER_AND, left, right, ret);
}

int etw_filter_or(struct etw_filter *left, struct etw_filter *right, struct etw_filter **ret)
{
	return combine(ETW_FILTER_OR, left, right, ret);
}

struct etw_filter *etw_filter_of_operand(enum etw_filter_operand_id id)
{
	struct etw_filter *filter = create_node(ETW_FILTER_OPERAND);

	if (!filter)
		return NULL;
	filter->operand = etw_filter_operand(id);
	filter->cost = filter->operand->cost;
	return filter;
}

struct etw_filter *etw_filter_of_field(const char *path, enum etw_filter_ask ask)
{
	struct etw_filter *filter = create_node(ETW_FILTER_FIELD);

	if (!filter)
		return NULL;
	filter->ask = (uint8_t)ask;
	filter->cost = ETW_FILTER_PAYLOAD;
	filter->path = strdup(path);
	filter->cache = calloc(1, sizeof(*filter->cache));
	if (!filter->path || !filter->cache) {
		etw_filter_free(filter);
		return NULL;
	}
	return filter;
}

struct etw_filter *etw_filter_of_function(bool (*function)(void *context, void *subject),
					  void *context, void (*done)(void *context))
{
	struct etw_filter *filter = create_node(ETW_FILTER_FUNCTION);

	if (!filter)
		return NULL;
	filter->function = function;
	filter->context = context;
	filter->context_done = done;
	filter->has_function = true;
	filter->cost = ETW_FILTER_SEARCH;
	return filter;
}

/* A field's text is made only where the value cannot be read in another way. */
static uint8_t cost_of(const struct etw_filter *filter, const struct etw_filter_value *value)
{
	if (filter->operand)
		return value->readings & ETW_FILTER_TEXT ? filter->operand->text_cost
							 : filter->operand->cost;
	return value->readings == ETW_FILTER_TEXT ? ETW_FILTER_SEARCH : ETW_FILTER_PAYLOAD;
}

int etw_filter_add_value(struct etw_filter *filter, struct etw_filter_value *value)
{
	if (filter->value_count == filter->value_room) {
		const size_t room = 2 * filter->value_room + 1;
		struct etw_filter_value *values = reallocarray(filter->values, room,
							       sizeof(*values));

		if (!values) {
			etw_filter_value_done(value);
			return -ENOMEM;
		}
		filter->values = values;
		filter->value_room = room;
	}
	filter->values[filter->value_count++] = *value;
	filter->readings |= value->readings;
	if (cost_of(filter, value) > filter->cost)
		filter->cost = cost_of(filter, value);
	value->text = NULL;
	value->regex = NULL;
	return 0;
}

void etw_filter_watch(struct etw_filter *filter)
{
	filter->is_watched = filter->kind == ETW_FILTER_OR;
}

bool etw_filter_was_true(const struct etw_filter *filter)
{
	return filter->was_true;
}

/* Parts of one cost keep their order. */
static void sort_parts(struct etw_filter *filter)
{
	struct etw_filter **sorted = calloc(filter->part_count + 1, sizeof(struct etw_filter *));
	size_t count = 0;

	/* Without memory it is only slower. */
	if (!sorted)
		return;
	for (int cost = ETW_FILTER_FREE; cost <= ETW_FILTER_SEARCH; cost++) {
		for (size_t i = 0; i < filter->part_count; i++) {
			if (filter->parts[i]->cost == cost)
				sorted[count++] = filter->parts[i];
		}
	}
	memcpy(filter->parts, sorted, count * sizeof(struct etw_filter *));
	free(sorted);
}

void etw_filter_sort(struct etw_filter *filter)
{
	for (size_t i = 0; i < filter->part_count; i++)
		etw_filter_sort(filter->parts[i]);
	/* A function may do more than answer, and is asked only where those before it let it be. */
	if (!filter->has_function && filter->part_count > 1)
		sort_parts(filter);
}

/* Whether a leaf asks for names that only schemas have. */
static bool needs_schema(const struct etw_filter *filter)
{
	if (filter->kind == ETW_FILTER_FIELD)
		return true;
	return filter->kind == ETW_FILTER_OPERAND && filter->cost >= ETW_FILTER_SCHEMA;
}

bool etw_filter_needs_decoding(const struct etw_filter *filter, size_t *ret_at)
{
	if (needs_schema(filter)) {
		*ret_at = filter->at;
		return true;
	}
	for (size_t i = 0; i < filter->part_count; i++) {
		if (etw_filter_needs_decoding(filter->parts[i], ret_at))
			return true;
	}
	return false;
}

bool etw_filter_asks_process(const struct etw_filter *filter)
{
	if (filter->kind == ETW_FILTER_OPERAND)
		return filter->operand->id == ETW_FILTER_PID ||
		       filter->operand->id == ETW_FILTER_TID ||
		       filter->operand->id == ETW_FILTER_PROCESS;
	for (size_t i = 0; i < filter->part_count; i++) {
		if (etw_filter_asks_process(filter->parts[i]))
			return true;
	}
	return false;
}

void etw_filter_each_unknown(const struct etw_filter *filter,
			     void (*take)(void *context, const char *path), void *context)
{
	if (filter->kind == ETW_FILTER_FIELD && !filter->is_known && *filter->path)
		take(context, filter->path);
	for (size_t i = 0; i < filter->part_count; i++)
		etw_filter_each_unknown(filter->parts[i], take, context);
}
