/* SPDX-License-Identifier: MIT */
/* Value maps and bit maps. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

/* A string that the tables lack shows as the reference itself: better than no name at all. */
static int read_entry(struct manifest_reader *reader, const struct etw_xml_element *element,
		      struct etw_map_entry *entry)
{
	const char *number = etw_xml_attribute(element, "value");
	const char *message = etw_xml_attribute(element, "message");
	uint64_t value;

	if (!number || !etw_manifest_number(number, UINT32_MAX, &value))
		return etw_manifest_refuse(reader, element, "value",
					   "the value of a map entry is missing or no number");
	entry->value = (uint32_t)value;
	TRY(etw_manifest_message(reader, element, &entry->text));
	if (!message)
		TRY(etw_manifest_complain(reader, element, "a map entry has no message", NULL));
	if (!entry->text)
		TRY(etw_manifest_keep(reader, message ? message : "", &entry->text));
	return etw_manifest_claim_number(reader, element, etw_part_of(SYMBOL_MAP, PART_VALUE),
					 element->parent, value,
					 "the value of a map entry is taken");
}

/* By value, as compiled resources have them. */
static int read_entries(struct manifest_reader *reader, const struct etw_xml_element *element,
			struct etw_map *map)
{
	struct etw_map_entry *entries, *room;
	struct manifest_key *keys;
	uint32_t count = 0;

	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map"))
		count++;
	if (count > ETW_SCHEMA_MAP_ENTRIES_MAX)
		return etw_manifest_refuse(reader, element, NULL, "a map has too many entries");
	entries = etw_arena_array(reader->arena, count, sizeof(*entries));
	room = etw_arena_array(&reader->scratch, count, sizeof(*room));
	keys = etw_arena_array(&reader->scratch, count, sizeof(*keys));
	if (!entries || !room || !keys)
		return -ENOMEM;
	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map")) {
		TRY(read_entry(reader, at, &room[map->count]));
		keys[map->count].number = room[map->count].value;
		keys[map->count].item = &room[map->count];
		map->count++;
	}
	etw_manifest_sort(keys, count);
	for (uint32_t i = 0; i < count; i++)
		entries[i] = *(const struct etw_map_entry *)keys[i].item;
	map->entries = entries;
	return 0;
}

static int read_map(struct manifest_reader *reader, const struct etw_xml_element *element,
		    uint32_t flags, struct etw_map *map)
{
	TRY(etw_manifest_keep_attribute(reader, element, "name", &map->name));
	map->flags = flags;
	TRY(etw_manifest_claim(reader, element, etw_part_of(SYMBOL_MAP, PART_C_NAME),
			       reader->provider, etw_xml_attribute(element, "symbol"),
			       "the symbol of a map is taken"));
	TRY(etw_manifest_claim(reader, element, SYMBOL_MAP_NAME, reader->provider, map->name,
			       "the name of a map is taken"));
	return read_entries(reader, element, map);
}

/* 0: not a map with a name. */
static uint32_t flags_of(const struct etw_xml_element *element)
{
	if (!etw_xml_attribute(element, "name"))
		return 0;
	if (strcmp(element->name, "valueMap") == 0)
		return EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	if (strcmp(element->name, "bitMap") == 0)
		return EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	return 0;
}

/* Counts the maps, or reads them when there is room. */
static int walk_maps(struct manifest_reader *reader, struct etw_map *room, size_t *count)
{
	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "maps"); list;
	     list = etw_xml_next(list, "maps")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			uint32_t flags = flags_of(at);

			if (!flags)
				continue;
			if (room)
				TRY(read_map(reader, at, flags, &room[*count]));
			++*count;
		}
	}
	return 0;
}

/* By name, as compiled resources have them. The first of a name is the one that fields get. */
int etw_manifest_read_maps(struct manifest_reader *reader)
{
	struct etw_map *maps, *room;
	struct manifest_key *keys;
	size_t count = 0;

	TRY(walk_maps(reader, NULL, &count));
	maps = etw_arena_array(reader->arena, count, sizeof(*maps));
	room = etw_arena_array(&reader->scratch, count, sizeof(*room));
	keys = etw_arena_array(&reader->scratch, count, sizeof(*keys));
	if (!maps || !room || !keys)
		return -ENOMEM;
	count = 0;
	TRY(walk_maps(reader, room, &count));
	for (size_t i = 0; i < count; i++) {
		keys[i].text = room[i].name;
		keys[i].item = &room[i];
	}
	etw_manifest_sort(keys, count);
	for (size_t i = 0; i < count; i++) {
		maps[i] = *(const struct etw_map *)keys[i].item;
		TRY(etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_MAP,
									  .scope = reader->provider,
									  .name = maps[i].name,
									  .object = &maps[i]}));
	}
	reader->schema->maps = maps;
	reader->schema->map_count = count;
	return 0;
}
