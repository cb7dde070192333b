/* SPDX-License-Identifier: MIT */
/* The call is cut at its commas; each argument that is one field tells something of it. See print_format.h. */
#include "schema/tracepoint/print_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define RECORD    "REC->"
#define CALLS_MAX 1024
#define NAME_ROOM ((size_t)2 * ETW_TRACEPOINT_NAME_BYTES_MAX + 2)

struct span {
	const char *at, *end;
};

struct reader {
	struct etw_arena *arena;
	const struct etw_tracepoint_format *format;
	struct etw_tracepoint_hint *hints;
	struct etw_map_entry *entries; /* scratch; ETW_TRACEPOINT_MAP_ENTRIES_MAX */
	unsigned calls_left;           /* each is read up to its end, which others may be in */
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static struct span trim(struct span span)
{
	while (span.at < span.end && (*span.at == ' ' || *span.at == '\t'))
		span.at++;
	while (span.end > span.at && (span.end[-1] == ' ' || span.end[-1] == '\t'))
		span.end--;
	return span;
}

/* Behind a string literal that begins at @at; the end where it is not closed. */
static const char *skip_literal(const char *at, const char *end)
{
	const char quote = *at;

	for (at++; at < end && *at != quote; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

/* The next part up to a comma, or a closing bracket, of the outermost level; false: there is none. */
static bool next_part(struct span *left, struct span *ret)
{
	unsigned depth = 0;
	const char *at = left->at;

	if (at >= left->end)
		return false;
	while (at < left->end) {
		if (*at == '"' || *at == '\'') {
			at = skip_literal(at, left->end);
			continue;
		}
		if (strchr("([{", *at)) {
			depth++;
		} else if (strchr(")]}", *at)) {
			if (!depth)
				break;
			depth--;
		} else if (*at == ',' && !depth) {
			break;
		}
		at++;
	}
	*ret = trim((struct span){left->at, at});
	left->at = at < left->end && *at == ',' ? at + 1 : left->end;
	return true;
}

static uint32_t find_field(const struct reader *reader, struct span name)
{
	for (uint32_t i = 0; i < reader->format->field_count; i++) {
		const char *known = reader->format->fields[i].name;

		if (strlen(known) == (size_t)(name.end - name.at) &&
		    memcmp(known, name.at, strlen(known)) == 0)
			return i;
	}
	return UINT32_MAX;
}

/* The field that a text begins with, as REC->NAME; UINT32_MAX. @ret_behind: what follows the name */
static uint32_t field_at(const struct reader *reader, struct span text, const char **ret_behind)
{
	const size_t bytes = strlen(RECORD);
	struct span name;

	if ((size_t)(text.end - text.at) <= bytes || memcmp(text.at, RECORD, bytes) != 0)
		return UINT32_MAX;
	name = (struct span){text.at + bytes, text.at + bytes};
	while (name.end < text.end && is_word(*name.end))
		name.end++;
	*ret_behind = name.end;
	return find_field(reader, name);
}

/* Where the bracket that a text begins with is closed; its end: nowhere. */
static const char *closing(struct span text)
{
	unsigned depth = 0;
	const char *at;

	for (at = text.at; at < text.end; at++) {
		depth += *at == '(';
		depth -= *at == ')';
		if (!depth)
			break;
	}
	return at;
}

/* A cast has nothing but words and stars. */
static bool is_cast(struct span text)
{
	for (; text.at < text.end; text.at++)
		if (!is_word(*text.at) && *text.at != ' ' && *text.at != '*')
			return false;
	return true;
}

/* Takes casts, and brackets around all of a text, off. */
static struct span strip(struct span text)
{
	text = trim(text);
	while (text.at < text.end && *text.at == '(') {
		const char *behind = closing(text);

		if (behind + 1 == text.end)
			text = trim((struct span){text.at + 1, behind});
		else if (behind < text.end && is_cast((struct span){text.at + 1, behind}))
			text = trim((struct span){behind + 1, text.end});
		else
			break;
	}
	return text;
}

/* The field that a whole argument is; UINT32_MAX: it is none, or more. */
static uint32_t only_field(const struct reader *reader, struct span argument)
{
	const char *behind;
	struct span text = strip(argument);
	uint32_t field = field_at(reader, text, &behind);

	return field != UINT32_MAX && behind == text.end ? field : UINT32_MAX;
}

/* One conversion of the text that is printed. */
struct conversion {
	unsigned stars; /* arguments for width and precision, in front of the value */
	uint8_t show;
};

static bool next_conversion(struct span *left, struct conversion *ret)
{
	*ret = (struct conversion){0};
	for (; left->at < left->end; left->at++) {
		if (*left->at != '%')
			continue;
		left->at++;
		if (left->at < left->end && *left->at == '%')
			continue;
		while (left->at < left->end && strchr("-+ #0123456789.*hlLqjzt", *left->at)) {
			ret->stars += *left->at == '*';
			left->at++;
		}
		if (left->at >= left->end)
			return false;
		if (*left->at == 'x' || *left->at == 'X')
			ret->show = ETW_TRACEPOINT_SHOW_HEX;
		if (*left->at == 'p' && left->end - left->at >= 3 && left->at[1] == 'I') {
			if (left->at[2] == '4')
				ret->show = ETW_TRACEPOINT_SHOW_IPV4;
			if (left->at[2] == '6')
				ret->show = ETW_TRACEPOINT_SHOW_IPV6;
		} else if (*left->at == 'p') {
			ret->show = ETW_TRACEPOINT_SHOW_HEX;
		}
		return true;
	}
	return false;
}

/* The conversions of the first argument, each with the argument that it shows. */
static void read_conversions(struct reader *reader)
{
	const char *print = reader->format->print;
	struct span left = {print, print + strlen(print)};
	struct span text, argument;
	struct conversion conversion;

	if (!next_part(&left, &text) || text.at >= text.end || *text.at != '"')
		return;
	while (next_conversion(&text, &conversion)) {
		uint32_t field;

		for (unsigned i = 0; i <= conversion.stars; i++)
			if (!next_part(&left, &argument))
				return;
		field = only_field(reader, argument);
		if (field != UINT32_MAX && conversion.show)
			reader->hints[field].show = conversion.show;
	}
}

/* A literal's text, without what is escaped in it; NULL: it is none, or memory ran out, which *@ret_error says. */
static const char *keep_literal(struct reader *reader, struct span text, int *ret_error)
{
	char *copy;
	size_t bytes = 0;

	text = trim(text);
	if (text.end - text.at < 2 || *text.at != '"' ||
	    skip_literal(text.at, text.end) != text.end)
		return NULL;
	copy = etw_arena_strndup(reader->arena, text.at + 1, (size_t)(text.end - text.at) - 2);
	if (!copy) {
		*ret_error = -ENOMEM;
		return NULL;
	}
	for (const char *at = copy; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		copy[bytes++] = *at;
	}
	copy[bytes] = '\0';
	return copy;
}

/* "{ VALUE, "text" }". Returns 1 for one that was read, 0 for one that cannot be, -ENOMEM. */
static int read_entry(struct reader *reader, struct span part, struct etw_map_entry *ret,
		      bool *ret_is_negative)
{
	struct span value, text, left;
	int64_t number;
	int error = 0;

	if (part.end - part.at < 2 || *part.at != '{' || part.end[-1] != '}')
		return 0;
	left = (struct span){part.at + 1, part.end - 1};
	if (!next_part(&left, &value) || !next_part(&left, &text))
		return 0;
	if (!etw_tracepoint_constant(&value.at, value.end, &number) || value.at != value.end)
		return 0;
	if (number > UINT32_MAX || number < INT32_MIN)
		return 0;
	ret->text = keep_literal(reader, text, &error);
	ret->value = (uint32_t)number;
	*ret_is_negative = number < 0;
	return ret->text ? 1 : error;
}

static int keep_map(struct reader *reader, uint32_t field, uint32_t count, bool is_bits)
{
	struct etw_map *map = etw_arena_alloc(reader->arena, sizeof(*map));
	const char *name = reader->format->fields[field].name;
	char text[NAME_ROOM];

	if (!map)
		return -ENOMEM;
	strcpy(text, reader->format->name);
	strcat(text, ".");
	strcat(text, name);
	map->name = etw_arena_strdup(reader->arena, text);
	map->flags = is_bits ? EVENTMAP_INFO_FLAG_MANIFEST_BITMAP
			     : EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	map->count = count;
	map->entries = etw_arena_copy(reader->arena, reader->entries,
				      count * sizeof(*reader->entries));
	if (!map->name || !map->entries)
		return -ENOMEM;
	reader->hints[field].map = map;
	return 0;
}

/* The field that names are given to; of bits also one that a mask was laid over. */
static uint32_t named_field(const struct reader *reader, struct span argument, bool is_bits)
{
	const char *behind;
	struct span text = strip(argument);
	uint32_t field = field_at(reader, text, &behind);
	struct span rest;

	if (field == UINT32_MAX)
		return UINT32_MAX;
	rest = trim((struct span){behind, text.end});
	if (rest.at == rest.end)
		return field;
	return is_bits && *rest.at == '&' ? field : UINT32_MAX;
}

/* What stands in the brackets of __print_flags or __print_symbolic. */
static int read_map(struct reader *reader, struct span left, bool is_bits)
{
	struct span part;
	uint32_t field, count = 0;
	bool has_negative = false;

	if (!next_part(&left, &part))
		return 0;
	field = named_field(reader, part, is_bits);
	if (field == UINT32_MAX || reader->hints[field].map)
		return 0;
	if (is_bits && !next_part(&left, &part)) /* what is put between names */
		return 0;
	while (count < ETW_TRACEPOINT_MAP_ENTRIES_MAX && next_part(&left, &part)) {
		bool is_negative = false;
		int r = read_entry(reader, part, &reader->entries[count], &is_negative);

		TRY(r);
		count += (uint32_t)r;
		has_negative |= r && is_negative;
	}
	reader->hints[field].has_negative = has_negative;
	return count ? keep_map(reader, field, count, is_bits) : 0;
}

/* The word in the brackets of __get_str(NAME) and its like. */
static uint32_t macro_field(const struct reader *reader, struct span left)
{
	struct span name;

	return next_part(&left, &name) ? find_field(reader, name) : UINT32_MAX;
}

static int read_call(struct reader *reader, struct span name, struct span arguments)
{
	static const char *const calls[] = {"__print_flags",       "__print_flags_u64",
					    "__print_symbolic",    "__print_symbolic_u64",
					    "__get_dynamic_array", "__get_str"};
	size_t call;
	uint32_t field;

	for (call = 0; call < ARRAY_SIZE(calls); call++)
		if (strlen(calls[call]) == (size_t)(name.end - name.at) &&
		    memcmp(calls[call], name.at, strlen(calls[call])) == 0)
			break;
	if (call < 4)
		return read_map(reader, arguments, /* is_bits= */ call < 2);
	field = call < ARRAY_SIZE(calls) ? macro_field(reader, arguments) : UINT32_MAX;
	if (field != UINT32_MAX)
		reader->hints[field].is_bytes = call == 4;
	return 0;
}

/* Every word in front of a bracket, wherever it stands. */
static int read_calls(struct reader *reader)
{
	const char *at = reader->format->print;
	const char *end = at + strlen(at);

	while (at < end && reader->calls_left) {
		struct span word = {at, at};

		if (*at == '"' || *at == '\'') {
			at = skip_literal(at, end);
			continue;
		}
		while (word.end < end && is_word(*word.end))
			word.end++;
		if (word.end == at) {
			at++;
			continue;
		}
		at = word.end;
		if (at < end && *at == '(' && word.at[0] == '_') {
			reader->calls_left--;
			TRY(read_call(reader, word, (struct span){at + 1, end}));
		}
	}
	return 0;
}

int etw_tracepoint_hints(struct etw_arena *arena, const struct etw_tracepoint_format *format,
			 struct etw_tracepoint_hint *ret)
{
	CLEANUP(freep)
	struct etw_map_entry *entries = calloc(ETW_TRACEPOINT_MAP_ENTRIES_MAX, sizeof(*entries));
	struct reader reader = {.arena = arena,
				.format = format,
				.hints = ret,
				.entries = entries,
				.calls_left = CALLS_MAX};

	if (!entries)
		return -ENOMEM;
	memset(ret, 0, format->field_count * sizeof(*ret));
	read_conversions(&reader);
	return read_calls(&reader);
}
