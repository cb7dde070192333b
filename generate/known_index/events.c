/* SPDX-License-Identifier: MIT */
/* Events, their further layouts, and classic events. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "table.h"

/* What the words of an event's line say. */
struct words {
	struct wire_known_event event;
	struct wire_known_extra extra;
	uint64_t mask;
	uint32_t source;
};

static void take_names(struct reader *reader, le32 *to)
{
	char word[WORD_BYTES_MAX];
	char names[WORD_BYTES_MAX * 16] = "";

	do {
		(void)take_word(&reader->line, word);
		if (strlen(names) + strlen(word) + 2 > sizeof(names))
			refuse(&reader->line, "there are too many names");
		if (*names)
			strcat(names, "\n");
		strcat(names, word);
	} while (skip_sign(&reader->line, ','));
	*to = le32_of(index_string(reader->index, names));
}

/* Ranges with commas between them. */
static le16 take_builds(struct reader *reader)
{
	char word[WORD_BYTES_MAX];
	char builds[WORD_BYTES_MAX * 2] = "";
	le32 string;
	uint32_t number;

	do {
		(void)take_word(&reader->line, word);
		if (strlen(builds) + strlen(word) + 2 > sizeof(builds))
			refuse(&reader->line, "there are too many builds");
		if (*builds)
			strcat(builds, ",");
		strcat(builds, word);
	} while (skip_sign(&reader->line, ','));
	string = le32_of(index_string(reader->index, builds));
	number = index_keep(reader->index, WIRE_KNOWN_BUILDS, &string);
	if (number > UINT16_MAX)
		refuse(&reader->line, "there are too many different builds");
	return le16_of((uint16_t)number);
}

/* A number, or a name whose number is not known. */
static uint16_t take_named(struct reader *reader, uint16_t max, le32 *name)
{
	char word[WORD_BYTES_MAX];

	if (!take_word(&reader->line, word) && is_number(word))
		return (uint16_t)number_of(&reader->line, word, max);
	*name = le32_of(index_string(reader->index, word));
	return 0;
}

/* The words of an event itself. Returns whether there is such a word. */
static bool take_event_word(struct reader *reader, const char *key, struct words *words)
{
	struct wire_known_event *event = &words->event;
	struct wire_known_extra *extra = &words->extra;
	char word[WORD_BYTES_MAX];

	if (strcmp(key, "level") == 0) {
		event->level = (uint8_t)take_number(&reader->line, UINT8_MAX);
	} else if (strcmp(key, "task") == 0) {
		event->task = le16_of(take_named(reader, UINT16_MAX, &extra->task));
	} else if (strcmp(key, "opcode") == 0) {
		event->opcode = (uint8_t)take_named(reader, UINT8_MAX, &extra->opcode);
	} else if (strcmp(key, "channel") == 0) {
		event->channel = (uint8_t)take_named(reader, UINT8_MAX, &extra->channel);
	} else if (strcmp(key, "keywords") == 0) {
		words->mask = take_number(&reader->line, UINT64_MAX);
	} else if (strcmp(key, "keywordnames") == 0) {
		take_names(reader, &extra->keyword_names);
	} else if (strcmp(key, "symbol") == 0) {
		(void)take_word(&reader->line, word);
		extra->symbol = le32_of(index_string(reader->index, word));
	} else {
		return false;
	}
	return true;
}

/* The words of a layout. Returns whether there is such a word. */
static bool take_layout_word(struct reader *reader, const char *key, le32 *template, le16 *builds,
			     le32 *source)
{
	char word[WORD_BYTES_MAX];

	if (strcmp(key, "fields") == 0) {
		(void)take_word(&reader->line, word);
		*template = le32_of(find_label(reader, word, false));
	} else if (strcmp(key, "builds") == 0) {
		*builds = take_builds(reader);
	} else if (strcmp(key, "from") == 0) {
		(void)take_word(&reader->line, word);
		*source = le32_of(index_string(reader->index, word));
	} else {
		return false;
	}
	return true;
}

static void check_order(struct reader *reader, const struct wire_known_event *event)
{
	const struct wire_known_event *last;

	if (!le32_get(reader->provider.event_count))
		return;
	last = index_item(reader->index, WIRE_KNOWN_EVENTS,
			  reader->index->parts[WIRE_KNOWN_EVENTS].count - 1);
	if (le16_get(last->id) > le16_get(event->id) ||
	    (le16_get(last->id) == le16_get(event->id) && last->version >= event->version))
		refuse(&reader->line, "the events are not in order of id and version");
}

static bool is_plain(const struct wire_known_extra *extra)
{
	static const struct wire_known_extra plain;

	return memcmp(extra, &plain, sizeof(plain)) == 0;
}

static uint16_t take_version(struct line *line, uint16_t max, uint16_t absent)
{
	const char *begin = line->at;

	if (!skip_text(line, " v") || *line->at < '0' || *line->at > '9') {
		line->at = begin;
		return absent;
	}
	return (uint16_t)take_number(line, max);
}

void read_event_line(struct reader *reader)
{
	struct line *line = &reader->line;
	struct words words = {
		.event = {.template = le32_of(WIRE_KNOWN_NONE), .extra = le32_of(WIRE_KNOWN_NONE)}};
	char key[WORD_BYTES_MAX];
	le64 mask;

	words.event.id = le16_of((uint16_t)take_number(line, UINT16_MAX));
	words.event.version = (uint8_t)take_version(line, UINT8_MAX, 0);
	check_order(reader, &words.event);
	while (!is_at_end(line)) {
		(void)take_word(line, key);
		take_sign(line, '=');
		if (!take_event_word(reader, key, &words) &&
		    !take_layout_word(reader, key, &words.event.template, &words.event.builds,
				      &words.extra.source))
			refuse(line, "an event has no such word");
	}
	mask = le64_of(words.mask);
	words.event.mask = le32_of(index_keep(reader->index, WIRE_KNOWN_MASKS, &mask));
	if (!is_plain(&words.extra))
		words.event.extra =
			le32_of(index_keep(reader->index, WIRE_KNOWN_EXTRAS, &words.extra));
	reader->event = index_add(reader->index, WIRE_KNOWN_EVENTS, &words.event);
	reader->provider.event_count = le32_of(le32_get(reader->provider.event_count) + 1);
}

/* The first one makes the event's extra its own, since `first_other` is. */
void read_other_line(struct reader *reader)
{
	struct index *index = reader->index;
	struct line *line = &reader->line;
	struct wire_known_layout layout = {.template = le32_of(WIRE_KNOWN_NONE)};
	struct wire_known_extra extra = {0};
	struct wire_known_event *event;
	char key[WORD_BYTES_MAX];
	uint32_t number;

	if (reader->event == WIRE_KNOWN_NONE)
		refuse(line, "a further layout belongs to no event");
	while (!is_at_end(line)) {
		(void)take_word(line, key);
		take_sign(line, '=');
		if (!take_layout_word(reader, key, &layout.template, &layout.builds,
				      &layout.source))
			refuse(line, "a layout has no such word");
	}
	number = index_add(index, WIRE_KNOWN_LAYOUTS, &layout);
	event = index_item(index, WIRE_KNOWN_EVENTS, reader->event);
	if (!le16_get(event->other_count)) {
		if (le32_get(event->extra) != WIRE_KNOWN_NONE)
			extra = *(const struct wire_known_extra *)index_item(
				index, WIRE_KNOWN_EXTRAS, le32_get(event->extra));
		extra.first_other = le32_of(number);
		event->extra = le32_of(index_add(index, WIRE_KNOWN_EXTRAS, &extra));
	}
	event->other_count = le16_of((uint16_t)(le16_get(event->other_count) + 1));
}

void read_class_line(struct reader *reader)
{
	struct index *index = reader->index;
	struct line *line = &reader->line;
	struct wire_known_class class = {.template = le32_of(WIRE_KNOWN_NONE)};
	char key[WORD_BYTES_MAX], word[WORD_BYTES_MAX];

	take_guid(line, class.guid);
	class.type = le16_of((uint16_t)take_number(line, UINT16_MAX));
	class.version = le16_of(take_version(line, UINT16_MAX - 1, UINT16_MAX));
	class.provider = le32_of(index->parts[WIRE_KNOWN_PROVIDERS].count);
	while (!is_at_end(line)) {
		(void)take_word(line, key);
		take_sign(line, '=');
		(void)take_word(line, word);
		if (strcmp(key, "name") == 0)
			class.name = le32_of(index_string(index, word));
		else if (strcmp(key, "opcode") == 0)
			class.opcode = le32_of(index_string(index, word));
		else if (strcmp(key, "fields") == 0)
			class.template = le32_of(find_label(reader, word, true));
		else
			refuse(line, "a classic event has no such word");
	}
	(void)index_add(index, WIRE_KNOWN_CLASSES, &class);
	reader->provider.class_count = le32_of(le32_get(reader->provider.class_count) + 1);
}
