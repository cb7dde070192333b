/* SPDX-License-Identifier: MIT */
/*
 * known_dump [INDEX] - all that the index says, a provider a line, as JSON: for check_index.py. Without an index, where
 * the one lies that is found by itself: for the test of an installation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/text.h"
#include "schema/known/known.h"

static struct etw_known *known;
static struct etw_text text;

static void require(int result, const char *what)
{
	if (result >= 0)
		return;
	(void)fprintf(stderr, "known_dump: %s: %s\n", what, strerror(-result));
	exit(EXIT_FAILURE);
}

static void put_text(const char *key, const char *value)
{
	etw_text_printf(&text, ",\"%s\":", key);
	etw_text_json_string(&text, value, strlen(value));
}

static void put_number(const char *key, uint64_t value)
{
	etw_text_printf(&text, ",\"%s\":%llu", key, (unsigned long long)value);
}

/* The last comma of a list that is closed now is taken back. */
static void close_with(char sign)
{
	if (text.bytes && text.at[text.bytes - 1] == ',')
		text.bytes--;
	etw_text_putc(&text, sign);
}

static void put_fields(uint32_t template, uint32_t count)
{
	etw_text_puts(&text, "[");
	for (uint32_t i = 0; i < count; i++) {
		struct etw_known_field field;
		struct etw_known_map map;
		uint32_t members, marks;

		require(etw_known_field_at(known, template, i, &field), "field");
		etw_text_puts(&text, "{\"flags\":");
		etw_text_printf(&text, "%u", field.flags);
		put_text("name", field.name);
		put_number("in", field.in_type);
		put_number("out", field.out_type);
		put_number("length", field.length);
		put_number("count", field.count);
		if (field.flags & WIRE_KNOWN_MAP) {
			require(etw_known_map_get(known, field.link, &map), "map");
			put_text("map", map.name);
		}
		if ((field.flags & WIRE_KNOWN_STRUCT) && field.link != WIRE_KNOWN_NONE) {
			require(etw_known_template(known, field.link, &members, &marks), "members");
			etw_text_puts(&text, ",\"fields\":");
			put_fields(field.link, members);
		}
		etw_text_puts(&text, "},");
	}
	close_with(']');
}

static void put_layout(const struct etw_known_event *event, size_t index)
{
	struct etw_known_layout layout;

	require(etw_known_layout_at(known, event, index, &layout), "layout");
	etw_text_printf(&text, "{\"marks\":%u", layout.marks);
	put_text("builds", layout.builds);
	put_text("from", layout.source);
	if (layout.template != WIRE_KNOWN_NONE) {
		etw_text_puts(&text, ",\"fields\":");
		put_fields(layout.template, layout.field_count);
	}
	etw_text_puts(&text, "},");
}

static void put_event(const struct etw_known_provider *provider, size_t index)
{
	struct etw_known_event event, found;

	require(etw_known_event_at(known, provider, index, &event), "event");
	require(etw_known_event_find(known, provider, event.id, event.version, &found), "find");
	if (found.index != event.index)
		require(-EINVAL, "an event is not found where it is");
	etw_text_printf(&text, "{\"id\":%u", event.id);
	put_number("version", event.version);
	put_number("level", event.level);
	put_number("task", event.task);
	put_number("opcode", event.opcode);
	put_number("channel", event.channel);
	put_number("keywords", event.keywords);
	put_text("taskname", event.task_name);
	put_text("opcodename", event.opcode_name);
	put_text("channelname", event.channel_name);
	put_text("keywordnames", event.keyword_names);
	put_text("symbol", event.symbol);
	etw_text_puts(&text, ",\"layouts\":[");
	for (size_t i = 0; i < event.layout_count; i++)
		put_layout(&event, i);
	close_with(']');
	etw_text_puts(&text, "},");
}

static void put_class(const struct etw_known_provider *provider, size_t index)
{
	struct etw_known_class class, found;
	char guid[ETW_GUID_BARE_BYTES];

	require(etw_known_class_at(known, provider, index, &class), "class");
	require(etw_known_class_find(known, &class.guid, class.type, class.version, &found),
		"find");
	if (strcmp(found.name, class.name) != 0 || found.version != class.version)
		require(-EINVAL, "a class is not found where it is");
	etw_guid_format(&class.guid, guid);
	etw_text_printf(&text, "{\"type\":%u", class.type);
	put_text("class", guid);
	put_number("version", class.version);
	put_text("name", class.name);
	put_text("opcode", class.opcode_name);
	put_number("marks", class.marks);
	etw_text_puts(&text, ",\"fields\":[");
	for (size_t i = 0; i < class.field_count; i++) {
		struct etw_known_class_field field;

		require(etw_known_class_field_at(known, class.template, i, &field), "field");
		etw_text_printf(&text, "{\"count\":%u", field.count);
		put_text("name", field.name);
		put_text("type", field.type);
		put_text("extension", field.extension);
		put_text("termination", field.termination);
		put_text("format", field.format);
		etw_text_puts(&text, "},");
	}
	close_with(']');
	etw_text_puts(&text, "},");
}

static void put_names(const struct etw_known_provider *provider)
{
	static const char *const keys[] = {"keywords", "tasks", "levels", "channels", "opcodes"};

	for (unsigned list = 0; list < WIRE_KNOWN_LISTS; list++) {
		etw_text_printf(&text, ",\"%s\":[", keys[list]);
		for (size_t i = 0; i < provider->named_counts[list]; i++) {
			struct etw_known_named named;

			require(etw_known_named_at(known, provider, list, i, &named), "name");
			etw_text_printf(&text, "[%llu,", (unsigned long long)named.value);
			etw_text_json_string(&text, named.name, strlen(named.name));
			etw_text_printf(&text, ",%d],", named.has_task ? named.task : -1);
		}
		close_with(']');
	}
}

static void put_maps(const struct etw_known_provider *provider)
{
	etw_text_puts(&text, ",\"maps\":[");
	for (size_t i = 0; i < provider->map_count; i++) {
		struct etw_known_map map;

		require(etw_known_map_at(known, provider, i, &map), "map");
		etw_text_printf(&text, "{\"bits\":%d", map.is_bits);
		put_text("name", map.name);
		etw_text_puts(&text, ",\"entries\":[");
		for (size_t j = 0; j < map.entry_count; j++) {
			const char *label;
			uint32_t value;

			require(etw_known_entry_at(known, &map, j, &value, &label), "entry");
			etw_text_printf(&text, "[%u", value);
			if (label) {
				etw_text_putc(&text, ',');
				etw_text_json_string(&text, label, strlen(label));
			}
			etw_text_puts(&text, "],");
		}
		close_with(']');
		etw_text_puts(&text, "},");
	}
	close_with(']');
}

static void put_provider(const struct etw_known_provider *provider)
{
	char guid[ETW_GUID_BARE_BYTES] = "";
	struct etw_known_provider found;
	size_t nth = 0;

	if (provider->has_guid) {
		etw_guid_format(&provider->guid, guid);
		require(etw_known_find(known, &provider->guid, &found), "find by GUID");
		if (found.index != provider->index)
			require(-EINVAL, "a provider is not found by its GUID");
	}
	do {
		require(etw_known_find_name(known, provider->name, nth++, &found), provider->name);
	} while (found.index != provider->index);
	if (*provider->formerly)
		require(etw_known_find_name(known, provider->formerly, 0, &found), "formerly");
	etw_text_puts(&text, "{\"guid\":");
	etw_text_json_string(&text, guid, strlen(guid));
	put_text("name", provider->name);
	put_text("formerly", provider->formerly);
	put_text("builds", provider->builds);
	put_text("sources", provider->sources);
	put_names(provider);
	put_maps(provider);
	etw_text_puts(&text, ",\"events\":[");
	for (size_t i = 0; i < provider->event_count; i++)
		put_event(provider, i);
	close_with(']');
	etw_text_puts(&text, ",\"classic\":[");
	for (size_t i = 0; i < provider->class_count; i++)
		put_class(provider, i);
	close_with(']');
	etw_text_puts(&text, "}");
}

int main(int argc, char **argv)
{
	require(etw_known_open(argc > 1 ? argv[1] : NULL, &known, NULL), "the index");
	if (argc < 2) {
		(void)puts(etw_known_path(known));
		etw_known_close(known);
		return EXIT_SUCCESS;
	}
	etw_text_init(&text);
	for (size_t i = 0; i < etw_known_provider_count(known); i++) {
		struct etw_known_provider provider;

		require(etw_known_provider_at(known, i, &provider), "provider");
		etw_text_clear(&text);
		put_provider(&provider);
		require(etw_text_error(&text), "text");
		(void)puts(etw_text_string(&text));
	}
	etw_text_done(&text);
	etw_known_close(known);
	return EXIT_SUCCESS;
}
