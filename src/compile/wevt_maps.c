/* SPDX-License-Identifier: MIT */
/* Maps, and the pattern maps of named queries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile/wevt_internal.h"

static int compare_items(const void *left, const void *right)
{
	const struct mc_map_item *a = *(const struct mc_map_item *const *)left;
	const struct mc_map_item *b = *(const struct mc_map_item *const *)right;

	return (a->value > b->value) - (a->value < b->value);
}

static int write_map(struct wevt_writer *writer, const struct mc_map *map)
{
	const struct mc_map_item **items = etw_arena_array(&writer->arena, map->count,
							   sizeof(void *));
	struct wire_wevt_map head = {
		.bytes = le32_of(
			(uint32_t)(sizeof(head) + map->count * sizeof(struct wire_wevt_map_entry))),
		.flags = le32_of(map->is_bits),
		.count = le32_of((uint32_t)map->count),
	};
	size_t count = 0;

	if (!items && map->count)
		return -ENOMEM;
	memcpy(head.magic, map->is_bits ? "BMAP" : "VMAP", sizeof(head.magic));
	for (const struct mc_map_item *item = map->first; item; item = item->next)
		items[count++] = item;
	if (count)
		qsort(items, count, sizeof(void *), compare_items);
	(void)etw_mc_append(writer, &head, sizeof(head));
	for (size_t i = 0; i < count; i++) {
		struct wire_wevt_map_entry entry = {
			.value = le32_of(items[i]->value),
			.message = etw_mc_message(items[i]->message),
		};

		(void)etw_mc_append(writer, &entry, sizeof(entry));
	}
	return 0;
}

static int compare_maps(const void *left, const void *right)
{
	const struct mc_map *a = *(const struct mc_map *const *)left;
	const struct mc_map *b = *(const struct mc_map *const *)right;

	return strcmp(a->name, b->name);
}

/* The offsets and the names are in the order of the names, the maps in that of the manifest. */
int etw_mc_maps(struct wevt_writer *writer)
{
	const struct mc_map **maps;
	size_t count = 0;
	size_t at;
	int r;

	for (const struct mc_map *map = writer->provider->maps; map; map = map->next)
		count++;
	maps = etw_arena_array(&writer->arena, count, sizeof(void *));
	if (!maps)
		return -ENOMEM;
	etw_mc_begin_list(writer, WIRE_WEVT_MAPS, "MAPS", sizeof(struct wire_wevt_list));
	at = etw_mc_zeros(writer, count * sizeof(le32));
	count = 0;
	for (const struct mc_map *map = writer->provider->maps; map; map = map->next) {
		r = etw_mc_place(writer, map, writer->out->bytes);
		if (r == 0)
			r = write_map(writer, map);
		if (r < 0)
			return r;
		maps[count++] = map;
	}
	qsort(maps, count, sizeof(void *), compare_maps);
	for (size_t i = 0; i < count; i++) {
		uint32_t map_at = etw_mc_find(writer, maps[i]);

		etw_mc_set32(writer, at + i * sizeof(le32), map_at);
		etw_mc_set32(writer, map_at + offsetof(struct wire_wevt_map, name),
			     etw_mc_name(writer, maps[i]->name));
	}
	return etw_mc_end_list(writer, count);
}

typedef int (*query_visitor)(struct wevt_writer *writer, const struct etw_xml_element *element,
			     size_t index, size_t *at);

/* Visits every <patternMap>. Returns how many there are, or a negative error. */
static int visit_queries(struct wevt_writer *writer, query_visitor visit, size_t *at)
{
	const struct etw_xml_element *queries = etw_xml_first(writer->provider->element,
							      "namedQueries");
	size_t count = 0;
	int r;

	for (; queries; queries = etw_xml_next(queries, "namedQueries")) {
		const struct etw_xml_element *maps = etw_xml_first(queries, "patternMaps");
		const struct etw_xml_element *map = maps ? etw_xml_first(maps, "patternMap") : NULL;

		for (; map; map = etw_xml_next(map, "patternMap")) {
			r = visit ? visit(writer, map, count, at) : 0;
			if (r < 0)
				return r;
			count++;
		}
	}
	return (int)count;
}

static int write_query(struct wevt_writer *writer, const struct etw_xml_element *element,
		       size_t index, size_t *at)
{
	struct wire_wevt_query head = {.magic = "QUER"};
	uint32_t count = 0;

	for (const struct etw_xml_element *item = etw_xml_first(element, "map"); item;
	     item = etw_xml_next(item, "map"))
		count++;
	head.count = le32_of(count);
	etw_mc_set32(writer, *at + index * sizeof(le32), writer->out->bytes);
	(void)etw_mc_append(writer, &head, sizeof(head));
	(void)etw_mc_zeros(writer, count * sizeof(struct wire_wevt_pattern));
	return 0;
}

static const char *attribute_or_empty(const struct etw_xml_element *element, const char *name)
{
	const char *value = etw_xml_attribute(element, name);

	return value ? value : "";
}

/* The size of a query reaches to the end of its strings, across the queries that follow it. */
static int write_query_strings(struct wevt_writer *writer, const struct etw_xml_element *element,
			       size_t index, size_t *at)
{
	size_t query = *at;
	size_t pattern = query + sizeof(struct wire_wevt_query);

	(void)index;
	etw_mc_set32(writer, query + offsetof(struct wire_wevt_query, name),
		     etw_mc_name(writer, attribute_or_empty(element, "name")));
	etw_mc_set32(writer, query + offsetof(struct wire_wevt_query, format),
		     etw_mc_name(writer, attribute_or_empty(element, "format")));
	for (const struct etw_xml_element *item = etw_xml_first(element, "map"); item;
	     item = etw_xml_next(item, "map")) {
		etw_mc_set32(writer, pattern + offsetof(struct wire_wevt_pattern, name),
			     etw_mc_name(writer, attribute_or_empty(item, "name")));
		etw_mc_set32(writer, pattern + offsetof(struct wire_wevt_pattern, value),
			     etw_mc_name(writer, attribute_or_empty(item, "value")));
		pattern += sizeof(struct wire_wevt_pattern);
	}
	etw_mc_set32(writer, query + offsetof(struct wire_wevt_query, bytes),
		     writer->out->bytes - query);
	*at = pattern;
	return 0;
}

int etw_mc_queries(struct wevt_writer *writer)
{
	int count = visit_queries(writer, NULL, NULL);
	size_t at;

	etw_mc_begin_list(writer, WIRE_WEVT_QUERIES, "QTAB", sizeof(struct wire_wevt_list));
	at = etw_mc_zeros(writer, (size_t)count * sizeof(le32));
	(void)visit_queries(writer, write_query, &at);
	at += (size_t)count * sizeof(le32);
	(void)visit_queries(writer, write_query_strings, &at);
	return etw_mc_end_list(writer, (size_t)count);
}
