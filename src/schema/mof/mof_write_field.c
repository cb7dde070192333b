/* SPDX-License-Identifier: MIT */
/* Fields as properties: the reverse of mof_types.c. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "schema/mof/mof_internal.h"
#include "schema/mof/mof_write.h"
#include "schema/types.h"

/* A pair of types, and what makes it. */
struct spelling {
	uint16_t in_type;
	uint16_t out_type; /* 0: the default */
	const char *type;
	const char *qualifiers; /* NULL: none */
};

#define TERMINATION(name) "StringTermination(\"" name "\")"
#define WIDE              ", format(\"w\")"
#define HEX               "format(\"x\")"
#define EXTENSION(name)   "extension(\"" name "\")"

static const struct spelling spellings[] = {
	{TDH_INTYPE_INT8, 0, "sint8", NULL},
	{TDH_INTYPE_UINT8, 0, "uint8", NULL},
	{TDH_INTYPE_INT16, 0, "sint16", NULL},
	{TDH_INTYPE_UINT16, 0, "uint16", NULL},
	{TDH_INTYPE_INT32, 0, "sint32", NULL},
	{TDH_INTYPE_UINT32, 0, "uint32", NULL},
	{TDH_INTYPE_INT64, 0, "sint64", NULL},
	{TDH_INTYPE_UINT64, 0, "uint64", NULL},
	{TDH_INTYPE_FLOAT, 0, "real32", NULL},
	{TDH_INTYPE_DOUBLE, 0, "real64", NULL},
	{TDH_INTYPE_BOOLEAN, 0, "boolean", NULL},
	{TDH_INTYPE_INT8, TDH_OUTTYPE_HEXINT8, "sint8", HEX},
	{TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8, "uint8", HEX},
	{TDH_INTYPE_INT16, TDH_OUTTYPE_HEXINT16, "sint16", HEX},
	{TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16, "uint16", HEX},
	{TDH_INTYPE_HEXINT32, 0, "uint32", HEX},
	{TDH_INTYPE_HEXINT64, 0, "uint64", HEX},
	{TDH_INTYPE_ANSICHAR, 0, "uint8", "format(\"c\")"},
	{TDH_INTYPE_UNICODECHAR, 0, "char16", NULL},
	{TDH_INTYPE_POINTER, 0, "uint32", "pointer"},
	{TDH_INTYPE_SIZET, 0, "object", EXTENSION("SizeT")},
	{TDH_INTYPE_GUID, 0, "object", EXTENSION("Guid")},
	{TDH_INTYPE_WBEMSID, 0, "object", EXTENSION("Sid")},
	{TDH_INTYPE_HEXDUMP, 0, "object", EXTENSION("Variant")},
	{TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT, "object", EXTENSION("Port")},
	{TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, "object", EXTENSION("IPAddrV4")},
	{TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, "object", EXTENSION("IPAddrV6")},
	{TDH_INTYPE_UINT64, TDH_OUTTYPE_ETWTIME, "object", EXTENSION("WmiTime")},
	{TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_REDUCEDSTRING, "object", EXTENSION("RString")},
	{TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_REDUCEDSTRING, "object", EXTENSION("RWString")},
	{TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_CIMDATETIME, "datetime", NULL},
	{TDH_INTYPE_ANSISTRING, 0, "string", TERMINATION("NullTerminated")},
	{TDH_INTYPE_UNICODESTRING, 0, "string", TERMINATION("NullTerminated") WIDE},
	{TDH_INTYPE_COUNTEDANSISTRING, 0, "string", TERMINATION("Counted")},
	{TDH_INTYPE_COUNTEDSTRING, 0, "string", TERMINATION("Counted") WIDE},
	{TDH_INTYPE_REVERSEDCOUNTEDANSISTRING, 0, "string", TERMINATION("ReverseCounted")},
	{TDH_INTYPE_REVERSEDCOUNTEDSTRING, 0, "string", TERMINATION("ReverseCounted") WIDE},
	{TDH_INTYPE_NONNULLTERMINATEDANSISTRING, 0, "string", TERMINATION("NotCounted")},
	{TDH_INTYPE_NONNULLTERMINATEDSTRING, 0, "string", TERMINATION("NotCounted") WIDE},
};

/* NoPrint takes the place of the out-type, and that of the extension which would name another one. */
static const struct spelling *find_spelling(const struct etw_field *field)
{
	bool is_hidden = field->out_type == TDH_OUTTYPE_NOPRINT;
	uint16_t out_type = is_hidden ? etw_schema_out_type(field->in_type) : field->out_type;
	bool is_datetime = out_type == TDH_OUTTYPE_CIMDATETIME;

	if (is_hidden && field->flags & PropertyParamFixedLength) {
		is_datetime = true;
		out_type = TDH_OUTTYPE_CIMDATETIME;
	}
	if (is_datetime != !!(field->flags & PropertyParamFixedLength))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		const struct spelling *spelling = &spellings[i];
		uint16_t wanted = spelling->out_type;

		if (!wanted)
			wanted = etw_schema_out_type(spelling->in_type);
		if (spelling->in_type != field->in_type || wanted != out_type)
			continue;
		if (is_hidden && spelling->qualifiers &&
		    strncmp(spelling->qualifiers, "extension", strlen("extension")) == 0)
			return NULL;
		return spelling;
	}
	return NULL;
}

static void put_texts(struct etw_text *text, const char *qualifier, const struct etw_map *map)
{
	etw_text_printf(text, ",\n     %s{", qualifier);
	for (uint32_t i = 0; i < map->count; i++) {
		etw_text_puts(text, i ? ", " : "");
		etw_mof_put_string(text, map->entries[i].text);
	}
	etw_text_putc(text, '}');
}

static void put_map(struct etw_text *text, const struct etw_map *map)
{
	bool is_bits = map->flags & EVENTMAP_INFO_FLAG_WBEM_BITMAP;

	if (!(map->flags & EVENTMAP_INFO_FLAG_WBEM_NO_MAP)) {
		etw_text_printf(text, ",\n     %s{", is_bits ? "BitMap" : "ValueMap");
		for (uint32_t i = 0; i < map->count; i++)
			etw_text_printf(text, "%s\"%" PRIu32 "\"", i ? ", " : "",
					map->entries[i].value);
		etw_text_putc(text, '}');
	}
	put_texts(text, is_bits ? "BitValues" : "Values", map);
	if (map->flags & EVENTMAP_INFO_FLAG_WBEM_FLAG)
		etw_text_puts(text, ",\n     ValueType(\"flag\")");
}

static const char *check_field(const struct etw_field *field)
{
	uint32_t known = PropertyParamCount | PropertyParamFixedCount | PropertyParamFixedLength |
			 PropertyWBEMXmlFragment;

	if (field->flags & PropertyStruct)
		return "MOF has no structs";
	if (field->flags & ~known)
		return "a field has a property that MOF cannot say";
	if (!etw_mof_is_identifier(field->name))
		return "the name of a field is no identifier";
	if (field->map && !(field->map->flags &
			    (EVENTMAP_INFO_FLAG_WBEM_VALUEMAP | EVENTMAP_INFO_FLAG_WBEM_BITMAP)))
		return "a map is of a kind that MOF does not have";
	return NULL;
}

static bool is_same(const char *name, const char *wanted)
{
	return wanted && strcmp(name, wanted) == 0;
}

const char *etw_mof_put_field(struct etw_text *text, const struct etw_schema *schema,
			      uint16_t index)
{
	const struct etw_field *field = &schema->fields[index];
	const struct spelling *spelling = find_spelling(field);
	const char *sentence = check_field(field);

	if (sentence)
		return sentence;
	if (!spelling)
		return "the type of a field has no words in MOF";
	etw_text_printf(text, "    [WmiDataId(%u)", index + 1u);
	if (spelling->qualifiers)
		etw_text_printf(text, ", %s", spelling->qualifiers);
	if (field->out_type == TDH_OUTTYPE_NOPRINT)
		etw_text_puts(text, ", extension(\"NoPrint\")");
	if (field->flags & PropertyWBEMXmlFragment)
		etw_text_puts(text, ", XMLFragment");
	if (is_same(field->name, schema->activity_id_name))
		etw_text_puts(text, ", ActivityID");
	if (is_same(field->name, schema->related_activity_id_name))
		etw_text_puts(text, ", RelatedActivityID");
	if (field->flags & PropertyParamCount)
		etw_text_printf(text, ", WmiSizeIs(\"%s\")", schema->fields[field->count].name);
	if (field->map)
		put_map(text, field->map);
	etw_text_printf(text, ", read] %s %s", spelling->type, field->name);
	if (field->flags & PropertyParamCount)
		etw_text_puts(text, "[]");
	else if (field->flags & PropertyParamFixedCount)
		etw_text_printf(text, "[%u]", field->count);
	else if (field->count != 1)
		return "an array has a count that MOF cannot say";
	etw_text_puts(text, ";\n");
	return NULL;
}
