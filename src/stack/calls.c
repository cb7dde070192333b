/* SPDX-License-Identifier: MIT */
#include "stack/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

void etw_calls_done(struct etw_calls *calls)
{
	etw_table_done(&calls->names);
	etw_table_done(&calls->nodes);
	etw_arena_done(&calls->arena);
	*calls = (struct etw_calls){0};
}

/* NULL before all strings. */
static int compare_strings(const char *left, const char *right)
{
	if (left == right)
		return 0;
	return !left ? -1 : !right ? 1 : strcmp(left, right);
}

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

int etw_call_compare(const struct etw_call_name *left, const struct etw_call_name *right)
{
	int order = compare_numbers(left->kind, right->kind);

	if (!order)
		order = compare_strings(left->module, right->module);
	if (!order)
		order = compare_strings(left->function, right->function);
	if (!order)
		order = compare_strings(left->file, right->file);
	if (!order)
		order = compare_numbers(left->line, right->line);
	return order ? order : compare_numbers(left->number, right->number);
}

static bool is_call(const void *item, const void *name)
{
	return !etw_call_compare(&((const struct etw_call *)item)->name, name);
}

static uint64_t mix_string(uint64_t hash, const char *string)
{
	return string ? etw_hash_bytes(hash, string, strlen(string)) : etw_hash_mix(hash, 1);
}

static uint64_t hash_of(const struct etw_call_name *name)
{
	uint64_t hash = etw_hash_mix(etw_hash_seed(), (uint64_t)name->kind << 32 | name->line);

	hash = mix_string(hash, name->module);
	hash = mix_string(hash, name->function);
	hash = mix_string(hash, name->file);
	return etw_hash_mix(hash, name->number);
}

static int copy_string(struct etw_calls *calls, const char **string)
{
	if (!*string)
		return 0;
	*string = etw_arena_strdup(&calls->arena, *string);
	return *string ? 0 : -ENOMEM;
}

static int make_call(struct etw_calls *calls, const struct etw_call_name *name,
		     struct etw_call **ret)
{
	struct etw_call *call = etw_arena_alloc(&calls->arena, sizeof(*call));

	if (!call)
		return -ENOMEM;
	call->name = *name;
	TRY(copy_string(calls, &call->name.module));
	TRY(copy_string(calls, &call->name.function));
	TRY(copy_string(calls, &call->name.file));
	call->identity = (uint32_t)calls->names.count;
	*ret = call;
	return etw_table_insert(&calls->names, hash_of(name), call);
}

int etw_calls_name(struct etw_calls *calls, const struct etw_call_name *name, struct etw_call **ret)
{
	static const struct etw_call_name rest = {.function = "(functions beyond the limit)"};

	*ret = etw_table_find(&calls->names, hash_of(name), is_call, name);
	if (*ret)
		return 0;
	if (calls->names.count < ETW_CALLS_NAMES_MAX)
		return make_call(calls, name, ret);
	if (!calls->rest)
		TRY(make_call(calls, &rest, &calls->rest));
	*ret = calls->rest;
	return 0;
}

struct node_key {
	const struct etw_call_node *parent;
	const struct etw_call *call;
};

static bool is_node(const void *item, const void *key_at)
{
	const struct etw_call_node *node = item;
	const struct node_key *key = key_at;

	return node->parent == key->parent && node->call == key->call;
}

/* NULL in @ret: there is no room for more. */
static int find_child(struct etw_calls *calls, struct etw_call_node *parent, struct etw_call *call,
		      struct etw_call_node **ret)
{
	const struct node_key key = {parent, call};
	const uint64_t hash = etw_hash_mix(etw_hash_seed(),
					   (uint64_t)parent->identity << 32 | call->identity);
	struct etw_call_node *node = etw_table_find(&calls->nodes, hash, is_node, &key);

	*ret = node;
	if (node || calls->nodes.count >= ETW_CALLS_NODES_MAX)
		return 0;
	node = etw_arena_alloc(&calls->arena, sizeof(*node));
	if (!node || etw_table_insert(&calls->nodes, hash, node))
		return -ENOMEM;
	node->identity = (uint32_t)calls->nodes.count; /* the root's is 0 */
	node->call = call;
	node->parent = parent;
	node->next = parent->first;
	parent->first = node;
	node->made_before = calls->newest;
	calls->newest = node;
	*ret = node;
	return 0;
}

int etw_calls_add(struct etw_calls *calls, struct etw_call *const *path, size_t levels,
		  uint64_t weight, uint64_t count)
{
	struct etw_call_node *node = &calls->root, *child;

	for (size_t i = 0; i < levels; i++) {
		TRY(find_child(calls, node, path[i], &child));
		if (!child) {
			calls->cut += count;
			break;
		}
		node = child;
	}
	node->exclusive += weight;
	for (; node; node = node->parent) {
		node->inclusive += weight;
		node->count += count;
	}
	return 0;
}

struct etw_call_node *etw_call_node_next(const struct etw_call_node *top,
					 const struct etw_call_node *node, bool skip, size_t *depth)
{
	if (node->first && !skip) {
		++*depth;
		return node->first;
	}
	while (node != top && !node->next) {
		node = node->parent;
		--*depth;
	}
	return node == top ? NULL : node->next;
}

static int compare_nodes(const void *left_at, const void *right_at)
{
	const struct etw_call_node *left = *(struct etw_call_node *const *)left_at;
	const struct etw_call_node *right = *(struct etw_call_node *const *)right_at;

	if (left->inclusive != right->inclusive)
		return left->inclusive > right->inclusive ? -1 : 1;
	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return etw_call_compare(&left->call->name, &right->call->name);
}

/* @list: room for all nodes */
static void sort_children(struct etw_call_node *node, struct etw_call_node **list)
{
	size_t count = 0;

	for (struct etw_call_node *child = node->first; child; child = child->next)
		list[count++] = child;
	if (count < 2)
		return;
	qsort(list, count, sizeof(struct etw_call_node *), compare_nodes);
	node->first = list[0];
	for (size_t i = 0; i < count; i++)
		list[i]->next = i + 1 < count ? list[i + 1] : NULL;
}

static void enter(struct etw_call_node *node)
{
	struct etw_call *call = node->call;

	call->exclusive += node->exclusive;
	if (!call->open++) {
		call->inclusive += node->inclusive;
		call->count += node->count;
	}
}

/* Of each stack a name counts once: at its outermost place. */
static void sum_names(struct etw_calls *calls)
{
	struct etw_call_node *node = calls->root.first;

	for (size_t i = 0; i < calls->names.room; i++) {
		struct etw_call *call = calls->names.slots[i].item;

		if (call)
			call->exclusive = call->inclusive = call->count = 0;
	}
	while (node) {
		enter(node);
		if (node->first) {
			node = node->first;
			continue;
		}
		while (node != &calls->root && !node->next) {
			node->call->open--;
			node = node->parent;
		}
		if (node == &calls->root)
			break;
		node->call->open--;
		node = node->next;
	}
}

int etw_calls_sum(struct etw_calls *calls)
{
	CLEANUP(freep)
	struct etw_call_node **list = calloc(calls->nodes.count + 1,
					     sizeof(struct etw_call_node *));

	if (!list)
		return -ENOMEM;
	sort_children(&calls->root, list);
	for (struct etw_call_node *node = calls->newest; node; node = node->made_before)
		sort_children(node, list);
	sum_names(calls);
	return 0;
}

static int compare_weights(const struct etw_call *left, const struct etw_call *right,
			   enum etw_calls_order order)
{
	const bool by_own = order == ETW_CALLS_EXCLUSIVE;
	int result = by_own ? compare_numbers(right->exclusive, left->exclusive)
			    : compare_numbers(right->inclusive, left->inclusive);

	if (!result)
		result = by_own ? compare_numbers(right->inclusive, left->inclusive)
				: compare_numbers(right->exclusive, left->exclusive);
	if (!result)
		result = compare_numbers(right->count, left->count);
	return result ? result : etw_call_compare(&left->name, &right->name);
}

static int compare_exclusive(const void *left, const void *right)
{
	return compare_weights(*(struct etw_call *const *)left, *(struct etw_call *const *)right,
			       ETW_CALLS_EXCLUSIVE);
}

static int compare_inclusive(const void *left, const void *right)
{
	return compare_weights(*(struct etw_call *const *)left, *(struct etw_call *const *)right,
			       ETW_CALLS_INCLUSIVE);
}

int etw_calls_list(struct etw_calls *calls, uint32_t kind, enum etw_calls_order order,
		   struct etw_call ***ret, size_t *ret_count)
{
	struct etw_call **list = etw_arena_array(&calls->arena, calls->names.count + 1,
						 sizeof(struct etw_call *));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < calls->names.room; i++) {
		struct etw_call *call = calls->names.slots[i].item;

		if (call && call->name.kind == kind && call->count)
			list[count++] = call;
	}
	qsort(list, count, sizeof(struct etw_call *),
	      order == ETW_CALLS_EXCLUSIVE ? compare_exclusive : compare_inclusive);
	*ret = list;
	*ret_count = count;
	return 0;
}

/* Adds who led to a node, the node first. @path: grown as needed */
static int add_callers(struct etw_calls *calls, const struct etw_call_node *node,
		       struct etw_call ***path, size_t *room)
{
	const uint64_t weight = node->inclusive, count = node->count;
	size_t levels = 0;

	for (; node->call; node = node->parent) {
		if (levels == *room) {
			const size_t grown = *room ? 2 * *room : 64;
			struct etw_call **at = realloc(*path, grown * sizeof(struct etw_call *));

			if (!at)
				return -ENOMEM;
			*path = at;
			*room = grown;
		}
		TRY(etw_calls_name(calls, &node->call->name, &(*path)[levels]));
		levels++;
	}
	return etw_calls_add(calls, *path, levels, weight, count);
}

int etw_calls_invert(const struct etw_calls *calls,
		     bool (*wanted)(void *context, const struct etw_call *call), void *context,
		     struct etw_calls *ret)
{
	CLEANUP(freep) struct etw_call **path = NULL;
	const struct etw_call_node *node = calls->root.first;
	size_t room = 0, depth = 0;

	while (node) {
		const bool is_wanted = wanted(context, node->call);

		if (is_wanted)
			TRY(add_callers(ret, node, &path, &room));
		node = etw_call_node_next(&calls->root, node, is_wanted, &depth);
	}
	return etw_calls_sum(ret);
}
