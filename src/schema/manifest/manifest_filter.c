/* SPDX-License-Identifier: MIT */
/* What the events do not refer to: the pattern maps of named queries, and filters. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

static int read_patterns(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_pattern_map *map)
{
	struct etw_pattern *patterns;
	uint32_t count = 0;

	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map"))
		count++;
	patterns = etw_arena_array(reader->arena, count, sizeof(*patterns));
	if (!patterns)
		return -ENOMEM;
	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map")) {
		struct etw_pattern *pattern = &patterns[map->count++];

		TRY(etw_manifest_keep_attribute(reader, at, "name", &pattern->name));
		TRY(etw_manifest_keep_attribute(reader, at, "value", &pattern->value));
		if (!pattern->name || !pattern->value)
			TRY(etw_manifest_complain(reader, at, "a pattern lacks its name or value",
						  pattern->name));
	}
	map->patterns = patterns;
	return 0;
}

static int read_pattern_map(struct manifest_reader *reader, const struct etw_xml_element *element,
			    struct etw_pattern_map *map)
{
	TRY(etw_manifest_keep_attribute(reader, element, "name", &map->name));
	TRY(etw_manifest_keep_attribute(reader, element, "format", &map->format));
	if (!map->name || !map->format)
		TRY(etw_manifest_complain(reader, element, "a pattern map lacks its name or format",
					  map->name));
	TRY(etw_manifest_claim(reader, element, SYMBOL_PATTERN_MAP, reader->provider, map->name,
			       "the name of a pattern map is taken"));
	return read_patterns(reader, element, map);
}

/* The next `patternMap`, of all lists of all queries; @after: the last one, or NULL. */
static const struct etw_xml_element *next_pattern_map(const struct etw_xml_element *provider,
						      const struct etw_xml_element *after)
{
	const struct etw_xml_element *queries, *list, *map;

	if (after) {
		map = etw_xml_next(after, "patternMap");
		list = after->parent;
		queries = list->parent;
	} else {
		queries = etw_xml_first(provider, "namedQueries");
		list = queries ? etw_xml_first(queries, "patternMaps") : NULL;
		map = list ? etw_xml_first(list, "patternMap") : NULL;
	}
	while (!map && queries) {
		list = list ? etw_xml_next(list, "patternMaps") : NULL;
		if (!list) {
			queries = etw_xml_next(queries, "namedQueries");
			list = queries ? etw_xml_first(queries, "patternMaps") : NULL;
		}
		map = list ? etw_xml_first(list, "patternMap") : NULL;
	}
	return map;
}

int etw_manifest_read_pattern_maps(struct manifest_reader *reader)
{
	const struct etw_xml_element *at = NULL;
	struct etw_pattern_map *maps;
	size_t count = 0;

	while ((at = next_pattern_map(reader->provider, at)))
		count++;
	maps = etw_arena_array(reader->arena, count, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	reader->schema->pattern_maps = maps;
	while ((at = next_pattern_map(reader->provider, at)))
		TRY(read_pattern_map(reader, at, &maps[reader->schema->pattern_map_count++]));
	return 0;
}

/* The message compiler wants plain fields in a filter, but a reader can do with any. One is told of. */
static int check_fields(struct manifest_reader *reader, const struct etw_xml_element *element,
			const struct manifest_template *template, const char *tid)
{
	const struct etw_field *field = template->odd_field;

	if (template->flags & TEMPLATE_USER_DATA)
		TRY(etw_manifest_complain(reader, element, "the template of a filter has UserData",
					  tid));
	if (!field)
		return 0;
	if (field->flags & PropertyStruct)
		return etw_manifest_complain(reader, element,
					     "the template of a filter has a struct", tid);
	return etw_manifest_complain(reader, element,
				     "the template of a filter has an array or a map", field->name);
}

static int read_fields(struct manifest_reader *reader, const struct etw_xml_element *element,
		       struct etw_filter_schema *filter)
{
	const char *tid = etw_xml_attribute(element, "tid");
	const struct manifest_template *template;

	if (!tid)
		return 0;
	template = etw_manifest_find_template(reader, tid);
	if (!template)
		return etw_manifest_complain(reader, element,
					     "the template of a filter is not defined", tid);
	filter->fields = template->fields;
	filter->field_count = template->field_count;
	filter->top_count = template->top_count;
	return check_fields(reader, element, template, tid);
}

static int read_filter(struct manifest_reader *reader, const struct etw_xml_element *element,
		       struct etw_filter_schema *filter)
{
	const char *number = etw_xml_attribute(element, "value");
	const char *version = etw_xml_attribute(element, "version");
	uint64_t value = 0, version_value = 0;

	TRY(etw_manifest_keep_attribute(reader, element, "name", &filter->name));
	if (!filter->name || !number || !etw_manifest_number(number, UINT8_MAX, &value) ||
	    (version && !etw_manifest_number(version, UINT8_MAX, &version_value)))
		TRY(etw_manifest_complain(reader, element,
					  "a filter lacks its name or its value and version "
					  "from 0 to 255",
					  filter->name));
	filter->value = (uint8_t)value;
	filter->version = (uint8_t)version_value;
	TRY(etw_manifest_message(reader, element, &filter->message));
	TRY(etw_manifest_claim(reader, element, SYMBOL_FILTER, reader->provider, filter->name,
			       "the name of a filter is taken"));
	TRY(etw_manifest_claim(reader, element, etw_part_of(SYMBOL_FILTER, PART_C_NAME),
			       reader->provider, etw_xml_attribute(element, "symbol"),
			       "the symbol of a filter is taken"));
	TRY(etw_manifest_claim_number(reader, element, etw_part_of(SYMBOL_FILTER, PART_VALUE),
				      reader->provider, value << 8 | version_value,
				      "the value and version of a filter are taken"));
	return read_fields(reader, element, filter);
}

int etw_manifest_read_filters(struct manifest_reader *reader)
{
	const struct etw_xml_element *provider = reader->provider;
	struct etw_filter_schema *filters;
	size_t count = 0;

	for (const struct etw_xml_element *list = etw_xml_first(provider, "filters"); list;
	     list = etw_xml_next(list, "filters")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "filter"); at;
		     at = etw_xml_next(at, "filter"))
			count++;
	}
	filters = etw_arena_array(reader->arena, count, sizeof(*filters));
	if (!filters)
		return -ENOMEM;
	reader->schema->filters = filters;
	for (const struct etw_xml_element *list = etw_xml_first(provider, "filters"); list;
	     list = etw_xml_next(list, "filters")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "filter"); at;
		     at = etw_xml_next(at, "filter"))
			TRY(read_filter(reader, at, &filters[reader->schema->filter_count++]));
	}
	return 0;
}
