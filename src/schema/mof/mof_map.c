/* SPDX-License-Identifier: MIT */
/*
 * Lists of qualifiers that belong together: ValueMap and Values, BitMap and BitValues as maps of a
 * property; with DefineValues and ValueDescriptions as the keywords and levels of a provider.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "schema/mof/mof_internal.h"

/* Names, and the numbers that belong to them. */
struct lists {
	const struct mof_qualifier *names;
	const struct mof_qualifier *numbers; /* NULL: positions */
	size_t count;
};

bool etw_mof_is_strings(const struct mof_qualifier *list)
{
	for (const struct mof_value *value = list->values; value; value = value->next) {
		if (value->kind != MOF_STRING)
			return false;
	}
	return true;
}

static int check_lists(struct mof_reader *reader, const struct mof_property *property,
		       struct lists *lists)
{
	const char *sentence = NULL;

	lists->count = lists->names->value_count;
	if (!etw_mof_is_strings(lists->names)) {
		lists->count = 0;
		sentence = "a list of names holds what is no string";
	} else if (lists->numbers && lists->numbers->value_count != lists->count) {
		if (lists->numbers->value_count < lists->count)
			lists->count = lists->numbers->value_count;
		sentence = "a list of names and its list of numbers differ in length";
	}
	if (lists->count > ETW_SCHEMA_MAP_ENTRIES_MAX) {
		lists->count = 0;
		sentence = "a list of names is too long";
	}
	if (!sentence)
		return 0;
	return etw_mof_complain(reader, property->line, sentence);
}

static int read_entries(struct mof_reader *reader, const struct mof_property *property,
			const struct lists *lists, struct etw_map *map)
{
	const struct mof_value *name = lists->names->values;
	const struct mof_value *number = lists->numbers ? lists->numbers->values : NULL;
	struct etw_map_entry *entries = etw_arena_array(reader->arena, lists->count,
							sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	map->entries = entries;
	for (size_t i = 0; i < lists->count; i++, name = name->next) {
		uint64_t value = i;

		if (number && !etw_mof_number(number, UINT32_MAX, &value)) {
			map->count = 0;
			return etw_mof_complain(reader, property->line,
						"a list of numbers holds what is none");
		}
		number = number ? number->next : NULL;
		entries[i].value = (uint32_t)value;
		TRY(etw_mof_keep(reader, name->text, &entries[i].text));
		map->count++;
	}
	return 0;
}

/* Two classes of a provider may have properties of one name with different maps. */
static int name_map(struct mof_reader *reader, const struct mof_class *class,
		    const struct mof_property *property, struct etw_map *map)
{
	size_t bytes = strlen(class->name) + strlen(property->name) + 2;
	char *name = etw_arena_alloc(reader->arena, bytes);

	if (!name)
		return -ENOMEM;
	(void)snprintf(name, bytes, "%s_%s", class->name, property->name);
	map->name = name;
	return 0;
}

static uint32_t find_lists(const struct mof_property *property, struct lists *lists)
{
	const struct mof_qualifier *first = property->qualifiers;
	uint32_t flags = EVENTMAP_INFO_FLAG_WBEM_VALUEMAP;

	lists->names = etw_mof_qualifier(first, "Values");
	lists->numbers = etw_mof_qualifier(first, "ValueMap");
	if (!lists->names) {
		lists->names = etw_mof_qualifier(first, "BitValues");
		lists->numbers = etw_mof_qualifier(first, "BitMap");
		flags = EVENTMAP_INFO_FLAG_WBEM_BITMAP;
	} else if (etw_mof_is_name(etw_mof_text(first, "ValueType"), "flag")) {
		flags |= EVENTMAP_INFO_FLAG_WBEM_FLAG;
	}
	return lists->numbers ? flags : flags | EVENTMAP_INFO_FLAG_WBEM_NO_MAP;
}

static int read_map(struct mof_reader *reader, struct mof_property *property)
{
	struct lists lists = {0};
	uint32_t flags = find_lists(property, &lists);
	struct etw_map *map;

	property->is_map_read = true;
	if (!lists.names)
		return 0;
	TRY(check_lists(reader, property, &lists));
	if (!lists.count)
		return 0;
	map = etw_arena_alloc(&reader->scratch, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->flags = flags;
	TRY(read_entries(reader, property, &lists, map));
	if (map->count)
		property->map = map;
	return 0;
}

int etw_mof_map(struct mof_reader *reader, const struct mof_class *class,
		struct mof_property *property, const struct etw_map **ret)
{
	struct etw_map *map;

	*ret = NULL;
	if (!property->is_map_read)
		TRY(read_map(reader, property));
	if (!property->map)
		return 0;
	map = etw_arena_copy(reader->arena, property->map, sizeof(*map));
	if (!map)
		return -ENOMEM;
	TRY(name_map(reader, class, property, map));
	*ret = map;
	return 0;
}

/* A list that runs beside the names; one of another length says nothing certain. */
static const struct mof_value *find_beside(const struct mof_property *property, const char *name,
					   size_t count)
{
	const struct mof_qualifier *found = etw_mof_qualifier(property->qualifiers, name);

	return found && found->value_count == count && etw_mof_is_strings(found) ? found->values
										 : NULL;
}

static int read_named(struct mof_reader *reader, const struct mof_property *property,
		      const struct lists *lists, uint64_t max, struct etw_named *named,
		      size_t *ret_count)
{
	const struct mof_value *name = lists->names->values;
	const struct mof_value *number = lists->numbers->values;
	const struct mof_value *symbol = find_beside(property, "DefineValues",
						     lists->names->value_count);
	const struct mof_value *message = find_beside(property, "ValueDescriptions",
						      lists->names->value_count);

	for (size_t i = 0; i < lists->count; i++) {
		if (!etw_mof_number(number, max, &named[i].value))
			return etw_mof_complain(reader, property->line,
						"a list of numbers holds what is none");
		TRY(etw_mof_keep(reader, name->text, &named[i].name));
		TRY(etw_mof_keep(reader, symbol ? symbol->text : NULL, &named[i].symbol));
		TRY(etw_mof_keep(reader, message ? message->text : NULL, &named[i].message));
		name = name->next;
		number = number->next;
		symbol = symbol ? symbol->next : NULL;
		message = message ? message->next : NULL;
		*ret_count = i + 1;
	}
	return 0;
}

int etw_mof_named(struct mof_reader *reader, const struct mof_property *property, uint64_t max,
		  const struct etw_named **ret, size_t *ret_count)
{
	struct lists lists = {.names = etw_mof_qualifier(property->qualifiers, "Values"),
			      .numbers = etw_mof_qualifier(property->qualifiers, "ValueMap")};
	struct etw_named *named;

	if (!lists.names)
		lists.names = etw_mof_qualifier(property->qualifiers, "DefineValues");
	if (!lists.names)
		return 0;
	if (!lists.numbers)
		return etw_mof_complain(reader, property->line,
					"the names of flags or levels have no ValueMap");
	TRY(check_lists(reader, property, &lists));
	named = etw_arena_array(reader->arena, lists.count, sizeof(*named));
	if (!named)
		return -ENOMEM;
	TRY(read_named(reader, property, &lists, max, named, ret_count));
	*ret = named;
	return 0;
}
