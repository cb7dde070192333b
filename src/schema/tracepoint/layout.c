/* SPDX-License-Identifier: MIT */
/* Types by the fields' sizes and signs, as one C type has other sizes elsewhere. See layout.h. */
#include "schema/tracepoint/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "schema/tracepoint/print_format.h"
#include "schema/types.h"

/* A dynamic array is two fields. */
#define FIELDS_ROOM ((size_t)2 * ETW_TRACEPOINT_FIELDS_MAX)

struct maker {
	struct etw_arena *arena;
	const struct etw_tracepoint_format *format;
	const struct etw_tracepoint_hint *hints;
	struct etw_field fields[FIELDS_ROOM];
	struct etw_tracepoint_step steps[ETW_TRACEPOINT_FIELDS_MAX];
	uint16_t field_count;
	uint32_t step_count;
};

/* Text is what has elements of plain char, unless the kernel shows them as bytes. */
static bool is_text(const struct etw_tracepoint_field *field,
		    const struct etw_tracepoint_hint *hint)
{
	return field->is_array && !field->is_pointer && !hint->is_bytes &&
	       (strcmp(field->type, "char") == 0 || strcmp(field->type, "const char") == 0);
}

static bool is_word_of(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	const size_t bytes = strlen(word);

	return at && (at == text || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' ');
}

/* Bytes of an element of an array that lies elsewhere: the record does not say it, so the type's name does. */
static uint16_t dynamic_bytes(const struct etw_tracepoint_field *field)
{
	static const struct {
		const char *name;
		uint8_t bytes;
	} known[] = {{"u16", 2},        {"__u16", 2},      {"s16", 2},    {"__s16", 2},
		     {"uint16_t", 2},   {"int16_t", 2},    {"__le16", 2}, {"__be16", 2},
		     {"u32", 4},        {"__u32", 4},      {"s32", 4},    {"__s32", 4},
		     {"uint32_t", 4},   {"int32_t", 4},    {"__le32", 4}, {"__be32", 4},
		     {"u64", 8},        {"__u64", 8},      {"s64", 8},    {"__s64", 8},
		     {"uint64_t", 8},   {"int64_t", 8},    {"__le64", 8}, {"__be64", 8},
		     {"dma_addr_t", 8}, {"phys_addr_t", 8}};

	if (field->is_pointer)
		return sizeof(void *);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (is_word_of(field->type, known[i].name))
			return known[i].bytes;
	if (is_word_of(field->type, "struct") || is_word_of(field->type, "char") ||
	    is_word_of(field->type, "cpumask_t"))
		return 1;
	if (strstr(field->type, "long long"))
		return 8;
	if (is_word_of(field->type, "long"))
		return sizeof(long);
	if (is_word_of(field->type, "short"))
		return 2;
	if (is_word_of(field->type, "int") || is_word_of(field->type, "unsigned"))
		return 4;
	return 1;
}

static uint16_t integer_type(uint32_t bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? TDH_INTYPE_INT8 : TDH_INTYPE_UINT8;
	case 2:
		return is_signed ? TDH_INTYPE_INT16 : TDH_INTYPE_UINT16;
	case 4:
		return is_signed ? TDH_INTYPE_INT32 : TDH_INTYPE_UINT32;
	case 8:
		return is_signed ? TDH_INTYPE_INT64 : TDH_INTYPE_UINT64;
	default:
		return TDH_INTYPE_BINARY;
	}
}

static struct etw_field *add_field(struct maker *maker, const char *name, uint16_t in_type)
{
	struct etw_field *field = &maker->fields[maker->field_count++];

	*field = (struct etw_field){
		.name = name,
		.in_type = in_type,
		.out_type = etw_schema_out_type(in_type),
		.count = 1,
		.length = etw_schema_length(in_type),
	};
	return field;
}

static struct etw_tracepoint_step *add_step(struct maker *maker, uint8_t kind,
					    const struct etw_tracepoint_field *field)
{
	struct etw_tracepoint_step *step = &maker->steps[maker->step_count++];

	*step = (struct etw_tracepoint_step){
		.kind = kind, .offset = (uint16_t)field->offset, .bytes = (uint16_t)field->bytes};
	return step;
}

/* What lies one behind the other in the record is copied at once. */
static void add_copy(struct maker *maker, const struct etw_tracepoint_field *field)
{
	struct etw_tracepoint_step *last = maker->step_count ? &maker->steps[maker->step_count - 1]
							     : NULL;

	if (last && last->kind == ETW_TRACEPOINT_COPY &&
	    last->offset + last->bytes == field->offset)
		last->bytes = (uint16_t)(last->bytes + field->bytes);
	else
		(void)add_step(maker, ETW_TRACEPOINT_COPY, field);
}

static void show_hex(struct etw_field *field, uint32_t bytes)
{
	static const uint16_t out_types[] = {[1] = TDH_OUTTYPE_HEXINT8,
					     [2] = TDH_OUTTYPE_HEXINT16,
					     [4] = TDH_OUTTYPE_HEXINT32,
					     [8] = TDH_OUTTYPE_HEXINT64};

	field->in_type = bytes == 4   ? TDH_INTYPE_HEXINT32
			 : bytes == 8 ? TDH_INTYPE_HEXINT64
				      : integer_type(bytes, false);
	field->out_type = out_types[bytes];
}

/* The names of values. TDH knows them of unsigned numbers of up to 32 bits alone. */
static bool add_map(struct etw_field *field, const struct etw_tracepoint_hint *hint, uint32_t bytes)
{
	if (!hint->map || bytes > 4 || hint->has_negative)
		return false;
	field->in_type = integer_type(bytes, false);
	field->out_type = etw_schema_out_type(field->in_type);
	field->map = hint->map;
	field->map_name = hint->map->name;
	return true;
}

static bool is_boolean(const struct etw_tracepoint_field *field, uint32_t bytes)
{
	return bytes == 1 && !field->is_pointer &&
	       (strcmp(field->type, "bool") == 0 || strcmp(field->type, "_Bool") == 0);
}

/* @bytes: of one element */
static struct etw_field *add_number(struct maker *maker, const struct etw_tracepoint_field *from,
				    const struct etw_tracepoint_hint *hint, uint32_t bytes)
{
	struct etw_field *field = add_field(maker, from->name,
					    integer_type(bytes, from->is_signed));

	if (field->in_type == TDH_INTYPE_BINARY) {
		field->length = (uint16_t)bytes;
		field->flags |= PropertyParamFixedLength;
		return field;
	}
	if (from->is_pointer && bytes == sizeof(void *)) {
		field->in_type = TDH_INTYPE_POINTER;
		field->out_type = etw_schema_out_type(field->in_type);
		return field;
	}
	if (add_map(field, hint, bytes))
		return field;
	if (is_boolean(from, bytes))
		field->out_type = TDH_OUTTYPE_BOOLEAN;
	else if (hint->show == ETW_TRACEPOINT_SHOW_HEX && !from->is_signed)
		show_hex(field, bytes);
	return field;
}

/* 4 bytes that are shown as an address of IPv4, 16 as one of IPv6. */
static bool add_address(struct maker *maker, const struct etw_tracepoint_field *from,
			const struct etw_tracepoint_hint *hint)
{
	struct etw_field *field;

	if (hint->show == ETW_TRACEPOINT_SHOW_IPV4 && from->bytes == 4) {
		field = add_field(maker, from->name, TDH_INTYPE_UINT32);
		field->out_type = TDH_OUTTYPE_IPV4;
		return true;
	}
	if (hint->show == ETW_TRACEPOINT_SHOW_IPV6 && from->bytes == 16) {
		field = add_field(maker, from->name, TDH_INTYPE_BINARY);
		field->out_type = TDH_OUTTYPE_IPV6;
		field->length = 16;
		field->flags |= PropertyParamFixedLength;
		return true;
	}
	return false;
}

static void add_text(struct maker *maker, const struct etw_tracepoint_field *from, uint8_t kind)
{
	struct etw_field *field = add_field(maker, from->name, TDH_INTYPE_ANSISTRING);
	struct etw_tracepoint_step *step = add_step(maker, kind, from);

	field->out_type = TDH_OUTTYPE_UTF8;
	step->is_relative = from->place == ETW_TRACEPOINT_REL_LOC;
}

static void add_fixed(struct maker *maker, const struct etw_tracepoint_field *from,
		      const struct etw_tracepoint_hint *hint)
{
	const uint32_t bytes = from->bytes / from->count;
	struct etw_field *field;

	if (is_text(from, hint)) {
		add_text(maker, from, ETW_TRACEPOINT_TEXT);
		return;
	}
	add_copy(maker, from);
	if (!from->is_array && (integer_type(bytes, false) != TDH_INTYPE_BINARY)) {
		(void)add_number(maker, from, hint, bytes);
		return;
	}
	if (add_address(maker, from, hint))
		return;
	if (bytes == 1 || !from->is_array || integer_type(bytes, false) == TDH_INTYPE_BINARY) {
		field = add_field(maker, from->name, TDH_INTYPE_BINARY);
		field->length = (uint16_t)from->bytes;
		field->flags |= PropertyParamFixedLength;
		return;
	}
	field = add_number(maker, from, hint, bytes);
	field->count = (uint16_t)from->count;
	field->flags |= PropertyParamFixedCount;
}

static int add_array(struct maker *maker, const struct etw_tracepoint_field *from,
		     const struct etw_tracepoint_hint *hint, uint8_t kind)
{
	const uint16_t bytes = dynamic_bytes(from);
	const char *tail = bytes == 1 ? "_length" : "_count";
	const uint16_t index = maker->field_count;
	struct etw_tracepoint_step *step = add_step(maker, kind, from);
	struct etw_field *field;
	char name[ETW_TRACEPOINT_NAME_BYTES_MAX + sizeof("_length")];

	strcpy(name, from->name);
	strcat(name, tail);
	step->is_relative = from->place == ETW_TRACEPOINT_REL_LOC;
	step->bytes = bytes;
	field = add_field(maker, etw_arena_strdup(maker->arena, name), TDH_INTYPE_UINT32);
	if (!field->name)
		return -ENOMEM;
	if (bytes == 1) {
		field = add_field(maker, from->name, TDH_INTYPE_BINARY);
		field->length = index;
		field->flags |= PropertyParamLength;
		return 0;
	}
	field = add_number(maker, from, hint, bytes);
	field->count = index;
	field->flags |= PropertyParamCount;
	return 0;
}

static int add_one(struct maker *maker, const struct etw_tracepoint_field *from,
		   const struct etw_tracepoint_hint *hint)
{
	const bool is_rest = from->place == ETW_TRACEPOINT_TO_END;
	struct etw_tracepoint_step *step;

	if (from->place == ETW_TRACEPOINT_INLINE && !from->bit_count) {
		add_fixed(maker, from, hint);
		return 0;
	}
	if (from->bit_count) {
		step = add_step(maker, ETW_TRACEPOINT_BITS, from);
		step->bit_shift = from->bit_shift;
		step->bit_count = from->bit_count;
		(void)add_number(maker, from, hint, step->bytes);
		return 0;
	}
	if (is_text(from, hint)) {
		add_text(maker, from,
			 is_rest ? ETW_TRACEPOINT_REST_TEXT : ETW_TRACEPOINT_DYNAMIC_TEXT);
		return 0;
	}
	return add_array(maker, from, hint,
			 is_rest ? ETW_TRACEPOINT_REST_ARRAY : ETW_TRACEPOINT_DYNAMIC_ARRAY);
}

/* The number of the tracepoint and the thread are in the event's header. */
static bool is_in_header(const struct etw_tracepoint_field *field)
{
	return strcmp(field->name, "common_type") == 0 || strcmp(field->name, "common_pid") == 0;
}

static int add_fields(struct maker *maker)
{
	const struct etw_tracepoint_format *format = maker->format;

	for (int is_common = 0; is_common <= 1; is_common++) {
		for (uint32_t i = 0; i < format->field_count; i++) {
			const struct etw_tracepoint_field *field = &format->fields[i];

			if (field->is_common == is_common && !is_in_header(field))
				TRY(add_one(maker, field, &maker->hints[i]));
		}
	}
	return 0;
}

static void set_identity(const struct etw_tracepoint_format *format,
			 const struct etw_tracepoint_identity *identity, struct etw_schema *schema)
{
	*schema = (struct etw_schema){
		.provider = identity->provider,
		.descriptor = {.Id = identity->id,
			       .Version = identity->version,
			       .Level = 4,
			       .Task = identity->id,
			       .Keyword = identity->keyword},
		.source = DecodingSourceXMLFile,
		.provider_name = identity->provider_name,
		.task_name = format->name,
		.event_name = format->name,
		.keywords = format->name,
		.level_name = etw_schema_level_name(4),
	};
}

static int finish(struct maker *maker, struct etw_tracepoint_layout *layout)
{
	layout->record_bytes = maker->format->record_bytes;
	layout->step_count = maker->step_count;
	layout->steps = etw_arena_copy(maker->arena, maker->steps,
				       maker->step_count * sizeof(*maker->steps));
	layout->schema.field_count = maker->field_count;
	layout->schema.top_count = maker->field_count;
	layout->schema.fields = etw_arena_copy(maker->arena, maker->fields,
					       maker->field_count * sizeof(*maker->fields));
	return layout->steps && layout->schema.fields ? 0 : -ENOMEM;
}

/* A trace has one map of a name, so that those of another version have names of their own. */
static int name_maps(struct etw_arena *arena, struct etw_tracepoint_hint *hints, uint32_t count,
		     uint8_t version)
{
	for (uint32_t i = 0; version && i < count; i++) {
		char name[2 * ETW_TRACEPOINT_NAME_BYTES_MAX + sizeof(".#255")];
		struct etw_map *map;

		if (!hints[i].map)
			continue;
		snprintf(name, sizeof(name), "%s#%u", hints[i].map->name, (unsigned)version);
		map = etw_arena_copy(arena, hints[i].map, sizeof(*map));
		if (!map)
			return -ENOMEM;
		map->name = etw_arena_strdup(arena, name);
		if (!map->name)
			return -ENOMEM;
		hints[i].map = map;
	}
	return 0;
}

int etw_tracepoint_layout_make(struct etw_arena *arena, const struct etw_tracepoint_format *format,
			       const struct etw_tracepoint_identity *identity,
			       struct etw_tracepoint_layout **ret)
{
	CLEANUP(freep) struct maker *maker = calloc(1, sizeof(*maker));
	CLEANUP(freep)
	struct etw_tracepoint_hint *hints = calloc(format->field_count + 1, sizeof(*hints));
	struct etw_tracepoint_layout *layout = etw_arena_alloc(arena, sizeof(*layout));

	if (!maker || !hints || !layout)
		return -ENOMEM;
	TRY(etw_tracepoint_hints(arena, format, hints));
	TRY(name_maps(arena, hints, format->field_count, identity->version));
	maker->arena = arena;
	maker->format = format;
	maker->hints = hints;
	TRY(add_fields(maker));
	set_identity(format, identity, &layout->schema);
	TRY(finish(maker, layout));
	*ret = layout;
	return 0;
}
