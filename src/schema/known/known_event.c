/* SPDX-License-Identifier: MIT */
/* Events, layouts, fields, and classic events. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/known/known_internal.h"

/* Beyond it, what follows a damaged number would only cost time. */
#define LAYOUTS_MAX 64u

static int read_builds(struct etw_known *known, le16 number, const void *from, const char **ret)
{
	const le32 *item = etw_known_item(known, WIRE_KNOWN_BUILDS, le16_get(number), from);

	return item ? etw_known_string(known, *item, item, ret) : -EBADMSG;
}

static int read_extra(struct etw_known *known, const struct wire_known_extra *from,
		      struct etw_known_event *event)
{
	TRY(etw_known_string(known, from->task, from, &event->task_name));
	TRY(etw_known_string(known, from->opcode, from, &event->opcode_name));
	TRY(etw_known_string(known, from->channel, from, &event->channel_name));
	TRY(etw_known_string(known, from->symbol, from, &event->symbol));
	TRY(etw_known_string(known, from->keyword_names, from, &event->keyword_names));
	TRY(etw_known_string(known, from->source, from, &event->source));
	event->first_other = le32_get(from->first_other);
	return 0;
}

static int read_event(struct etw_known *known, const struct etw_known_provider *provider,
		      uint32_t index, struct etw_known_event *ret)
{
	const struct wire_known_event *from = etw_known_item(known, WIRE_KNOWN_EVENTS, index,
							     known->bytes.at);
	struct etw_known_event event = {.index = index,
					.task_name = "",
					.opcode_name = "",
					.channel_name = "",
					.keyword_names = "",
					.symbol = "",
					.source = ""};
	const le64 *mask;

	if (!from)
		return -EBADMSG;
	event.id = le16_get(from->id);
	event.version = from->version;
	event.level = from->level;
	event.opcode = from->opcode;
	event.channel = from->channel;
	event.task = le16_get(from->task);
	event.template = le32_get(from->template);
	event.layout_count = 1u + le16_get(from->other_count);
	mask = etw_known_item(known, WIRE_KNOWN_MASKS, le32_get(from->mask), from);
	if (!mask)
		return -EBADMSG;
	event.keywords = le64_get(*mask);
	TRY(read_builds(known, from->builds, from, &event.builds));
	if (le32_get(from->extra) != WIRE_KNOWN_NONE) {
		const struct wire_known_extra *extra = etw_known_item(known, WIRE_KNOWN_EXTRAS,
								      le32_get(from->extra), from);

		TRY(extra ? read_extra(known, extra, &event) : -EBADMSG);
	}
	if (event.layout_count > LAYOUTS_MAX)
		return etw_known_damaged(known, from, "event", "other_count",
					 "it has more layouts than there can be");
	if (!*event.builds && !*event.source)
		event.builds = provider->builds;
	*ret = event;
	return 0;
}

/* Events of a provider, checked once: the first number and how many there are. */
static int check_events(struct etw_known *known, const struct etw_known_provider *provider)
{
	uint32_t count = etw_known_count(known, WIRE_KNOWN_EVENTS);

	if (provider->first_event > count || provider->event_count > count - provider->first_event)
		return etw_known_damaged(known, known->bytes.at, "provider", "first_event",
					 "its events lie outside the index");
	return 0;
}

int etw_known_event_at(struct etw_known *known, const struct etw_known_provider *provider,
		       size_t index, struct etw_known_event *ret)
{
	TRY(check_events(known, provider));
	if (index >= provider->event_count)
		return -ENOENT;
	return read_event(known, provider, provider->first_event + (uint32_t)index, ret);
}

int etw_known_event_find(struct etw_known *known, const struct etw_known_provider *provider,
			 uint16_t id, uint8_t version, struct etw_known_event *ret)
{
	uint32_t wanted = (uint32_t)id << 8 | version;
	uint32_t low, high;

	TRY(check_events(known, provider));
	low = provider->first_event;
	high = low + provider->event_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct wire_known_event *item = etw_known_item(known, WIRE_KNOWN_EVENTS,
								     middle, known->bytes.at);
		uint32_t key;

		if (!item)
			return -EBADMSG;
		key = (uint32_t)le16_get(item->id) << 8 | item->version;
		if (key == wanted)
			return read_event(known, provider, middle, ret);
		if (key < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}

int etw_known_template(struct etw_known *known, uint32_t template, uint32_t *ret_count,
		       uint32_t *ret_marks)
{
	const struct wire_known_template *item;

	*ret_count = *ret_marks = 0;
	if (template == WIRE_KNOWN_NONE)
		return 0;
	item = etw_known_item(known, WIRE_KNOWN_TEMPLATES, template, known->bytes.at);
	if (!item)
		return -EBADMSG;
	*ret_count = le16_get(item->count);
	*ret_marks = le16_get(item->marks);
	return 0;
}

int etw_known_layout_at(struct etw_known *known, const struct etw_known_event *event, size_t index,
			struct etw_known_layout *ret)
{
	struct etw_known_layout layout = {
		.template = event->template, .builds = event->builds, .source = event->source};
	const struct wire_known_layout *item;

	if (index >= event->layout_count)
		return -ENOENT;
	if (index) {
		if (event->first_other > UINT32_MAX - LAYOUTS_MAX)
			return etw_known_damaged(known, known->bytes.at, "event", "first_other",
						 "its layouts lie outside the index");
		item = etw_known_item(known, WIRE_KNOWN_LAYOUTS,
				      event->first_other + (uint32_t)index - 1, known->bytes.at);
		if (!item)
			return -EBADMSG;
		layout.template = le32_get(item->template);
		TRY(etw_known_string(known, item->source, item, &layout.source));
		TRY(read_builds(known, item->builds, item, &layout.builds));
	}
	TRY(etw_known_template(known, layout.template, &layout.field_count, &layout.marks));
	*ret = layout;
	return 0;
}

/* The number of an item of a template's list; UINT32_MAX, which no part has, where it does not fit. */
static int find_in_template(struct etw_known *known, uint32_t template, size_t index, uint32_t *ret)
{
	const struct wire_known_template *item = etw_known_item(known, WIRE_KNOWN_TEMPLATES,
								template, known->bytes.at);
	uint64_t number;

	if (!item)
		return -EBADMSG;
	if (index >= le16_get(item->count))
		return -ENOENT;
	number = (uint64_t)le32_get(item->first) + index;
	*ret = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
	return 0;
}

int etw_known_field_at(struct etw_known *known, uint32_t template, size_t index,
		       struct etw_known_field *ret)
{
	const struct wire_known_field *item;
	struct etw_known_field field;
	const le32 *ref;
	uint32_t number;

	if (template == WIRE_KNOWN_NONE)
		return -ENOENT;
	TRY(find_in_template(known, template, index, &number));
	ref = etw_known_item(known, WIRE_KNOWN_REFS, number, known->bytes.at);
	item = ref ? etw_known_item(known, WIRE_KNOWN_FIELDS, le32_get(*ref), ref) : NULL;
	if (!item)
		return -EBADMSG;
	field = (struct etw_known_field){.in_type = item->in_type,
					 .out_type = item->out_type,
					 .flags = le16_get(item->flags),
					 .length = le16_get(item->length),
					 .count = le16_get(item->count),
					 .link = le32_get(item->link)};
	TRY(etw_known_string(known, item->name, item, &field.name));
	*ret = field;
	return 0;
}

static int read_class(struct etw_known *known, uint32_t number, struct etw_known_class *ret)
{
	const struct wire_known_class *from = etw_known_item(known, WIRE_KNOWN_CLASSES, number,
							     known->bytes.at);
	struct etw_known_class class;

	if (!from)
		return -EBADMSG;
	class = (struct etw_known_class){.guid = etw_guid_read(from->guid),
					 .provider = le32_get(from->provider),
					 .type = le16_get(from->type),
					 .version = le16_get(from->version),
					 .template = le32_get(from->template)};
	TRY(etw_known_string(known, from->name, from, &class.name));
	TRY(etw_known_string(known, from->opcode, from, &class.opcode_name));
	TRY(etw_known_template(known, class.template, &class.field_count, &class.marks));
	*ret = class;
	return 0;
}

int etw_known_class_at(struct etw_known *known, const struct etw_known_provider *provider,
		       size_t index, struct etw_known_class *ret)
{
	uint64_t number = (uint64_t)provider->first_class + index;

	if (index >= provider->class_count)
		return -ENOENT;
	return read_class(known, number < UINT32_MAX ? (uint32_t)number : UINT32_MAX, ret);
}

/* The first class in order that is not before (guid, type, version). Returns its place, or -EBADMSG. */
static int64_t find_class(struct etw_known *known, const uint8_t guid[16], uint16_t type,
			  uint16_t version)
{
	uint32_t low = 0, high = etw_known_count(known, WIRE_KNOWN_CLASS_ORDER);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const le32 *number = etw_known_item(known, WIRE_KNOWN_CLASS_ORDER, middle,
						    known->bytes.at);
		const struct wire_known_class *item =
			number ? etw_known_item(known, WIRE_KNOWN_CLASSES, le32_get(*number),
						number)
			       : NULL;
		int r;

		if (!item)
			return -EBADMSG;
		r = memcmp(item->guid, guid, sizeof(item->guid));
		if (!r)
			r = le16_get(item->type) - type;
		if (!r)
			r = le16_get(item->version) - version;
		if (r < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int get_class(struct etw_known *known, const GUID *guid, uint16_t type, uint16_t version,
		     struct etw_known_class *ret)
{
	struct etw_known_class class;
	uint8_t wanted[16];
	const le32 *number;
	int64_t place;

	etw_guid_write(wanted, guid);
	place = find_class(known, wanted, type, version);
	if (place < 0)
		return (int)place;
	if (place == etw_known_count(known, WIRE_KNOWN_CLASS_ORDER))
		return -ENOENT;
	number = etw_known_item(known, WIRE_KNOWN_CLASS_ORDER, (uint32_t)place, known->bytes.at);
	if (!number)
		return -EBADMSG;
	TRY(read_class(known, le32_get(*number), &class));
	if (!etw_guid_equal(&class.guid, guid) || class.type != type || class.version != version)
		return -ENOENT;
	*ret = class;
	return 0;
}

int etw_known_class_find(struct etw_known *known, const GUID *guid, uint16_t type, uint16_t version,
			 struct etw_known_class *ret)
{
	int r = get_class(known, guid, type, version, ret);

	return r == -ENOENT ? get_class(known, guid, type, UINT16_MAX, ret) : r;
}

int etw_known_class_field_at(struct etw_known *known, uint32_t template, size_t index,
			     struct etw_known_class_field *ret)
{
	const struct wire_known_class_field *item;
	struct etw_known_class_field field;
	uint32_t number;

	if (template == WIRE_KNOWN_NONE)
		return -ENOENT;
	TRY(find_in_template(known, template, index, &number));
	item = etw_known_item(known, WIRE_KNOWN_CLASS_FIELDS, number, known->bytes.at);
	if (!item)
		return -EBADMSG;
	field.count = le32_get(item->count);
	TRY(etw_known_string(known, item->name, item, &field.name));
	TRY(etw_known_string(known, item->type, item, &field.type));
	TRY(etw_known_string(known, item->extension, item, &field.extension));
	TRY(etw_known_string(known, item->termination, item, &field.termination));
	TRY(etw_known_string(known, item->format, item, &field.format));
	*ret = field;
	return 0;
}

/* Reads the number at the beginning of "9600,10240"; 0 where there is none. */
static uint32_t read_build(const char **at)
{
	uint32_t build = 0;

	while (**at >= '0' && **at <= '9' && build < UINT32_MAX / 10 - 1)
		build = 10 * build + (uint32_t)(*(*at)++ - '0');
	return build;
}

uint32_t etw_known_build_distance(const char *builds, uint32_t build)
{
	uint32_t nearest = UINT32_MAX;

	/* What is no number ends the list, as does its end. */
	while (*builds >= '0' && *builds <= '9' && build) {
		uint32_t first = read_build(&builds), last = first, distance;

		if (*builds == '-') {
			builds++;
			last = read_build(&builds);
		}
		distance = build < first ? first - build : build > last ? build - last : 0;
		if (distance < nearest)
			nearest = distance;
		if (*builds != ',')
			break;
		builds++;
	}
	return nearest;
}
