/* SPDX-License-Identifier: MIT */
/* Properties as fields: what type and qualifiers say together of the bytes. */
#include <string.h>

#include "base/macros.h"
#include "schema/mof/mof_internal.h"
#include "schema/types.h"

#define DATETIME_CHARS 25 /* yyyymmddHHMMSS.mmmmmmsUUU */

/* The integers of MOF, and what format("x") makes of them. */
struct plain_type {
	const char *name;
	uint16_t in_type;
	uint16_t hex_in_type;
	uint16_t hex_out_type; /* 0: not shown in hexadecimal */
	uint16_t char_in_type; /* with format "c" or "s"; 0: no character */
};

static const struct plain_type plain_types[] = {
	{"sint8", TDH_INTYPE_INT8, TDH_INTYPE_INT8, TDH_OUTTYPE_HEXINT8, TDH_INTYPE_ANSICHAR},
	{"uint8", TDH_INTYPE_UINT8, TDH_INTYPE_UINT8, TDH_OUTTYPE_HEXINT8, TDH_INTYPE_ANSICHAR},
	{"sint16", TDH_INTYPE_INT16, TDH_INTYPE_INT16, TDH_OUTTYPE_HEXINT16, 0},
	{"uint16", TDH_INTYPE_UINT16, TDH_INTYPE_UINT16, TDH_OUTTYPE_HEXINT16, 0},
	{"sint32", TDH_INTYPE_INT32, TDH_INTYPE_HEXINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"uint32", TDH_INTYPE_UINT32, TDH_INTYPE_HEXINT32, TDH_OUTTYPE_HEXINT32, 0},
	{"sint64", TDH_INTYPE_INT64, TDH_INTYPE_HEXINT64, TDH_OUTTYPE_HEXINT64, 0},
	{"uint64", TDH_INTYPE_UINT64, TDH_INTYPE_HEXINT64, TDH_OUTTYPE_HEXINT64, 0},
	{"real32", TDH_INTYPE_FLOAT, 0, 0, 0},
	{"real64", TDH_INTYPE_DOUBLE, 0, 0, 0},
	{"boolean", TDH_INTYPE_BOOLEAN, 0, 0, 0},
	{"char16", TDH_INTYPE_UNICODECHAR, 0, 0, TDH_INTYPE_UNICODECHAR},
};

struct extension {
	const char *name;
	uint16_t in_type;
	uint16_t out_type; /* 0: the default */
	uint16_t length;   /* 0: the default */
};

static const struct extension extensions[] = {
	{"Guid", TDH_INTYPE_GUID, 0, 0},
	{"Sid", TDH_INTYPE_WBEMSID, 0, 0},
	{"SizeT", TDH_INTYPE_SIZET, 0, 0},
	{"Port", TDH_INTYPE_UINT16, TDH_OUTTYPE_PORT, 0},
	{"IPAddr", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, 0},
	{"IPAddrV4", TDH_INTYPE_UINT32, TDH_OUTTYPE_IPV4, 0},
	{"IPAddrV6", TDH_INTYPE_BINARY, TDH_OUTTYPE_IPV6, 16},
	{"WmiTime", TDH_INTYPE_UINT64, TDH_OUTTYPE_ETWTIME, 0},
	{"Variant", TDH_INTYPE_HEXDUMP, 0, 0},
	{"RString", TDH_INTYPE_ANSISTRING, TDH_OUTTYPE_REDUCEDSTRING, 0},
	{"RWString", TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_REDUCEDSTRING, 0},
};

struct termination {
	const char *name;
	uint16_t ansi;
	uint16_t wide;
};

static const struct termination terminations[] = {
	{"NullTerminated", TDH_INTYPE_ANSISTRING, TDH_INTYPE_UNICODESTRING},
	{"Counted", TDH_INTYPE_COUNTEDANSISTRING, TDH_INTYPE_COUNTEDSTRING},
	{"ReverseCounted", TDH_INTYPE_REVERSEDCOUNTEDANSISTRING, TDH_INTYPE_REVERSEDCOUNTEDSTRING},
	{"NotCounted", TDH_INTYPE_NONNULLTERMINATEDANSISTRING, TDH_INTYPE_NONNULLTERMINATEDSTRING},
};

static void set_type(struct etw_field *field, uint16_t in_type, uint16_t out_type)
{
	field->in_type = in_type;
	field->out_type = out_type ? out_type : etw_schema_out_type(in_type);
	field->length = etw_schema_length(in_type);
}

static bool is_format(const struct mof_property *property, const char *wanted)
{
	return etw_mof_is_name(etw_mof_text(property->qualifiers, "format"), wanted);
}

static const char *read_string_type(const struct mof_property *property, struct etw_field *field)
{
	const char *name = "NullTerminated";

	if (etw_mof_qualifier(property->qualifiers, "StringTermination"))
		name = etw_mof_text(property->qualifiers, "StringTermination");
	for (size_t i = 0; i < ARRAY_SIZE(terminations); i++) {
		if (!etw_mof_is_name(terminations[i].name, name))
			continue;
		set_type(field,
			 is_format(property, "w") ? terminations[i].wide : terminations[i].ansi, 0);
		return NULL;
	}
	return "a StringTermination is unknown";
}

static const char *read_plain_type(const struct mof_property *property, struct etw_field *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_types); i++) {
		const struct plain_type *type = &plain_types[i];

		if (!etw_mof_is_name(type->name, property->type))
			continue;
		if (type->hex_out_type && is_format(property, "x"))
			set_type(field, type->hex_in_type, type->hex_out_type);
		else if (type->char_in_type && (is_format(property, "c") ||
						(property->is_array && is_format(property, "s"))))
			set_type(field, type->char_in_type, 0);
		else
			set_type(field, type->in_type, 0);
		return NULL;
	}
	return "the type of a property has no layout";
}

static const struct extension *find_extension(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(extensions); i++) {
		if (etw_mof_is_name(extensions[i].name, name))
			return &extensions[i];
	}
	return NULL;
}

/* An extension and the qualifier pointer go before the type, which writers choose carelessly. */
static const char *read_type(const struct mof_property *property, struct etw_field *field)
{
	const struct mof_qualifier *qualifiers = property->qualifiers;
	const char *name = etw_mof_text(qualifiers, "extension");
	const struct extension *extension = find_extension(name);

	if (property->is_reference)
		return "a reference has no layout";
	if ((!extension || extension->in_type != TDH_INTYPE_SIZET) &&
	    (etw_mof_qualifier(qualifiers, "pointer") ||
	     etw_mof_qualifier(qualifiers, "PointerType"))) {
		set_type(field, TDH_INTYPE_POINTER, 0);
		return NULL;
	}
	if (extension) {
		set_type(field, extension->in_type, extension->out_type);
		if (extension->length)
			field->length = extension->length;
		return NULL;
	}
	if (etw_mof_is_name(property->type, "object"))
		return "an object has no extension that tells its layout";
	if (etw_mof_is_name(property->type, "string"))
		return read_string_type(property, field);
	if (etw_mof_is_name(property->type, "datetime")) {
		set_type(field, TDH_INTYPE_UNICODESTRING, TDH_OUTTYPE_CIMDATETIME);
		field->flags |= PropertyParamFixedLength;
		field->length = DATETIME_CHARS;
		return NULL;
	}
	return read_plain_type(property, field);
}

/* How many elements, where brackets do not say it themselves. */
static const char *read_count(const struct mof_property *property, struct etw_field *field)
{
	static const char *const names[] = {"Max", "ArraySize"};
	uint64_t count = property->size;

	field->count = 1;
	if (!property->is_array && !etw_mof_qualifier(property->qualifiers, "ArraySize"))
		return NULL;
	if (!count && etw_mof_qualifier(property->qualifiers, "WmiSizeIs")) {
		field->flags |= PropertyParamCount;
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names) && !count; i++) {
		const struct mof_qualifier *found = etw_mof_qualifier(property->qualifiers,
								      names[i]);

		if (found && found->value_count == 1)
			(void)etw_mof_number(found->values, UINT64_MAX, &count);
	}
	if (!count)
		return "an array has no size";
	if (count > UINT16_MAX)
		return "an array has too many elements";
	field->flags |= PropertyParamFixedCount;
	field->count = (uint16_t)count;
	return NULL;
}

/* Maps are looked up by numbers of up to 32 bits. */
static bool can_have_map(const struct etw_field *field)
{
	return (field->in_type >= TDH_INTYPE_INT8 && field->in_type <= TDH_INTYPE_UINT32) ||
	       field->in_type == TDH_INTYPE_HEXINT32;
}

static void read_data_id(struct mof_property *property)
{
	const struct mof_qualifier *id = etw_mof_qualifier(property->qualifiers, "WmiDataId");

	property->has_data_id = id != NULL;
	if (id && id->value_count == 1)
		(void)etw_mof_number(id->values, UINT64_MAX, &property->data_id);
}

const char *etw_mof_read_layout(const struct mof_property *property, struct etw_field *field)
{
	const char *sentence = read_type(property, field);

	return sentence ? sentence : read_count(property, field);
}

int etw_mof_read_property(struct mof_reader *reader, struct mof_property *property)
{
	const struct mof_qualifier *qualifiers = property->qualifiers;
	struct etw_field *field = &property->field;

	if (property->is_read)
		return 0;
	read_data_id(property);
	property->sentence = etw_mof_read_layout(property, field);
	property->counter = etw_mof_text(qualifiers, "WmiSizeIs");
	property->name_hash = etw_mof_hash_name(property->name);
	property->is_activity_id = etw_mof_qualifier(qualifiers, "ActivityID");
	property->is_related_activity_id = etw_mof_qualifier(qualifiers, "RelatedActivityID");
	if (etw_mof_is_name(etw_mof_text(qualifiers, "extension"), "NoPrint"))
		field->out_type = TDH_OUTTYPE_NOPRINT;
	if (etw_mof_qualifier(qualifiers, "XMLFragment"))
		field->flags |= PropertyWBEMXmlFragment;
	property->is_read = true;
	return etw_mof_keep(reader, property->name, &field->name);
}

int etw_mof_field(struct mof_reader *reader, const struct mof_class *class,
		  struct mof_property *property, struct etw_field *ret)
{
	*ret = property->field;
	if (!can_have_map(ret))
		return 0;
	TRY(etw_mof_map(reader, class, property, &ret->map));
	ret->map_name = ret->map ? ret->map->name : NULL;
	return 0;
}
