/* SPDX-License-Identifier: MIT */
/* Value maps and bit maps. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest_internal.h"

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
	TRY(etw_manifest_message(reader, message, &entry->text));
	if (!entry->text)
		TRY(etw_manifest_keep(reader, message ? message : "", &entry->text));
	return 0;
}

static int read_map(struct manifest_reader *reader, const struct etw_xml_element *element,
		    const char *name, uint32_t flags)
{
	struct etw_map *map = etw_arena_alloc(reader->arena, sizeof(*map));
	struct etw_map_entry *entries;
	uint32_t count = 0;

	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map"))
		count++;
	if (count > ETW_SCHEMA_MAP_ENTRIES_MAX)
		return etw_manifest_refuse(reader, element, NULL, "a map has too many entries");
	entries = etw_arena_array(reader->arena, count, sizeof(*entries));
	if (!map || !entries)
		return -ENOMEM;
	TRY(etw_manifest_keep(reader, name, &map->name));
	map->flags = flags;
	map->entries = entries;
	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map"))
		TRY(read_entry(reader, at, &entries[map->count++]));
	return etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_MAP,
								     .scope = reader->provider,
								     .name = map->name,
								     .object = map});
}

int etw_manifest_read_maps(struct manifest_reader *reader, size_t *ret_count)
{
	*ret_count = 0;
	for (const struct etw_xml_element *list = etw_xml_first(reader->provider, "maps"); list;
	     list = etw_xml_next(list, "maps")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			const char *name = etw_xml_attribute(at, "name");
			uint32_t flags = 0;

			if (strcmp(at->name, "valueMap") == 0)
				flags = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
			else if (strcmp(at->name, "bitMap") == 0)
				flags = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
			if (!flags || !name)
				continue;
			TRY(read_map(reader, at, name, flags));
			++*ret_count;
		}
	}
	return 0;
}
