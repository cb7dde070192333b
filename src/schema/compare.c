/* SPDX-License-Identifier: MIT */
/* Compares from the top down, and keeps the place where it is as text for the sentence. */
#include "schema/compare.h"

#include <string.h>

#include "base/guid.h"
#include "base/macros.h"

/* A place is "provider 1, event 7 version 2, field 3": a list that grows on the way down. */
struct comparison {
	struct etw_text place; /* owned */
	struct etw_text *difference;
	bool is_compiled;
};

static size_t enter(struct comparison *comparison, const char *what, size_t number,
		    const char *name)
{
	size_t outer = comparison->place.bytes;

	etw_text_printf(&comparison->place, "%s%s %zu", outer ? ", " : "", what, number);
	if (name)
		etw_text_printf(&comparison->place, " (%s)", name);
	return outer;
}

/* Takes what enter() returned, and hands @is_equal on. */
static bool leave(struct comparison *comparison, size_t outer, bool is_equal)
{
	if (!etw_text_error(&comparison->place)) {
		comparison->place.bytes = outer;
		comparison->place.at[outer] = '\0';
	}
	return is_equal;
}

static void begin_sentence(struct comparison *comparison, const char *what)
{
	const char *place = etw_text_string(&comparison->place);

	etw_text_printf(comparison->difference, "%s%s%s: ", place, *place ? ", " : "", what);
}

static bool same_number(struct comparison *comparison, const char *what, uint64_t left,
			uint64_t right)
{
	if (left == right)
		return true;
	begin_sentence(comparison, what);
	etw_text_printf(comparison->difference, "0x%llx and 0x%llx", (unsigned long long)left,
			(unsigned long long)right);
	return false;
}

static void quote(struct etw_text *text, const char *value)
{
	if (value)
		etw_text_json_string(text, value, strlen(value));
	else
		etw_text_puts(text, "nothing");
}

static bool same_text(struct comparison *comparison, const char *what, const char *left,
		      const char *right)
{
	if (left == right || (left && right && strcmp(left, right) == 0))
		return true;
	begin_sentence(comparison, what);
	quote(comparison->difference, left);
	etw_text_puts(comparison->difference, " and ");
	quote(comparison->difference, right);
	return false;
}

static bool same_guid(struct comparison *comparison, const char *what, const GUID *left,
		      const GUID *right)
{
	char left_text[ETW_GUID_BRACED_BYTES], right_text[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(left, left_text);
	etw_guid_format_braced(right, right_text);
	return etw_guid_equal(left, right) || same_text(comparison, what, left_text, right_text);
}

static bool same_named(struct comparison *comparison, const struct etw_named *left,
		       const struct etw_named *right)
{
	return same_number(comparison, "value", left->value, right->value) &&
	       same_text(comparison, "name", left->name, right->name) &&
	       same_text(comparison, "message", left->message, right->message) &&
	       (comparison->is_compiled ||
		same_text(comparison, "symbol", left->symbol, right->symbol));
}

static bool same_names(struct comparison *comparison, const char *what, const char *count_name,
		       const struct etw_named *left, size_t left_count,
		       const struct etw_named *right, size_t right_count)
{
	bool is_equal = true;

	for (size_t i = 0; i < left_count && i < right_count && is_equal; i++) {
		size_t outer = enter(comparison, what, i, left[i].name);

		is_equal = leave(comparison, outer, same_named(comparison, &left[i], &right[i]));
	}
	if (!is_equal)
		return false;
	return same_number(comparison, count_name, left_count, right_count);
}

static bool same_tasks(struct comparison *comparison, const struct etw_provider_schema *left,
		       const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->task_count && i < right->task_count; i++) {
		const struct etw_task *a = &left->tasks[i];
		const struct etw_task *b = &right->tasks[i];
		size_t outer = enter(comparison, "task", i, a->named.name);

		if (!leave(comparison, outer,
			   same_named(comparison, &a->named, &b->named) &&
				   same_guid(comparison, "event GUID", &a->event_guid,
					     &b->event_guid)))
			return false;
	}
	return same_number(comparison, "number of tasks", left->task_count, right->task_count);
}

static bool same_opcodes(struct comparison *comparison, const struct etw_provider_schema *left,
			 const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->opcode_count && i < right->opcode_count; i++) {
		const struct etw_opcode *a = &left->opcodes[i];
		const struct etw_opcode *b = &right->opcodes[i];
		size_t outer = enter(comparison, "opcode", i, a->named.name);

		if (!leave(comparison, outer,
			   same_named(comparison, &a->named, &b->named) &&
				   same_number(comparison, "task", a->task, b->task) &&
				   same_number(comparison, "a task is given", a->is_task_given,
					       b->is_task_given)))
			return false;
	}
	return same_number(comparison, "number of opcodes", left->opcode_count,
			   right->opcode_count);
}

static bool same_channel(struct comparison *comparison, const struct etw_channel *left,
			 const struct etw_channel *right)
{
	if (!same_named(comparison, &left->named, &right->named) ||
	    !same_number(comparison, "imported", left->is_imported, right->is_imported) ||
	    !same_number(comparison, "keyword bit", left->keyword, right->keyword))
		return false;
	return comparison->is_compiled ||
	       (same_text(comparison, "chid", left->chid, right->chid) &&
		same_text(comparison, "access", left->access, right->access) &&
		same_text(comparison, "isolation", left->isolation, right->isolation) &&
		same_number(comparison, "type", left->type, right->type) &&
		same_number(comparison, "enabled", left->is_enabled, right->is_enabled));
}

static bool same_channels(struct comparison *comparison, const struct etw_provider_schema *left,
			  const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->channel_count && i < right->channel_count; i++) {
		size_t outer = enter(comparison, "channel", i, left->channels[i].named.name);

		if (!leave(comparison, outer,
			   same_channel(comparison, &left->channels[i], &right->channels[i])))
			return false;
	}
	return same_number(comparison, "number of channels", left->channel_count,
			   right->channel_count);
}

static bool same_map(struct comparison *comparison, const struct etw_map *left,
		     const struct etw_map *right)
{
	if (!same_text(comparison, "name", left->name, right->name) ||
	    !same_number(comparison, "flags", left->flags, right->flags) ||
	    !same_number(comparison, "number of entries", left->count, right->count))
		return false;
	for (uint32_t i = 0; i < left->count; i++) {
		size_t outer = enter(comparison, "entry", i, NULL);

		if (!leave(comparison, outer,
			   same_number(comparison, "value", left->entries[i].value,
				       right->entries[i].value) &&
				   same_text(comparison, "text", left->entries[i].text,
					     right->entries[i].text)))
			return false;
	}
	return true;
}

static bool same_maps(struct comparison *comparison, const struct etw_provider_schema *left,
		      const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->map_count && i < right->map_count; i++) {
		size_t outer = enter(comparison, "map", i, left->maps[i].name);

		if (!leave(comparison, outer,
			   same_map(comparison, &left->maps[i], &right->maps[i])))
			return false;
	}
	return same_number(comparison, "number of maps", left->map_count, right->map_count);
}

static bool same_pattern_map(struct comparison *comparison, const struct etw_pattern_map *left,
			     const struct etw_pattern_map *right)
{
	if (!same_text(comparison, "name", left->name, right->name) ||
	    !same_text(comparison, "format", left->format, right->format) ||
	    !same_number(comparison, "number of patterns", left->count, right->count))
		return false;
	for (uint32_t i = 0; i < left->count; i++) {
		if (!same_text(comparison, "pattern", left->patterns[i].name,
			       right->patterns[i].name) ||
		    !same_text(comparison, "value of a pattern", left->patterns[i].value,
			       right->patterns[i].value))
			return false;
	}
	return true;
}

static bool same_pattern_maps(struct comparison *comparison, const struct etw_provider_schema *left,
			      const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->pattern_map_count && i < right->pattern_map_count; i++) {
		size_t outer = enter(comparison, "pattern map", i, left->pattern_maps[i].name);

		if (!leave(comparison, outer,
			   same_pattern_map(comparison, &left->pattern_maps[i],
					    &right->pattern_maps[i])))
			return false;
	}
	return same_number(comparison, "number of pattern maps", left->pattern_map_count,
			   right->pattern_map_count);
}

static bool same_field(struct comparison *comparison, const struct etw_field *left,
		       const struct etw_field *right)
{
	return same_text(comparison, "name", left->name, right->name) &&
	       same_number(comparison, "flags", left->flags, right->flags) &&
	       same_number(comparison, "tags", left->tags, right->tags) &&
	       same_number(comparison, "in-type", left->in_type, right->in_type) &&
	       same_number(comparison, "out-type", left->out_type, right->out_type) &&
	       same_number(comparison, "count", left->count, right->count) &&
	       same_number(comparison, "length", left->length, right->length) &&
	       same_number(comparison, "first member", left->struct_first, right->struct_first) &&
	       same_number(comparison, "number of members", left->struct_count,
			   right->struct_count) &&
	       same_text(comparison, "map", left->map_name, right->map_name) &&
	       same_number(comparison, "its map is known", left->map != NULL, right->map != NULL);
}

static bool same_fields(struct comparison *comparison, const struct etw_field *left,
			size_t left_count, const struct etw_field *right, size_t right_count)
{
	for (size_t i = 0; i < left_count && i < right_count && left != right; i++) {
		size_t outer = enter(comparison, "field", i, left[i].name);

		if (!leave(comparison, outer, same_field(comparison, &left[i], &right[i])))
			return false;
	}
	return same_number(comparison, "number of fields", left_count, right_count);
}

static bool same_filter(struct comparison *comparison, const struct etw_filter_schema *left,
			const struct etw_filter_schema *right)
{
	return same_text(comparison, "name", left->name, right->name) &&
	       same_text(comparison, "message", left->message, right->message) &&
	       same_number(comparison, "value", left->value, right->value) &&
	       same_number(comparison, "version", left->version, right->version) &&
	       same_fields(comparison, left->fields, left->field_count, right->fields,
			   right->field_count) &&
	       same_number(comparison, "number of top-level fields", left->top_count,
			   right->top_count);
}

static bool same_filters(struct comparison *comparison, const struct etw_provider_schema *left,
			 const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->filter_count && i < right->filter_count; i++) {
		size_t outer = enter(comparison, "filter", i, left->filters[i].name);

		if (!leave(comparison, outer,
			   same_filter(comparison, &left->filters[i], &right->filters[i])))
			return false;
	}
	return same_number(comparison, "number of filters", left->filter_count,
			   right->filter_count);
}

static bool same_descriptor(struct comparison *comparison, const EVENT_DESCRIPTOR *left,
			    const EVENT_DESCRIPTOR *right)
{
	return same_number(comparison, "id", left->Id, right->Id) &&
	       same_number(comparison, "version", left->Version, right->Version) &&
	       same_number(comparison, "channel", left->Channel, right->Channel) &&
	       same_number(comparison, "level", left->Level, right->Level) &&
	       same_number(comparison, "opcode", left->Opcode, right->Opcode) &&
	       same_number(comparison, "task", left->Task, right->Task) &&
	       same_number(comparison, "keywords", left->Keyword, right->Keyword);
}

static bool same_event_names(struct comparison *comparison, const struct etw_schema *left,
			     const struct etw_schema *right)
{
	return same_text(comparison, "provider name", left->provider_name, right->provider_name) &&
	       same_text(comparison, "name", left->event_name, right->event_name) &&
	       same_text(comparison, "task name", left->task_name, right->task_name) &&
	       same_text(comparison, "opcode name", left->opcode_name, right->opcode_name) &&
	       same_text(comparison, "level name", left->level_name, right->level_name) &&
	       same_text(comparison, "channel name", left->channel_name, right->channel_name) &&
	       same_text(comparison, "keyword names", left->keywords, right->keywords) &&
	       same_text(comparison, "message", left->message, right->message) &&
	       same_text(comparison, "attributes", left->attributes, right->attributes) &&
	       same_text(comparison, "activity id", left->activity_id_name,
			 right->activity_id_name) &&
	       same_text(comparison, "related activity id", left->related_activity_id_name,
			 right->related_activity_id_name) &&
	       (comparison->is_compiled ||
		same_text(comparison, "symbol", left->symbol, right->symbol));
}

static bool same_event(struct comparison *comparison, const struct etw_schema *left,
		       const struct etw_schema *right)
{
	return same_guid(comparison, "provider", &left->provider, &right->provider) &&
	       same_guid(comparison, "event GUID", &left->event_guid, &right->event_guid) &&
	       same_descriptor(comparison, &left->descriptor, &right->descriptor) &&
	       same_number(comparison, "source", left->source, right->source) &&
	       same_number(comparison, "template flags", left->template_flags,
			   right->template_flags) &&
	       same_event_names(comparison, left, right) &&
	       same_number(comparison, "number of top-level fields", left->top_count,
			   right->top_count) &&
	       same_fields(comparison, left->fields, left->field_count, right->fields,
			   right->field_count);
}

static bool same_events(struct comparison *comparison, const struct etw_provider_schema *left,
			const struct etw_provider_schema *right)
{
	for (size_t i = 0; i < left->schema_count && i < right->schema_count; i++) {
		size_t outer = enter(comparison, "event", left->schemas[i].descriptor.Id, NULL);

		if (!leave(comparison, outer,
			   same_event(comparison, &left->schemas[i], &right->schemas[i])))
			return false;
	}
	return same_number(comparison, "number of events", left->schema_count, right->schema_count);
}

static bool same_identity(struct comparison *comparison, const struct etw_provider_schema *left,
			  const struct etw_provider_schema *right)
{
	return same_guid(comparison, "GUID", &left->guid, &right->guid) &&
	       same_guid(comparison, "control GUID", &left->control_guid, &right->control_guid) &&
	       same_guid(comparison, "group GUID", &left->group_guid, &right->group_guid) &&
	       same_number(comparison, "source", left->source, right->source) &&
	       same_text(comparison, "name", left->name, right->name) &&
	       same_text(comparison, "message", left->message, right->message);
}

static bool same_files(struct comparison *comparison, const struct etw_provider_schema *left,
		       const struct etw_provider_schema *right)
{
	return same_text(comparison, "symbol", left->symbol, right->symbol) &&
	       same_text(comparison, "resource file", left->resource_file, right->resource_file) &&
	       same_text(comparison, "message file", left->message_file, right->message_file) &&
	       same_text(comparison, "parameter file", left->parameter_file,
			 right->parameter_file) &&
	       same_text(comparison, "help link", left->help_link, right->help_link);
}

static bool same_provider(struct comparison *comparison, const struct etw_provider_schema *left,
			  const struct etw_provider_schema *right)
{
	return same_identity(comparison, left, right) &&
	       (comparison->is_compiled || same_files(comparison, left, right)) &&
	       same_names(comparison, "level", "number of levels", left->levels, left->level_count,
			  right->levels, right->level_count) &&
	       same_tasks(comparison, left, right) && same_opcodes(comparison, left, right) &&
	       same_names(comparison, "keyword", "number of keywords", left->keywords,
			  left->keyword_count, right->keywords, right->keyword_count) &&
	       same_channels(comparison, left, right) && same_maps(comparison, left, right) &&
	       same_pattern_maps(comparison, left, right) &&
	       same_filters(comparison, left, right) && same_events(comparison, left, right);
}

bool etw_definition_compare(const struct etw_definition *left, const struct etw_definition *right,
			    unsigned flags, struct etw_text *difference)
{
	struct comparison comparison = {.difference = difference,
					.is_compiled = flags & ETW_COMPARE_COMPILED};
	bool is_equal = same_number(&comparison, "number of providers", left->provider_count,
				    right->provider_count);

	for (size_t i = 0; i < left->provider_count && is_equal; i++) {
		size_t outer = enter(&comparison, "provider", i, left->providers[i].name);

		is_equal = leave(
			&comparison, outer,
			same_provider(&comparison, &left->providers[i], &right->providers[i]));
	}
	etw_text_done(&comparison.place);
	return is_equal;
}
