/* SPDX-License-Identifier: MIT */
/* Value maps, bit maps and pattern maps. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/compiled/wevt_internal.h"

/* The item of the table of maps. */
struct known_map {
	uint32_t offset;
	const struct etw_map *map;
};

static bool is_map(const void *item, const void *key)
{
	return ((const struct known_map *)item)->offset == *(const uint32_t *)key;
}

const struct etw_map *etw_wevt_find_map(const struct wevt_reader *reader, uint32_t offset)
{
	const struct known_map *known =
		etw_table_find(&reader->maps, etw_hash_mix(reader->seed, offset), is_map, &offset);

	return known ? known->map : NULL;
}

static int define_map(struct wevt_reader *reader, uint32_t offset, const struct etw_map *map)
{
	struct known_map *known;

	if (etw_wevt_find_map(reader, offset))
		return 0;
	known = etw_arena_alloc(&reader->scratch, sizeof(*known));
	if (!known)
		return -ENOMEM;
	*known = (struct known_map){offset, map};
	return etw_table_insert(&reader->maps, etw_hash_mix(reader->seed, offset), known);
}

/* Without its text an entry shows what it stands for, as if there were no map. */
static int read_entry(struct wevt_reader *reader, const struct wire_wevt_map_entry *wire,
		      bool is_bits, struct etw_map_entry *entry)
{
	entry->value = le32_get(wire->value);
	TRY(etw_wevt_message(reader, le32_get(wire->message), &entry->text));
	if (entry->text)
		return 0;
	etw_text_clear(&reader->text);
	etw_text_printf(&reader->text, is_bits ? "0x%X" : "%u", (unsigned)entry->value);
	TRY(etw_text_error(&reader->text));
	entry->text = etw_arena_strdup(reader->arena, etw_text_string(&reader->text));
	return entry->text ? 0 : -ENOMEM;
}

static int read_entries(struct wevt_reader *reader, uint64_t offset, struct etw_map *map)
{
	bool is_bits = map->flags == EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	struct etw_map_entry *entries;
	const uint8_t *at;

	TRY(etw_wevt_take(reader, offset, map->count * sizeof(struct wire_wevt_map_entry), "map",
			  &at));
	entries = etw_arena_array(reader->arena, map->count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->count; i++) {
		struct wire_wevt_map_entry wire;

		memcpy(&wire, at + i * sizeof(wire), sizeof(wire));
		TRY(read_entry(reader, &wire, is_bits, &entries[i]));
	}
	map->entries = entries;
	return 0;
}

static int read_map(struct wevt_reader *reader, uint32_t offset, struct etw_map *map)
{
	struct wire_wevt_map wire;
	const uint8_t *at;

	TRY(etw_wevt_take(reader, offset, sizeof(wire), "map", &at));
	memcpy(&wire, at, sizeof(wire));
	if (memcmp(wire.magic, "VMAP", sizeof(wire.magic)) == 0)
		map->flags = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	else if (memcmp(wire.magic, "BMAP", sizeof(wire.magic)) == 0)
		map->flags = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	else
		return etw_wevt_refuse(reader, offset, "map", "Signature",
				       "there is no map where the list says");
	map->count = le32_get(wire.count);
	if (map->count > ETW_SCHEMA_MAP_ENTRIES_MAX)
		return etw_wevt_refuse(reader, offset, "map", "Count",
				       "a map has too many entries");
	TRY(etw_wevt_name(reader, le32_get(wire.name), &map->name));
	if (!map->name)
		return etw_wevt_refuse(reader, offset, "map", "NameOffset", "a map has no name");
	return read_entries(reader, (uint64_t)offset + sizeof(wire), map);
}

int etw_wevt_read_maps(struct wevt_reader *reader)
{
	struct wevt_list list;
	struct etw_map *maps;

	TRY(etw_wevt_list(reader, WIRE_WEVT_MAPS, "MAPS", sizeof(struct wire_wevt_list),
			  sizeof(le32), &list));
	maps = etw_arena_array(reader->arena, list.count, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t offset = etw_load32(list.at + i * sizeof(le32));

		TRY(read_map(reader, offset, &maps[i]));
		TRY(define_map(reader, offset, &maps[i]));
	}
	reader->provider->maps = maps;
	reader->provider->map_count = list.count;
	return 0;
}

static int read_patterns(struct wevt_reader *reader, uint64_t offset, struct etw_pattern_map *map)
{
	struct etw_pattern *patterns;
	const uint8_t *at;

	TRY(etw_wevt_take(reader, offset, map->count * sizeof(struct wire_wevt_pattern), "QUER",
			  &at));
	patterns = etw_arena_array(reader->arena, map->count, sizeof(*patterns));
	if (!patterns)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->count; i++) {
		struct wire_wevt_pattern wire;

		memcpy(&wire, at + i * sizeof(wire), sizeof(wire));
		TRY(etw_wevt_name(reader, le32_get(wire.name), &patterns[i].name));
		TRY(etw_wevt_name(reader, le32_get(wire.value), &patterns[i].value));
	}
	map->patterns = patterns;
	return 0;
}

static int read_pattern_map(struct wevt_reader *reader, uint32_t offset,
			    struct etw_pattern_map *map)
{
	struct wire_wevt_query wire;
	const uint8_t *at;

	TRY(etw_wevt_take(reader, offset, sizeof(wire), "QUER", &at));
	memcpy(&wire, at, sizeof(wire));
	if (memcmp(wire.magic, "QUER", sizeof(wire.magic)) != 0)
		return etw_wevt_refuse(reader, offset, "QUER", "Signature",
				       "there is no pattern map where the list says");
	map->count = le32_get(wire.count);
	if (map->count > ETW_SCHEMA_MAP_ENTRIES_MAX)
		return etw_wevt_refuse(reader, offset, "QUER", "Count",
				       "a pattern map has too many entries");
	TRY(etw_wevt_name(reader, le32_get(wire.name), &map->name));
	TRY(etw_wevt_name(reader, le32_get(wire.format), &map->format));
	return read_patterns(reader, (uint64_t)offset + sizeof(wire), map);
}

int etw_wevt_read_pattern_maps(struct wevt_reader *reader)
{
	struct etw_pattern_map *maps;
	struct wevt_list list;

	TRY(etw_wevt_list(reader, WIRE_WEVT_QUERIES, "QTAB", sizeof(struct wire_wevt_list),
			  sizeof(le32), &list));
	maps = etw_arena_array(reader->arena, list.count, sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	for (uint32_t i = 0; i < list.count; i++)
		TRY(read_pattern_map(reader, etw_load32(list.at + i * sizeof(le32)), &maps[i]));
	reader->provider->pattern_maps = maps;
	reader->provider->pattern_map_count = list.count;
	return 0;
}
