/* SPDX-License-Identifier: MIT */
/* Default out-types and natural sizes per in-type, winmeta's names, and the check of field arrays. */
#include "schema/types.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"

struct type_facts {
	uint16_t out_type;
	uint16_t length;
};

static const struct type_facts manifest_types[] = {
	[TDH_INTYPE_UNICODESTRING] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_ANSISTRING] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_INT8] = {TDH_OUTTYPE_BYTE, 1},
	[TDH_INTYPE_UINT8] = {TDH_OUTTYPE_UNSIGNEDBYTE, 1},
	[TDH_INTYPE_INT16] = {TDH_OUTTYPE_SHORT, 2},
	[TDH_INTYPE_UINT16] = {TDH_OUTTYPE_UNSIGNEDSHORT, 2},
	[TDH_INTYPE_INT32] = {TDH_OUTTYPE_INT, 4},
	[TDH_INTYPE_UINT32] = {TDH_OUTTYPE_UNSIGNEDINT, 4},
	[TDH_INTYPE_INT64] = {TDH_OUTTYPE_LONG, 8},
	[TDH_INTYPE_UINT64] = {TDH_OUTTYPE_UNSIGNEDLONG, 8},
	[TDH_INTYPE_FLOAT] = {TDH_OUTTYPE_FLOAT, 4},
	[TDH_INTYPE_DOUBLE] = {TDH_OUTTYPE_DOUBLE, 8},
	[TDH_INTYPE_BOOLEAN] = {TDH_OUTTYPE_BOOLEAN, 4},
	[TDH_INTYPE_BINARY] = {TDH_OUTTYPE_HEXBINARY, 0},
	[TDH_INTYPE_GUID] = {TDH_OUTTYPE_GUID, 16},
	[TDH_INTYPE_POINTER] = {TDH_OUTTYPE_HEXINT64, 8},
	[TDH_INTYPE_FILETIME] = {TDH_OUTTYPE_DATETIME, 8},
	[TDH_INTYPE_SYSTEMTIME] = {TDH_OUTTYPE_DATETIME, 16},
	[TDH_INTYPE_SID] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_HEXINT32] = {TDH_OUTTYPE_HEXINT32, 4},
	[TDH_INTYPE_HEXINT64] = {TDH_OUTTYPE_HEXINT64, 8},
	[TDH_INTYPE_MANIFEST_COUNTEDSTRING] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_MANIFEST_COUNTEDBINARY] = {TDH_OUTTYPE_HEXBINARY, 0},
};

#define MOF_FIRST TDH_INTYPE_COUNTEDSTRING

static const struct type_facts mof_types[] = {
	[TDH_INTYPE_COUNTEDSTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_COUNTEDANSISTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_REVERSEDCOUNTEDSTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_REVERSEDCOUNTEDANSISTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_NONNULLTERMINATEDSTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_NONNULLTERMINATEDANSISTRING - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
	[TDH_INTYPE_UNICODECHAR - MOF_FIRST] = {TDH_OUTTYPE_STRING, 2},
	[TDH_INTYPE_ANSICHAR - MOF_FIRST] = {TDH_OUTTYPE_STRING, 1},
	[TDH_INTYPE_SIZET - MOF_FIRST] = {TDH_OUTTYPE_HEXINT64, 8},
	[TDH_INTYPE_HEXDUMP - MOF_FIRST] = {TDH_OUTTYPE_HEXBINARY, 0},
	[TDH_INTYPE_WBEMSID - MOF_FIRST] = {TDH_OUTTYPE_STRING, 0},
};

static struct type_facts facts_of(uint16_t in_type)
{
	if (in_type < ARRAY_SIZE(manifest_types))
		return manifest_types[in_type];
	if (in_type >= MOF_FIRST && in_type - MOF_FIRST < (int)ARRAY_SIZE(mof_types))
		return mof_types[in_type - MOF_FIRST];
	return (struct type_facts){0};
}

uint16_t etw_schema_out_type(uint16_t in_type)
{
	return facts_of(in_type).out_type;
}

uint16_t etw_schema_length(uint16_t in_type)
{
	return facts_of(in_type).length;
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
