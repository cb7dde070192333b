/* SPDX-License-Identifier: MIT */
#include "sample_loop.h"

#include <stdlib.h>
#include <string.h>

#include <winerror.h>

static void *grow(void *old, ULONG *room, ULONG need)
{
	void *grown = realloc(old, need);

	if (!grown)
		abort();
	*room = need;
	return grown;
}

TDHSTATUS sample_loop_begin(struct sample_loop *loop, EVENT_RECORD *record)
{
	ULONG size = loop->info_room;
	TDHSTATUS status = TdhGetEventInformation(record, 0, NULL, loop->info, &size);

	if (status == ERROR_INSUFFICIENT_BUFFER) {
		loop->info = grow(loop->info, &loop->info_room, size);
		status = TdhGetEventInformation(record, 0, NULL, loop->info, &size);
	}
	if (status)
		return status;
	if (loop->info->PropertyCount > SAMPLE_PROPERTIES_MAX)
		abort();
	loop->record = record;
	loop->at = record->UserData;
	loop->left = record->UserDataLength;
	loop->pointer_bytes = record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
	memset(loop->values, 0, loop->info->PropertyCount * sizeof(loop->values[0]));
	return ERROR_SUCCESS;
}

static void trim(WCHAR *text)
{
	size_t units = 0;

	while (text[units])
		units++;
	if (units && text[units - 1] == ' ')
		text[units - 1] = 0;
}

/* The property's map, its texts without the blank at the end; NULL: it has none. */
static EVENT_MAP_INFO *find_map(struct sample_loop *loop, EVENT_PROPERTY_INFO *property)
{
	WCHAR *name = TEI_MAP_NAME(loop->info, property);
	ULONG size = loop->map_room;
	TDHSTATUS status;

	if (!name)
		return NULL;
	status = TdhGetEventMapInformation(loop->record, name, loop->map, &size);
	if (status == ERROR_INSUFFICIENT_BUFFER) {
		loop->map = grow(loop->map, &loop->map_room, size);
		status = TdhGetEventMapInformation(loop->record, name, loop->map, &size);
	}
	if (status)
		return NULL;
	loop->maps++;
	for (ULONG i = 0; i < loop->map->EntryCount; i++)
		trim(EMI_MAP_OUTPUT(loop->map, &loop->map->MapEntryArray[i]));
	return loop->map;
}

static TDHSTATUS format_with(struct sample_loop *loop, EVENT_PROPERTY_INFO *property,
			     EVENT_MAP_INFO *map, USHORT length, USHORT *consumed)
{
	USHORT out = property->nonStructType.OutType;
	ULONG size = loop->formatted_room;
	TDHSTATUS status;

	if (out == TDH_OUTTYPE_NOPRINT)
		out = TDH_OUTTYPE_NULL;
	for (;;) {
		status = TdhFormatProperty(loop->info, map, loop->pointer_bytes,
					   property->nonStructType.InType, out, length, loop->left,
					   (PBYTE)(uintptr_t)loop->at, &size, loop->formatted,
					   consumed);
		if (status != ERROR_INSUFFICIENT_BUFFER)
			return status;
		loop->formatted = grow(loop->formatted, &loop->formatted_room, size);
	}
}

static bool format_value(struct sample_loop *loop, ULONG index, USHORT length,
			 struct etw_text *text)
{
	EVENT_PROPERTY_INFO *property = &loop->info->EventPropertyInfoArray[index];
	USHORT in_type = property->nonStructType.InType;
	EVENT_MAP_INFO *map = find_map(loop, property);
	USHORT consumed = 0;
	size_t units = 0;
	TDHSTATUS status;

	/* TdhFormatProperty would take a length of 0 for "up to the NUL". */
	if (length == 0 && (property->Flags & PropertyParamLength) &&
	    (in_type == TDH_INTYPE_UNICODESTRING || in_type == TDH_INTYPE_ANSISTRING))
		return true;
	/* Of no type is nothing, and nothing is shown of it. */
	if (in_type == TDH_INTYPE_NULL)
		return true;
	status = format_with(loop, property, map, length, &consumed);
	if (status == ERROR_EVT_INVALID_EVENT_DATA && map) {
		loop->unmapped++;
		status = format_with(loop, property, NULL, length, &consumed);
	}
	if (status)
		return false;
	while (loop->formatted[units])
		units++;
	etw_text_utf16(text, (const uint8_t *)loop->formatted, units);
	loop->at += consumed;
	loop->left = (USHORT)(loop->left - consumed);
	return true;
}

/* Keeps an integer for counts and lengths to come. */
static void keep_value(struct sample_loop *loop, ULONG index)
{
	static const uint8_t widths[] = {
		[TDH_INTYPE_INT8] = 1,    [TDH_INTYPE_UINT8] = 1, [TDH_INTYPE_INT16] = 2,
		[TDH_INTYPE_UINT16] = 2,  [TDH_INTYPE_INT32] = 4, [TDH_INTYPE_UINT32] = 4,
		[TDH_INTYPE_HEXINT32] = 4};
	USHORT in_type = loop->info->EventPropertyInfoArray[index].nonStructType.InType;
	uint32_t value = 0;

	if (in_type >= sizeof(widths) || !widths[in_type] || loop->left < widths[in_type])
		return;
	memcpy(&value, loop->at, widths[in_type]);
	loop->values[index] = value > 0xFFFF ? 0xFFFF : (USHORT)value;
}

static bool is_text_array(const EVENT_PROPERTY_INFO *property)
{
	USHORT in_type = property->nonStructType.InType;

	if (in_type == TDH_INTYPE_UNICODECHAR || in_type == TDH_INTYPE_ANSICHAR)
		return true;
	return property->nonStructType.OutType == TDH_OUTTYPE_STRING &&
	       (in_type == TDH_INTYPE_INT8 || in_type == TDH_INTYPE_UINT8 ||
		in_type == TDH_INTYPE_UINT16);
}

static bool write_property(struct sample_loop *loop, ULONG index, struct etw_text *text);

static bool write_struct(struct sample_loop *loop, ULONG index, struct etw_text *text)
{
	EVENT_PROPERTY_INFO *property = &loop->info->EventPropertyInfoArray[index];
	ULONG first = property->structType.StructStartIndex;

	etw_text_putc(text, '{');
	for (ULONG i = 0; i < property->structType.NumOfStructMembers; i++) {
		EVENT_PROPERTY_INFO *member = &loop->info->EventPropertyInfoArray[first + i];
		WCHAR *name = TEI_PROPERTY_NAME(loop->info, member);
		size_t units = 0;

		if (i)
			etw_text_puts(text, ", ");
		while (name[units])
			units++;
		etw_text_utf16(text, (const uint8_t *)name, units);
		etw_text_putc(text, '=');
		if (!write_property(loop, first + i, text))
			return false;
	}
	etw_text_putc(text, '}');
	return true;
}

static bool write_property(struct sample_loop *loop, ULONG index, struct etw_text *text)
{
	EVENT_PROPERTY_INFO *property = &loop->info->EventPropertyInfoArray[index];
	USHORT count = property->Flags & PropertyParamCount
			       ? loop->values[property->countPropertyIndex]
			       : property->count;
	USHORT length = property->Flags & PropertyParamLength
				? loop->values[property->lengthPropertyIndex]
				: property->length;
	bool is_struct = property->Flags & PropertyStruct;
	bool is_array = property->count != 1 ||
			(property->Flags & (PropertyParamCount | PropertyParamFixedCount));
	bool is_text = is_array && !is_struct && is_text_array(property);
	bool is_ended = false;

	if (is_array && !is_text)
		etw_text_putc(text, '[');
	for (USHORT i = 0; i < count; i++) {
		size_t before;

		if (i && !is_text)
			etw_text_puts(text, ", ");
		if (!is_struct)
			keep_value(loop, index);
		before = text->bytes;
		if (is_struct ? !write_struct(loop, index, text)
			      : !format_value(loop, index, length, text))
			return false;
		/* Characters are one string, that the first NUL ends. */
		is_ended |= is_text && text->bytes == before;
		if (is_ended)
			text->bytes = before;
	}
	if (is_array && !is_text)
		etw_text_putc(text, ']');
	return true;
}

bool sample_loop_property(struct sample_loop *loop, ULONG index, struct etw_text *text)
{
	return write_property(loop, index, text);
}

void sample_loop_done(struct sample_loop *loop)
{
	free(loop->info);
	free(loop->map);
	free(loop->formatted);
}
