/* SPDX-License-Identifier: MIT */
/*
 * Two steps: the wire order, depth first, is read into nodes; the nodes are then laid out in the
 * model's order, level by level, with the synthesised count and length fields in place.
 */
#include "schema/metadata/tracelogging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "base/utf.h"
#include "schema/metadata/tracelogging_internal.h"
#include "schema/types.h"

#define STRUCTURE "TraceLogging metadata"

/* In-type byte. */
#define TYPE_MASK     0x1f
#define TYPE_STRUCT   24
#define FORM_MASK     0x60
#define FORM_FIXED    0x20
#define FORM_VARIABLE 0x40
#define FORM_CUSTOM   0x60
#define HAS_NEXT_BYTE 0x80
#define TAG_BYTES_MAX 4
#define NO_PARENT     UINT16_MAX

struct node {
	const char *name; /* in the metadata */
	uint32_t tags;
	uint16_t parent;       /* index of the enclosing struct's node */
	uint16_t count;        /* FORM_FIXED */
	uint16_t field;        /* where it was laid out */
	uint16_t custom_bytes; /* FORM_CUSTOM */
	const uint8_t *custom; /* in the metadata */
	uint8_t in_type;
	uint8_t form;
	uint8_t out_type;
	uint8_t has_tags;
};

struct open_struct {
	uint16_t node;
	uint8_t left; /* members still to come */
};

struct reader {
	struct etw_bytes metadata;
	const uint8_t *start;
	struct node *nodes; /* owned */
	size_t room;
	uint16_t count;
	uint16_t field_count; /* with synthesised ones */
	struct open_struct open[ETW_SCHEMA_DEPTH_MAX];
	unsigned depth;
	struct etw_fault *reterr;
};

static int refuse(struct reader *reader, const char *field, const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG,
			     (uint64_t)(reader->metadata.at - reader->start), STRUCTURE, field,
			     sentence);
}

static const char *take_name(struct etw_bytes *bytes)
{
	const uint8_t *end = bytes->left ? memchr(bytes->at, 0, bytes->left) : NULL;

	if (!end)
		return NULL;
	return (const char *)etw_bytes_take(bytes, (size_t)(end - bytes->at) + 1);
}

/* Tags are left-aligned in 28 bits: seven a byte, the first byte holds the highest. */
static bool take_tags(struct etw_bytes *bytes, uint32_t *ret)
{
	uint32_t tags = 0;
	uint8_t byte;
	unsigned shift = 21;

	for (unsigned i = 0; i < TAG_BYTES_MAX; i++, shift -= 7) {
		if (!etw_bytes_u8(bytes, &byte))
			return false;
		tags |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & HAS_NEXT_BYTE)) {
			*ret = tags;
			return true;
		}
	}
	return false;
}

static bool is_binary(const struct node *node)
{
	return node->in_type == TDH_INTYPE_BINARY && node->form != FORM_FIXED &&
	       node->form != FORM_VARIABLE;
}

static bool is_known_type(uint8_t in_type)
{
	return in_type <= TDH_INTYPE_MANIFEST_COUNTEDBINARY;
}

/* Fields that the node becomes: itself and what is synthesised before it. */
static unsigned fields_of(const struct node *node)
{
	return 1U + (node->form == FORM_VARIABLE) + is_binary(node);
}

static int read_node(struct reader *reader, struct node *node)
{
	struct etw_bytes *bytes = &reader->metadata;
	uint8_t type = 0, out = 0;

	node->name = take_name(bytes);
	if (!node->name)
		return refuse(reader, "field name", "the name of a field is not terminated");
	if (!etw_bytes_u8(bytes, &type))
		return refuse(reader, "in-type", "a field ends before its type");
	node->in_type = type & TYPE_MASK;
	node->form = type & FORM_MASK;
	if (!is_known_type(node->in_type))
		return refuse(reader, "in-type", "a field has an unknown type");
	if ((type & HAS_NEXT_BYTE) && !etw_bytes_u8(bytes, &out))
		return refuse(reader, "out-type", "a field ends before its out-type");
	node->out_type = out & 0x7f;
	node->has_tags = (out & HAS_NEXT_BYTE) != 0;
	if (node->has_tags && !take_tags(bytes, &node->tags))
		return refuse(reader, "tags", "the tags of a field are malformed");
	node->count = 1;
	if (node->form == FORM_FIXED && !etw_bytes_u16(bytes, &node->count))
		return refuse(reader, "count", "a field ends before its array count");
	if (node->form != FORM_CUSTOM)
		return 0;
	if (etw_bytes_u16(bytes, &node->custom_bytes))
		node->custom = etw_bytes_take(bytes, node->custom_bytes);
	if (!node->custom)
		return refuse(reader, "custom schema", "a custom schema goes beyond the metadata");
	return 0;
}

static int add_node(struct reader *reader, const struct node *node)
{
	if (reader->count == reader->room) {
		size_t room = reader->room ? reader->room * 2 : 32;
		struct node *nodes = realloc(reader->nodes, room * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		reader->nodes = nodes;
		reader->room = room;
	}
	reader->nodes[reader->count++] = *node;
	reader->field_count = (uint16_t)(reader->field_count + fields_of(node));
	return 0;
}

static void close_complete_structs(struct reader *reader)
{
	while (reader->depth && reader->open[reader->depth - 1].left == 0)
		reader->depth--;
}

static int read_one(struct reader *reader)
{
	struct node node = {.parent = NO_PARENT};
	bool is_struct;

	TRY(read_node(reader, &node));
	if (reader->field_count + fields_of(&node) > ETW_SCHEMA_FIELDS_MAX)
		return refuse(reader, "fields", "an event has more fields than the limit");
	/* EventSource writes empty structs. */
	is_struct = node.in_type == TYPE_STRUCT && node.out_type;
	close_complete_structs(reader);
	if (is_struct && reader->depth == ETW_SCHEMA_DEPTH_MAX)
		return refuse(reader, "struct", "structs are nested too deeply");
	if (reader->depth)
		node.parent = reader->open[reader->depth - 1].node;
	TRY(add_node(reader, &node));
	if (reader->depth)
		reader->open[reader->depth - 1].left--;
	if (is_struct)
		reader->open[reader->depth++] = (struct open_struct){(uint16_t)(reader->count - 1),
								     node.out_type};
	return 0;
}

/*
 * What precedes the damage is kept, except an array of structs whose members are not all known: its
 * second element would be read at the wrong place.
 */
static void cut_open_arrays(struct reader *reader)
{
	for (unsigned i = 0; i < reader->depth; i++) {
		uint16_t index = reader->open[i].node;

		if (reader->nodes[index].form == FORM_FIXED ||
		    reader->nodes[index].form == FORM_VARIABLE) {
			reader->count = index;
			return;
		}
	}
}

static int read_nodes(struct reader *reader)
{
	int r = 0;

	while (r == 0 && reader->metadata.left)
		r = read_one(reader);
	close_complete_structs(reader);
	if (r == 0 && reader->depth)
		r = refuse(reader, "struct", "a struct has fewer members than it says");
	if (r != -EBADMSG)
		return r;
	cut_open_arrays(reader);
	return 0;
}

static const char *with_suffix(struct etw_arena *arena, const char *name, const char *suffix)
{
	size_t name_bytes = strlen(name), suffix_bytes = strlen(suffix);
	char *text = etw_arena_alloc(arena, name_bytes + suffix_bytes + 1);

	if (text) {
		memcpy(text, name, name_bytes);
		memcpy(text + name_bytes, suffix, suffix_bytes);
	}
	return text;
}

static int place_number(struct etw_arena *arena, struct etw_field *field, const char *name,
			const char *suffix)
{
	*field = (struct etw_field){
		.name = with_suffix(arena, name, suffix),
		.in_type = TDH_INTYPE_UINT16,
		.out_type = TDH_OUTTYPE_UNSIGNEDSHORT,
		.count = 1,
		.length = 2,
	};
	return field->name ? 0 : -ENOMEM;
}

/* The protocol of a custom schema stands in place of the out-type. */
static int place_custom(struct etw_arena *arena, const struct node *node, struct etw_field *field)
{
	struct etw_custom_schema *custom = etw_arena_alloc(arena, sizeof(*custom));
	uint8_t *copy = etw_arena_alloc(arena, node->custom_bytes + (size_t)1);

	if (!custom || !copy)
		return -ENOMEM;
	memcpy(copy, node->custom, node->custom_bytes);
	*custom = (struct etw_custom_schema){node->out_type, node->custom_bytes, copy};
	field->custom = custom;
	field->flags |= PropertyHasCustomSchema;
	field->out_type = etw_schema_out_type(field->in_type);
	return 0;
}

/* Lays out one node from fields[*at] on. */
static int place_node(struct etw_arena *arena, struct node *node, struct etw_field *fields,
		      uint16_t *at)
{
	struct etw_field field = {
		.name = etw_tracelogging_copy_name(arena, node->name),
		.tags = node->tags,
		.flags = node->has_tags ? PropertyHasTags : 0,
		.count = node->count,
	};

	if (!field.name)
		return -ENOMEM;
	if (node->in_type == TYPE_STRUCT) {
		field.flags |= PropertyStruct;
	} else {
		field.in_type = node->in_type;
		/* An element of an array carries its own length: that is what type 25 is. */
		if (node->in_type == TDH_INTYPE_BINARY && !is_binary(node))
			field.in_type = TDH_INTYPE_MANIFEST_COUNTEDBINARY;
		field.out_type = etw_tracelogging_out_type((uint8_t)field.in_type, node->out_type);
		field.length = etw_schema_length(field.in_type);
	}
	if (node->form == FORM_CUSTOM && node->in_type != TYPE_STRUCT)
		TRY(place_custom(arena, node, &field));
	if (node->form == FORM_FIXED)
		field.flags |= PropertyParamFixedCount;
	if (node->form == FORM_VARIABLE) {
		TRY(place_number(arena, &fields[*at], field.name, ".Count"));
		field.flags |= PropertyParamCount;
		field.count = (*at)++;
	}
	if (is_binary(node)) {
		TRY(place_number(arena, &fields[*at], field.name, ".Length"));
		field.flags |= PropertyParamLength;
		field.length = (*at)++;
	}
	node->field = *at;
	fields[(*at)++] = field;
	return 0;
}

/*
 * Nodes whose parent is @parent, from @first on; a struct's members follow it in wire order, so that
 * the search ends at the next node that is not inside it.
 */
static int place_members(struct etw_arena *arena, struct reader *reader, uint16_t parent,
			 struct etw_field *fields, uint16_t *at)
{
	uint32_t first = parent == NO_PARENT ? 0 : parent + 1U;

	for (uint32_t i = first; i < reader->count; i++) {
		struct node *node = &reader->nodes[i];

		if (parent != NO_PARENT && (node->parent == NO_PARENT || node->parent < parent))
			break;
		if (node->parent == parent)
			TRY(place_node(arena, node, fields, at));
	}
	return 0;
}

static int lay_out(struct etw_arena *arena, struct reader *reader, struct etw_schema *schema)
{
	unsigned count = 0;
	struct etw_field *fields;
	uint16_t at = 0;

	for (uint16_t i = 0; i < reader->count; i++)
		count += fields_of(&reader->nodes[i]);
	fields = etw_arena_array(arena, count, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	TRY(place_members(arena, reader, NO_PARENT, fields, &at));
	schema->top_count = at;
	for (uint16_t i = 0; i < reader->count; i++) {
		const struct node *node = &reader->nodes[i];

		if (node->in_type != TYPE_STRUCT)
			continue;
		fields[node->field].struct_first = at;
		TRY(place_members(arena, reader, i, fields, &at));
		fields[node->field].struct_count =
			(uint16_t)(at - fields[node->field].struct_first);
	}
	schema->fields = fields;
	schema->field_count = at;
	return 0;
}

static int read_head(struct reader *reader, const char **ret_name, uint32_t *ret_tags)
{
	struct etw_bytes *bytes = &reader->metadata;
	uint16_t total;

	if (!etw_bytes_u16(bytes, &total) || total < 2)
		return refuse(reader, "size", "the metadata ends before its size");
	/* What lies behind the size that the metadata names does not belong to it. */
	if (total - 2U < bytes->left)
		bytes->left = total - 2U;
	else if (total - 2U > bytes->left)
		(void)refuse(reader, "size", "the metadata is shorter than its size says");
	if (!take_tags(bytes, ret_tags))
		return refuse(reader, "event tags", "the tags of the event are malformed");
	*ret_name = take_name(bytes);
	if (!*ret_name)
		return refuse(reader, "event name", "the name of the event is not terminated");
	return 0;
}

static int build(struct etw_arena *arena, const EVENT_DESCRIPTOR *descriptor, struct reader *reader,
		 struct etw_schema **ret)
{
	struct etw_schema *schema;
	const char *name;
	uint32_t tags;

	TRY(read_head(reader, &name, &tags));
	TRY(read_nodes(reader));
	schema = etw_arena_alloc(arena, sizeof(*schema));
	if (!schema)
		return -ENOMEM;
	schema->descriptor = *descriptor;
	schema->source = DecodingSourceTlg;
	schema->template_flags = TEMPLATE_EVENT_DATA | tags << 4;
	schema->event_name = etw_tracelogging_copy_name(arena, name);
	schema->task_name = schema->event_name;
	if (!schema->event_name)
		return -ENOMEM;
	schema->level_name = etw_schema_level_name(descriptor->Level);
	schema->opcode_name = descriptor->Opcode ? etw_schema_opcode_name(descriptor->Opcode)
						 : NULL;
	TRY(lay_out(arena, reader, schema));
	*ret = schema;
	return 0;
}

int etw_tracelogging_parse(struct etw_arena *arena, const EVENT_DESCRIPTOR *descriptor,
			   struct etw_bytes metadata, struct etw_schema **ret,
			   struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct reader reader = {
		.metadata = metadata,
		.start = metadata.at,
		.reterr = reterr,
	};
	int r;

	if (reterr)
		*reterr = (struct etw_fault){0};
	r = build(arena, descriptor, &reader, ret);
	free(reader.nodes);
	if (r < 0)
		etw_arena_release(arena, mark);
	return r;
}

size_t etw_tracelogging_provider_name(struct etw_bytes traits, const char **ret)
{
	uint16_t total;
	const char *name;

	if (!etw_bytes_u16(&traits, &total) || total < 2)
		return 0;
	if (total - 2U < traits.left)
		traits.left = total - 2U;
	name = take_name(&traits);
	if (!name || !*name)
		return 0;
	*ret = name;
	return strlen(name);
}

const char *etw_tracelogging_copy_name(struct etw_arena *arena, const char *name)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};
	const size_t bytes = strlen(name);

	if (LIKELY(etw_utf8_is_valid((const uint8_t *)name, bytes)))
		return etw_arena_strndup(arena, name, bytes);
	etw_text_ansi(&text, (const uint8_t *)name, bytes);
	return etw_text_error(&text) ? NULL : etw_arena_strndup(arena, text.at, text.bytes);
}
