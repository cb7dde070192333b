/* SPDX-License-Identifier: MIT */
/*
 * The tree of classes under EventTrace: the topmost class with a Guid is a provider, others with a Guid
 * are event classes, those with an EventType describe events. Everything else in a MOF file is WMI's.
 */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/mof/mof_internal.h"

struct event_key {
	const struct mof_provider *provider;
	const GUID *guid;
};

static bool is_event(const void *item, const void *key)
{
	const struct mof_event *event = item;
	const struct event_key *wanted = key;

	return event->provider == wanted->provider &&
	       etw_guid_equal(&event->class->guid, wanted->guid);
}

static uint64_t hash_event(const struct mof_class *class)
{
	return etw_hash_mix((uint64_t)(uintptr_t) class->provider, etw_guid_hash(&class->guid));
}

struct mof_event *etw_mof_find_event(const struct mof_reader *reader, const struct mof_class *class)
{
	const struct event_key key = {class->provider, &class->guid};

	return etw_table_find(&reader->events, hash_event(class), is_event, &key);
}

const struct mof_qualifier *etw_mof_version_qualifier(const struct mof_class *class)
{
	const struct mof_qualifier *found = NULL;

	for (const struct mof_class *at = class; at; at = at->base) {
		found = etw_mof_qualifier(at->qualifiers, "EventVersion");
		if (found || at == class->event)
			break;
	}
	return found;
}

static bool is_event_type(const struct mof_class *class)
{
	return etw_mof_qualifier(class->qualifiers, "EventType") != NULL;
}

/* Walks up to EventTrace. Returns NULL, or why the class has no place under it. */
static const char *find_lineage(struct mof_class *class, const struct mof_class **ret_provider)
{
	struct mof_class *at = class;
	unsigned depth = 0;

	for (;; at = at->base) {
		if (etw_mof_qualifier(at->qualifiers, "Guid")) {
			class->event = class->event ? class->event : at;
			*ret_provider = at;
		}
		if (!at->super)
			return "the class does not descend from EventTrace";
		if (etw_mof_is_name(at->super, "EventTrace"))
			break;
		if (!at->base)
			return "a superclass is not in the file";
		if (++depth > ETW_MOF_ANCESTORS_MAX)
			return "the class descends from too many others";
	}
	return class->event ? NULL : "neither the class nor one above it has a Guid";
}

static int add_provider(struct mof_reader *reader, struct mof_class *class)
{
	struct mof_provider *provider = etw_arena_alloc(&reader->scratch, sizeof(*provider));

	if (!provider)
		return -ENOMEM;
	provider->class = class;
	class->provider = provider;
	if (reader->last_provider)
		reader->last_provider->next = provider;
	else
		reader->first_provider = provider;
	reader->last_provider = provider;
	reader->provider_count++;
	return 0;
}

/* Gives class->provider and class->guid, or leaves them NULL. */
static int place_class(struct mof_reader *reader, struct mof_class *class)
{
	const struct mof_class *topmost = NULL;
	const char *sentence = find_lineage(class, &topmost);
	const struct mof_qualifier *guid;
	const char *text;

	/* Who has neither Guid nor EventType is WMI's, or nothing but a common base. */
	if (sentence) {
		class->event = NULL;
		return is_event_type(class) ? etw_mof_complain(reader, class->line, sentence) : 0;
	}
	guid = etw_mof_qualifier(class->event->qualifiers, "Guid");
	text = etw_mof_text(class->event->qualifiers, "Guid");
	if (!text || etw_guid_parse(text, &class->guid) < 0) {
		class->event = NULL;
		return etw_mof_complain(reader, guid->line, "a Guid is malformed");
	}
	if (topmost == class)
		return add_provider(reader, class);
	/* A superclass may stand behind the class: its provider is found when all are placed. */
	return 0;
}

/* The topmost class with a Guid has made its provider by now, unless its Guid is malformed. */
static int join_provider(struct mof_reader *reader, struct mof_class *class)
{
	const struct mof_class *topmost = class;

	if (!class->event || class->provider)
		return 0;
	for (const struct mof_class *at = class; at; at = at->base) {
		if (etw_mof_qualifier(at->qualifiers, "Guid"))
			topmost = at;
		if (etw_mof_is_name(at->super, "EventTrace"))
			break;
	}
	class->provider = topmost->provider;
	if (class->provider || !is_event_type(class))
		return 0;
	reader->current = class;
	return etw_mof_complain(reader, class->line, "the Guid of the provider is malformed");
}

static int add_event(struct mof_reader *reader, struct mof_class *class, struct mof_event **ret)
{
	struct mof_provider *provider = class->provider;
	struct mof_event *event = etw_arena_alloc(&reader->scratch, sizeof(*event));

	if (!event)
		return -ENOMEM;
	event->provider = provider;
	event->class = class;
	TRY(etw_table_insert(&reader->events, hash_event(class), event));
	if (provider->last_event)
		provider->last_event->next = event;
	else
		provider->first_event = event;
	provider->last_event = event;
	provider->event_count++;
	*ret = event;
	return 0;
}

/* Event classes, and the highest version of each, which one without EventVersion follows. */
static int note_event(struct mof_reader *reader, struct mof_class *class)
{
	const struct mof_qualifier *version = etw_mof_qualifier(class->qualifiers, "EventVersion");
	struct mof_event *event;
	uint64_t number;

	if (!class->provider)
		return 0;
	/* A provider that is no event itself. */
	if (class->event == class->provider->class &&
	    (class == class->event || !is_event_type(class)))
		return 0;
	event = etw_mof_find_event(reader, class);
	if (!event)
		TRY(add_event(reader, class->event, &event));
	if (!version)
		return 0;
	if (version->value_count != 1 || !etw_mof_number(version->values, UINT8_MAX, &number)) {
		reader->current = class;
		return etw_mof_complain(reader, version->line,
					"an EventVersion is no number up to 255");
	}
	event->is_versioned = true;
	if (number > event->last_version)
		event->last_version = (uint8_t)number;
	return 0;
}

/* Returns NULL, or what is wrong with the list. */
static const char *check_opcodes(const struct mof_qualifier *types)
{
	bool is_seen[UINT8_MAX + 1] = {false};
	uint64_t opcode;

	if (!types->values)
		return "an EventType lists nothing";
	for (const struct mof_value *value = types->values; value; value = value->next) {
		if (!etw_mof_number(value, UINT8_MAX, &opcode))
			return "an EventType is no number up to 255";
		if (is_seen[opcode])
			return "an EventType is listed twice";
		is_seen[opcode] = true;
	}
	return NULL;
}

static int check_names(struct mof_reader *reader, const struct mof_class *class,
		       const struct mof_qualifier *types)
{
	const struct mof_qualifier *names = etw_mof_qualifier(class->qualifiers, "EventTypeName");

	if (!names)
		return 0;
	if (!etw_mof_is_strings(names))
		return etw_mof_complain(reader, names->line, "an EventTypeName is no string");
	if (names->value_count > types->value_count)
		return etw_mof_complain(reader, names->line,
					"there are more EventTypeNames than EventTypes");
	return 0;
}

static int read_type(struct mof_reader *reader, struct mof_class *class)
{
	const struct mof_qualifier *types = etw_mof_qualifier(class->qualifiers, "EventType");
	struct mof_provider *provider = class->provider;
	const char *sentence;
	bool is_good;

	if (!types || !provider)
		return 0;
	reader->current = class;
	if (class == provider->class)
		return etw_mof_complain(reader, types->line, "a provider has an EventType");
	sentence = check_opcodes(types);
	if (sentence)
		return etw_mof_complain(reader, types->line, sentence);
	TRY(check_names(reader, class, types));
	TRY(etw_mof_fields(reader, class, &is_good));
	if (!is_good)
		return 0;
	if (provider->last_type)
		provider->last_type->next_type = class;
	else
		provider->first_type = class;
	provider->last_type = class;
	provider->schema_count += types->value_count;
	return 0;
}

int etw_mof_read_classes(struct mof_reader *reader)
{
	for (struct mof_class *class = reader->classes; class; class = class->next) {
		reader->current = class;
		TRY(place_class(reader, class));
	}
	for (struct mof_class *class = reader->classes; class; class = class->next)
		TRY(join_provider(reader, class));
	for (struct mof_class *class = reader->classes; class; class = class->next)
		TRY(note_event(reader, class));
	for (struct mof_class *class = reader->classes; class; class = class->next)
		TRY(read_type(reader, class));
	return etw_mof_make_definition(reader);
}
