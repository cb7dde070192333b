/* SPDX-License-Identifier: MIT */
/*
 * Comparing decoded fields. Of the readings that a value has, the field's type chooses the one that counts; a text
 * is compared with what is shown of the field.
 */
#include <string.h>

#include "decode/format.h"
#include "decode/read.h"
#include "filter/filter_internal.h"

/* One item of a field. */
struct comparing {
	struct etw_filter_asking *asking;
	const struct etw_decoding *decoding;
	const struct etw_item *item;
	bool has_text; /* the filter's text is that of the item */
};

/* The item's text as TDH shows it, in the filter's own room. Returns false when memory ran out. */
static bool make_text(struct comparing *comparing)
{
	struct etw_filter_subject *subject = comparing->asking->subject;
	struct etw_text *text = &comparing->asking->filter->text;

	if (comparing->has_text)
		return !etw_text_error(text);
	etw_text_clear(text);
	if (subject->source->lock)
		subject->source->lock(subject->context);
	etw_format_item(comparing->decoding, comparing->item, text);
	if (subject->source->unlock)
		subject->source->unlock(subject->context);
	comparing->has_text = true;
	return !etw_text_error(text);
}

static const struct etw_field *field_of(const struct comparing *comparing)
{
	return &comparing->decoding->schema->fields[comparing->item->field];
}

/* "A|B" of a map whose names are bits: each of them. */
static bool has_part(const struct etw_filter_value *value, struct etw_filter *filter)
{
	const char *at = filter->text.at, *end = at + filter->text.bytes;

	while (at && at < end) {
		const char *bar = memchr(at, '|', (size_t)(end - at));
		const size_t bytes = (size_t)((bar ? bar : end) - at);

		if (etw_filter_value_has_text(value, at, bytes, &filter->folded))
			return true;
		at = bar ? bar + 1 : end;
	}
	return false;
}

static bool has_text(struct comparing *comparing, const struct etw_filter_value *value)
{
	struct etw_filter *filter = comparing->asking->filter;
	const struct etw_field *field = field_of(comparing);

	if (!(value->readings & ETW_FILTER_TEXT) || !make_text(comparing))
		return false;
	if (etw_filter_value_has_text(value, etw_text_string(&filter->text), filter->text.bytes,
				      &filter->folded))
		return true;
	return filter->shows && field->map && value->how == ETW_FILTER_EQUALS &&
	       etw_format_map_is_bits(field->map) && has_part(value, filter);
}

static etw_filter_integer signed_of(uint64_t number, bool is_negative)
{
	return is_negative ? (etw_filter_integer)(int64_t)number : (etw_filter_integer)number;
}

static bool has_integer(struct comparing *comparing, const struct etw_filter_value *value)
{
	bool is_negative;
	uint64_t bits;
	etw_filter_integer number;

	if (!(value->readings & (ETW_FILTER_INTEGER | ETW_FILTER_REAL | ETW_FILTER_TRUTH)))
		return has_text(comparing, value);
	if (!etw_read_shown_integer(comparing->decoding, comparing->item, &bits, &is_negative))
		return false;
	if (value->readings & ETW_FILTER_TRUTH)
		return value->truth == (bits != 0);
	number = signed_of(bits, is_negative);
	return value->readings & ETW_FILTER_INTEGER
		       ? etw_filter_value_has_integer(value, number)
		       : etw_filter_value_has_real(value, (double)number);
}

static bool has_time(struct comparing *comparing, const struct etw_filter_value *value)
{
	int64_t time_ft;

	if (!(value->readings & (ETW_FILTER_TIME | ETW_FILTER_INTEGER)))
		return has_text(comparing, value);
	if (!etw_read_shown_time(comparing->decoding, comparing->item, &time_ft))
		return false;
	if (value->readings & ETW_FILTER_TIME)
		return etw_filter_value_has_time(value, time_ft,
						 comparing->asking->subject->start_ft);
	return etw_filter_value_has_integer(value, time_ft);
}

static bool has_real(struct comparing *comparing, const struct etw_filter_value *value)
{
	double real;

	if (!(value->readings & ETW_FILTER_REAL))
		return has_text(comparing, value);
	return etw_read_real(comparing->decoding, comparing->item, &real) &&
	       etw_filter_value_has_real(value, real);
}

static bool has_guid(struct comparing *comparing, const struct etw_filter_value *value)
{
	GUID guid;

	if (!(value->readings & ETW_FILTER_GUID))
		return has_text(comparing, value);
	return etw_read_guid(comparing->decoding, comparing->item, &guid) &&
	       etw_filter_value_has_guid(value, &guid);
}

static bool has_address(struct comparing *comparing, const struct etw_filter_value *value)
{
	const uint8_t *at;
	size_t bytes;

	if (!(value->readings & ETW_FILTER_ADDRESS))
		return has_text(comparing, value);
	at = etw_read_address(comparing->decoding, comparing->item, &bytes);
	return at && etw_filter_value_has_address(value, at, bytes);
}

/* As the language has it: the shape of what is shown decides. */
static bool fits_as_shown(struct comparing *comparing, const struct etw_filter_value *value)
{
	switch (etw_read_shape(comparing->decoding, comparing->item)) {
	case ETW_READ_INTEGER:
	case ETW_READ_BOOLEAN:
		return has_integer(comparing, value);
	case ETW_READ_REAL:
		return has_real(comparing, value);
	case ETW_READ_TIME:
		return has_time(comparing, value);
	case ETW_READ_GUID:
		return has_guid(comparing, value);
	case ETW_READ_ADDRESS:
		return has_address(comparing, value);
	default:
		return has_text(comparing, value);
	}
}

/* As the functions of etw/predicate.h have it: the value has one reading, and the field that type or not. */
static bool fits_by_type(struct comparing *comparing, const struct etw_filter_value *value)
{
	const struct etw_decoding *decoding = comparing->decoding;
	const struct etw_item *item = comparing->item;
	struct etw_filter *filter = comparing->asking->filter;
	bool is_negative;
	uint64_t bits;
	int64_t time_ft;
	double real;
	GUID guid;

	switch (value->readings) {
	case ETW_FILTER_INTEGER:
		return etw_read_integer(decoding, item, &bits, &is_negative) &&
		       etw_filter_value_has_integer(value, signed_of(bits, is_negative));
	case ETW_FILTER_TRUTH:
		return etw_read_integer(decoding, item, &bits, &is_negative) &&
		       value->truth == (bits != 0);
	case ETW_FILTER_REAL:
		return etw_read_real(decoding, item, &real) &&
		       etw_filter_value_has_real(value, real);
	case ETW_FILTER_TIME:
		return !etw_read_filetime(decoding, item, &time_ft) &&
		       etw_filter_value_has_time(value, time_ft, 0);
	case ETW_FILTER_GUID:
		return etw_read_guid(decoding, item, &guid) &&
		       etw_filter_value_has_guid(value, &guid);
	case ETW_FILTER_SID:
		return etw_read_is_sid(decoding, item) && make_text(comparing) &&
		       !strcmp(etw_text_string(&filter->text), value->text);
	case ETW_FILTER_BYTES:
		return item->bytes == value->text_bytes &&
		       !memcmp(etw_read_at(decoding, item), value->text, item->bytes);
	default:
		return has_text(comparing, value);
	}
}

static bool compare_item(struct etw_filter_asking *asking, const struct etw_decoding *decoding,
			 const struct etw_item *item)
{
	const struct etw_filter *filter = asking->filter;
	struct comparing comparing = {asking, decoding, item, false};

	for (size_t i = 0; i < filter->value_count; i++) {
		const struct etw_filter_value *value = &filter->values[i];

		if (filter->shows ? fits_as_shown(&comparing, value)
				  : fits_by_type(&comparing, value))
			return true;
	}
	return false;
}

static bool compare_count(const struct etw_filter *filter, const struct etw_item *item)
{
	const etw_filter_integer count = item->kind == ETW_ITEM_ARRAY ? item->count : 1;

	for (size_t i = 0; i < filter->value_count; i++) {
		if (etw_filter_value_has_integer(&filter->values[i], count))
			return true;
	}
	return false;
}

/* What the visitor of a path needs. */
struct visiting {
	struct etw_filter_asking *asking;
	const struct etw_decoding *decoding;
};

static bool take_item(void *context, const struct etw_item *item)
{
	const struct visiting *visiting = context;
	const struct etw_decoding *decoding = visiting->decoding;
	struct etw_filter_asking *asking = visiting->asking;

	asking->is_there = true;
	if (asking->filter->ask == ETW_FILTER_HAS)
		return true;
	if (asking->filter->ask == ETW_FILTER_COUNT)
		return compare_count(asking->filter, item);
	if (item->kind == ETW_ITEM_VALUE || etw_read_is_string(decoding, item))
		return compare_item(asking, decoding, item);
	if (item->kind == ETW_ITEM_STRUCT)
		return false;
	for (uint32_t i = (uint32_t)(item - decoding->items) + 1; i < item->end;
	     i = decoding->items[i].end) {
		if (decoding->items[i].kind == ETW_ITEM_VALUE &&
		    compare_item(asking, decoding, &decoding->items[i]))
			return true;
	}
	return false;
}

/* Every value of the event, however deep. */
static bool ask_all(struct etw_filter_asking *asking, const struct etw_decoding *decoding)
{
	uint32_t i = 0;

	asking->is_there = decoding->item_count;
	while (i < decoding->item_count) {
		const struct etw_item *item = &decoding->items[i];
		const bool is_string = etw_read_is_string(decoding, item);

		if ((is_string || item->kind == ETW_ITEM_VALUE) &&
		    compare_item(asking, decoding, item))
			return true;
		i = is_string ? item->end : i + 1;
	}
	return false;
}

bool etw_filter_ask_field(struct etw_filter_asking *asking)
{
	struct etw_filter *filter = asking->filter;
	struct etw_filter_subject *subject = asking->subject;
	const struct etw_decoding *decoding = subject->source->decode(subject->context);
	struct visiting visiting = {asking, decoding};
	const struct etw_path_plan *plan;
	const struct etw_item *item;

	if (!decoding || !decoding->schema)
		return false;
	if (!*filter->path && filter->shows)
		return ask_all(asking, decoding);
	plan = etw_path_plan(filter->cache, filter->path, subject->serial, decoding->schema);
	if (plan->error)
		return false;
	filter->is_known = true;
	if (filter->shows)
		return etw_path_each(plan, decoding, take_item, &visiting);
	item = etw_path_item(plan, decoding);
	if (!item)
		return false;
	asking->is_there = true;
	if (filter->ask == ETW_FILTER_HAS)
		return true;
	return filter->ask == ETW_FILTER_COUNT ? compare_count(filter, item)
					       : compare_item(asking, decoding, item);
}

void etw_filter_learn_fields(struct etw_filter *filter, const struct etw_schema *schema,
			     uint64_t serial)
{
	if (filter->kind == ETW_FILTER_FIELD && !filter->is_known && schema)
		filter->is_known =
			!etw_path_plan(filter->cache, filter->path, serial, schema)->error;
	for (size_t i = 0; i < filter->part_count; i++)
		etw_filter_learn_fields(filter->parts[i], schema, serial);
}
