/* SPDX-License-Identifier: MIT */
/* Fields as C code takes them, and the letters that spell a template: a capital for an array. */
#include <stdio.h>

#include <tdh.h>

#include "compile/header_internal.h"

#define IPV6_BYTES 16 /* a win:Binary without a length */

static const struct type_code type_codes[] = {
	{TDH_INTYPE_UNICODESTRING, 'z', "PCWSTR", "WCHAR", false},
	{TDH_INTYPE_ANSISTRING, 's', "PCSTR", "char", false},
	{TDH_INTYPE_INT8, 'c', "const signed char", "signed char", false},
	{TDH_INTYPE_UINT8, 'u', "const unsigned char", "unsigned char", false},
	{TDH_INTYPE_INT16, 'l', "const signed short", "signed short", false},
	{TDH_INTYPE_UINT16, 'h', "const unsigned short", "unsigned short", false},
	{TDH_INTYPE_INT32, 'd', "const signed int", "signed int", false},
	{TDH_INTYPE_UINT32, 'q', "const unsigned int", "unsigned int", false},
	{TDH_INTYPE_INT64, 'i', "const LONGLONG", "LONGLONG", false},
	{TDH_INTYPE_UINT64, 'x', "const ULONGLONG", "ULONGLONG", false},
	{TDH_INTYPE_FLOAT, 'f', "const float", "float", false},
	{TDH_INTYPE_DOUBLE, 'g', "const double", "double", false},
	{TDH_INTYPE_BOOLEAN, 't', "const signed int", "signed int", false},
	{TDH_INTYPE_BINARY, 'b', "const unsigned char*", "unsigned char", true},
	{TDH_INTYPE_GUID, 'j', "const GUID*", "GUID", true},
	{TDH_INTYPE_POINTER, 'p', "const void*", "void*", false},
	{TDH_INTYPE_FILETIME, 'm', "const FILETIME*", "FILETIME", true},
	{TDH_INTYPE_SYSTEMTIME, 'y', "const SYSTEMTIME*", "SYSTEMTIME", true},
	{TDH_INTYPE_SID, 'k', "const SID*", "unsigned char", false},
	{TDH_INTYPE_HEXINT32, 'd', "const signed int", "signed int", false},
	{TDH_INTYPE_HEXINT64, 'i', "const LONGLONG", "LONGLONG", false},
	{TDH_INTYPE_MANIFEST_COUNTEDSTRING, 'w', "const WCHAR*", "WCHAR", false},
	{TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, 'a', "const char*", "char", false},
	{TDH_INTYPE_MANIFEST_COUNTEDBINARY, 'e', "const unsigned char*", "unsigned char", false},
};

static const struct type_code struct_code = {0, 'n', "const void*", "void", false};

const struct type_code *etw_mc_type_code(const struct mc_field *field)
{
	for (size_t i = 0; !field->is_struct && i < ARRAY_SIZE(type_codes); i++) {
		if (type_codes[i].in_type == field->in_type)
			return &type_codes[i];
	}
	return &struct_code;
}

bool etw_mc_is_text(const struct type_code *code)
{
	return code->letter == 'z' || code->letter == 's';
}

bool etw_mc_is_counted(const struct type_code *code)
{
	return code->letter == 'w' || code->letter == 'a' || code->letter == 'e';
}

bool etw_mc_is_struct(const struct type_code *code)
{
	return code == &struct_code;
}

bool etw_mc_is_array(const struct mc_field *field)
{
	return field->count.field || field->count.number > 1;
}

/* A SID says itself how long it is; a length of 0 is none. */
bool etw_mc_has_length(const struct mc_field *field)
{
	const struct type_code *code = etw_mc_type_code(field);

	if (code->letter == 'b')
		return true;
	return etw_mc_is_text(code) && (field->length.field || field->length.number > 0);
}

unsigned etw_mc_length_number(const struct mc_field *field)
{
	return field->length.number ? field->length.number : IPV6_BYTES;
}

bool etw_mc_takes_length(const struct mc_field *field)
{
	const struct type_code *code = etw_mc_type_code(field);

	if (etw_mc_is_counted(code) || etw_mc_is_struct(code))
		return true;
	if (!etw_mc_is_array(field))
		return false;
	return code->letter == 'k' || (etw_mc_is_text(code) && !etw_mc_has_length(field));
}

bool etw_mc_is_packed(const struct mc_field *field)
{
	return etw_mc_is_struct(etw_mc_type_code(field)) ||
	       (etw_mc_is_array(field) && etw_mc_takes_length(field));
}

static int spell_array(const struct mc_field *field, char letter, char *to, size_t room)
{
	const struct mc_extent *count = &field->count, *length = &field->length;

	if (!etw_mc_has_length(field)) {
		if (letter == 'Z' || letter == 'S')
			return snprintf(to, room, "%cR", letter);
		return count->field ? snprintf(to, room, "%cR%u", letter, count->field->index)
				    : snprintf(to, room, "%c%u", letter, count->number);
	}
	if (count->field && length->field)
		return snprintf(to, room, "%cr%uR%u", letter, length->field->index,
				count->field->index);
	if (count->field)
		return snprintf(to, room, "%c%ur%u", letter, etw_mc_length_number(field),
				count->field->index);
	if (length->field)
		return snprintf(to, room, "%c%ur%u", letter, count->number, length->field->index);
	return snprintf(to, room, "%c%u", letter, count->number * etw_mc_length_number(field));
}

static int spell(const struct mc_field *field, char *to, size_t room)
{
	char letter = etw_mc_type_code(field)->letter;

	if (etw_mc_is_array(field))
		return spell_array(field, (char)(letter - 'a' + 'A'), to, room);
	if (!etw_mc_has_length(field))
		return snprintf(to, room, "%c", letter);
	return field->length.field
		       ? snprintf(to, room, "%cr%u", letter, field->length.field->index)
		       : snprintf(to, room, "%c%u", letter, etw_mc_length_number(field));
}

void etw_mc_spell(const struct mc_template *template_of, char codes[static HEADER_CODES_BYTES])
{
	const struct mc_field *at = template_of ? template_of->fields : NULL;
	size_t used = 0;

	codes[0] = '\0';
	for (; at; at = at->next)
		used += (size_t)spell(at, codes + used, HEADER_CODES_BYTES - used);
}
