/* SPDX-License-Identifier: MIT */
#include "decode/path.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

/* Whether a name ends here within a path. */
static bool is_name_end(char c)
{
	return c == '\0' || c == '.' || c == '[';
}

/* The field among @count from @first whose name is the longest that @path begins with; -1: none. */
static int find_field(const char *path, const struct etw_schema *schema, unsigned first,
		      unsigned count, size_t *ret_bytes)
{
	size_t longest = 0;
	int found = -1;

	for (unsigned i = first; i < first + count; i++) {
		const char *name = schema->fields[i].name;
		size_t bytes = name ? strlen(name) : 0;

		if (bytes > longest && !strncmp(path, name, bytes) && is_name_end(path[bytes])) {
			longest = bytes;
			found = (int)i;
		}
	}
	*ret_bytes = longest;
	return found;
}

/* Reads "[12]" and moves on behind it. */
static int read_index(const char **path, struct etw_path_step *step)
{
	const char *at = *path + 1;
	uint32_t index = 0;

	if (*at < '0' || *at > '9')
		return -EINVAL;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (index > ETW_SCHEMA_FIELDS_MAX * 16)
			return -EINVAL;
		index = 10 * index + (uint32_t)(*at - '0');
	}
	if (*at != ']' || (at[1] != '\0' && at[1] != '.'))
		return -EINVAL;
	step->has_index = true;
	step->index = index;
	*path = at + 1;
	return 0;
}

static int resolve(const char *path, const struct etw_schema *schema, struct etw_path_plan *ret)
{
	unsigned first = 0, count = schema->top_count;

	if (!path || !*path)
		return -EINVAL;
	for (;;) {
		struct etw_path_step *step = &ret->steps[ret->count];
		const struct etw_field *field;
		size_t bytes;
		int found;

		if (ret->count == ARRAY_SIZE(ret->steps))
			return -ENOENT;
		found = find_field(path, schema, first, count, &bytes);
		if (found < 0)
			return -ENOENT;
		field = &schema->fields[found];
		*step = (struct etw_path_step){.field = (uint16_t)found};
		ret->count++;
		path += bytes;
		if (*path == '[')
			TRY(read_index(&path, step));
		if (!*path)
			return 0;
		if (!(field->flags & PropertyStruct))
			return -ENOENT;
		path++;
		first = field->struct_first;
		count = field->struct_count;
	}
}

int etw_path_resolve_fields(const char *path, const struct etw_schema *schema,
			    struct etw_path_plan *ret)
{
	ret->schema = schema;
	ret->count = 0;
	ret->error = resolve(path, schema, ret);
	return ret->error;
}

const struct etw_path_plan *etw_path_plan(struct etw_path_cache *cache, const char *path,
					  uint64_t serial, const struct etw_schema *schema)
{
	if (UNLIKELY(cache->serial != serial)) {
		memset(cache->plans, 0, sizeof(cache->plans));
		cache->serial = serial;
	}
	if (LIKELY(cache->plans[cache->latest].schema == schema))
		return &cache->plans[cache->latest];
	for (unsigned i = 0; i < ETW_PATH_PLANS; i++) {
		if (cache->plans[i].schema == schema) {
			cache->latest = i;
			return &cache->plans[i];
		}
	}
	cache->latest = cache->oldest;
	cache->oldest = (cache->oldest + 1) % ETW_PATH_PLANS;
	(void)etw_path_resolve_fields(path, schema, &cache->plans[cache->latest]);
	return &cache->plans[cache->latest];
}

/* The element of an array's item, or NULL. */
static const struct etw_item *element(const struct etw_decoding *decoding,
				      const struct etw_item *array, uint32_t index)
{
	uint32_t at = (uint32_t)(array - decoding->items) + 1;

	if (array->kind != ETW_ITEM_ARRAY || index >= array->count || at >= array->end)
		return NULL;
	/* Values have no children: the element is where it should be. */
	if (decoding->items[at].kind == ETW_ITEM_VALUE)
		return at + index < array->end ? &decoding->items[at + index] : NULL;
	for (; index && at < array->end; index--)
		at = decoding->items[at].end;
	return at < array->end ? &decoding->items[at] : NULL;
}

/* The item of a field among those from @at to @end. */
static const struct etw_item *find_item(const struct etw_decoding *decoding, uint16_t field,
					uint32_t at, uint32_t end)
{
	for (; at < end; at = decoding->items[at].end) {
		if (decoding->items[at].field == field)
			return &decoding->items[at];
	}
	return NULL;
}

const struct etw_item *etw_path_item(const struct etw_path_plan *plan,
				     const struct etw_decoding *decoding)
{
	uint32_t at = 0, end = (uint32_t)decoding->item_count;
	const struct etw_item *item = NULL;

	for (unsigned i = 0; i < plan->count; i++) {
		const struct etw_path_step *step = &plan->steps[i];

		/* As a rule nothing before a top-level field has children. */
		if (!i && step->field < end && decoding->items[step->field].field == step->field &&
		    !decoding->items[step->field].depth)
			item = &decoding->items[step->field];
		else
			item = find_item(decoding, step->field, at, end);
		if (item && step->has_index)
			item = element(decoding, item, step->index);
		/* A member of a struct: of an array of them, one must be named. */
		if (!item || (i + 1 < plan->count && item->kind != ETW_ITEM_STRUCT))
			return NULL;
		at = (uint32_t)(item - decoding->items) + 1;
		end = item->end;
	}
	return item;
}

struct visit {
	const struct etw_path_plan *plan;
	const struct etw_decoding *decoding;
	etw_path_visitor *visitor;
	void *context;
};

static bool visit_step(const struct visit *visit, unsigned step, uint32_t at, uint32_t end);

/* An item that a step led to: the last one is handed out, of the others the members are gone into. */
static bool visit_item(const struct visit *visit, unsigned step, const struct etw_item *item)
{
	const struct etw_item *items = visit->decoding->items;
	const uint32_t at = (uint32_t)(item - items) + 1;

	if (step + 1u == visit->plan->count)
		return visit->visitor(visit->context, item);
	if (item->kind == ETW_ITEM_STRUCT)
		return visit_step(visit, step + 1, at, item->end);
	if (item->kind != ETW_ITEM_ARRAY)
		return false;
	for (uint32_t i = at; i < item->end; i = items[i].end) {
		if (items[i].kind == ETW_ITEM_STRUCT &&
		    visit_step(visit, step + 1, i + 1, items[i].end))
			return true;
	}
	return false;
}

static bool visit_step(const struct visit *visit, unsigned step, uint32_t at, uint32_t end)
{
	const struct etw_path_step *way = &visit->plan->steps[step];
	const struct etw_item *item = find_item(visit->decoding, way->field, at, end);

	if (item && way->has_index)
		item = element(visit->decoding, item, way->index);
	return item && visit_item(visit, step, item);
}

bool etw_path_each(const struct etw_path_plan *plan, const struct etw_decoding *decoding,
		   etw_path_visitor *visitor, void *context)
{
	const struct visit visit = {plan, decoding, visitor, context};
	const uint16_t field = plan->steps[0].field;

	/* As a rule nothing before a top-level field has children. */
	if (plan->count == 1 && !plan->steps[0].has_index && field < decoding->item_count &&
	    decoding->items[field].field == field && !decoding->items[field].depth)
		return visitor(context, &decoding->items[field]);
	return visit_step(&visit, 0, 0, (uint32_t)decoding->item_count);
}
