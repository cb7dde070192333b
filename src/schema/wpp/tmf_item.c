/* SPDX-License-Identifier: MIT */
/* Argument lines of TMF: "expression, ItemName(list) -- number". */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "schema/wpp/tmf_internal.h"

struct item_name {
	const char *name;
	enum etw_wpp_item item;
};

static const struct item_name item_names[] = {
	{"ItemNTSTATUS", ETW_WPP_NTSTATUS},
	{"ItemPtr", ETW_WPP_POINTER},
	{"ItemString", ETW_WPP_STRING},
	{"ItemLong", ETW_WPP_LONG},
	{"ItemLongLongXX", ETW_WPP_LONGLONG_HEX},
	{"ItemWINERROR", ETW_WPP_WIN32_ERROR},
	{"ItemPWString", ETW_WPP_COUNTED_WSTRING},
	{"ItemLongLong", ETW_WPP_LONGLONG},
	{"ItemDouble", ETW_WPP_DOUBLE},
	{"ItemWString", ETW_WPP_WSTRING},
	{"ItemULongLong", ETW_WPP_ULONGLONG},
	{"ItemChar", ETW_WPP_CHAR},
	{"ItemUChar", ETW_WPP_UCHAR},
	{"ItemShort", ETW_WPP_SHORT},
	{"ItemUShort", ETW_WPP_USHORT},
	{"ItemULong", ETW_WPP_ULONG},
	{"ItemULongX", ETW_WPP_ULONG_HEX},
	{"ItemQuad", ETW_WPP_LONGLONG},
	{"ItemUQuad", ETW_WPP_ULONGLONG},
	{"ItemLongLongX", ETW_WPP_LONGLONG_HEX},
	{"ItemLongLongO", ETW_WPP_LONGLONG_OCTAL},
	{"ItemFloat", ETW_WPP_FLOAT},
	{"ItemRString", ETW_WPP_STRING},
	{"ItemRWString", ETW_WPP_WSTRING},
	{"ItemPString", ETW_WPP_COUNTED_STRING},
	{"ItemSid", ETW_WPP_SID},
	{"ItemGuid", ETW_WPP_GUID},
	{"ItemCLSID", ETW_WPP_GUID},
	{"ItemLIBID", ETW_WPP_GUID},
	{"ItemIID", ETW_WPP_GUID},
	{"ItemIPAddr", ETW_WPP_IPV4},
	{"ItemIPV6Addr", ETW_WPP_IPV6},
	{"ItemMACAddr", ETW_WPP_MAC},
	{"ItemPort", ETW_WPP_PORT},
	{"ItemHRESULT", ETW_WPP_HRESULT},
	{"ItemNDIS_STATUS", ETW_WPP_STATUS},
	{"ItemNDIS_OID", ETW_WPP_STATUS},
	{"ItemTimestamp", ETW_WPP_TIMESTAMP},
	{"ItemTimeDelta", ETW_WPP_TIME_DELTA},
	{"ItemWaitTime", ETW_WPP_WAIT_TIME},
	{"ItemHEXDump", ETW_WPP_HEX_DUMP},
	{"ItemChar4", ETW_WPP_CHAR4},
	{"ItemListByte", ETW_WPP_LIST_BYTE},
	{"ItemListShort", ETW_WPP_LIST_SHORT},
	{"ItemListLong", ETW_WPP_LIST_LONG},
	{"ItemSetByte", ETW_WPP_SET_BYTE},
	{"ItemSetShort", ETW_WPP_SET_SHORT},
	{"ItemSetLong", ETW_WPP_SET_LONG},
	{"ItemEnum", ETW_WPP_ENUM},
	{"ItemFlagsEnum", ETW_WPP_FLAGS_ENUM},
};

static enum etw_wpp_item find_item(const char *name, size_t bytes)
{
	/* Genuine files spell some names in either case: ItemTimestamp, ItemTimeStamp. */
	for (size_t i = 0; i < ARRAY_SIZE(item_names); i++) {
		if (strlen(item_names[i].name) == bytes &&
		    !strncasecmp(item_names[i].name, name, bytes))
			return item_names[i].item;
	}
	return ETW_WPP_UNKNOWN;
}

static size_t count_names(struct tmf_span list)
{
	size_t count = 1;

	for (size_t i = 0; i < list.bytes; i++)
		count += list.at[i] == ',';
	return count;
}

/*
 * The map of a list or set: its names, separated by commas, with their places or bits. Names beyond @limit are
 * left out: no number can mean them.
 */
static int make_names(struct etw_arena *arena, struct tmf_span list, bool is_set, size_t limit,
		      const struct etw_map **ret)
{
	size_t count = count_names(list);
	struct etw_map_entry *entries;
	struct etw_map *map = etw_arena_alloc(arena, sizeof(*map));

	if (count > limit)
		count = limit;
	entries = etw_arena_array(arena, count, sizeof(*entries));
	if (!map || !entries)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *comma = memchr(list.at, ',', list.bytes);
		size_t bytes = comma ? (size_t)(comma - list.at) : list.bytes;

		entries[i].value = is_set ? UINT32_C(1) << i : (uint32_t)i;
		entries[i].text = etw_tmf_copy(arena,
					       etw_tmf_trim((struct tmf_span){list.at, bytes}));
		if (!entries[i].text)
			return -ENOMEM;
		bytes += comma ? 1 : 0;
		list.at += bytes;
		list.bytes -= bytes;
	}
	map->flags = is_set ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
			    : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	map->count = (uint32_t)count;
	map->entries = entries;
	*ret = map;
	return 0;
}

/* Behind the last " -- ": the number. The span is cut before it. */
static bool take_number(struct tmf_span *line, uint64_t *ret)
{
	size_t at = line->bytes;
	uint64_t number = 0;

	while (at > 0 && line->at[at - 1] >= '0' && line->at[at - 1] <= '9')
		at--;
	if (at == line->bytes || line->bytes - at > 9)
		return false;
	for (size_t i = at; i < line->bytes; i++)
		number = number * 10 + (uint64_t)(line->at[i] - '0');
	*line = etw_tmf_trim((struct tmf_span){line->at, at});
	if (line->bytes < 2 || line->at[line->bytes - 1] != '-' || line->at[line->bytes - 2] != '-')
		return false;
	*line = etw_tmf_trim((struct tmf_span){line->at, line->bytes - 2});
	*ret = number;
	return true;
}

/* "(a,b)" at the end of the line: its inside. The span is cut before it. False: it does not open. */
static bool take_list(struct tmf_span *line, struct tmf_span *ret)
{
	size_t depth = 0, at = line->bytes;

	*ret = (struct tmf_span){0};
	if (!at || line->at[at - 1] != ')')
		return true;
	while (at > 0) {
		at--;
		if (line->at[at] == ')')
			depth++;
		else if (line->at[at] == '(' && --depth == 0)
			break;
	}
	if (depth)
		return false;
	*ret = (struct tmf_span){line->at + at + 1, line->bytes - at - 2};
	*line = etw_tmf_trim((struct tmf_span){line->at, at});
	return true;
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

/* The word at the end of the line and the comma before it. The span is cut to what is before. */
static bool take_item(struct tmf_span *line, struct tmf_span *ret)
{
	size_t at = line->bytes;

	while (at > 0 && is_word(line->at[at - 1]))
		at--;
	if (at == line->bytes)
		return false;
	*ret = (struct tmf_span){line->at + at, line->bytes - at};
	*line = etw_tmf_trim((struct tmf_span){line->at, at});
	if (!line->bytes || line->at[line->bytes - 1] != ',')
		return false;
	*line = etw_tmf_trim((struct tmf_span){line->at, line->bytes - 1});
	return true;
}

/* Names that the line itself gives; those of enums come from "#enumv". */
static int find_names(struct etw_arena *arena, enum etw_wpp_item item, struct tmf_span list,
		      const struct etw_map **ret)
{
	switch (item) {
	case ETW_WPP_LIST_BYTE:
		return make_names(arena, list, false, 256, ret);
	case ETW_WPP_LIST_SHORT:
	case ETW_WPP_LIST_LONG:
		return make_names(arena, list, false, ETW_SCHEMA_MAP_ENTRIES_MAX, ret);
	case ETW_WPP_SET_BYTE:
		return make_names(arena, list, true, 8, ret);
	case ETW_WPP_SET_SHORT:
		return make_names(arena, list, true, 16, ret);
	case ETW_WPP_SET_LONG:
		return make_names(arena, list, true, 32, ret);
	default:
		return 0;
	}
}

const char *etw_tmf_argument(struct etw_arena *arena, struct tmf_span line,
			     struct etw_wpp_argument *ret, bool *ret_memory)
{
	struct etw_wpp_argument argument = {0};
	struct tmf_span list, name;
	uint64_t number;

	line = etw_tmf_trim(line);
	if (!take_number(&line, &number))
		return "an argument does not end with its number behind two dashes";
	if (number < ETW_WPP_FIRST_ARGUMENT || number > UINT16_MAX)
		return "an argument's number is below 10 or too large";
	if (!take_list(&line, &list))
		return "the list of an argument's names is not opened";
	if (!take_item(&line, &name))
		return "an argument has no comma and item before its number";
	argument.number = (uint16_t)number;
	argument.item = find_item(name.at, name.bytes);
	argument.item_name = etw_tmf_copy(arena, name);
	argument.expression = etw_tmf_copy(arena, line);
	argument.list = list.at ? etw_tmf_copy(arena, list) : NULL;
	*ret_memory = !argument.item_name || !argument.expression || (list.at && !argument.list) ||
		      (list.at &&
		       find_names(arena, argument.item, list, &argument.names) == -ENOMEM);
	if (!*ret_memory)
		*ret = argument;
	return NULL;
}
