/* SPDX-License-Identifier: MIT */
/*
 * The fields of an event as a JSON object. For each kind of event the keys are prepared, and the shape of
 * those values that are integers, so that most members cost one copy and one number.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "decode/format.h"
#include "export/export_internal.h"

/* Names are compared with each other: more would take long, and are rare. */
#define PLANNED_FIELDS_MAX 256

/* The longest of the integers below, with quotes: "0x" and 16 digits. */
#define INTEGER_BYTES_MAX 20

/* What is copied of a key that has not more; as much lies behind the last one. */
#define KEY_COPY_BYTES 32

/* Integers beyond 2^53 do not survive in a double, and are written as strings. */
#define EXACT_MAX (UINT64_C(1) << 53)

static void put_string(const char *string, size_t bytes, struct etw_text *text)
{
	etw_text_json_string(text, string, bytes);
}

/*
 * Names within one object that were written already. A bit per hash tells at once that a name is new,
 * which nearly all are; only where a bit is taken are the names compared.
 */
struct seen_names {
	const struct etw_decoding *decoding;
	const struct etw_item *first; /* of the object's members */
	uint64_t bits;
};

static uint64_t bit_of_name(const char *name, size_t bytes)
{
	size_t hash = bytes * 7;

	if (bytes)
		hash += (uint8_t)name[0] * 5u + (uint8_t)name[bytes / 2] * 3u +
			(uint8_t)name[bytes - 1];
	return UINT64_C(1) << (hash & 63);
}

/* How many members before this one have its name. */
static unsigned count_earlier(const struct seen_names *seen, const struct etw_item *item,
			      const char *name)
{
	const struct etw_decoding *decoding = seen->decoding;
	unsigned count = 0;

	for (const struct etw_item *other = seen->first; other < item;
	     other = decoding->items + other->end) {
		if (!strcmp(decoding->schema->fields[other->field].name, name))
			count++;
	}
	return count;
}

/* The key of a member; the second of a name is "name#2", the third "name#3". */
static void put_key(struct seen_names *seen, const struct etw_item *item, struct etw_text *text)
{
	const char *name = seen->decoding->schema->fields[item->field].name;
	size_t bytes = strlen(name);
	uint64_t bit = bit_of_name(name, bytes);
	unsigned earlier = seen->bits & bit ? count_earlier(seen, item, name) : 0;

	seen->bits |= bit;
	put_string(name, bytes, text);
	if (UNLIKELY(earlier) && !text->error) {
		text->bytes--;
		etw_text_putc(text, '#');
		etw_text_unsigned(text, earlier + 1);
		etw_text_putc(text, '"');
	}
	etw_text_putc(text, ':');
}

struct walk {
	const struct etw_decoding *decoding;
	const struct etw_json_plan *plan; /* NULL: no members are prepared */
};

static void put_item(const struct walk *walk, const struct etw_item *item, struct etw_text *text);

static inline uint64_t load(const uint8_t *at, size_t bytes)
{
	switch (bytes) {
	case 1:
		return at[0];
	case 2:
		return etw_load16(at);
	case 4:
		return etw_load32(at);
	default:
		return etw_load64(at);
	}
}

static char *write_hex(char *to, uint64_t value)
{
	*to++ = '"';
	*to++ = '0';
	*to++ = 'x';
	to = etw_write_hex(to, value);
	*to++ = '"';
	return to;
}

/* Returns NULL for a value that is not exact as a number. */
static inline char *write_integer(char *to, enum etw_json_shape shape, const uint8_t *at,
				  size_t bytes)
{
	uint64_t value = load(at, bytes);

	if (shape == ETW_JSON_HEX)
		return write_hex(to, value);
	if (shape == ETW_JSON_SIGNED) {
		const unsigned unused = 64 - 8 * (unsigned)bytes;

		if ((int64_t)(value << unused) < 0) {
			*to++ = '-';
			value = -(uint64_t)((int64_t)(value << unused) >> unused);
		}
	}
	return value <= EXACT_MAX ? etw_write_unsigned(to, value) : NULL;
}

static inline const uint8_t *bytes_of(const struct walk *walk, const struct etw_item *item)
{
	return (const uint8_t *)walk->decoding->record->UserData + item->offset;
}

/* Most keys have no more bytes than this, and a copy of a fixed size needs no call. */
static inline char *copy_key(char *to, const char *key, size_t bytes)
{
	if (LIKELY(bytes <= KEY_COPY_BYTES))
		memcpy(to, key, KEY_COPY_BYTES);
	else
		memcpy(to, key, bytes);
	return to + bytes;
}

/* A member whose key is prepared, comma included but for the first. */
static void put_planned_member(const struct walk *walk, const struct etw_item *item, bool is_first,
			       struct etw_text *text)
{
	const struct etw_json_member *member = &walk->plan->members[item->field];
	const char *key = walk->plan->keys.at + member->key_at + is_first;
	const size_t key_bytes = member->key_bytes - (size_t)is_first;
	char *to = etw_text_begin(text, key_bytes + KEY_COPY_BYTES + INTEGER_BYTES_MAX);
	char *end = NULL;

	if (!to)
		return;
	to = copy_key(to, key, key_bytes);
	if (member->shape == ETW_JSON_OTHER || UNLIKELY(!walk->decoding->record->UserData)) {
		etw_text_end(text, to);
		put_item(walk, item, text);
	} else if (member->shape == ETW_JSON_UTF16) {
		etw_text_end(text, to);
		etw_text_json_utf16(text, bytes_of(walk, item), item->bytes / 2);
	} else {
		if (LIKELY(item->bytes == member->value_bytes))
			end = write_integer(to, (enum etw_json_shape)member->shape,
					    bytes_of(walk, item), item->bytes);
		etw_text_end(text, end ? end : to);
		if (UNLIKELY(!end))
			put_item(walk, item, text);
	}
}

/* The members from @first on, up to @end, as an object. */
static void put_object(const struct walk *walk, const struct etw_item *first,
		       const struct etw_item *end, struct etw_text *text)
{
	const struct etw_decoding *decoding = walk->decoding;
	struct seen_names seen = {.decoding = decoding, .first = first};

	etw_text_putc(text, '{');
	for (const struct etw_item *item = first; item < end; item = decoding->items + item->end) {
		if (LIKELY(walk->plan != NULL)) {
			put_planned_member(walk, item, item == first, text);
			continue;
		}
		if (item != first)
			etw_text_putc(text, ',');
		put_key(&seen, item, text);
		put_item(walk, item, text);
	}
	etw_text_putc(text, '}');
}

static void put_item(const struct walk *walk, const struct etw_item *item, struct etw_text *text)
{
	const struct etw_decoding *decoding = walk->decoding;
	const struct etw_item *end = decoding->items + item->end;

	if (item->kind == ETW_ITEM_STRUCT) {
		put_object(walk, item + 1, end, text);
	} else if (item->kind == ETW_ITEM_ARRAY && item + 1 < end &&
		   item[1].kind == ETW_ITEM_STRUCT) {
		etw_text_putc(text, '[');
		for (const struct etw_item *child = item + 1; child < end;
		     child = decoding->items + child->end) {
			if (child != item + 1)
				etw_text_putc(text, ',');
			put_item(walk, child, text);
		}
		etw_text_putc(text, ']');
	} else {
		etw_format_item_json(decoding, item, text);
	}
}

void etw_json_fields(const struct etw_decoding *decoding, const struct etw_json_plan *plan,
		     struct etw_text *text)
{
	const struct walk walk = {decoding, plan && plan->members ? plan : NULL};

	put_object(&walk, decoding->items, decoding->items + decoding->item_count, text);
}

/* Whether the members of one object, those of the fields @first to @end, differ in their names. */
static bool are_distinct(const struct etw_field *fields, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		for (size_t j = first; j < i; j++) {
			if (strcmp(fields[i].name, fields[j].name) == 0)
				return false;
		}
	}
	return true;
}

static bool has_distinct_names(const struct etw_schema *schema)
{
	if (schema->field_count > PLANNED_FIELDS_MAX ||
	    !are_distinct(schema->fields, 0, schema->top_count))
		return false;
	for (size_t i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];

		if (field->flags & PropertyStruct &&
		    !are_distinct(schema->fields, field->struct_first,
				  (size_t)field->struct_first + field->struct_count))
			return false;
	}
	return true;
}

void etw_json_plan_fields(struct etw_json_plan *plan)
{
	const struct etw_schema *schema = plan->schema;
	struct etw_json_member *members;

	if (!schema || schema->field_count == 0 || !has_distinct_names(schema))
		return;
	members = calloc(schema->field_count, sizeof(*members));
	if (!members)
		return;
	for (size_t i = 0; i < schema->field_count; i++) {
		struct etw_json_member *member = &members[i];
		const char *name = schema->fields[i].name;

		member->key_at = (uint32_t)plan->keys.bytes;
		etw_text_putc(&plan->keys, ',');
		put_string(name, strlen(name), &plan->keys);
		etw_text_putc(&plan->keys, ':');
		member->key_bytes = (uint32_t)plan->keys.bytes - member->key_at;
		member->shape = (uint8_t)etw_format_json_shape(&schema->fields[i],
							       &member->value_bytes);
	}
	etw_text_printf(&plan->keys, "%*s", KEY_COPY_BYTES, "");
	if (etw_text_error(&plan->keys) || plan->keys.bytes > UINT32_MAX)
		free(members);
	else
		plan->members = members;
}
