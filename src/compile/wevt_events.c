/* SPDX-License-Identifier: MIT */
/* Events, their names and attributes, and filters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile/wevt_internal.h"

/* Of events and filters: one more word, which only filters fill. */
#define LONG_HEAD_BYTES (sizeof(struct wire_wevt_list) + sizeof(le32))

struct numbered_event {
	const struct mc_event *event;
	size_t number; /* in the manifest: events of one id stay in its order */
};

static int compare_events(const void *left, const void *right)
{
	const struct numbered_event *a = left;
	const struct numbered_event *b = right;

	if (a->event->value != b->event->value)
		return a->event->value < b->event->value ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* The provider's events by their id; in the writer's arena. */
static int sort_events(struct wevt_writer *writer, struct numbered_event **ret, size_t *ret_count)
{
	struct numbered_event *events =
		etw_arena_array(&writer->arena, writer->provider->event_count, sizeof(*events));
	size_t count = 0;

	if (!events)
		return -ENOMEM;
	for (const struct mc_event *event = writer->provider->events; event; event = event->next) {
		events[count] = (struct numbered_event){event, count};
		count++;
	}
	qsort(events, count, sizeof(*events), compare_events);
	*ret = events;
	*ret_count = count;
	return 0;
}

static void write_event(struct wevt_writer *writer, const struct mc_event *event)
{
	struct wire_wevt_event entry = {
		.id = le16_of(event->value),
		.version = event->version,
		.channel = event->channel ? event->channel->value : 0,
		.level = event->level ? (uint8_t)event->level->value : 0,
		.opcode = event->opcode ? (uint8_t)event->opcode->value : 0,
		.task = le16_of(event->task ? (uint16_t)event->task->value : 0),
		.keyword = le64_of(event->mask),
		.message = etw_mc_message(event->message),
		.template = le32_of(etw_mc_find(writer, event->template_of)),
		.opcode_entry = le32_of(etw_mc_find(writer, event->opcode)),
		.level_entry = le32_of(etw_mc_find(writer, event->level)),
		.task_entry = le32_of(etw_mc_find(writer, event->task)),
		.keyword_count = le32_of((uint32_t)event->keyword_count),
		.channel_entry = le32_of(etw_mc_find(writer, event->channel)),
	};

	(void)etw_mc_append(writer, &entry, sizeof(entry));
}

static int compare_masks(const void *left, const void *right)
{
	const struct mc_name *a = *(const struct mc_name *const *)left;
	const struct mc_name *b = *(const struct mc_name *const *)right;

	return (a->value > b->value) - (a->value < b->value);
}

/* The offsets of an event's keywords, by their masks. */
static int write_keywords(struct wevt_writer *writer, const struct mc_event *event)
{
	struct etw_arena_mark mark = etw_arena_mark(&writer->arena);
	const struct mc_name **keywords = (const struct mc_name **)etw_arena_copy(
		&writer->arena, event->keywords, event->keyword_count * sizeof(void *));

	if (!keywords)
		return -ENOMEM;
	qsort(keywords, event->keyword_count, sizeof(void *), compare_masks);
	for (size_t i = 0; i < event->keyword_count; i++) {
		le32 offset = le32_of(etw_mc_find(writer, keywords[i]));

		(void)etw_mc_append(writer, &offset, sizeof(offset));
	}
	etw_arena_release(&writer->arena, mark);
	return 0;
}

int etw_mc_events(struct wevt_writer *writer)
{
	struct numbered_event *events;
	size_t count;
	size_t at;
	int r = sort_events(writer, &events, &count);

	if (r < 0)
		return r;
	etw_mc_align(writer, 8);
	etw_mc_begin_list(writer, WIRE_WEVT_EVENTS, "EVNT", LONG_HEAD_BYTES);
	at = writer->out->bytes;
	for (size_t i = 0; i < count; i++)
		write_event(writer, events[i].event);
	for (size_t i = 0; i < count; i++, at += sizeof(struct wire_wevt_event)) {
		if (!events[i].event->keyword_count)
			continue;
		etw_mc_set32(writer, at + offsetof(struct wire_wevt_event, keywords),
			     writer->out->bytes);
		r = write_keywords(writer, events[i].event);
		if (r < 0)
			return r;
	}
	return etw_mc_end_list(writer, count);
}

struct attribute {
	struct wire_wevt_attribute entry;
	const char *value;
};

struct attributes {
	struct attribute *all; /* owned */
	size_t count, room;
	struct etw_arena *arena; /* the values live there */
};

static int add_attribute(struct attributes *attributes, const struct mc_event *event, uint8_t key,
			 const char *at, size_t bytes)
{
	struct attribute *attribute;

	if (attributes->count == attributes->room) {
		size_t room = attributes->room ? 2 * attributes->room : 64;
		struct attribute *all = reallocarray(attributes->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		attributes->all = all;
		attributes->room = room;
	}
	attribute = &attributes->all[attributes->count++];
	*attribute = (struct attribute){
		.entry = {.key = key, .version = event->version, .id = le16_of(event->value)},
		.value = etw_arena_strndup(attributes->arena, at, bytes),
	};
	return attribute->value ? 0 : -ENOMEM;
}

/* Adds each KEY=value of the list; semicolons within quotes belong to a value. */
static int add_values(struct attributes *attributes, const struct mc_event *event)
{
	const char *at = etw_xml_attribute(event->element, "attributes");
	int r = 0;

	while (r == 0 && at && *at) {
		const char *start = at;
		bool is_quoted = false;

		for (; *at && (is_quoted || *at != ';'); at++)
			is_quoted ^= *at == '"';
		if (at > start)
			r = add_attribute(attributes, event, WIRE_WEVT_ATTRIBUTE_VALUE, start,
					  (size_t)(at - start));
		at += *at == ';';
	}
	return r;
}

static int collect_attributes(struct wevt_writer *writer, struct attributes *attributes)
{
	struct numbered_event *events;
	size_t count;
	int r = sort_events(writer, &events, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct mc_event *event = events[i].event;

		if (event->name)
			r = add_attribute(attributes, event, WIRE_WEVT_ATTRIBUTE_NAME, event->name,
					  strlen(event->name));
		if (r == 0)
			r = add_values(attributes, event);
	}
	return r;
}

struct value_place {
	const char *value;
	size_t entry; /* of the attribute */
};

static int compare_values(const void *left, const void *right)
{
	return strcmp(((const struct value_place *)left)->value,
		      ((const struct value_place *)right)->value);
}

/* The values in ordinal order, each once. */
static int write_values(struct wevt_writer *writer, const struct attributes *attributes, size_t at)
{
	struct value_place *places = etw_arena_array(&writer->arena, attributes->count,
						     sizeof(*places));
	size_t offset = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < attributes->count; i++)
		places[i] = (struct value_place){attributes->all[i].value,
						 at + i * sizeof(struct wire_wevt_attribute)};
	qsort(places, attributes->count, sizeof(*places), compare_values);
	for (size_t i = 0; i < attributes->count; i++) {
		if (i == 0 || strcmp(places[i - 1].value, places[i].value) != 0)
			offset = etw_mc_utf16(writer, places[i].value);
		etw_mc_set32(writer, places[i].entry + offsetof(struct wire_wevt_attribute, value),
			     offset);
	}
	return 0;
}

int etw_mc_attributes(struct wevt_writer *writer)
{
	struct attributes attributes = {.arena = &writer->arena};
	size_t at;
	int r = collect_attributes(writer, &attributes);

	if (r < 0)
		goto out;
	etw_mc_begin_list(writer, WIRE_WEVT_ATTRIBUTES, "EVTA", sizeof(struct wire_wevt_list));
	at = writer->out->bytes;
	for (size_t i = 0; i < attributes.count; i++)
		(void)etw_mc_append(writer, &attributes.all[i].entry,
				    sizeof(attributes.all[i].entry));
	r = write_values(writer, &attributes, at);
	if (r == 0)
		r = etw_mc_end_list(writer, attributes.count);
out:
	free(attributes.all);
	return r;
}

/* The word behind the header repeats the template of the last filter. [OBS mc] */
int etw_mc_filters(struct wevt_writer *writer)
{
	const struct mc_filter *first = writer->provider->filters;
	uint32_t template_at = 0;
	size_t count = 0;
	size_t at;

	etw_mc_begin_list(writer, WIRE_WEVT_FILTERS, "FLTR", LONG_HEAD_BYTES);
	at = writer->out->bytes;
	for (const struct mc_filter *filter = first; filter; filter = filter->next) {
		struct wire_wevt_filter entry = {
			.value = filter->value,
			.version = filter->version,
			.message = etw_mc_message(filter->message),
		};

		template_at = etw_mc_find(writer, filter->template_of);
		entry.template = le32_of(template_at);
		(void)etw_mc_append(writer, &entry, sizeof(entry));
		count++;
	}
	etw_mc_set32(writer, writer->list_at + sizeof(struct wire_wevt_list), template_at);
	for (const struct mc_filter *filter = first; filter; filter = filter->next) {
		etw_mc_set32(writer, at + offsetof(struct wire_wevt_filter, name),
			     etw_mc_name(writer, filter->name));
		at += sizeof(struct wire_wevt_filter);
	}
	return etw_mc_end_list(writer, count);
}
