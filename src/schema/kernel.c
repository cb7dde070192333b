/* SPDX-License-Identifier: MIT */
/*
 * Lookup in the built-in classic classes. The tables are made by scripts/gen_kernel_classes from the
 * texts in src/schema/kernel and are constant: classes sorted by the first 32 bits of their GUIDs,
 * which are distinct, and within a class events sorted by opcode and first version. Two binary
 * searches find an event. Version rules: docs/design/kernel-classes.md.
 */
#include "schema/kernel.h"

#include <assert.h>
#include <string.h>

#include "base/macros.h"

struct event_key {
	uint8_t opcode;
	uint8_t since; /* the first version that the schema of this row covers */
};

struct class_row {
	GUID guid;
	const char *name;
	uint16_t first; /* index into keys[] and schemas[] */
	uint16_t count;
};

#define FIELD(name_, in_, out_, flags_, count_, length_)                                \
	{                                                                               \
		.name = (name_), .flags = (flags_), .in_type = TDH_INTYPE_##in_,        \
		.out_type = TDH_OUTTYPE_##out_, .count = (count_), .length = (length_), \
	}

#define STRUCT(name_, flags_, count_, first_, members_)                                          \
	{                                                                                        \
		.name = (name_), .flags = (flags_), .count = (count_), .struct_first = (first_), \
		.struct_count = (members_),                                                      \
	}

#define EVENT(of_, opcode_, version_, name_, fields_, field_count_, top_count_)                 \
	{                                                                                       \
		of_, .descriptor = {.Version = (version_), .Opcode = (opcode_)},                \
		     .source = DecodingSourceWbem, .opcode_name = (name_), .fields = (fields_), \
		     .field_count = (field_count_), .top_count = (top_count_),                  \
	}

#include "schema/kernel/classes.inc"

static_assert(ARRAY_SIZE(keys) == ARRAY_SIZE(schemas), "a key for each schema");

static const struct class_row *find_class(const GUID *guid)
{
	size_t low = 0;
	size_t high = ARRAY_SIZE(classes);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (classes[middle].guid.Data1 < guid->Data1)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == ARRAY_SIZE(classes) || memcmp(&classes[low].guid, guid, sizeof(*guid)) != 0)
		return NULL;
	return &classes[low];
}

const struct etw_schema *etw_kernel_class_find(const GUID *class_guid, uint8_t opcode,
					       uint8_t version)
{
	const struct class_row *row = find_class(class_guid);
	size_t low;
	size_t high;

	if (!row)
		return NULL;
	/* The first row that is past (opcode, version); the one before it is the newest that is not. */
	low = row->first;
	high = low + row->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct event_key *key = &keys[middle];

		if (key->opcode < opcode || (key->opcode == opcode && key->since <= version))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == row->first || keys[low - 1].opcode != opcode)
		return NULL;
	return &schemas[low - 1];
}

const char *etw_kernel_class_name(const GUID *class_guid)
{
	const struct class_row *row = find_class(class_guid);

	return row ? row->name : NULL;
}

size_t etw_kernel_class_count(void)
{
	return ARRAY_SIZE(schemas);
}

const struct etw_schema *etw_kernel_class_at(size_t index)
{
	return index < ARRAY_SIZE(schemas) ? &schemas[index] : NULL;
}
