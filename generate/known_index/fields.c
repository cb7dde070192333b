/* SPDX-License-Identifier: MIT */
/* Lists of fields. */
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"
#include "schema/types.h"
#include "table.h"

/* Fields of one list while it is read; their names are compared as offsets of strings. */
struct list {
	struct wire_known_field fields[TEMPLATE_FIELDS_MAX];
	size_t count;
	const struct list *outer; /* of the struct that the list is of */
};

static uint32_t find_map(const struct reader *reader, const char *name)
{
	const struct part *part = &reader->index->parts[WIRE_KNOWN_MAPS];
	uint32_t wanted = index_string(reader->index, name);

	for (uint32_t i = reader->map_begin; i < part->count; i++) {
		const struct wire_known_map *map = (const void *)(part->at + i * part->item_bytes);

		if (le32_get(map->name) == wanted)
			return i;
	}
	refuse(&reader->line, "the map of a field is not defined above");
}

/* A number, or the place of an earlier field of the same list. Returns whether it is a place. */
static bool take_extent(struct reader *reader, const struct list *list, le16 *ret)
{
	char word[WORD_BYTES_MAX];
	uint32_t name;

	if (!take_word(&reader->line, word) && is_number(word)) {
		*ret = le16_of((uint16_t)number_of(&reader->line, word, UINT16_MAX));
		return false;
	}
	name = index_string(reader->index, word);
	for (size_t i = 0; i < list->count; i++) {
		if (le32_get(list->fields[i].name) == name) {
			*ret = le16_of((uint16_t)i);
			return true;
		}
	}
	refuse(&reader->line, "a length or count is neither a number nor an earlier field");
}

static void set_types(struct reader *reader, char *word, struct wire_known_field *field,
		      uint16_t *flags)
{
	char *out = strchr(word, '/');
	uint16_t type;

	if (out)
		*out++ = '\0';
	if (strcmp(word, "Struct") == 0) {
		*flags |= WIRE_KNOWN_STRUCT;
		field->link = le32_of(WIRE_KNOWN_NONE);
		return;
	}
	if (!etw_manifest_in_type(word, &type))
		refuse(&reader->line, "there is no such in-type");
	field->in_type = (uint8_t)type;
	type = etw_schema_out_type(type);
	if (out && !etw_manifest_out_type(out, &type))
		refuse(&reader->line, "there is no such out-type");
	field->out_type = (uint8_t)type;
	if (out)
		*flags |= WIRE_KNOWN_OUT;
}

static uint32_t read_list(struct reader *reader, const struct list *outer, uint16_t marks);

static void read_extents(struct reader *reader, const struct list *list,
			 struct wire_known_field *field, uint16_t *flags)
{
	struct line *line = &reader->line;

	if (skip_sign(line, '(')) {
		*flags |= take_extent(reader, list, &field->length) ? WIRE_KNOWN_LENGTH_FIELD
								    : WIRE_KNOWN_LENGTH;
		take_sign(line, ')');
	}
	if (skip_sign(line, '[')) {
		*flags |= take_extent(reader, list, &field->count) ? WIRE_KNOWN_COUNT_FIELD
								   : WIRE_KNOWN_COUNT;
		take_sign(line, ']');
	}
}

static void read_field(struct reader *reader, struct list *list)
{
	struct line *line = &reader->line;
	struct wire_known_field field = {0};
	char word[WORD_BYTES_MAX];
	uint16_t flags = 0;

	(void)take_word(line, word);
	field.name = le32_of(index_string(reader->index, word));
	(void)take_word(line, word);
	set_types(reader, word, &field, &flags);
	read_extents(reader, list, &field, &flags);
	if ((flags & WIRE_KNOWN_STRUCT) && skip_sign(line, '{')) {
		if (list->outer)
			refuse(line, "a struct lies within a struct");
		field.link = le32_of(read_list(reader, list, 0));
		take_sign(line, '}');
	}
	if (skip_sign(line, '=')) {
		(void)take_word(line, word);
		field.link = le32_of(find_map(reader, word));
		flags |= WIRE_KNOWN_MAP;
	}
	field.flags = le16_of(flags);
	if (list->count == TEMPLATE_FIELDS_MAX)
		refuse(line, "there are too many fields");
	list->fields[list->count++] = field;
}

static uint32_t read_list(struct reader *reader, const struct list *outer, uint16_t marks)
{
	struct list *list = memory_for(NULL, 1, sizeof(*list));
	struct wire_known_template template = {.marks = le16_of(marks)};
	le32 refs[TEMPLATE_FIELDS_MAX];

	list->count = 0;
	list->outer = outer;
	do {
		read_field(reader, list);
	} while (skip_sign(&reader->line, ','));
	for (size_t i = 0; i < list->count; i++)
		refs[i] = le32_of(index_keep(reader->index, WIRE_KNOWN_FIELDS, &list->fields[i]));
	template.count = le16_of((uint16_t)list->count);
	template.first = le32_of(index_run(reader->index, refs, list->count));
	free(list);
	return index_keep(reader->index, WIRE_KNOWN_TEMPLATES, &template);
}

static void read_qualifiers(struct reader *reader, struct wire_known_class_field *field)
{
	struct line *line = &reader->line;
	char key[WORD_BYTES_MAX], word[WORD_BYTES_MAX];

	while (!is_at_end(line) && !skip_sign(line, ',')) {
		(void)take_word(line, key);
		take_sign(line, '=');
		(void)take_word(line, word);
		if (strcmp(key, "extension") == 0)
			field->extension = le32_of(index_string(reader->index, word));
		else if (strcmp(key, "termination") == 0)
			field->termination = le32_of(index_string(reader->index, word));
		else if (strcmp(key, "format") == 0)
			field->format = le32_of(index_string(reader->index, word));
		else if (strcmp(key, "count") == 0)
			field->count = le32_of((uint32_t)number_of(line, word, UINT16_MAX));
		else
			refuse(line, "there is no such qualifier");
	}
}

static uint32_t read_classic_list(struct reader *reader, uint16_t marks)
{
	struct index *index = reader->index;
	struct wire_known_template template = {.marks = le16_of(marks)};
	uint32_t first = index->parts[WIRE_KNOWN_CLASS_FIELDS].count;
	char word[WORD_BYTES_MAX];

	while (!is_at_end(&reader->line)) {
		struct wire_known_class_field field = {0};

		(void)take_word(&reader->line, word);
		field.name = le32_of(index_string(index, word));
		(void)take_word(&reader->line, word);
		field.type = le32_of(index_string(index, word));
		read_qualifiers(reader, &field);
		(void)index_add(index, WIRE_KNOWN_CLASS_FIELDS, &field);
	}
	if (index->parts[WIRE_KNOWN_CLASS_FIELDS].count - first > TEMPLATE_FIELDS_MAX)
		refuse(&reader->line, "there are too many fields");
	template.first = le32_of(first);
	template.count = le16_of((uint16_t)(index->parts[WIRE_KNOWN_CLASS_FIELDS].count - first));
	return index_keep(index, WIRE_KNOWN_TEMPLATES, &template);
}

static void add_label(struct reader *reader, const char *name, uint32_t template, bool is_classic)
{
	for (size_t i = 0; i < reader->label_count; i++) {
		if (reader->labels[i].is_classic == is_classic &&
		    strcmp(reader->labels[i].name, name) == 0)
			refuse(&reader->line, "another list of fields has this label");
	}
	if (reader->label_count == reader->label_room) {
		reader->label_room = reader->label_room ? reader->label_room * 2 : 64;
		reader->labels = memory_for(reader->labels, reader->label_room,
					    sizeof(*reader->labels));
	}
	reader->labels[reader->label_count] = (struct label){
		.name = memory_for(NULL, strlen(name) + 1, 1),
		.template = template,
		.is_classic = is_classic,
	};
	strcpy(reader->labels[reader->label_count++].name, name);
}

static uint16_t mark_of(const struct reader *reader, const char *word)
{
	static const char *const marks[] = {"incomplete", "inferred", "doubt"};

	for (unsigned i = 0; i < ARRAY_SIZE(marks); i++) {
		if (strcmp(word, marks[i]) == 0)
			return (uint16_t)(1u << i);
	}
	refuse(&reader->line, "there is no such mark");
}

/* The word before the fields ends with a colon, be it the label or a mark. */
static bool take_head_word(struct line *line, char word[WORD_BYTES_MAX])
{
	size_t last;

	(void)take_word(line, word);
	last = strlen(word) - 1;
	if (word[last] != ':')
		return true;
	word[last] = '\0';
	return false;
}

void read_fields_line(struct reader *reader, bool is_classic)
{
	char label[WORD_BYTES_MAX], word[WORD_BYTES_MAX];
	bool has_more = take_head_word(&reader->line, label);
	uint16_t marks = 0;

	while (has_more) {
		has_more = take_head_word(&reader->line, word);
		marks |= mark_of(reader, word);
	}
	add_label(reader, label,
		  is_classic ? read_classic_list(reader, marks) : read_list(reader, NULL, marks),
		  is_classic);
}

uint32_t find_label(const struct reader *reader, const char *name, bool is_classic)
{
	for (size_t i = reader->label_count; i; i--) {
		if (reader->labels[i - 1].is_classic == is_classic &&
		    strcmp(reader->labels[i - 1].name, name) == 0)
			return reader->labels[i - 1].template;
	}
	refuse(&reader->line, "the list of fields is not above");
}
