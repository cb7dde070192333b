/* SPDX-License-Identifier: MIT */
/*
 * Maps: numbers to names. Manifest maps compare values or masks; WBEM maps may also count bits or
 * positions. Names of a bit map are joined by "|", and bits that have no name follow in hexadecimal.
 */
#include "decode/format_internal.h"

static bool is_bit_map(const struct etw_map *map)
{
	return map->flags & (EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | EVENTMAP_INFO_FLAG_WBEM_BITMAP |
			     EVENTMAP_INFO_FLAG_WBEM_FLAG);
}

/* The bits that an entry stands for; 0 for a bit number that cannot be. */
static uint32_t entry_mask(const struct etw_map *map, uint32_t index)
{
	uint32_t bit = map->entries[index].value;

	if (!(map->flags & EVENTMAP_INFO_FLAG_WBEM_BITMAP))
		return bit;
	if (map->flags & EVENTMAP_INFO_FLAG_WBEM_NO_MAP)
		bit = index;
	return bit < 32 ? UINT32_C(1) << bit : 0;
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
		if (entry_mask(map, i) == mask)
			return map->entries[i].text;
	}
	return NULL;
}

const char *etw_map_name(const struct etw_map *map, uint32_t value)
{
	if (map->flags & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP)
		return NULL;
	if (is_bit_map(map)) {
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
	if (!is_bit_map(map) || value == 0)
		return false;
	for (uint32_t i = 0; i < map->count; i++) {
		uint32_t mask = entry_mask(map, i);

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
