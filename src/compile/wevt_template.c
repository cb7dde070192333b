/* SPDX-License-Identifier: MIT */
/* Templates: their items, and the ids that are made from their shape. */
#include <errno.h>
#include <openssl/sha.h>
#include <string.h>
#include <tdh.h>

#include "base/utf.h"
#include "compile/wevt_internal.h"

#define BINARY_ARRAY 0x80 /* added to the type of an element */

#define TYPE_EVENT_DATA 1
#define TYPE_USER_DATA  2

uint8_t etw_mc_binary_type(const struct mc_field *field)
{
	uint8_t type = field->is_struct ? TDH_INTYPE_BINARY : (uint8_t)field->in_type;
	bool is_array = field->count.field || field->count.number;

	return is_array ? type | BINARY_ARRAY : type;
}

/*
 * The id of a template: SHA-256 of a seed, the XML of its events in UTF-16LE, and the binary types of
 * the fields, made into a GUID of version 5. Templates of one shape have the same id.
 */
static int make_id(const struct mc_template *template_of, const struct etw_text *xml,
		   uint8_t ret[16])
{
	static const char seed[] = "MS-WEVT";
	struct etw_text hashed = {0};
	uint8_t digest[SHA256_DIGEST_LENGTH];
	size_t units = etw_utf8_put_utf16(xml->at, xml->bytes, NULL);
	char *to;
	int r;

	etw_text_append(&hashed, seed, sizeof(seed));
	to = etw_text_begin(&hashed, 2 * units);
	if (to) {
		(void)etw_utf8_put_utf16(xml->at, xml->bytes, (uint8_t *)to);
		etw_text_end(&hashed, to + 2 * units);
	}
	for (const struct mc_field *field = template_of->fields; field; field = field->next) {
		le32 type = le32_of(etw_mc_binary_type(field));

		etw_text_append(&hashed, (const char *)&type, sizeof(type));
	}
	r = etw_text_error(&hashed);
	if (r == 0) {
		(void)SHA256((const uint8_t *)hashed.at, hashed.bytes, digest);
		memcpy(ret, digest, 16);
		ret[7] = (ret[7] & 0x0f) | 0x50;
	}
	etw_text_done(&hashed);
	return r;
}

/* A field and the struct whose member it is, as items need them. */
struct item_place {
	const struct mc_field *owner; /* NULL: on the top level */
	uint16_t first;               /* index of the owner's first member */
};

/* The index of the item of a field that another one, at @place, refers to. */
static uint16_t index_of(const struct mc_field *field, const struct item_place *place)
{
	const struct mc_field *members = place->owner ? place->owner->members : NULL;

	for (const struct mc_field *member = members; member; member = member->next) {
		if (member == field)
			return (uint16_t)(place->first + field->index);
	}
	return field->index;
}

static void fill_extents(struct wire_wevt_item *item, const struct mc_field *field,
			 const struct item_place *place)
{
	uint32_t flags = field->is_struct ? WIRE_WEVT_ITEM_STRUCT : 0;
	uint16_t count = field->count.number;
	uint16_t length = field->length.number;

	if (field->count.field) {
		flags |= WIRE_WEVT_ITEM_COUNT;
		count = index_of(field->count.field, place);
	} else if (count) {
		flags |= WIRE_WEVT_ITEM_FIXED_COUNT;
	}
	if (field->length.field) {
		flags |= WIRE_WEVT_ITEM_LENGTH;
		length = index_of(field->length.field, place);
	} else if (length && (field->is_struct || field->in_type != TDH_INTYPE_SID)) {
		flags |= WIRE_WEVT_ITEM_FIXED_LENGTH;
	}
	item->flags = le32_of(flags);
	item->count = le16_of(count);
	item->length = le16_of(length);
}

/* Writes the items of one level, and where the members of its structs begin. */
static void write_items(struct wevt_writer *writer, const struct mc_field *fields,
			const struct item_place *place, uint16_t next_member)
{
	for (const struct mc_field *field = fields; field; field = field->next) {
		struct wire_wevt_item item = {0};

		fill_extents(&item, field, place);
		if (field->is_struct) {
			etw_store16(item.types, next_member);
			etw_store16(item.types + 2, field->member_count);
			next_member = (uint16_t)(next_member + field->member_count);
		} else {
			item.types[0] = (uint8_t)field->in_type;
			item.types[1] = (uint8_t)field->out_type;
			item.map = le32_of(etw_mc_find(writer, field->map));
		}
		(void)etw_mc_append(writer, &item, sizeof(item));
	}
}

static size_t write_item_names(struct wevt_writer *writer, const struct mc_field *fields, size_t at)
{
	for (const struct mc_field *field = fields; field; field = field->next) {
		etw_mc_set32(writer, at + offsetof(struct wire_wevt_item, name),
			     etw_mc_name(writer, field->name));
		at += sizeof(struct wire_wevt_item);
	}
	return at;
}

/* The fields of the top level, then the members of each struct. */
static size_t write_fields(struct wevt_writer *writer, const struct mc_template *template_of)
{
	struct item_place place = {0};
	uint16_t first = template_of->field_count;
	size_t items = writer->out->bytes;
	size_t at;

	write_items(writer, template_of->fields, &place, first);
	for (const struct mc_field *field = template_of->fields; field; field = field->next) {
		if (!field->is_struct)
			continue;
		place = (struct item_place){.owner = field, .first = first};
		write_items(writer, field->members, &place, 0);
		first = (uint16_t)(first + field->member_count);
	}
	at = write_item_names(writer, template_of->fields, items);
	for (const struct mc_field *field = template_of->fields; field; field = field->next)
		at = write_item_names(writer, field->members, at);
	return items;
}

static int write_template(struct wevt_writer *writer, const struct mc_template *template_of)
{
	struct wire_wevt_template head = {
		.magic = "TEMP",
		.top_count = le32_of(template_of->field_count),
		.count = le32_of(template_of->all_count),
		.type = le32_of(template_of->user_data ? TYPE_USER_DATA : TYPE_EVENT_DATA),
	};
	struct etw_text xml = {0};
	size_t at = etw_mc_zeros(writer, sizeof(head));
	int r = etw_mc_place(writer, template_of, at);

	if (r == 0)
		r = etw_mc_fragment(writer, template_of, &xml);
	if (r == 0)
		r = make_id(template_of, &xml, head.id);
	etw_text_done(&xml);
	if (r < 0)
		return r;
	etw_mc_align(writer, 4);
	head.items = le32_of((uint32_t)write_fields(writer, template_of));
	head.bytes = le32_of((uint32_t)(writer->out->bytes - at));
	etw_mc_set(writer, at, &head, sizeof(head));
	return 0;
}

int etw_mc_templates(struct wevt_writer *writer)
{
	size_t count = 0;
	int r;

	etw_mc_begin_list(writer, WIRE_WEVT_TEMPLATES, "TTBL", sizeof(struct wire_wevt_list));
	for (const struct mc_template *template_of = writer->provider->templates; template_of;
	     template_of = template_of->next) {
		r = write_template(writer, template_of);
		if (r < 0)
			return r;
		count++;
	}
	return etw_mc_end_list(writer, count);
}
