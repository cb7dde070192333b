/* SPDX-License-Identifier: MIT */
/* Classic events as schemas: the table has MOF's words, and they mean what they mean in a MOF file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "schema/known/known_internal.h"
#include "schema/known/known_schema.h"
#include "schema/known/known_schema_internal.h"
#include "schema/mof/mof_internal.h"
#include "schema/types.h"

/* The table writes Int32 for sint32, and Pointer for an integer with the qualifier pointer. */
static const char *mof_type(const char *type, char room[16])
{
	if (strcmp(type, "Pointer") == 0)
		return "uint32";
	if (strncmp(type, "Int", 3) != 0)
		return type;
	(void)snprintf(room, 16, "s%s", type);
	return room;
}

/* Returns whether the bytes of the field are known. */
static bool read_layout(const struct etw_known_class_field *from, struct etw_field *field)
{
	const struct mof_value extension = {.kind = MOF_STRING, .text = from->extension};
	const struct mof_value termination = {.kind = MOF_STRING, .text = from->termination};
	const struct mof_value format = {.kind = MOF_STRING, .text = from->format};
	const struct mof_qualifier all[] = {
		{.name = "pointer", .values = NULL, .value_count = 0},
		{.name = "extension", .values = &extension, .value_count = 1},
		{.name = "StringTermination", .values = &termination, .value_count = 1},
		{.name = "format", .values = &format, .value_count = 1},
	};
	const bool is_given[] = {strcmp(from->type, "Pointer") == 0, *from->extension,
				 *from->termination, *from->format};
	struct mof_qualifier given[ARRAY_SIZE(all)];
	struct mof_property property = {
		.name = from->name, .size = from->count, .is_array = from->count != 0};
	char room[16];

	for (size_t i = ARRAY_SIZE(all); i; i--) {
		if (!is_given[i - 1])
			continue;
		given[i - 1] = all[i - 1];
		given[i - 1].next = (struct mof_qualifier *)(uintptr_t)property.qualifiers;
		property.qualifiers = &given[i - 1];
	}
	property.type = mof_type(from->type, room);
	*field = (struct etw_field){.name = from->name};
	return !etw_mof_read_layout(&property, field);
}

/* Of a source without qualifiers a string may be anything: what is behind it is lost. */
static bool is_told(const struct etw_known_class_field *field, uint32_t marks)
{
	return !(marks & WIRE_KNOWN_INCOMPLETE) || strcmp(field->type, "String") != 0;
}

static int make_fields(struct known_maker *maker, const struct etw_known_class *class,
		       struct etw_schema *schema)
{
	struct etw_field *fields;
	uint16_t count = 0;

	if (class->field_count > ETW_SCHEMA_FIELDS_MAX)
		return etw_known_damaged(maker->known, maker->known->bytes.at, "template", "count",
					 "an event has more fields than the limit");
	fields = etw_arena_array(maker->arena, class->field_count, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < class->field_count; i++) {
		struct etw_known_class_field from;

		TRY(etw_known_class_field_at(maker->known, class->template, i, &from));
		if (!is_told(&from, class->marks) || !read_layout(&from, &fields[count]))
			break;
		count++;
	}
	schema->fields = fields;
	schema->field_count = schema->top_count = count;
	if (etw_schema_fields_check(schema))
		return etw_known_damaged(maker->known, maker->known->bytes.at, "template", NULL,
					 etw_schema_fields_check(schema));
	return 0;
}

/* The name of a class is "SystemConfig_CPU", or "Process_V2_TypeGroup1": the part before the last one says the task. */
static int make_class(struct known_maker *maker, const struct etw_known_class *class,
		      struct etw_schema *ret)
{
	struct etw_schema schema = {
		.provider = maker->provider->guid,
		.event_guid = class->guid,
		.descriptor = {.Opcode = (UCHAR) class->type},
		.source = DecodingSourceWbem,
		.provider_name = maker->provider->name,
		.symbol = class->name,
	};

	if (class->version <= UINT8_MAX)
		schema.descriptor.Version = (UCHAR) class->version;
	schema.opcode_name = *class->opcode_name ? class->opcode_name : NULL;
	schema.task_name = class->name;
	TRY(make_fields(maker, class, &schema));
	*ret = schema;
	return 0;
}

/* One class as the next candidate. Returns 0, -EBADMSG, or -ENOMEM. */
static int add_candidate(struct etw_known *known, const struct etw_known_class *class,
			 struct etw_arena *arena, struct etw_known_candidate *candidate)
{
	struct etw_known_provider provider;
	struct known_maker maker = {.known = known, .arena = arena, .provider = &provider};
	struct etw_schema *schema = etw_arena_alloc(arena, sizeof(*schema));
	int r = etw_known_provider_at(known, class->provider, &provider);

	if (r == -ENOENT)
		return etw_known_damaged(known, known->bytes.at, "class", "provider",
					 "the provider of a class is not there");
	TRY(r);
	if (!schema)
		return -ENOMEM;
	TRY(make_class(&maker, class, schema));
	*candidate = (struct etw_known_candidate){schema, provider.builds, "", class->marks};
	return 0;
}

/*
 * Sources without versions have full types, those with versions often have not: of a class that is known from
 * both, the complete one goes first.
 */
static int find_classes(struct etw_known *known, const GUID *guid, uint16_t type, uint16_t version,
			struct etw_known_class found[2])
{
	int count = 0;
	int r = etw_known_class_find(known, guid, type, version, &found[0]);

	if (r == -ENOENT)
		return 0;
	TRY(r);
	count++;
	if (found[0].version == UINT16_MAX)
		return count;
	r = etw_known_class_find(known, guid, type, UINT16_MAX, &found[1]);
	if (r == -ENOENT)
		return count;
	TRY(r);
	if (found[0].marks && !found[1].marks) {
		struct etw_known_class first = found[0];

		found[0] = found[1];
		found[1] = first;
	}
	return count + 1;
}

int etw_known_class_candidates(struct etw_known *known, const GUID *class_guid, uint16_t type,
			       uint16_t version, struct etw_arena *arena,
			       struct etw_known_candidate **ret, size_t *ret_count)
{
	struct etw_known_candidate *candidates;
	struct etw_known_class found[2];
	int count = find_classes(known, class_guid, type, version, found);

	if (count <= 0)
		return count < 0 ? count : -ENOENT;
	candidates = etw_arena_array(arena, (size_t)count, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		TRY(add_candidate(known, &found[i], arena, &candidates[i]));
	*ret = candidates;
	*ret_count = (size_t)count;
	return 0;
}
