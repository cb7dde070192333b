/* SPDX-License-Identifier: MIT */
/* Value maps and bit maps. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "compile/read_internal.h"

static int read_item(struct mc_reader *reader, struct mc_map *map, struct mc_map_item ***last,
		     const struct etw_xml_element *element)
{
	struct mc_map_item *item = etw_compile_new(reader, sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->element = element;
	item->symbol = etw_compile_attribute_symbol(element);
	item->value = (uint32_t)etw_compile_attribute_number(element, "value", 0);
	TRY(etw_compile_message(reader, element, &item->message));
	TRY(etw_compile_claim_number(reader, element, SYMBOL_MAP + MC_VALUE, map, item->value,
				     "map's value"));
	TRY(etw_compile_claim(reader, element, SYMBOL_MAP + MC_SYMBOL, map, item->symbol, item,
			      "symbol of a map's value"));
	if (map->is_bits && item->value & (item->value - 1))
		TRY(etw_compile_warn(reader, element,
				     "the value 0x%x of a bit map has more than one bit",
				     item->value));
	**last = item;
	*last = &item->next;
	map->count++;
	return 0;
}

static int read_map(struct mc_reader *reader, const struct etw_xml_element *element, bool is_bits)
{
	struct mc_provider *provider = reader->provider;
	struct mc_map *map = etw_compile_new(reader, sizeof(*map));
	struct mc_map_item **last;

	if (!map)
		return -ENOMEM;
	map->element = element;
	map->name = etw_xml_attribute(element, "name");
	map->symbol = etw_compile_attribute_symbol(element);
	map->is_bits = is_bits;
	if (!map->name)
		map->name = "";
	TRY(etw_compile_claim(reader, element, SYMBOL_MAP, provider, map->name, map, "map"));
	TRY(etw_compile_claim(reader, element, SYMBOL_MAP + MC_SYMBOL, provider, map->symbol, map,
			      "map's symbol"));
	last = &map->first;
	for (const struct etw_xml_element *at = etw_xml_first(element, "map"); at;
	     at = etw_xml_next(at, "map"))
		TRY(read_item(reader, map, &last, at));
	if (!map->count)
		TRY(etw_compile_warn(reader, element, "the map %s is empty", map->name));
	MC_APPEND(provider->maps, provider->last_map, map);
	return 0;
}

static int read_list(struct mc_reader *reader, const struct etw_xml_element *list)
{
	for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
		if (strcmp(at->name, "valueMap") == 0)
			TRY(read_map(reader, at, /* is_bits= */ false));
		else if (strcmp(at->name, "bitMap") == 0)
			TRY(read_map(reader, at, /* is_bits= */ true));
	}
	return 0;
}

int etw_compile_read_maps(struct mc_reader *reader)
{
	const struct etw_xml_element *provider = reader->provider->element;

	TRY(read_list(reader, provider));
	for (const struct etw_xml_element *list = etw_xml_first(provider, "maps"); list;
	     list = etw_xml_next(list, "maps"))
		TRY(read_list(reader, list));
	return 0;
}
