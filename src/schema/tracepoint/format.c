/* SPDX-License-Identifier: MIT */
/* Line by line; a declaration is read from its end, where the name is. See format.h. */
#include "schema/tracepoint/format.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

#define STRUCTURE "tracepoint format"

/* A part of the text. */
struct span {
	const char *at;
	size_t bytes;
};

struct reader {
	struct etw_arena *arena;
	struct span left;
	uint64_t line; /* number of the line that was taken last */
	struct etw_tracepoint_format *format;
	struct etw_fault *reterr;
	struct etw_tracepoint_field fields[ETW_TRACEPOINT_FIELDS_MAX + 1];
};

static int refuse(const struct reader *reader, const char *field, const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG, reader->line, STRUCTURE, field, sentence);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static struct span trim(struct span span)
{
	while (span.bytes && is_blank(span.at[0])) {
		span.at++;
		span.bytes--;
	}
	while (span.bytes && (is_blank(span.at[span.bytes - 1]) || span.at[span.bytes - 1] == '\r'))
		span.bytes--;
	return span;
}

static bool take_prefix(struct span *span, const char *prefix)
{
	const size_t bytes = strlen(prefix);

	if (span->bytes < bytes || memcmp(span->at, prefix, bytes) != 0)
		return false;
	span->at += bytes;
	span->bytes -= bytes;
	return true;
}

static bool span_is(struct span span, const char *text)
{
	return span.bytes == strlen(text) && memcmp(span.at, text, span.bytes) == 0;
}

static bool next_line(struct reader *reader, struct span *ret)
{
	const char *end;

	if (!reader->left.bytes)
		return false;
	end = memchr(reader->left.at, '\n', reader->left.bytes);
	*ret = reader->left;
	if (end)
		ret->bytes = (size_t)(end - ret->at);
	reader->left.at += ret->bytes + (end != NULL);
	reader->left.bytes -= ret->bytes + (end != NULL);
	reader->line++;
	return true;
}

static bool parse_number(struct span span, uint32_t max, uint32_t *ret)
{
	uint64_t value = 0;

	span = trim(span);
	if (!span.bytes)
		return false;
	for (size_t i = 0; i < span.bytes; i++) {
		if (!is_digit(span.at[i]))
			return false;
		value = value * 10 + (uint64_t)(span.at[i] - '0');
		if (value > max)
			return false;
	}
	*ret = (uint32_t)value;
	return true;
}

/* Copies with single blanks, so that types can be compared. */
static const char *keep_type(struct reader *reader, struct span type)
{
	char *copy = etw_arena_strndup(reader->arena, type.at, type.bytes);
	size_t bytes = 0;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < type.bytes; i++)
		if (!is_blank(type.at[i]) || (bytes && copy[bytes - 1] != ' '))
			copy[bytes++] = is_blank(type.at[i]) ? ' ' : type.at[i];
	while (bytes && copy[bytes - 1] == ' ')
		bytes--;
	copy[bytes] = '\0';
	return copy;
}

/* The value of "NAME:NUMBER", the part of a line up to the next semicolon. */
static int take_member(struct reader *reader, struct span *line, const char *name, uint32_t *ret)
{
	const char *end;
	struct span value;

	*line = trim(*line);
	if (!take_prefix(line, name) || !take_prefix(line, ":"))
		return refuse(reader, name, "a field lacks one of offset, size and signed");
	end = memchr(line->at, ';', line->bytes);
	if (!end)
		return refuse(reader, name, "a semicolon is missing");
	value = (struct span){line->at, (size_t)(end - line->at)};
	line->bytes -= value.bytes + 1;
	line->at += value.bytes + 1;
	if (!parse_number(value, ETW_TRACEPOINT_RECORD_MAX, ret))
		return refuse(reader, name, "the value is no number of a record's size");
	return 0;
}

/* How large an element is where the number of elements is a word: as far as its type's name says it. */
static uint32_t element_bytes(const char *type)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} known[] = {
		{"char", 1}, {"unsigned char", 1}, {"signed char", 1}, {"u8", 1},   {"__u8", 1},
		{"s8", 1},   {"u16", 2},           {"__u16", 2},       {"u32", 4},  {"__u32", 4},
		{"int", 4},  {"unsigned int", 4},  {"u64", 8},         {"__u64", 8}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(type, known[i].name) == 0)
			return known[i].bytes;
	return 1;
}

/* The brackets at the end of *@span are taken off it. Their product; 0: one is empty; UINT32_MAX: one is no number. */
static int take_brackets(struct reader *reader, struct span *span, bool *ret_any, uint32_t *ret)
{
	uint64_t product = 1;
	bool is_word_seen = false;

	*ret_any = false;
	for (;;) {
		size_t at;
		struct span inside;
		uint32_t number;

		*span = trim(*span);
		if (!span->bytes || span->at[span->bytes - 1] != ']')
			break;
		for (at = span->bytes - 1; at && span->at[at] != '['; at--)
			;
		if (span->at[at] != '[')
			return refuse(reader, "field", "a bracket is not opened");
		inside = trim((struct span){span->at + at + 1, span->bytes - at - 2});
		if (!inside.bytes)
			product = 0;
		else if (parse_number(inside, ETW_TRACEPOINT_RECORD_MAX, &number))
			product *= number;
		else
			is_word_seen = true;
		if (product > ETW_TRACEPOINT_RECORD_MAX)
			return refuse(reader, "field", "an array is larger than any record");
		*ret_any = true;
		span->bytes = at;
	}
	*ret = is_word_seen && product ? UINT32_MAX : (uint32_t)product;
	return 0;
}

/* ":WIDTH" behind the name of a bit field. */
static int take_width(struct reader *reader, struct span *declaration,
		      struct etw_tracepoint_field *field)
{
	size_t at = declaration->bytes;
	uint32_t width;

	while (at && (is_digit(declaration->at[at - 1]) || is_blank(declaration->at[at - 1])))
		at--;
	if (!at || declaration->at[at - 1] != ':' || at == declaration->bytes)
		return 0;
	if (!parse_number((struct span){declaration->at + at, declaration->bytes - at}, 64,
			  &width) ||
	    !width)
		return refuse(reader, "field", "a bit field has no bits, or more than 64");
	field->bit_count = (uint8_t)width;
	declaration->bytes = at - 1;
	return 0;
}

/* The name: the last word, or that of a pointer to a function, which stands in its middle. */
static int take_name(struct reader *reader, struct span *declaration,
		     struct etw_tracepoint_field *field)
{
	size_t end, at;

	*declaration = trim(*declaration);
	end = declaration->bytes;
	if (end && declaration->at[end - 1] == ')') {
		for (end = 0;
		     end + 2 < declaration->bytes && memcmp(declaration->at + end, "(*", 2) != 0;
		     end++)
			;
		for (end += 2; end < declaration->bytes && is_word(declaration->at[end]); end++)
			;
		field->is_pointer = true;
	}
	if (end > declaration->bytes)
		return refuse(reader, "field", "a declaration has no name");
	for (at = end; at && is_word(declaration->at[at - 1]); at--)
		;
	if (at == end || is_digit(declaration->at[at]))
		return refuse(reader, "field", "a declaration has no name");
	if (end - at > ETW_TRACEPOINT_NAME_BYTES_MAX)
		return refuse(reader, "field", "a name is too long");
	field->name = etw_arena_strndup(reader->arena, declaration->at + at, end - at);
	if (!field->name)
		return -ENOMEM;
	declaration->bytes = at;
	*declaration = trim(*declaration);
	if (!declaration->bytes)
		return refuse(reader, "field", "a declaration has no type");
	return 0;
}

static int parse_declaration(struct reader *reader, struct span declaration,
			     struct etw_tracepoint_field *field, uint32_t *ret_count)
{
	bool is_array, is_type_array;
	uint32_t count, type_count;

	declaration = trim(declaration);
	if (take_prefix(&declaration, "__data_loc "))
		field->place = ETW_TRACEPOINT_DATA_LOC;
	else if (take_prefix(&declaration, "__rel_loc "))
		field->place = ETW_TRACEPOINT_REL_LOC;
	TRY(take_brackets(reader, &declaration, &is_array, &count));
	if (!is_array)
		TRY(take_width(reader, &declaration, field));
	TRY(take_name(reader, &declaration, field));
	/* Dynamic arrays have the brackets behind the type. */
	TRY(take_brackets(reader, &declaration, &is_type_array, &type_count));
	if (!is_array)
		count = type_count;
	field->is_array = is_array || is_type_array;
	if (memchr(declaration.at, '*', declaration.bytes))
		field->is_pointer = true;
	field->type = keep_type(reader, declaration);
	if (!field->type)
		return -ENOMEM;
	*ret_count = count;
	return 0;
}

/* Bit fields of one place follow each other from the lowest bit on, as compilers for little-endian machines have it. */
static int place_bits(struct reader *reader, struct etw_tracepoint_field *field)
{
	const uint32_t count = reader->format->field_count;
	const struct etw_tracepoint_field *last = count ? &reader->fields[count - 1] : NULL;
	uint32_t shift = 0;

	if (field->place != ETW_TRACEPOINT_INLINE || field->is_array ||
	    (field->bytes != 1 && field->bytes != 2 && field->bytes != 4 && field->bytes != 8))
		return refuse(reader, "field", "a bit field lies in no integer");
	if (last && last->bit_count && last->offset == field->offset && last->bytes == field->bytes)
		shift = (uint32_t)last->bit_shift + last->bit_count;
	if (shift + field->bit_count > 8 * field->bytes)
		return refuse(reader, "field", "a bit field goes beyond its bytes");
	field->bit_shift = (uint8_t)shift;
	return 0;
}

/* @count: as the brackets say it; UINT32_MAX: in words */
static int place_field(struct reader *reader, struct etw_tracepoint_field *field, uint32_t count)
{
	field->count = 1;
	if (field->offset + field->bytes > ETW_TRACEPOINT_RECORD_MAX)
		return refuse(reader, "offset", "a field goes beyond any record");
	if (field->place != ETW_TRACEPOINT_INLINE) {
		if (field->bytes != 4)
			return refuse(reader, "size", "the place of a dynamic array takes 4 bytes");
		return 0;
	}
	if (field->bit_count)
		return place_bits(reader, field);
	if (field->is_array && !field->bytes && !count) {
		field->place = ETW_TRACEPOINT_TO_END;
		return 0;
	}
	if (!field->bytes)
		return refuse(reader, "size", "a field has no bytes");
	if (!field->is_array)
		return 0;
	if (count == UINT32_MAX)
		count = field->bytes / (field->is_pointer ? 8 : element_bytes(field->type));
	if (!count || field->bytes % count)
		return refuse(reader, "size", "the size is no multiple of the number of elements");
	field->count = count;
	return 0;
}

static int parse_field(struct reader *reader, struct span line)
{
	struct etw_tracepoint_field *field = &reader->fields[reader->format->field_count];
	const char *end = memchr(line.at, ';', line.bytes);
	struct span declaration;
	uint32_t is_signed = 0, count = 0;

	if (reader->format->field_count == ETW_TRACEPOINT_FIELDS_MAX)
		return refuse(reader, "field", "there are more than 256 fields");
	if (!end)
		return refuse(reader, "field", "a semicolon is missing");
	declaration = (struct span){line.at, (size_t)(end - line.at)};
	line.at += declaration.bytes + 1;
	line.bytes -= declaration.bytes + 1;
	*field = (struct etw_tracepoint_field){0};
	TRY(parse_declaration(reader, declaration, field, &count));
	TRY(take_member(reader, &line, "offset", &field->offset));
	TRY(take_member(reader, &line, "size", &field->bytes));
	if (trim(line).bytes) /* kernels of old have no "signed" */
		TRY(take_member(reader, &line, "signed", &is_signed));
	if (is_signed > 1 || trim(line).bytes)
		return refuse(reader, "signed", "the end of a field's line makes no sense");
	field->is_signed = is_signed != 0;
	field->is_common = strncmp(field->name, "common_", 7) == 0;
	TRY(place_field(reader, field, count));
	if (field->offset + field->bytes > reader->format->record_bytes)
		reader->format->record_bytes = field->offset + field->bytes;
	reader->format->field_count++;
	return 0;
}

static int parse_name(struct reader *reader, struct span name)
{
	name = trim(name);
	if (!name.bytes || name.bytes > ETW_TRACEPOINT_NAME_BYTES_MAX)
		return refuse(reader, "name", "the name is empty or too long");
	for (size_t i = 0; i < name.bytes; i++)
		if (!is_word(name.at[i]) && name.at[i] != '-' && name.at[i] != '.')
			return refuse(reader, "name", "the name has a character that none has");
	reader->format->name = etw_arena_strndup(reader->arena, name.at, name.bytes);
	return reader->format->name ? 0 : -ENOMEM;
}

static int parse_line(struct reader *reader, struct span line)
{
	struct etw_tracepoint_format *format = reader->format;

	line = trim(line);
	if (!line.bytes || span_is(line, "format:"))
		return 0;
	if (take_prefix(&line, "field:"))
		return parse_field(reader, line);
	if (!format->name && take_prefix(&line, "name:"))
		return parse_name(reader, line);
	if (take_prefix(&line, "ID:"))
		return parse_number(line, UINT16_MAX, &format->type)
			       ? 0
			       : refuse(reader, "ID",
					"the number is none, or has more than 16 bits");
	return refuse(reader, NULL, "a line is none that formats have");
}

/* What the kernel prints goes up to the end. */
static int parse_text(struct reader *reader)
{
	struct span line;

	while (next_line(reader, &line)) {
		struct span text = line;

		if (!take_prefix(&text, "print fmt:")) {
			TRY(parse_line(reader, line));
			continue;
		}
		text.bytes = (size_t)(reader->left.at + reader->left.bytes - text.at);
		while (text.bytes && text.at[text.bytes - 1] == '\n')
			text.bytes--;
		text = trim(text);
		reader->format->print = etw_arena_strndup(reader->arena, text.at, text.bytes);
		return reader->format->print ? 0 : -ENOMEM;
	}
	return 0;
}

static int parse_format(struct reader *reader)
{
	struct etw_tracepoint_format *format = etw_arena_alloc(reader->arena, sizeof(*format));

	if (!format)
		return -ENOMEM;
	reader->format = format;
	format->print = "";
	if (memchr(reader->left.at, '\0', reader->left.bytes))
		return refuse(reader, NULL, "there is a NUL in the text");
	TRY(parse_text(reader));
	if (!format->name)
		return refuse(reader, "name", "the format has no name");
	format->fields = etw_arena_copy(reader->arena, reader->fields,
					format->field_count * sizeof(*reader->fields));
	return format->fields ? 0 : -ENOMEM;
}

int etw_tracepoint_format_parse(struct etw_arena *arena, const char *text, size_t bytes,
				struct etw_tracepoint_format **ret, struct etw_fault *reterr)
{
	struct reader reader = {.arena = arena, .left = {text, bytes}, .reterr = reterr};
	const struct etw_arena_mark mark = etw_arena_mark(arena);
	int r;

	if (bytes > ETW_TRACEPOINT_FORMAT_BYTES_MAX)
		return etw_fault_set(reterr, -E2BIG, 0, STRUCTURE, NULL,
				     "the text is larger than 64 KB");
	r = parse_format(&reader);
	if (r < 0) {
		etw_arena_release(arena, mark);
		return r;
	}
	*ret = reader.format;
	return 0;
}
