/* SPDX-License-Identifier: MIT */
/* The document: providers with their events, maps and filters, and the strings at the end. */
#include "schema/manifest/manifest_write.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest/manifest_write_internal.h"
#include "schema/types.h"

/* U+FFFD for what XML does not let anybody say. */
#define REPLACEMENT "\xef\xbf\xbd"

/* U+FFFE and U+FFFF */
static bool is_no_character(const char *at)
{
	return !strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3);
}

/* U+0080 to U+009F, some of which are commands to a terminal. */
static bool is_c1(const char *at)
{
	return *at == '\xc2' && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] <= 0x9f;
}

/* Appends what is at @at, a byte of UTF-8 or a whole character; returns where the next one is. */
static const char *write_one(struct etw_text *text, const char *at)
{
	unsigned char c = (unsigned char)*at;

	if (is_no_character(at)) {
		etw_text_puts(text, REPLACEMENT);
		return at + 3;
	}
	if (is_c1(at)) {
		etw_text_printf(text, "&#%u;", (unsigned)(unsigned char)at[1]);
		return at + 2;
	}
	if (c == '&')
		etw_text_puts(text, "&amp;");
	else if (c == '<')
		etw_text_puts(text, "&lt;");
	else if (c == '>')
		etw_text_puts(text, "&gt;");
	else if (c == '"')
		etw_text_puts(text, "&quot;");
	else if (c == '\t' || c == '\n' || c == '\r' || c == 0x7f)
		etw_text_printf(text, "&#%u;", (unsigned)c);
	else if (c < ' ')
		etw_text_puts(text, REPLACEMENT);
	else
		etw_text_putc(text, *at);
	return at + 1;
}

/* Appends text for an attribute in double quotes. */
static void write_escaped(struct etw_text *text, const char *at)
{
	while (*at)
		at = write_one(text, at);
}

void etw_write_attribute(struct etw_text *text, const char *name, const char *value)
{
	if (!value)
		return;
	etw_text_putc(text, ' ');
	etw_text_puts(text, name);
	etw_text_puts(text, "=\"");
	write_escaped(text, value);
	etw_text_putc(text, '"');
}

void etw_write_number(struct etw_text *text, const char *name, uint64_t value)
{
	etw_text_printf(text, " %s=\"%llu\"", name, (unsigned long long)value);
}

void etw_write_guid(struct etw_text *text, const char *name, const GUID *guid)
{
	char value[ETW_GUID_BRACED_BYTES];

	if (etw_guid_is_null(guid))
		return;
	etw_guid_format_braced(guid, value);
	etw_write_attribute(text, name, value);
}

/*
 * A message as manifests spell it: line ends and tabs became characters when it was read. What follows
 * a percent sign belongs to it.
 */
static void write_message_text(struct etw_text *text, const char *at)
{
	while (*at) {
		if (at[0] == '\r' && at[1] == '\n') {
			etw_text_puts(text, "%n");
			at += 2;
		} else if (*at == '\r' || *at == '\t') {
			etw_text_puts(text, *at++ == '\r' ? "%r" : "%t");
		} else {
			if (at[0] == '%' && at[1])
				etw_text_putc(text, *at++);
			at = write_one(text, at);
		}
	}
}

void etw_write_message(struct manifest_writer *writer, const char *message)
{
	if (!message)
		return;
	etw_text_printf(&writer->strings, "\t\t\t\t<string id=\"text.%zu\" value=\"",
			++writer->string_count);
	write_message_text(&writer->strings, message);
	etw_text_puts(&writer->strings, "\"/>\n");
	etw_text_printf(writer->text, " message=\"$(string.text.%zu)\"", writer->string_count);
}

static void write_map(struct manifest_writer *writer, const struct etw_map *map)
{
	bool is_bits = map->flags & EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
	const char *element = is_bits ? "bitMap" : "valueMap";

	etw_text_printf(writer->text, "\t\t\t\t\t<%s", element);
	etw_write_attribute(writer->text, "name", map->name);
	etw_text_puts(writer->text, ">\n");
	for (uint32_t i = 0; i < map->count; i++) {
		etw_text_printf(writer->text,
				is_bits ? "\t\t\t\t\t\t<map value=\"0x%x\""
					: "\t\t\t\t\t\t<map value=\"%u\"",
				(unsigned)map->entries[i].value);
		etw_write_message(writer, map->entries[i].text);
		etw_text_puts(writer->text, "/>\n");
	}
	etw_text_printf(writer->text, "\t\t\t\t\t</%s>\n", element);
}

static void write_maps(struct manifest_writer *writer)
{
	if (!writer->schema->map_count)
		return;
	etw_text_puts(writer->text, "\t\t\t\t<maps>\n");
	for (size_t i = 0; i < writer->schema->map_count; i++)
		write_map(writer, &writer->schema->maps[i]);
	etw_text_puts(writer->text, "\t\t\t\t</maps>\n");
}

static void write_pattern_maps(struct manifest_writer *writer)
{
	struct etw_text *text = writer->text;

	if (!writer->schema->pattern_map_count)
		return;
	etw_text_puts(text, "\t\t\t\t<namedQueries>\n\t\t\t\t\t<patternMaps>\n");
	for (size_t i = 0; i < writer->schema->pattern_map_count; i++) {
		const struct etw_pattern_map *map = &writer->schema->pattern_maps[i];

		etw_text_puts(text, "\t\t\t\t\t\t<patternMap");
		etw_write_attribute(text, "name", map->name);
		etw_write_attribute(text, "format", map->format);
		etw_text_puts(text, ">\n");
		for (uint32_t j = 0; j < map->count; j++) {
			etw_text_puts(text, "\t\t\t\t\t\t\t<map");
			etw_write_attribute(text, "name", map->patterns[j].name);
			etw_write_attribute(text, "value", map->patterns[j].value);
			etw_text_puts(text, "/>\n");
		}
		etw_text_puts(text, "\t\t\t\t\t\t</patternMap>\n");
	}
	etw_text_puts(text, "\t\t\t\t\t</patternMaps>\n\t\t\t\t</namedQueries>\n");
}

static struct written_template template_of_event(const struct etw_schema *schema)
{
	return (struct written_template){
		.fields = schema->fields,
		.field_count = schema->field_count,
		.top_count = schema->top_count,
		.is_user_data = schema->template_flags & TEMPLATE_USER_DATA,
	};
}

/* An event may have a template without fields. */
static bool has_template(const struct etw_schema *schema)
{
	return schema->field_count ||
	       (schema->template_flags & (TEMPLATE_EVENT_DATA | TEMPLATE_USER_DATA));
}

static struct written_template template_of_filter(const struct etw_filter_schema *filter)
{
	return (struct written_template){
		.fields = filter->fields,
		.field_count = filter->field_count,
		.top_count = filter->top_count,
	};
}

static int add_templates(struct manifest_writer *writer)
{
	const struct etw_provider_schema *schema = writer->schema;

	for (size_t i = 0; i < schema->schema_count; i++) {
		const struct written_template template = template_of_event(&schema->schemas[i]);

		if (has_template(&schema->schemas[i]))
			TRY(etw_write_add_template(writer, &template));
	}
	for (size_t i = 0; i < schema->filter_count; i++) {
		const struct written_template template = template_of_filter(&schema->filters[i]);

		if (template.field_count)
			TRY(etw_write_add_template(writer, &template));
	}
	return 0;
}

static void write_template_name(struct manifest_writer *writer, const char *attribute,
				const struct written_template *wanted)
{
	const struct written_template *template = etw_write_find_template(writer, wanted);

	if (template)
		etw_text_printf(writer->text, " %s=\"template.%zu\"", attribute, template->number);
}

static void write_filters(struct manifest_writer *writer)
{
	if (!writer->schema->filter_count)
		return;
	etw_text_puts(writer->text, "\t\t\t\t<filters>\n");
	for (size_t i = 0; i < writer->schema->filter_count; i++) {
		const struct etw_filter_schema *filter = &writer->schema->filters[i];
		const struct written_template template = template_of_filter(filter);

		etw_text_puts(writer->text, "\t\t\t\t\t<filter");
		etw_write_attribute(writer->text, "name", filter->name);
		etw_write_number(writer->text, "value", filter->value);
		if (filter->version)
			etw_write_number(writer->text, "version", filter->version);
		if (template.field_count)
			write_template_name(writer, "tid", &template);
		etw_write_message(writer, filter->message);
		etw_text_puts(writer->text, "/>\n");
	}
	etw_text_puts(writer->text, "\t\t\t\t</filters>\n");
}

/* "a; b" as "a b". */
static void write_keywords(struct etw_text *text, const char *joined)
{
	const char *end;

	if (!joined)
		return;
	etw_text_puts(text, " keywords=\"");
	while ((end = strstr(joined, "; "))) {
		while (joined < end)
			joined = write_one(text, joined);
		etw_text_putc(text, ' ');
		joined = end + 2;
	}
	write_escaped(text, joined);
	etw_text_putc(text, '"');
}

/* A number without a name can be said where winmeta has a name for it. */
static const char *name_or(const char *name, uint8_t number, const char *(*find)(uint8_t))
{
	return name || !number ? name : find(number);
}

static void write_event(struct manifest_writer *writer, const struct etw_schema *schema)
{
	const EVENT_DESCRIPTOR *descriptor = &schema->descriptor;
	const struct written_template template = template_of_event(schema);
	struct etw_text *text = writer->text;

	etw_text_puts(text, "\t\t\t\t\t<event");
	etw_write_number(text, "value", descriptor->Id);
	if (descriptor->Version)
		etw_write_number(text, "version", descriptor->Version);
	etw_write_attribute(text, "symbol", schema->symbol);
	etw_write_attribute(text, "name", schema->event_name);
	etw_write_attribute(text, "attributes", schema->attributes);
	etw_write_attribute(text, "channel", schema->channel_name);
	etw_write_attribute(text, "level",
			    name_or(schema->level_name, descriptor->Level, etw_schema_level_name));
	etw_write_attribute(text, "task", schema->task_name);
	etw_write_attribute(
		text, "opcode",
		name_or(schema->opcode_name, descriptor->Opcode, etw_schema_opcode_name));
	write_keywords(text, schema->keywords);
	if (has_template(schema))
		write_template_name(writer, "template", &template);
	etw_write_message(writer, schema->message);
	etw_text_puts(text, "/>\n");
}

static void write_events(struct manifest_writer *writer)
{
	if (!writer->schema->schema_count)
		return;
	etw_text_puts(writer->text, "\t\t\t\t<events>\n");
	for (size_t i = 0; i < writer->schema->schema_count; i++)
		write_event(writer, &writer->schema->schemas[i]);
	etw_text_puts(writer->text, "\t\t\t\t</events>\n");
}

static void write_provider_head(struct manifest_writer *writer)
{
	const struct etw_provider_schema *schema = writer->schema;
	struct etw_text *text = writer->text;
	char guid[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(&schema->guid, guid);
	etw_text_puts(text, "\t\t\t<provider");
	etw_write_attribute(text, "name", schema->name);
	etw_write_attribute(text, "guid", guid);
	etw_write_guid(text, "controlGuid", &schema->control_guid);
	etw_write_attribute(text, "symbol", schema->symbol);
	etw_write_attribute(text, "resourceFileName", schema->resource_file);
	etw_write_attribute(text, "messageFileName", schema->message_file);
	etw_write_attribute(text, "parameterFileName", schema->parameter_file);
	etw_write_attribute(text, "helpLink", schema->help_link);
	etw_write_message(writer, schema->message);
	etw_text_puts(text, ">\n");
	if (!etw_guid_is_null(&schema->group_guid)) {
		etw_text_puts(text, "\t\t\t\t<traits");
		etw_write_guid(text, "groupGuid", &schema->group_guid);
		etw_text_puts(text, "/>\n");
	}
}

static int write_provider(struct manifest_writer *writer, const struct etw_provider_schema *schema)
{
	if (schema->source != DecodingSourceXMLFile)
		return -EOPNOTSUPP;
	writer->schema = schema;
	TRY(add_templates(writer));
	write_provider_head(writer);
	TRY(etw_write_names(writer));
	write_maps(writer);
	write_pattern_maps(writer);
	TRY(etw_write_templates(writer));
	write_filters(writer);
	write_events(writer);
	etw_text_puts(writer->text, "\t\t\t</provider>\n");
	return 0;
}

static void done_with_provider(struct manifest_writer *writer)
{
	etw_table_done(&writer->templates);
	etw_table_done(&writer->places);
	etw_arena_done(&writer->arena);
	writer->first_template = writer->last_template = NULL;
}

int etw_manifest_write(const struct etw_definition *definition, struct etw_text *text)
{
	struct manifest_writer writer = {.text = text, .seed = etw_hash_seed()};
	int r = 0;

	etw_text_puts(text,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<instrumentationManifest"
		      " xmlns=\"http://schemas.microsoft.com/win/2004/08/events\"\n"
		      "\txmlns:win=\"http://manifests.microsoft.com/win/2004/08/windows/events\"\n"
		      "\txmlns:xs=\"http://www.w3.org/2001/XMLSchema\">\n"
		      "\t<instrumentation>\n\t\t<events>\n");
	for (size_t i = 0; i < definition->provider_count && r == 0; i++) {
		r = write_provider(&writer, &definition->providers[i]);
		done_with_provider(&writer);
	}
	etw_text_puts(text, "\t\t</events>\n\t</instrumentation>\n");
	if (writer.string_count) {
		etw_text_puts(text, "\t<localization>\n\t\t<resources culture=\"en-US\">\n"
				    "\t\t\t<stringTable>\n");
		etw_text_append(text, etw_text_string(&writer.strings), writer.strings.bytes);
		etw_text_puts(text, "\t\t\t</stringTable>\n\t\t</resources>\n"
				    "\t</localization>\n");
	}
	etw_text_puts(text, "</instrumentationManifest>\n");
	if (r == 0)
		r = etw_text_error(&writer.strings);
	etw_text_done(&writer.strings);
	return r < 0 ? r : etw_text_error(text);
}
