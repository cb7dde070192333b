/* SPDX-License-Identifier: MIT */
/* A provider's file: its head, names and maps. */
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

void take_guid(struct line *line, uint8_t guid[16])
{
	char word[WORD_BYTES_MAX];
	unsigned a, b, c, d[8];
	int end = 0;

	(void)take_word(line, word);
	if (sscanf(word, "%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x%n", &a, &b, &c, &d[0], &d[1], &d[2],
		   &d[3], &d[4], &d[5], &d[6], &d[7], &end) != 11 ||
	    end != 36 || word[36])
		refuse(line, "a GUID is malformed");
	etw_store32(guid, a);
	etw_store16(guid + 4, (uint16_t)b);
	etw_store16(guid + 6, (uint16_t)c);
	for (size_t i = 0; i < 8; i++)
		guid[8 + i] = (uint8_t)d[i];
}

static void add_named(struct reader *reader, unsigned list, struct wire_known_named named)
{
	struct wire_known_provider *provider = &reader->provider;
	uint16_t count = le16_get(provider->named_counts[list]);

	if (list < reader->list)
		refuse(&reader->line, "the lists of names are not in order: keywords, tasks, "
				      "levels, channels, opcodes");
	reader->list = list;
	if (count == UINT16_MAX)
		refuse(&reader->line, "there are too many names");
	provider->named_counts[list] = le16_of(count + 1);
	(void)index_add(reader->index, WIRE_KNOWN_NAMED, &named);
}

static void read_named(struct reader *reader, unsigned list)
{
	struct wire_known_named named = {0};
	char word[WORD_BYTES_MAX];

	if (list == WIRE_KNOWN_KEYWORDS) {
		le64 mask = le64_of(take_number(&reader->line, UINT64_MAX));

		named.value = le32_of(index_keep(reader->index, WIRE_KNOWN_MASKS, &mask));
	} else {
		named.value = le32_of((uint32_t)take_number(&reader->line, UINT16_MAX));
	}
	take_rest(&reader->line, word);
	named.name = le32_of(index_string(reader->index, word));
	add_named(reader, list, named);
}

/* A name that several tasks give the number has an item for each. */
static void read_opcode(struct reader *reader)
{
	struct wire_known_named named = {0};
	uint16_t tasks[64] = {0};
	size_t count = 0;
	char word[WORD_BYTES_MAX];

	named.value = le32_of((uint32_t)take_number(&reader->line, UINT8_MAX));
	if (skip_text(&reader->line, " of ")) {
		named.flags = le16_of(1);
		do {
			if (count == ARRAY_SIZE(tasks))
				refuse(&reader->line, "an opcode has too many tasks");
			tasks[count++] = (uint16_t)take_number(&reader->line, UINT16_MAX);
		} while (skip_sign(&reader->line, ','));
	}
	take_rest(&reader->line, word);
	named.name = le32_of(index_string(reader->index, word));
	for (size_t i = 0; i < (count ? count : 1); i++) {
		named.task = le16_of(tasks[i]);
		add_named(reader, WIRE_KNOWN_OPCODES, named);
	}
}

static void read_map(struct reader *reader)
{
	struct index *index = reader->index;
	struct wire_known_map map = {
		.first_entry = le32_of(index->parts[WIRE_KNOWN_ENTRIES].count)};
	char word[WORD_BYTES_MAX];

	(void)take_word(&reader->line, word);
	if (strcmp(word, "bits") == 0)
		map.kind = le32_of(WIRE_KNOWN_BITS);
	else if (strcmp(word, "values") != 0)
		refuse(&reader->line, "a map is neither of values nor of bits");
	take_rest(&reader->line, word);
	map.name = le32_of(index_string(index, word));
	reader->map = index_add(index, WIRE_KNOWN_MAPS, &map);
	reader->provider.map_count = le32_of(le32_get(reader->provider.map_count) + 1);
}

static void read_entry(struct reader *reader)
{
	struct wire_known_entry entry = {.text = le32_of(WIRE_KNOWN_NONE)};
	struct wire_known_map *map;
	char word[WORD_BYTES_MAX];

	if (reader->map == WIRE_KNOWN_NONE)
		refuse(&reader->line, "a line that begins with two blanks belongs to nothing");
	entry.value = le32_of((uint32_t)take_number(&reader->line, UINT32_MAX));
	if (!is_at_end(&reader->line)) {
		take_rest(&reader->line, word);
		entry.text = le32_of(index_string(reader->index, word));
	}
	(void)index_add(reader->index, WIRE_KNOWN_ENTRIES, &entry);
	map = index_item(reader->index, WIRE_KNOWN_MAPS, reader->map);
	map->entry_count = le32_of(le32_get(map->entry_count) + 1);
}

static void read_text(struct reader *reader, le32 *to)
{
	char word[WORD_BYTES_MAX];

	if (le32_get(*to))
		refuse(&reader->line, "there are two lines of this kind");
	take_rest(&reader->line, word);
	*to = le32_of(index_string(reader->index, word));
}

static bool read_head(struct reader *reader, const char *kind)
{
	struct wire_known_provider *provider = &reader->provider;

	if (strcmp(kind, "provider") == 0) {
		read_text(reader, &provider->name);
	} else if (strcmp(kind, "guid") == 0) {
		take_guid(&reader->line, provider->guid);
		provider->flags = le16_of(WIRE_KNOWN_HAS_GUID);
	} else if (strcmp(kind, "formerly") == 0) {
		read_text(reader, &provider->formerly);
	} else if (strcmp(kind, "builds") == 0) {
		read_text(reader, &provider->builds);
	} else if (strcmp(kind, "sources") == 0) {
		read_text(reader, &provider->sources);
	} else {
		return false;
	}
	return true;
}

static bool read_list(struct reader *reader, const char *kind)
{
	static const char *const kinds[] = {"keyword", "task", "level", "channel"};

	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kind, kinds[i]) == 0) {
			read_named(reader, i);
			return true;
		}
	}
	return false;
}

static void read_line(struct reader *reader)
{
	char kind[WORD_BYTES_MAX];

	if (skip_text(&reader->line, "  or")) {
		read_other_line(reader);
		return;
	}
	if (skip_text(&reader->line, "  ")) {
		read_entry(reader);
		return;
	}
	reader->map = WIRE_KNOWN_NONE;
	(void)take_word(&reader->line, kind);
	if (read_head(reader, kind) || read_list(reader, kind))
		return;
	if (strcmp(kind, "opcode") == 0)
		read_opcode(reader);
	else if (strcmp(kind, "map") == 0)
		read_map(reader);
	else if (strcmp(kind, "fields") == 0)
		read_fields_line(reader, false);
	else if (strcmp(kind, "classicfields") == 0)
		read_fields_line(reader, true);
	else if (strcmp(kind, "event") == 0)
		read_event_line(reader);
	else if (strcmp(kind, "classic") == 0)
		read_class_line(reader);
	else
		refuse(&reader->line, "there is no such kind of line");
}

void read_provider(struct index *index, const char *path)
{
	struct reader reader = {.index = index, .line = {.file = path}};
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes;

	if (!file)
		fail("%s: %s", path, strerror(errno));
	reader.map = reader.event = WIRE_KNOWN_NONE;
	reader.provider.first_event = le32_of(index->parts[WIRE_KNOWN_EVENTS].count);
	reader.provider.first_class = le32_of(index->parts[WIRE_KNOWN_CLASSES].count);
	reader.map_begin = index->parts[WIRE_KNOWN_MAPS].count;
	reader.provider.first_map = le32_of(reader.map_begin);
	reader.provider.first_named = le32_of(index->parts[WIRE_KNOWN_NAMED].count);
	while ((bytes = getline(&text, &room, file)) >= 0) {
		text[strcspn(text, "\r\n")] = '\0';
		reader.line.number++;
		reader.line.at = text;
		if (!*text || *text == '#')
			continue;
		read_line(&reader);
		if (!is_at_end(&reader.line))
			refuse(&reader.line, "something follows what belongs on the line");
	}
	if (!le32_get(reader.provider.name))
		refuse(&reader.line, "the provider has no name");
	(void)index_add(index, WIRE_KNOWN_PROVIDERS, &reader.provider);
	for (size_t i = 0; i < reader.label_count; i++)
		free(reader.labels[i].name);
	free(reader.labels);
	free(text);
	(void)fclose(file);
}
