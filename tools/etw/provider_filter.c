/* SPDX-License-Identifier: MIT */
/* Which events of a provider are asked for, and where a word was found in them. */
#include <string.h>

#include "base/number.h"
#include "base/pattern.h"
#include "export/export.h"
#include "schema/event_name.h"
#include "tools/etw/providers.h"

#define WHERE_BYTES_MAX 200 /* of the places where a word was found */

bool provider_filter_is_empty(const struct provider_filter *filter)
{
	return !filter->events.count && !filter->keywords.count && !filter->search;
}

void provider_event_name(const struct etw_schema *schema, struct etw_text *text)
{
	const char *task = etw_schema_event_task(schema);
	const char *opcode = etw_schema_event_opcode(schema, schema->descriptor.Opcode);
	size_t from = text->bytes;

	if (task)
		etw_text_puts(text, task);
	if (task && opcode)
		etw_text_putc(text, '/');
	if (opcode)
		etw_text_puts(text, opcode);
	if (!task && !opcode && schema->symbol)
		etw_text_puts(text, schema->symbol);
	(void)etw_export_clean(text, from);
}

static bool is_event(const struct etw_words *words, const struct etw_schema *schema)
{
	const EVENT_HEADER header = {
		.EventDescriptor = schema->descriptor,
		.Flags = schema->source == DecodingSourceWbem ? EVENT_HEADER_FLAG_CLASSIC_HEADER
							      : 0,
	};

	for (size_t i = 0; i < words->count; i++) {
		if (etw_schema_event_is(words->at[i], &header, schema) ||
		    etw_schema_name_fits(words->at[i], schema->symbol))
			return true;
	}
	return !words->count;
}

/* One of the names, which are joined by "; ". */
static bool has_keyword_name(const char *word, const char *names)
{
	while (names && *names) {
		size_t bytes = strcspn(names, ";");

		if (etw_pattern_matches(word, names, bytes))
			return true;
		names += bytes + (names[bytes] ? 2 : 0);
	}
	return false;
}

static bool has_keyword(const struct etw_words *words, const struct etw_schema *schema)
{
	uint64_t mask;

	for (size_t i = 0; i < words->count; i++) {
		if (etw_number_parse(words->at[i], UINT64_MAX, &mask)
			    ? (schema->descriptor.Keyword & mask) != 0
			    : has_keyword_name(words->at[i], schema->keywords))
			return true;
	}
	return !words->count;
}

static bool has_word(const char *word, const char *text)
{
	if (!text)
		return false;
	return strchr(word, '*') ? etw_pattern_matches(word, text, strlen(text))
				 : strcasestr(text, word) != NULL;
}

struct search {
	const char *word;
	struct etw_text *where; /* NULL: not asked for */
	size_t from;            /* where it begins */
	bool is_found;
};

/* Says each place once, since the layouts of an event have most of their fields in common. */
static void look_at(struct search *search, const char *kind, const char *name)
{
	struct etw_text *where = search->where;
	size_t before;

	if (!has_word(search->word, name))
		return;
	search->is_found = true;
	if (!where || where->bytes - search->from > WHERE_BYTES_MAX)
		return;
	before = where->bytes;
	if (before > search->from)
		etw_text_puts(where, ", ");
	etw_text_printf(where, "%s %s", kind, name);
	(void)etw_export_clean(where, before);
	if (before > search->from && !etw_text_error(where) &&
	    memmem(where->at + search->from, before - search->from, where->at + before + 2,
		   where->bytes - before - 2))
		where->bytes = before;
}

static void look_into_map(struct search *search, const struct etw_field *field)
{
	look_at(search, "map", field->map_name);
	for (uint32_t i = 0; field->map && i < field->map->count; i++)
		look_at(search, "value", field->map->entries[i].text);
}

static void look_into(struct search *search, const struct etw_schema *schema)
{
	look_at(search, "event", schema->event_name);
	look_at(search, "task", schema->task_name);
	look_at(search, "opcode", schema->opcode_name);
	look_at(search, "symbol", schema->symbol);
	look_at(search, "keywords", schema->keywords);
	for (uint16_t i = 0; i < schema->field_count; i++) {
		look_at(search, "field", schema->fields[i].name);
		look_into_map(search, &schema->fields[i]);
	}
}

bool provider_filter_takes(const struct provider_filter *filter, const struct fact_event *event,
			   struct etw_text *ret_where)
{
	struct search search = {
		.word = filter->search,
		.where = ret_where,
		.from = ret_where ? ret_where->bytes : 0,
	};
	const struct etw_schema *first = event->layouts[0].schema;

	if (!is_event(&filter->events, first) || !has_keyword(&filter->keywords, first))
		return false;
	for (size_t i = 0; filter->search && i < event->layout_count; i++)
		look_into(&search, event->layouts[i].schema);
	return search.is_found || !filter->search;
}
