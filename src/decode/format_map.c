/* SPDX-License-Identifier: MIT */
/*
 * Maps: numbers to names. Manifest maps compare values or masks; WBEM maps may also count bits or
 * positions. Names of a bit map are joined by "|", and bits that have no name follow in hexadecimal.
 */
#include "decode/format.h"
#include "decode/format_internal.h"

bool etw_format_map_is_bits(const struct etw_map *map)
{
	return map->flags & (EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | EVENTMAP_INFO_FLAG_WBEM_BITMAP |
			     EVENTMAP_INFO_FLAG_WBEM_FLAG);
}

uint32_t etw_format_map_value(const struct etw_map *map, uint32_t index)
{
	const bool is_by_place = map->flags & EVENTMAP_INFO_FLAG_WBEM_NO_MAP;
	const uint32_t value = is_by_place ? index : map->entries[index].value;

	if (!(map->flags & EVENTMAP_INFO_FLAG_WBEM_BITMAP))
		return value;
	return value < 32 ? UINT32_C(1) << value : 0;
}

/* The entry of exactly this value. Most maps are dense, so the place is guessed first. */
static const char *find_value(const struct etw_map *map, uint32_t value)
{
	const struct etw_map_entry *entries = map->entries;

	if (map->count == 0)
		return NULL;
	uint32_t guess = value - entries[0].value;

	if (guess < map->count && entries[guess].value == value)
		return entries[guess].text;
	for (uint32_t i = 0; i < map->count; i++) {
		if (entries[i].value == value)
			return entries[i].text;
	}
	return NULL;
}

static const char *find_mask(const struct etw_map *map, uint32_t mask)
{
	for (uint32_t i = 0; i < map->count; i++) {
		if (etw_format_map_value(map, i) == mask)
			return map->entries[i].text;
	}
	return NULL;
}

const char *etw_map_name(const struct etw_map *map, uint32_t value)
{
	if (map->flags & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)
		return NULL;
	if (etw_format_map_is_bits(map)) {
		bool is_bit_number = map->flags & EVENTMAP_INFO_FLAG_WBEM_BITMAP;

		return value == 0 && is_bit_number ? NULL : find_mask(map, value);
	}
	if (map->flags & EVENTMAP_INFO_FLAG_WBEM_NO_MAP)
		return value < map->count ? map->entries[value].text : NULL;
	return find_value(map, value);
}

bool etw_map_write(const struct etw_map *map, uint32_t value, struct etw_text *text)
{
	const char *name = etw_map_name(map, value);
	uint32_t left = value;
	bool is_named = false;

	if (name) {
		etw_text_puts(text, name);
		return true;
	}
	if (!etw_format_map_is_bits(map) || value == 0)
		return false;
	for (uint32_t i = 0; i < map->count; i++) {
		uint32_t mask = etw_format_map_value(map, i);

		if (mask == 0 || (value & mask) != mask || (left & mask) == 0)
			continue;
		if (is_named)
			etw_text_putc(text, '|');
		etw_text_puts(text, map->entries[i].text);
		left &= ~mask;
		is_named = true;
	}
	if (is_named && left) {
		etw_text_append(text, "|0x", 3);
		etw_text_hex(text, left);
	}
	return is_named;
}
