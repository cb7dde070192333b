/* SPDX-License-Identifier: MIT */
/* The table of in-types, winmeta's names, and the check of field arrays. */
#include "schema/types.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

/* kind, what says how long, bytes, unit, out-type */
#define TYPE(kind_, extent_, bytes_, unit_, out_)                                             \
	{                                                                                     \
		ETW_TYPE_##kind_, ETW_EXTENT_##extent_, (bytes_), (unit_), TDH_OUTTYPE_##out_ \
	}
#define MOF(in_) [ETW_TYPE_MANIFEST_COUNT + TDH_INTYPE_##in_ - TDH_INTYPE_COUNTEDSTRING]
#define UNKNOWN  TYPE(BYTES, UNKNOWN, 0, 1, NULL)

const struct etw_type etw_schema_types[ETW_TYPE_COUNT + 1] = {
	[TDH_INTYPE_NULL] = TYPE(NONE, FIXED, 0, 1, NULL),
	[TDH_INTYPE_UNICODESTRING] = TYPE(UTF16, GIVEN, 0, 2, STRING),
	[TDH_INTYPE_ANSISTRING] = TYPE(ANSI, GIVEN, 0, 1, STRING),
	[TDH_INTYPE_INT8] = TYPE(SIGNED, FIXED, 1, 1, BYTE),
	[TDH_INTYPE_UINT8] = TYPE(UNSIGNED, FIXED, 1, 1, UNSIGNEDBYTE),
	[TDH_INTYPE_INT16] = TYPE(SIGNED, FIXED, 2, 1, SHORT),
	[TDH_INTYPE_UINT16] = TYPE(UNSIGNED, FIXED, 2, 1, UNSIGNEDSHORT),
	[TDH_INTYPE_INT32] = TYPE(SIGNED, FIXED, 4, 1, INT),
	[TDH_INTYPE_UINT32] = TYPE(UNSIGNED, FIXED, 4, 1, UNSIGNEDINT),
	[TDH_INTYPE_INT64] = TYPE(SIGNED, FIXED, 8, 1, LONG),
	[TDH_INTYPE_UINT64] = TYPE(UNSIGNED, FIXED, 8, 1, UNSIGNEDLONG),
	[TDH_INTYPE_FLOAT] = TYPE(FLOAT, FIXED, 4, 1, FLOAT),
	[TDH_INTYPE_DOUBLE] = TYPE(FLOAT, FIXED, 8, 1, DOUBLE),
	[TDH_INTYPE_BOOLEAN] = TYPE(BOOLEAN, FIXED, 4, 1, BOOLEAN),
	[TDH_INTYPE_BINARY] = TYPE(BYTES, GIVEN, 0, 1, HEXBINARY),
	[TDH_INTYPE_GUID] = TYPE(GUID, FIXED, 16, 1, GUID),
	[TDH_INTYPE_POINTER] = TYPE(HEX, POINTER, 8, 1, HEXINT64),
	[TDH_INTYPE_FILETIME] = TYPE(FILETIME, FIXED, 8, 1, DATETIME),
	[TDH_INTYPE_SYSTEMTIME] = TYPE(SYSTEMTIME, FIXED, 16, 1, DATETIME),
	[TDH_INTYPE_SID] = TYPE(SID, SID, 0, 1, STRING),
	[TDH_INTYPE_HEXINT32] = TYPE(HEX, FIXED, 4, 1, HEXINT32),
	[TDH_INTYPE_HEXINT64] = TYPE(HEX, FIXED, 8, 1, HEXINT64),
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = TYPE(UTF16, COUNT16, 0, 1, STRING),
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = TYPE(ANSI, COUNT16, 0, 1, STRING),
	[TDH_INTYPE_RESERVED24] = UNKNOWN,
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = TYPE(BYTES, COUNT16, 0, 1, HEXBINARY),

	MOF(COUNTEDSTRING) = TYPE(UTF16, COUNT16, 0, 1, STRING),
	MOF(COUNTEDANSISTRING) = TYPE(ANSI, COUNT16, 0, 1, STRING),
	MOF(REVERSEDCOUNTEDSTRING) = TYPE(UTF16, COUNT16_BIG, 0, 1, STRING),
	MOF(REVERSEDCOUNTEDANSISTRING) = TYPE(ANSI, COUNT16_BIG, 0, 1, STRING),
	MOF(NONNULLTERMINATEDSTRING) = TYPE(UTF16, TO_END, 0, 1, STRING),
	MOF(NONNULLTERMINATEDANSISTRING) = TYPE(ANSI, TO_END, 0, 1, STRING),
	MOF(UNICODECHAR) = TYPE(CHARACTER, FIXED, 2, 1, STRING),
	MOF(ANSICHAR) = TYPE(CHARACTER, FIXED, 1, 1, STRING),
	MOF(SIZET) = TYPE(HEX, POINTER, 8, 1, HEXINT64),
	MOF(HEXDUMP) = TYPE(BYTES, COUNT32, 0, 1, HEXBINARY),
	MOF(WBEMSID) = TYPE(SID, WBEM_SID, 0, 1, STRING),

	[ETW_TYPE_COUNT] = UNKNOWN,
};

uint16_t etw_schema_out_type(uint16_t in_type)
{
	return etw_schema_type(in_type)->out_type;
}

uint16_t etw_schema_length(uint16_t in_type)
{
	return etw_schema_type(in_type)->bytes;
}

const char *etw_schema_level_name(uint8_t level)
{
	static const char *const names[] = {"win:LogAlways", "win:Critical",      "win:Error",
					    "win:Warning",   "win:Informational", "win:Verbose"};

	return level < ARRAY_SIZE(names) ? names[level] : NULL;
}

const char *etw_schema_opcode_name(uint8_t opcode)
{
	static const char *const names[] = {
		"win:Info",      "win:Start", "win:Stop",   "win:DC_Start", "win:DC_Stop",
		"win:Extension", "win:Reply", "win:Resume", "win:Suspend",  "win:Send"};

	if (opcode == 240)
		return "win:Receive";
	return opcode < ARRAY_SIZE(names) ? names[opcode] : NULL;
}

static const char *check_struct(const struct etw_schema *schema, uint32_t index, uint8_t *depths)
{
	const struct etw_field *field = &schema->fields[index];
	uint32_t end = (uint32_t)field->struct_first + field->struct_count;

	if (field->struct_count == 0)
		return NULL;
	if (field->struct_first < schema->top_count || field->struct_first <= index)
		return "the members of a struct do not lie behind it";
	if (end > schema->field_count)
		return "the members of a struct lie outside the fields";
	if (depths[index] + 1 > ETW_SCHEMA_DEPTH_MAX)
		return "structs are nested too deeply";
	for (uint32_t i = field->struct_first; i < end; i++) {
		if (depths[i])
			return "two structs share a member";
		depths[i] = (uint8_t)(depths[index] + 1);
	}
	return NULL;
}

const char *etw_schema_fields_check(const struct etw_schema *schema)
{
	uint8_t depths[ETW_SCHEMA_FIELDS_MAX];

	if (schema->field_count > ETW_SCHEMA_FIELDS_MAX || schema->top_count > schema->field_count)
		return "the number of fields is beyond the limit";
	memset(depths, 0, schema->field_count);
	for (uint32_t i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];
		const char *sentence = NULL;

		if ((field->flags & PropertyParamCount) && field->count >= i)
			return "a count refers to a field that is not an earlier one";
		if ((field->flags & PropertyParamLength) && field->length >= i)
			return "a length refers to a field that is not an earlier one";
		if (field->flags & PropertyStruct)
			sentence = check_struct(schema, i, depths);
		if (sentence)
			return sentence;
	}
	return NULL;
}
