/* SPDX-License-Identifier: MIT */
/* The fields of an event type: its own properties and those of the classes above, by WmiDataId. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "schema/mof/mof_internal.h"

#define COUNTED_MAX 256 /* arrays of variable size in one class: each looks for its counter */

struct item {
	struct mof_property *property;
	uint64_t id;
	unsigned depth; /* 0: the class itself */
};

static int complain(struct mof_reader *reader, const struct item *item, const char *sentence)
{
	return etw_mof_complain(reader, item->property->line, sentence);
}

static int by_name(const void *left, const void *right)
{
	const struct item *a = left;
	const struct item *b = right;
	int order = strcasecmp(a->property->name, b->property->name);

	return order ? order : (a->depth > b->depth) - (a->depth < b->depth);
}

static int by_id(const void *left, const void *right)
{
	const struct item *a = left;
	const struct item *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static size_t count_properties(const struct mof_class *class)
{
	size_t count = 0;

	for (const struct mof_class *at = class; at; at = at->base) {
		count += at->property_count;
		if (etw_mof_is_name(at->super, "EventTrace"))
			break;
	}
	return count;
}

/* Properties of providers (Flags, Level) have no WmiDataId, nor have those that only WMI needs. */
static int collect(struct mof_reader *reader, const struct mof_class *class, struct item *items,
		   size_t *ret_count)
{
	unsigned depth = 0;
	size_t count = 0;

	for (const struct mof_class *at = class; at; at = at->base, depth++) {
		for (struct mof_property *property = at->properties; property;
		     property = property->next) {
			struct item *item = &items[count];

			TRY(etw_mof_read_property(reader, property));
			*item = (struct item){property, property->data_id, depth};
			if (item->id)
				count++;
			else if (at == class || property->has_data_id)
				TRY(complain(reader, item, "a property of an event has no number"));
		}
		if (etw_mof_is_name(at->super, "EventTrace"))
			break;
	}
	*ret_count = count;
	return 0;
}

/* A property hides those of its name above. Returns NULL, or the sentence for *ret_item. */
static const char *order(struct item *items, size_t *count, const struct item **ret_item)
{
	size_t kept = 0;

	qsort(items, *count, sizeof(*items), by_name);
	for (size_t i = 0; i < *count; i++) {
		const struct item *last = kept ? &items[kept - 1] : NULL;
		bool is_same = last &&
			       strcasecmp(last->property->name, items[i].property->name) == 0;

		*ret_item = &items[i];
		if (is_same && last->depth == items[i].depth)
			return "two properties of a class have the same name";
		if (!is_same)
			items[kept++] = items[i];
	}
	*count = kept;
	qsort(items, kept, sizeof(*items), by_id);
	for (size_t i = 0; i < kept; i++) {
		*ret_item = &items[i];
		if (i && items[i].id == items[i - 1].id)
			return "two properties of an event have the same number";
		if (items[i].id != i + 1)
			return "the numbers of an event's properties have a gap";
	}
	return NULL;
}

static bool is_counter(const struct etw_field *field)
{
	return field->in_type >= TDH_INTYPE_INT8 && field->in_type <= TDH_INTYPE_UINT32 &&
	       field->count == 1 && !field->flags;
}

/* Points an array to the field that counts its elements. @items, @fields: as many, up to the array at @index. */
static const char *find_counter(const struct item *items, struct etw_field *fields, uint16_t index,
				unsigned *counted)
{
	const char *name = items[index].property->counter;
	uint64_t hash = name ? etw_mof_hash_name(name) : 0;

	if (!(fields[index].flags & PropertyParamCount))
		return NULL;
	if (++*counted > COUNTED_MAX)
		return "an event has too many arrays of variable size";
	for (uint16_t i = 0; i < index; i++) {
		/* Names may be long and nearly the same. */
		if (items[i].property->name_hash != hash ||
		    !etw_mof_is_name(fields[i].name, name) || !is_counter(&fields[i]))
			continue;
		fields[index].count = i;
		return NULL;
	}
	return "the WmiSizeIs of an array names no integer before it";
}

/* GUIDs of activities, which TDH names apart from the other fields. */
static void note_activity(struct mof_class *class, const struct item *item,
			  const struct etw_field *field)
{
	if (!class->activity_id_name && item->property->is_activity_id)
		class->activity_id_name = field->name;
	if (!class->related_activity_id_name && item->property->is_related_activity_id)
		class->related_activity_id_name = field->name;
}

static int list_map(struct mof_reader *reader, struct mof_provider *provider,
		    const struct etw_field *field)
{
	struct mof_map *map;

	if (!field->map)
		return 0;
	map = etw_arena_alloc(&reader->scratch, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->map = field->map;
	if (provider->last_map)
		provider->last_map->next = map;
	else
		provider->first_map = map;
	provider->last_map = map;
	provider->map_count++;
	return 0;
}

static int make_fields(struct mof_reader *reader, struct mof_class *class, const struct item *items,
		       size_t count, bool *ret_is_good)
{
	struct etw_field *fields = etw_arena_array(reader->arena, count, sizeof(*fields));
	unsigned counted = 0;

	if (!fields)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *sentence = items[i].property->sentence;

		if (!sentence) {
			TRY(etw_mof_field(reader, class, items[i].property, &fields[i]));
			sentence = find_counter(items, fields, (uint16_t)i, &counted);
		}
		if (sentence)
			return etw_mof_complain(reader, items[i].property->line, sentence);
		note_activity(class, &items[i], &fields[i]);
	}
	for (size_t i = 0; i < count; i++)
		TRY(list_map(reader, class->provider, &fields[i]));
	class->fields = fields;
	class->field_count = (uint16_t)count;
	*ret_is_good = true;
	return 0;
}

static int read_fields(struct mof_reader *reader, struct mof_class *class, struct item *items,
		       bool *ret_is_good)
{
	const struct item *culprit = NULL;
	const char *sentence;
	size_t count;

	TRY(collect(reader, class, items, &count));
	sentence = order(items, &count, &culprit);
	if (sentence)
		return complain(reader, culprit, sentence);
	if (count > ETW_SCHEMA_FIELDS_MAX)
		return etw_mof_complain(reader, class->line, "an event has too many fields");
	return make_fields(reader, class, items, count, ret_is_good);
}

int etw_mof_fields(struct mof_reader *reader, struct mof_class *class, bool *ret_is_good)
{
	size_t count = count_properties(class);
	CLEANUP(freep) struct item *items = NULL;

	*ret_is_good = false;
	/* Inheritance would multiply the size of the file without a limit. */
	if (count > reader->fields_left)
		return etw_mof_complain(reader, class->line,
					"the classes of the file inherit too many properties");
	reader->fields_left -= count;
	items = calloc(count ? count : 1, sizeof(*items));
	return items ? read_fields(reader, class, items, ret_is_good) : -ENOMEM;
}
