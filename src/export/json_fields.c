/* SPDX-License-Identifier: MIT */
/*
 * The fields of an event as a JSON object. For each kind of event the keys are prepared, and the shape of
 * those values that are integers, so that most members cost one copy and one number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "export/export_internal.h"

/* The longest of the integers below, with quotes: "0x" and 16 digits. */
#define INTEGER_BYTES_MAX 20

/* Room beside a key for an integer, and for what is copied too much of the key. */
#define VALUE_BYTES (ETW_PLAN_COPY_BYTES + INTEGER_BYTES_MAX)

/* Integers beyond 2^53 do not survive in a double, and are written as strings. */
#define EXACT_MAX (UINT64_C(1) << 53)

static void put_string(const char *string, size_t bytes, struct etw_text *text)
{
	etw_text_json_string(text, string, bytes);
}

/* Members of one object up to which all names before one are looked at. */
#define FEW_MEMBERS 64

/* A member of an object that has many. */
struct member {
	const char *name;
	uint32_t place; /* among the members */
	uint32_t nth;   /* of its name, from 1 */
};

/*
 * Names within one object. Of few members, a bit per hash tells at once that a name is new, which nearly all
 * are; only where a bit is taken are the names compared. Many members are counted before the first is written.
 */
struct names {
	const struct etw_decoding *decoding;
	const struct etw_item *first; /* of the object's members */
	struct member *members; /* owned, of many; in their order, next is the one at `place` */
	size_t place;
	uint64_t bits;
};

static const char *name_of(const struct etw_decoding *decoding, const struct etw_item *item)
{
	return decoding->schema->fields[item->field].name;
}

static int compare_names(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	const int r = strcmp(a->name, b->name);

	return r ? r : (a->place > b->place) - (a->place < b->place);
}

static int compare_places(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	return (a->place > b->place) - (a->place < b->place);
}

static void count_names(struct member *members, size_t count)
{
	qsort(members, count, sizeof(*members), compare_names);
	for (size_t i = 0; i < count; i++) {
		const bool is_same = i && strcmp(members[i].name, members[i - 1].name) == 0;

		members[i].nth = is_same ? members[i - 1].nth + 1 : 1;
	}
	qsort(members, count, sizeof(*members), compare_places);
}

/* Returns 0 or -ENOMEM. */
static int begin_names(struct names *names, const struct etw_item *end)
{
	const struct etw_decoding *decoding = names->decoding;
	const struct etw_item *item;
	size_t count = 0;

	for (item = names->first; item < end; item = decoding->items + item->end)
		count++;
	if (count <= FEW_MEMBERS)
		return 0;
	names->members = reallocarray(NULL, count, sizeof(*names->members));
	if (!names->members)
		return -ENOMEM;
	count = 0;
	for (item = names->first; item < end; item = decoding->items + item->end, count++)
		names->members[count] = (struct member){.name = name_of(decoding, item),
							.place = (uint32_t)count};
	count_names(names->members, count);
	return 0;
}

static void end_names(struct names *names)
{
	free(names->members);
}

static uint64_t bit_of_name(const char *name, size_t bytes)
{
	size_t hash = bytes * 7;

	if (bytes)
		hash += (uint8_t)name[0] * 5u + (uint8_t)name[bytes / 2] * 3u +
			(uint8_t)name[bytes - 1];
	return UINT64_C(1) << (hash & 63);
}

/* How many members before this one have its name. */
static unsigned count_earlier(const struct names *names, const struct etw_item *item,
			      const char *name)
{
	const struct etw_decoding *decoding = names->decoding;
	unsigned count = 0;

	for (const struct etw_item *other = names->first; other < item;
	     other = decoding->items + other->end)
		count += strcmp(name_of(decoding, other), name) == 0;
	return count;
}

/* Which of its name the next member is, from 1. */
static unsigned take_nth(struct names *names, const struct etw_item *item, const char *name,
			 size_t bytes)
{
	const uint64_t bit = bit_of_name(name, bytes);
	unsigned earlier;

	if (names->members)
		return names->members[names->place++].nth;
	earlier = names->bits & bit ? count_earlier(names, item, name) : 0;
	names->bits |= bit;
	return earlier + 1;
}

/* The key of a member; the second of a name is "name#2", the third "name#3". */
static void put_key(struct names *names, const struct etw_item *item, struct etw_text *text)
{
	const char *name = name_of(names->decoding, item);
	const size_t bytes = strlen(name);
	const unsigned nth = take_nth(names, item, name, bytes);

	put_string(name, bytes, text);
	if (UNLIKELY(nth > 1) && !text->error) {
		text->bytes--;
		etw_text_putc(text, '#');
		etw_text_unsigned(text, nth);
		etw_text_putc(text, '"');
	}
	etw_text_putc(text, ':');
}

struct walk {
	const struct etw_decoding *decoding;
	const struct etw_export_plan *plan; /* NULL: no members are prepared */
};

static void put_item(const struct walk *walk, const struct etw_item *item, struct etw_text *text);

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
static inline char *write_integer(char *to, unsigned shape, const uint8_t *at, size_t bytes)
{
	uint64_t value = etw_load_unsigned(at, bytes);

	if (shape == ETW_JSON_HEX)
		return write_hex(to, value);
	if (shape == ETW_JSON_SIGNED) {
		const uint64_t negative = etw_plan_negative(value, bytes);

		if (negative) {
			*to++ = '-';
			value = negative;
		}
	}
	return LIKELY(value <= EXACT_MAX) ? etw_write_unsigned(to, value) : NULL;
}

static inline const uint8_t *bytes_of(const struct walk *walk, const struct etw_item *item)
{
	return (const uint8_t *)walk->decoding->record->UserData + item->offset;
}

/* An array of integers. */
static void put_array(const struct walk *walk, const struct etw_item *array, struct etw_text *text)
{
	const struct etw_plan_field *field = &walk->plan->fields[array->field];
	const struct etw_item *end = walk->decoding->items + array->end;

	etw_text_putc(text, '[');
	for (const struct etw_item *item = array + 1; item < end; item++) {
		char *to = etw_text_begin(text, 1 + INTEGER_BYTES_MAX), *value_end = NULL;

		if (!to)
			return;
		*to = ',';
		to += item != array + 1;
		if (LIKELY(item->bytes == field->element_bytes))
			value_end = write_integer(to, field->element_shape, bytes_of(walk, item),
						  item->bytes);
		etw_text_end(text, value_end ? value_end : to);
		if (UNLIKELY(!value_end))
			put_item(walk, item, text);
	}
	etw_text_putc(text, ']');
}

/* A value whose key is there, unless it is one of the integers that are written at once. */
static void put_value(const struct walk *walk, const struct etw_item *item, struct etw_text *text)
{
	const struct etw_plan_field *field = &walk->plan->fields[item->field];

	if (UNLIKELY(!walk->decoding->record->UserData))
		put_item(walk, item, text);
	else if (field->shape == ETW_JSON_UTF16)
		etw_text_json_utf16(text, bytes_of(walk, item), item->bytes / 2);
	else if (item->kind == ETW_ITEM_ARRAY && etw_plan_is_integer(field->element_shape))
		put_array(walk, item, text);
	else
		put_item(walk, item, text);
}

/*
 * Members as long as there is room and they are integers. Returns the first other one, whose key is there
 * already if @ret_has_key says so.
 */
static const struct etw_item *put_integers(const struct walk *walk, const struct etw_item *first,
					   const struct etw_item *item, const struct etw_item *end,
					   bool *ret_has_key, struct etw_text *text)
{
	/* All in variables: stores of characters may change whatever is read through a pointer. */
	const struct etw_item *const items = walk->decoding->items;
	const uint8_t *const payload = walk->decoding->record->UserData;
	const struct etw_plan_field *const fields = walk->plan->fields;
	const char *const keys = walk->plan->keys.at;
	const char *const limit = text->at + text->room;
	char *to = text->at + text->bytes;

	for (; item < end; item = items + item->end) {
		const struct etw_plan_field *field = &fields[item->field];
		const size_t skip = item == first;
		char *value_end = NULL;

		if (UNLIKELY((size_t)(limit - to) <= field->key_bytes + VALUE_BYTES))
			break;
		to = etw_plan_copy_key(to, keys + field->key_at + skip, field->key_bytes - skip);
		if (etw_plan_is_integer(field->shape) &&
		    LIKELY(item->bytes == field->value_bytes && payload))
			value_end = write_integer(to, field->shape, payload + item->offset,
						  item->bytes);
		if (UNLIKELY(!value_end)) {
			*ret_has_key = true;
			break;
		}
		to = value_end;
	}
	etw_text_end(text, to);
	return item;
}

/* Members whose keys are prepared, comma included but for the first. */
static void put_planned(const struct walk *walk, const struct etw_item *first,
			const struct etw_item *end, struct etw_text *text)
{
	const struct etw_item *item = first;

	while (item < end) {
		bool has_key = false;
		const size_t need = walk->plan->fields[item->field].key_bytes + VALUE_BYTES;

		if (UNLIKELY(!etw_text_begin(text, need)))
			return;
		item = put_integers(walk, first, item, end, &has_key, text);
		if (has_key) {
			put_value(walk, item, text);
			item = walk->decoding->items + item->end;
		}
	}
}

/* The same of members whose keys are not prepared. */
static void put_named(const struct walk *walk, const struct etw_item *first,
		      const struct etw_item *end, struct etw_text *text)
{
	CLEANUP(end_names) struct names names = {.decoding = walk->decoding, .first = first};

	if (begin_names(&names, end) < 0) {
		text->error = -ENOMEM;
		return;
	}
	for (const struct etw_item *item = first; item < end;
	     item = walk->decoding->items + item->end) {
		if (item != first)
			etw_text_putc(text, ',');
		put_key(&names, item, text);
		put_item(walk, item, text);
	}
}

/* The members from @first on, up to @end, as an object. */
static void put_object(const struct walk *walk, const struct etw_item *first,
		       const struct etw_item *end, struct etw_text *text)
{
	etw_text_putc(text, '{');
	if (LIKELY(walk->plan && !text->error))
		put_planned(walk, first, end, text);
	else
		put_named(walk, first, end, text);
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
	} else if (!etw_export_is_id(&decoding->schema->fields[item->field]) ||
		   !etw_export_put_id(decoding, item, text)) {
		etw_format_item_json(decoding, item, text);
	}
}

void etw_json_fields(const struct etw_decoding *decoding, const struct etw_export_plan *plan,
		     struct etw_text *text)
{
	const struct walk walk = {decoding, plan && plan->fields ? plan : NULL};

	/* Without any item there may be no array of them either, and no place in it. */
	if (!decoding->item_count) {
		etw_text_puts(text, "{}");
		return;
	}
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
	if (schema->field_count > ETW_PLAN_FIELDS_MAX ||
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

static void put_planned_key(const struct etw_export_event *event, const char *name,
			    struct etw_text *text)
{
	(void)event;
	etw_text_putc(text, ',');
	put_string(name, strlen(name), text);
	etw_text_putc(text, ':');
}

void etw_json_plan_fields(struct etw_export_plan *plan, const struct etw_export_event *event)
{
	if (plan->schema && has_distinct_names(plan->schema))
		etw_export_plan_fields(plan, event, put_planned_key);
}
