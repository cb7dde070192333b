/* SPDX-License-Identifier: MIT */
/* What an output keeps from event to event: plans in a direct-mapped table, and the text of the last second. */
#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/table.h"
#include "base/time.h"
#include "export/export_internal.h"

#define PLAN_SLOTS   1024 /* power of two; kinds beyond them take turns */
#define SECOND_BYTES 20   /* "2011-01-23T22:06:37." */
#define FRACTION     7    /* digits behind it */

struct etw_export_cache {
	struct etw_export_plan *plans[PLAN_SLOTS]; /* owned */
	int64_t second;                            /* since 1601; of the text */
	char second_text[SECOND_BYTES];
	bool has_second;
};

static void free_plan(struct etw_export_plan *plan)
{
	if (!plan)
		return;
	etw_text_done(&plan->identity);
	etw_text_done(&plan->place);
	etw_text_done(&plan->keys);
	free(plan->fields);
	free(plan);
}

int etw_export_cache_create(struct etw_export_cache **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void etw_export_cache_free(struct etw_export_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < PLAN_SLOTS; i++)
		free_plan(cache->plans[i]);
	free(cache);
}

static const struct etw_schema *schema_of(const struct etw_export_event *event)
{
	return event->decoding ? event->decoding->schema : NULL;
}

static bool is_classic(const EVENT_HEADER *header)
{
	return header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
}

static bool has_colour(const struct etw_export_event *event)
{
	return event->flags & ETW_EXPORT_COLOUR;
}

static bool is_plan_of(const struct etw_export_plan *plan, const struct etw_export_event *event,
		       const struct etw_export_format *format)
{
	const EVENT_HEADER *header = &event->record->EventHeader;

	return plan->schema == schema_of(event) && plan->provider_name == event->provider_name &&
	       plan->format == format && plan->has_colour == has_colour(event) &&
	       plan->is_classic == is_classic(header) &&
	       etw_guid_equal(&plan->provider, &header->ProviderId) &&
	       memcmp(&plan->descriptor, &header->EventDescriptor, sizeof(plan->descriptor)) == 0;
}

static size_t slot_of(const struct etw_export_event *event)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	uint64_t words[4];

	memcpy(words, &header->ProviderId, sizeof(GUID));
	memcpy(words + 2, &header->EventDescriptor, sizeof(EVENT_DESCRIPTOR));
	return etw_hash_mix(words[0] ^ words[3], words[1] ^ words[2]) & (PLAN_SLOTS - 1);
}

struct etw_export_plan *etw_export_plan_find(const struct etw_export_event *event,
					     const struct etw_export_format *format,
					     bool *ret_is_new)
{
	const EVENT_HEADER *header = &event->record->EventHeader;
	struct etw_export_plan **slot, *plan;

	*ret_is_new = false;
	if (!event->cache)
		return NULL;
	slot = &event->cache->plans[slot_of(event)];
	if (LIKELY(*slot && is_plan_of(*slot, event, format)))
		return *slot;
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return NULL;
	plan->schema = schema_of(event);
	plan->provider_name = event->provider_name;
	plan->provider = header->ProviderId;
	plan->descriptor = header->EventDescriptor;
	plan->format = format;
	plan->is_classic = is_classic(header);
	plan->has_colour = has_colour(event);
	free_plan(*slot);
	*slot = plan;
	*ret_is_new = true;
	return plan;
}

static void find_shapes(const struct etw_field *field, struct etw_plan_field *ret)
{
	struct etw_field element = *field;

	ret->shape = (uint8_t)etw_format_json_shape(field, &ret->value_bytes);
	if (ret->shape == ETW_JSON_HEX && etw_export_is_id(field))
		ret->shape = ETW_JSON_UNSIGNED;
	if (!etw_field_is_array(field))
		return;
	element.count = 1;
	element.flags &= ~(uint32_t)(PropertyParamCount | PropertyParamFixedCount |
				     ETW_FIELD_TO_END);
	ret->element_shape = (uint8_t)etw_format_json_shape(&element, &ret->element_bytes);
}

void etw_export_plan_fields(struct etw_export_plan *plan, const struct etw_export_event *event,
			    etw_plan_put_key *put_key)
{
	const struct etw_schema *schema = plan->schema;
	struct etw_text *keys = &plan->keys;
	struct etw_plan_field *fields;

	if (!schema || schema->field_count == 0 || schema->field_count > ETW_PLAN_FIELDS_MAX)
		return;
	fields = calloc(schema->field_count, sizeof(*fields));
	if (!fields)
		return;
	for (size_t i = 0; i < schema->field_count; i++) {
		struct etw_plan_field *field = &fields[i];

		field->key_at = (uint32_t)keys->bytes;
		put_key(event, schema->fields[i].name, keys);
		field->key_bytes = (uint32_t)keys->bytes - field->key_at;
		find_shapes(&schema->fields[i], field);
	}
	etw_text_printf(keys, "%*s", ETW_PLAN_COPY_BYTES, "");
	if (etw_text_error(keys) || keys->bytes > UINT32_MAX)
		free(fields);
	else
		plan->fields = fields;
}

void etw_export_time(struct etw_export_cache *cache, int64_t time_ft, struct etw_text *text)
{
	size_t from = text->bytes;
	int64_t second = time_ft / ETW_FILETIME_PER_SECOND;
	char *to;

	if (cache && cache->has_second && cache->second == second && time_ft >= 0) {
		to = etw_text_begin(text, SECOND_BYTES + FRACTION + 1);
		if (!to)
			return;
		memcpy(to, cache->second_text, SECOND_BYTES);
		to = etw_write_seven(to + SECOND_BYTES,
				     (uint32_t)(time_ft - second * ETW_FILETIME_PER_SECOND));
		*to++ = 'Z';
		etw_text_end(text, to);
		return;
	}
	etw_format_filetime(time_ft, text);
	if (!cache || text->error || text->bytes - from != SECOND_BYTES + FRACTION + 1)
		return;
	/* A year of four digits; other times have other lengths. */
	memcpy(cache->second_text, text->at + from, SECOND_BYTES);
	cache->second = second;
	cache->has_second = true;
}
