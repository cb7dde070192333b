/* SPDX-License-Identifier: MIT */
/*
 * The entries that have a part in a value are gathered into a plain map of the model, which src/decode then
 * writes: so there is one rule for how names are chosen and joined.
 */
#include "api/tdh/format_map.h"

#include "api/wide.h"
#include "decode/format.h"

/* A value of 32 bits has no more names than that; doubles of a mask add nothing. */
#define PARTS_MAX 64

#define BIT_MAPS                                                               \
	(EVENTMAP_INFO_FLAG_MANIFEST_BITMAP | EVENTMAP_INFO_FLAG_WBEM_BITMAP | \
	 EVENTMAP_INFO_FLAG_WBEM_FLAG)

struct parts {
	struct etw_map_entry entries[PARTS_MAX];
	size_t starts[PARTS_MAX]; /* of their names in `names` */
	uint32_t count;
	struct etw_text *names; /* each with its NUL */
};

bool etw_tdh_map_applies(const EVENT_MAP_INFO *map, USHORT in_type)
{
	if (!map || (map->Flag & EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP))
		return false;
	return in_type == TDH_INTYPE_UINT8 || in_type == TDH_INTYPE_UINT16 ||
	       in_type == TDH_INTYPE_UINT32 || in_type == TDH_INTYPE_HEXINT32;
}

static const WCHAR *text_at(const EVENT_MAP_INFO *map, ULONG offset)
{
	static const WCHAR nothing[1];

	return offset ? (const WCHAR *)(const void *)((const uint8_t *)map + offset) : nothing;
}

/* The value or mask that entry @i stands for; false: none. */
static bool entry_value(const EVENT_MAP_INFO *map, ULONG i, uint32_t *ret)
{
	bool is_by_place = map->Flag & EVENTMAP_INFO_FLAG_WBEM_NO_MAP;
	uint32_t value = is_by_place ? i : map->MapEntryArray[i].Value;

	if (map->Flag & EVENTMAP_INFO_FLAG_WBEM_BITMAP) {
		if (value >= 32)
			return false;
		value = UINT32_C(1) << value;
	}
	*ret = value;
	return true;
}

/* Maps of WMI may give their values as text. */
static bool is_input(const EVENT_MAP_INFO *map, ULONG i, uint32_t value)
{
	const WCHAR *input = text_at(map, map->MapEntryArray[i].InputOffset);
	uint64_t number = 0;

	if (!*input)
		return false;
	for (; *input; input++) {
		if (*input < '0' || *input > '9' || number > UINT32_MAX)
			return false;
		number = 10 * number + (uint64_t)(*input - '0');
	}
	return number == value;
}

static bool has_part(const EVENT_MAP_INFO *map, ULONG i, uint32_t value, uint32_t *ret)
{
	if (map->MapEntryValueType == EVENTMAP_ENTRY_VALUETYPE_STRING) {
		*ret = value;
		return is_input(map, i, value);
	}
	if (!entry_value(map, i, ret))
		return false;
	if (*ret == value)
		return true;
	return (map->Flag & BIT_MAPS) && *ret && (value & *ret) == *ret;
}

static void add_part(const EVENT_MAP_INFO *map, ULONG i, uint32_t value, struct parts *parts)
{
	const WCHAR *name = text_at(map, map->MapEntryArray[i].OutputOffset);

	parts->starts[parts->count] = parts->names->bytes;
	parts->entries[parts->count].value = value;
	parts->count++;
	etw_text_utf16(parts->names, (const uint8_t *)name, etw_wide_units(name));
	etw_text_append(parts->names, "", 1);
}

/* The entry of exactly this value names it alone. */
static bool write_exact(const EVENT_MAP_INFO *map, uint32_t value, struct etw_text *text)
{
	for (ULONG i = 0; i < map->EntryCount; i++) {
		uint32_t part;

		if (has_part(map, i, value, &part) && part == value) {
			const WCHAR *name = text_at(map, map->MapEntryArray[i].OutputOffset);

			etw_text_utf16(text, (const uint8_t *)name, etw_wide_units(name));
			return true;
		}
	}
	return false;
}

bool etw_tdh_map_write(const EVENT_MAP_INFO *map, uint32_t value, struct etw_text *names,
		       struct etw_text *text)
{
	struct etw_map plain = {.name = "", .flags = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP};
	struct parts parts = {.names = names};

	if (write_exact(map, value, text))
		return true;
	for (ULONG i = 0; i < map->EntryCount && parts.count < PARTS_MAX; i++) {
		uint32_t part;

		if (has_part(map, i, value, &part))
			add_part(map, i, part, &parts);
	}
	if (!parts.count || etw_text_error(names))
		return false;
	for (uint32_t i = 0; i < parts.count; i++)
		parts.entries[i].text = names->at + parts.starts[i];
	plain.count = parts.count;
	plain.entries = parts.entries;
	etw_format_value(TDH_INTYPE_UINT32, 0, &plain, (const uint8_t *)&value, sizeof(value),
			 text);
	return true;
}
