/* SPDX-License-Identifier: MIT */
/* One walk over the provider makes both forms: elements with attributes, or keys with values below them. */
#include "tools/wevtutil/publisher.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/guid.h"
#include "base/time.h"
#include "export/export.h"

#define INDENT 2

struct tree {
	struct etw_text *text;
	bool is_xml;
	bool is_open; /* an XML start tag that may still take attributes */
	unsigned depth;
};

static void put_indent(struct tree *tree)
{
	for (unsigned i = 0; i < tree->depth * INDENT; i++)
		etw_text_putc(tree->text, ' ');
}

static void close_start(struct tree *tree)
{
	if (tree->is_open)
		etw_text_puts(tree->text, ">\n");
	tree->is_open = false;
}

static void begin(struct tree *tree, const char *name)
{
	close_start(tree);
	put_indent(tree);
	etw_text_printf(tree->text, tree->is_xml ? "<%s" : "%s:\n", name);
	tree->is_open = tree->is_xml;
	tree->depth++;
}

static void end(struct tree *tree, const char *name)
{
	tree->depth--;
	if (!tree->is_xml)
		return;
	if (tree->is_open) {
		etw_text_puts(tree->text, "/>\n");
		tree->is_open = false;
		return;
	}
	put_indent(tree);
	etw_text_printf(tree->text, "</%s>\n", name);
}

/*
 * Control characters and marks of the direction of writing would change a terminal, and are hardly allowed in XML: they
 * become escapes, and lines one line.
 */
static void put_value(struct tree *tree, const char *value)
{
	const size_t from = tree->text->bytes;

	for (; *value; value++) {
		const char c = *value;

		if (tree->is_xml && c == '&')
			etw_text_puts(tree->text, "&amp;");
		else if (tree->is_xml && c == '<')
			etw_text_puts(tree->text, "&lt;");
		else if (tree->is_xml && c == '"')
			etw_text_puts(tree->text, "&quot;");
		else
			etw_text_putc(tree->text, c == '\t' || c == '\n' || c == '\r' ? ' ' : c);
	}
	(void)etw_export_clean(tree->text, from);
}

static void put(struct tree *tree, const char *key, const char *value)
{
	if (tree->is_xml && !value)
		return;
	if (tree->is_xml) {
		etw_text_printf(tree->text, " %s=\"", key);
		put_value(tree, value);
		etw_text_putc(tree->text, '"');
		return;
	}
	put_indent(tree);
	etw_text_printf(tree->text, "%s: ", key);
	put_value(tree, value ? value : "");
	etw_text_putc(tree->text, '\n');
}

static void put_number(struct tree *tree, const char *key, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put(tree, key, digits);
}

static void put_mask(struct tree *tree, const char *key, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), tree->is_xml ? "0x%016" PRIx64 : "%" PRIx64, value);
	put(tree, key, digits);
}

static void put_message(struct tree *tree, const struct wevtutil_publisher *publisher,
			const char *message)
{
	if (publisher->has_messages)
		put(tree, "message", message ? message : "");
}

static void put_channels(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;

	begin(tree, "channels");
	for (size_t i = 0; i < schema->channel_count; i++) {
		const struct etw_channel *channel = &schema->channels[i];

		begin(tree, "channel");
		put(tree, "name", channel->named.name);
		put_number(tree, "id", channel->named.value);
		put_number(tree, "flags", channel->is_imported);
		put_message(tree, publisher, channel->named.message);
		end(tree, "channel");
	}
	end(tree, "channels");
}

static void put_named(struct tree *tree, const struct wevtutil_publisher *publisher,
		      const char *element, const struct etw_named *named)
{
	begin(tree, element);
	put(tree, "name", named->name);
	put_number(tree, "value", named->value);
	put_message(tree, publisher, named->message);
}

static void put_tasks(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;
	char guid[ETW_GUID_BARE_BYTES];

	begin(tree, "tasks");
	for (size_t i = 0; i < schema->task_count; i++) {
		const struct etw_task *task = &schema->tasks[i];

		put_named(tree, publisher, "task", &task->named);
		etw_guid_format(&task->event_guid, guid);
		put(tree, "eventGUID", guid);
		end(tree, "task");
	}
	end(tree, "tasks");
}

static void put_opcodes(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;

	begin(tree, "opcodes");
	for (size_t i = 0; i < schema->opcode_count; i++) {
		const struct etw_opcode *opcode = &schema->opcodes[i];

		put_named(tree, publisher, "opcode", &opcode->named);
		put_number(tree, "task", opcode->task);
		end(tree, "opcode");
	}
	end(tree, "opcodes");
}

static void put_keywords(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;

	begin(tree, "keywords");
	for (size_t i = 0; i < schema->keyword_count; i++) {
		begin(tree, "keyword");
		put(tree, "name", schema->keywords[i].name);
		put_mask(tree, "mask", schema->keywords[i].value);
		put_message(tree, publisher, schema->keywords[i].message);
		end(tree, "keyword");
	}
	end(tree, "keywords");
}

static void put_events(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;

	begin(tree, "events");
	for (size_t i = 0; i < schema->schema_count; i++) {
		const struct etw_schema *event = &schema->schemas[i];
		const EVENT_DESCRIPTOR *descriptor = &event->descriptor;

		begin(tree, "event");
		put_number(tree, "value", descriptor->Id);
		put_number(tree, "version", descriptor->Version);
		put_number(tree, "opcode", descriptor->Opcode);
		put_number(tree, "channel", descriptor->Channel);
		put_number(tree, "level", descriptor->Level);
		put_number(tree, "task", descriptor->Task);
		put_mask(tree, "keywords", descriptor->Keyword);
		put_message(tree, publisher, event->message);
		end(tree, "event");
	}
	end(tree, "events");
}

static void put_schema(struct tree *tree, const struct wevtutil_publisher *publisher)
{
	const struct etw_provider_schema *schema = publisher->schema;

	put_channels(tree, publisher);
	begin(tree, "levels");
	for (size_t i = 0; i < schema->level_count; i++) {
		put_named(tree, publisher, "level", &schema->levels[i]);
		end(tree, "level");
	}
	end(tree, "levels");
	put_opcodes(tree, publisher);
	put_tasks(tree, publisher);
	put_keywords(tree, publisher);
	if (publisher->has_events)
		put_events(tree, publisher);
}

/* Where it comes from: this is not of Microsoft's tree. */
static void put_definition(struct tree *tree, const struct etw_registry_entry *entry)
{
	static const char *const kinds[WIRE_REGISTRY_KINDS] = {
		[WIRE_REGISTRY_MANIFEST] = "manifest",
		[WIRE_REGISTRY_BINARY] = "binary",
		[WIRE_REGISTRY_MOF] = "MOF",
		[WIRE_REGISTRY_TMF] = "TMF",
	};
	struct etw_date date;
	char time[40] = "";

	if (etw_date_of_filetime(entry->file.imported_ft, &date))
		(void)snprintf(time, sizeof(time), "%04u-%02u-%02uT%02u:%02u:%02uZ",
			       (unsigned)date.year, (unsigned)date.month, (unsigned)date.day,
			       (unsigned)date.hour, (unsigned)date.minute, (unsigned)date.second);
	begin(tree, "definition");
	put(tree, "kind", kinds[entry->file.kind]);
	put(tree, "importedFrom", entry->file.from);
	put(tree, "importedAt", time);
	put_number(tree, "eventCount", entry->row.counts[WIRE_REGISTRY_COUNT_EVENTS]);
	put_number(tree, "mapCount", entry->row.counts[WIRE_REGISTRY_COUNT_MAPS]);
	end(tree, "definition");
}

static const char *first_of(const char *said, const char *defined)
{
	return said ? said : defined;
}

void wevtutil_publisher_write(const struct wevtutil_publisher *publisher, bool is_xml,
			      struct etw_text *text)
{
	static const struct etw_provider_schema unknown;
	const struct etw_provider_schema *schema = publisher->schema ? publisher->schema : &unknown;
	const struct etw_registry_entry *entry = publisher->entry;
	struct tree tree = {.text = text, .is_xml = is_xml};
	char guid[ETW_GUID_BRACED_BYTES];

	if (is_xml) {
		etw_text_puts(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
		begin(&tree, "provider");
		etw_guid_format_braced(&entry->row.guid, guid);
	} else {
		etw_guid_format(&entry->row.guid, guid);
	}
	put(&tree, "name", entry->row.name);
	put(&tree, "guid", guid);
	put(&tree, "helpLink", schema->help_link);
	put(&tree, "resourceFileName", first_of(entry->file.resource_file, schema->resource_file));
	put(&tree, "messageFileName", first_of(entry->file.message_file, schema->message_file));
	put(&tree, "parameterFileName",
	    first_of(entry->file.parameter_file, schema->parameter_file));
	put_message(&tree, publisher, schema->message);
	if (is_xml)
		put(&tree, "xmlns", "http://schemas.microsoft.com/win/2004/08/events");
	if (publisher->schema)
		put_schema(&tree, publisher);
	put_definition(&tree, entry);
	if (is_xml)
		end(&tree, "provider");
}
