/* SPDX-License-Identifier: MIT */
/*
 * TMF text line by line: sections (a GUID and what it names), messages in them, tables of enumerators. The
 * reader is a state machine, so that the annotations of a PDB, which are such lines, go the same way.
 */
#include "schema/wpp/tmf_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/guid.h"
#include "base/macros.h"

#define GUID_CHARS   (ETW_GUID_BARE_BYTES - 1)
#define MESSAGES_MAX (UINT32_C(1) << 24)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct tmf_span etw_tmf_trim(struct tmf_span span)
{
	while (span.bytes && is_blank(*span.at)) {
		span.at++;
		span.bytes--;
	}
	while (span.bytes && is_blank(span.at[span.bytes - 1]))
		span.bytes--;
	return span;
}

char *etw_tmf_copy(struct etw_arena *arena, struct tmf_span span)
{
	char *copy = etw_arena_strndup(arena, span.at, span.bytes);

	/* A line of a PDB's annotation may hold some; in a file they would end the line. */
	for (size_t i = 0; copy && i < span.bytes; i++) {
		if (copy[i] == '\n')
			copy[i] = ' ';
	}
	return copy;
}

static int fail(uint64_t line, const char *field, const char *sentence, struct etw_fault *reterr)
{
	return etw_fault_set(reterr, -EBADMSG, line, "TMF file", field, sentence);
}

/* The next word; @span is left behind it. */
static struct tmf_span take_word(struct tmf_span *span)
{
	struct tmf_span word;

	*span = etw_tmf_trim(*span);
	word = (struct tmf_span){span->at, 0};
	while (word.bytes < span->bytes && !is_blank(span->at[word.bytes]))
		word.bytes++;
	span->at += word.bytes;
	span->bytes -= word.bytes;
	return word;
}

static bool begins(struct tmf_span span, const char *with)
{
	size_t bytes = strlen(with);

	return span.bytes >= bytes && !memcmp(span.at, with, bytes);
}

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Bytes of the letters in front of "=" at the start of the span; 0: there is no key. */
static size_t key_bytes(struct tmf_span span)
{
	size_t bytes = 0;

	while (bytes < span.bytes && is_letter(span.at[bytes]))
		bytes++;
	return bytes && bytes < span.bytes && span.at[bytes] == '=' ? bytes : 0;
}

/*
 * The value of "KEY=value" in a comment, up to the next key or the end.
 *
 * @key: in capitals, without "="; either case matches
 *
 * An empty value is an empty span with a position; `at` is NULL without the key.
 */
static struct tmf_span find_attribute(struct tmf_span comment, const char *key)
{
	struct tmf_span value = {0};
	size_t i = 0;

	while (i < comment.bytes) {
		struct tmf_span rest = {comment.at + i, comment.bytes - i};
		size_t bytes = i && !is_blank(comment.at[i - 1]) ? 0 : key_bytes(rest);

		if (bytes && value.at)
			break;
		if (bytes == strlen(key) && !strncasecmp(rest.at, key, bytes))
			value.at = rest.at + bytes + 1;
		i += bytes ? bytes + 1 : 1;
	}
	if (!value.at)
		return value;
	value.bytes = (size_t)(comment.at + (i < comment.bytes ? i : comment.bytes) - value.at);
	return etw_tmf_trim(value);
}

/* The attribute as a string, NULL when it is absent or empty. False: no memory. */
static bool copy_attribute(struct tmf_reader *reader, struct tmf_span comment, const char *key,
			   const char **ret)
{
	struct tmf_span value = find_attribute(comment, key);

	*ret = NULL;
	if (!value.at || !value.bytes)
		return true;
	*ret = etw_tmf_copy(reader->arena, value);
	return *ret;
}

/* What follows "//" within the line; an empty span when there is none. */
static bool find_comment(struct tmf_span line, struct tmf_span *ret)
{
	for (size_t i = 0; i + 1 < line.bytes; i++) {
		if (line.at[i] != '/' || line.at[i + 1] != '/')
			continue;
		*ret = (struct tmf_span){line.at + i + 2, line.bytes - i - 2};
		return true;
	}
	*ret = (struct tmf_span){line.at + line.bytes, 0};
	return false;
}

int etw_tmf_reader_init(struct tmf_reader *reader, struct etw_arena *arena)
{
	*reader = (struct tmf_reader){.arena = arena};
	reader->arguments = calloc(ETW_WPP_ARGUMENTS_MAX, sizeof(*reader->arguments));
	return reader->arguments ? 0 : -ENOMEM;
}

void etw_tmf_reader_done(struct tmf_reader *reader)
{
	etw_text_done(&reader->header);
	etw_table_done(&reader->enums);
	free(reader->arguments);
	free(reader->messages);
	free(reader->entries);
}

static bool read_guid(struct tmf_span word, GUID *ret)
{
	char text[ETW_GUID_BARE_BYTES];

	if (word.bytes != GUID_CHARS)
		return false;
	memcpy(text, word.at, GUID_CHARS);
	text[GUID_CHARS] = '\0';
	return !etw_guid_parse(text, ret);
}

/* "GUID module // SRC=file MJ=component MN=subcomponent" */
static int read_section(struct tmf_reader *reader, struct tmf_span line, const GUID *guid)
{
	struct etw_wpp_message section = {.guid = *guid};
	struct tmf_span comment, module = line;
	bool has_comment = find_comment(line, &comment);

	if (line.bytes == reader->header.bytes && !memcmp(line.at, reader->header.at, line.bytes)) {
		reader->has_section = true;
		return 0;
	}
	if (has_comment)
		module.bytes = (size_t)(comment.at - 2 - line.at);
	(void)take_word(&module);
	module = etw_tmf_trim(module);
	if (module.bytes) {
		section.module = etw_tmf_copy(reader->arena, module);
		if (!section.module)
			return -ENOMEM;
	}
	if (!copy_attribute(reader, comment, "SRC", &section.source_file) ||
	    !copy_attribute(reader, comment, "MJ", &section.component) ||
	    !copy_attribute(reader, comment, "MN", &section.subcomponent))
		return -ENOMEM;
	etw_text_clear(&reader->header);
	etw_text_append(&reader->header, line.at, line.bytes);
	reader->section = section;
	reader->has_section = true;
	return etw_text_error(&reader->header);
}

/* "L2CAP_c141" ends with the number of the line. */
static uint32_t line_of_type(struct tmf_span name)
{
	uint64_t line = 0, scale = 1;
	size_t at = name.bytes;

	while (at > 0 && scale <= 1000000000 && name.at[at - 1] >= '0' && name.at[at - 1] <= '9') {
		line += (uint64_t)(name.at[--at] - '0') * scale;
		scale *= 10;
	}
	/* Before the number stands "_" and the first letter of the file's extension, or just "_". */
	if (at < 2 || (name.at[at - 1] != '_' && name.at[at - 2] != '_') || line > UINT32_MAX)
		return 0;
	return (uint32_t)line;
}

static bool read_number(struct tmf_span word, uint16_t *ret)
{
	uint32_t number = 0;

	if (!word.bytes || word.bytes > 9)
		return false;
	for (size_t i = 0; i < word.bytes; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		number = number * 10 + (uint32_t)(word.at[i] - '0');
	}
	*ret = (uint16_t)number;
	return number <= UINT16_MAX;
}

/* Whether nothing but blanks or a comment follows. */
static bool is_end_or_comment(struct tmf_span span)
{
	span = etw_tmf_trim(span);
	return !span.bytes || begins(span, "//");
}

/* The bytes up to the closing quote: the first that is not escaped and has only a comment behind it. */
static bool find_quote(struct tmf_span line, size_t *ret)
{
	for (size_t i = 0; i < line.bytes; i++) {
		if (line.at[i] == '\\' && i + 1 < line.bytes) {
			i++;
			continue;
		}
		if (line.at[i] == '"' &&
		    is_end_or_comment((struct tmf_span){line.at + i + 1, line.bytes - i - 1})) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* The text without its escapes; what is no escape of C stays. */
static char *unescape(struct etw_arena *arena, struct tmf_span span)
{
	static const char letters[] = "\"\\ntr";
	static const char meanings[] = "\"\\\n\t\r";
	char *copy = etw_tmf_copy(arena, span), *to = copy;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < span.bytes; i++) {
		const char *letter = NULL;

		if (span.at[i] == '\\' && i + 1 < span.bytes)
			letter = memchr(letters, span.at[i + 1], sizeof(letters) - 1);
		*to++ = letter ? meanings[letter - letters] : span.at[i];
		i += letter != NULL;
	}
	*to = '\0';
	return copy;
}

static int fill_message(struct tmf_reader *reader, struct tmf_span name, struct tmf_span text,
			struct tmf_span comment)
{
	struct etw_wpp_message *message = reader->message;

	message->type_name = etw_tmf_copy(reader->arena, name);
	message->line = line_of_type(name);
	message->text = unescape(reader->arena, text);
	if (!message->type_name || !message->text ||
	    !copy_attribute(reader, comment, "LEVEL", &message->level) ||
	    !copy_attribute(reader, comment, "FLAGS", &message->flags) ||
	    !copy_attribute(reader, comment, "FUNC", &message->function))
		return -ENOMEM;
	if (!message->flags && !copy_attribute(reader, comment, "FLAG", &message->flags))
		return -ENOMEM;
	return 0;
}

/* "#typev name number "text" // LEVEL=level FLAGS=flags FUNC=function" */
static int read_message(struct tmf_reader *reader, struct tmf_span line, uint64_t number,
			struct etw_fault *reterr)
{
	struct tmf_span name, text;
	uint16_t message_number;
	size_t bytes;

	if (!reader->has_section)
		return fail(number, "message", "a message stands before the GUID of its section",
			    reterr);
	(void)take_word(&line);
	name = take_word(&line);
	if (!name.bytes)
		return fail(number, "message", "a message has no name", reterr);
	if (!read_number(take_word(&line), &message_number))
		return fail(number, "message", "a message has no number below 65536", reterr);
	line = etw_tmf_trim(line);
	if (!begins(line, "\""))
		return fail(number, "message", "a message's text is not in quotes", reterr);
	text = (struct tmf_span){line.at + 1, line.bytes - 1};
	if (!find_quote(text, &bytes))
		return fail(number, "message", "a message's text has no closing quote", reterr);
	reader->message = etw_arena_alloc(reader->arena, sizeof(*reader->message));
	if (!reader->message)
		return -ENOMEM;
	*reader->message = reader->section;
	reader->message->number = message_number;
	(void)find_comment((struct tmf_span){text.at + bytes, text.bytes - bytes}, &line);
	text.bytes = bytes;
	reader->state = TMF_BEFORE_ARGUMENTS;
	return fill_message(reader, name, text, line);
}

static int grow(void **at, size_t *room, size_t count, size_t item_bytes)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (count < *room)
		return 0;
	grown = reallocarray(*at, more, item_bytes);
	if (!grown)
		return -ENOMEM;
	*at = grown;
	*room = more;
	return 0;
}

static int end_message(struct tmf_reader *reader, uint64_t number, struct etw_fault *reterr)
{
	struct etw_wpp_message *message = reader->message;
	size_t bytes = message->argument_count * sizeof(*message->arguments);

	if (reader->count >= MESSAGES_MAX)
		return fail(number, "message", "there are more messages than the limit", reterr);
	if (bytes) {
		message->arguments = etw_arena_copy(reader->arena, reader->arguments, bytes);
		if (!message->arguments)
			return -ENOMEM;
	}
	TRY(grow((void **)&reader->messages, &reader->room, reader->count,
		 sizeof(struct etw_wpp_message *)));
	reader->messages[reader->count++] = message;
	reader->state = TMF_OUTSIDE;
	return 0;
}

void etw_tmf_reader_drop(struct tmf_reader *reader)
{
	reader->state = TMF_OUTSIDE;
	reader->message = NULL;
	reader->enumeration = NULL;
}

static int read_argument(struct tmf_reader *reader, struct tmf_span line, uint64_t number,
			 struct etw_fault *reterr)
{
	struct etw_wpp_message *message = reader->message;
	struct etw_wpp_argument *argument = &reader->arguments[message->argument_count];
	const char *sentence;
	bool has_no_memory = false;

	if (message->argument_count == ETW_WPP_ARGUMENTS_MAX)
		return fail(number, "argument", "a message has more than 256 arguments", reterr);
	sentence = etw_tmf_argument(reader->arena, line, argument, &has_no_memory);
	if (sentence)
		return fail(number, "argument", sentence, reterr);
	if (has_no_memory)
		return -ENOMEM;
	if (message->argument_count && argument[-1].number >= argument->number)
		return fail(number, "argument", "the numbers of the arguments do not ascend",
			    reterr);
	message->argument_count++;
	return 0;
}

static bool is_known_enum(const void *item, const void *key)
{
	return !strcmp(((const struct tmf_enum *)item)->name, key);
}

static uint64_t hash_name(const char *name)
{
	return etw_hash_bytes(etw_hash_seed(), name, strlen(name));
}

/* "#enumv name" */
static int begin_enum(struct tmf_reader *reader, struct tmf_span line, uint64_t number,
		      struct etw_fault *reterr)
{
	(void)take_word(&line);
	line = etw_tmf_trim(line);
	if (!line.bytes)
		return fail(number, "enumeration", "an enumeration has no name", reterr);
	reader->enumeration = etw_arena_alloc(reader->arena, sizeof(*reader->enumeration));
	if (!reader->enumeration)
		return -ENOMEM;
	reader->enumeration->name = etw_tmf_copy(reader->arena, line);
	reader->enumeration->map.name = reader->enumeration->name;
	reader->entry_count = 0;
	reader->state = TMF_BEFORE_ENUM;
	return reader->enumeration->name ? 0 : -ENOMEM;
}

/* A number as enumerators have it: "0x1F" or decimal, negative ones too; 32 bits of it count. */
static bool read_value(struct tmf_span span, uint32_t *ret)
{
	char digits[32], *end;
	bool is_hex = begins(span, "0x") || begins(span, "0X");

	if (!span.bytes || span.bytes >= sizeof(digits) || is_blank(*span.at))
		return false;
	memcpy(digits, span.at, span.bytes);
	digits[span.bytes] = '\0';
	*ret = (uint32_t)strtoull(digits, &end, is_hex ? 16 : 10);
	return !*end;
}

/* "NAME,0x1F" */
static int read_enumerator(struct tmf_reader *reader, struct tmf_span line, uint64_t number,
			   struct etw_fault *reterr)
{
	struct etw_map_entry *entry;
	const char *comma = NULL;
	struct tmf_span name = line;

	for (size_t i = 0; i < line.bytes; i++) {
		if (line.at[i] == ',')
			comma = line.at + i;
	}
	if (reader->entry_count == ETW_SCHEMA_MAP_ENTRIES_MAX)
		return fail(number, "enumeration", "an enumeration has more than 65536 names",
			    reterr);
	TRY(grow((void **)&reader->entries, &reader->entry_room, reader->entry_count,
		 sizeof(*reader->entries)));
	entry = &reader->entries[reader->entry_count];
	name.bytes = comma ? (size_t)(comma - line.at) : 0;
	if (!comma ||
	    !read_value(etw_tmf_trim((struct tmf_span){comma + 1, line.bytes - name.bytes - 1}),
			&entry->value))
		return fail(number, "enumeration", "a name has no comma and number behind it",
			    reterr);
	entry->text = etw_tmf_copy(reader->arena, etw_tmf_trim(name));
	reader->entry_count++;
	return entry->text ? 0 : -ENOMEM;
}

static int end_enum(struct tmf_reader *reader)
{
	struct tmf_enum *enumeration = reader->enumeration;
	uint64_t hash = hash_name(enumeration->name);

	enumeration->map.flags = EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP;
	enumeration->map.count = (uint32_t)reader->entry_count;
	enumeration->map.entries = etw_arena_copy(reader->arena, reader->entries,
						  reader->entry_count * sizeof(*reader->entries));
	reader->state = TMF_OUTSIDE;
	if (reader->entry_count && !enumeration->map.entries)
		return -ENOMEM;
	/* Sections repeat the tables they use. */
	if (etw_table_find(&reader->enums, hash, is_known_enum, enumeration->name))
		return 0;
	return etw_table_insert(&reader->enums, hash, enumeration);
}

static int read_outside(struct tmf_reader *reader, struct tmf_span line, uint64_t number,
			struct etw_fault *reterr)
{
	struct tmf_span rest = line, word = take_word(&rest);
	GUID guid;

	/* "#typev" and the older "#type" differ in what Windows makes of the values, not in their lines. */
	if (word.bytes >= 5 && begins(word, "#type"))
		return read_message(reader, line, number, reterr);
	if (word.bytes >= 5 && begins(word, "#enum"))
		return begin_enum(reader, line, number, reterr);
	if (read_guid(word, &guid))
		return read_section(reader, line, &guid);
	return fail(number, NULL, "the line is no section, no message and no comment", reterr);
}

int etw_tmf_reader_line(struct tmf_reader *reader, const char *at, size_t bytes, uint64_t number,
			struct etw_fault *reterr)
{
	struct tmf_span line = etw_tmf_trim((struct tmf_span){at, bytes});
	bool is_open = line.bytes == 1 && *line.at == '{';
	bool is_close = line.bytes == 1 && *line.at == '}';

	if (memchr(at, '\0', bytes))
		return fail(number, NULL, "the line holds a NUL character", reterr);
	if (!line.bytes)
		return 0;
	switch (reader->state) {
	case TMF_OUTSIDE:
		return begins(line, "//") ? 0 : read_outside(reader, line, number, reterr);
	case TMF_BEFORE_ARGUMENTS:
	case TMF_BEFORE_ENUM:
		if (!is_open)
			return fail(number, NULL, "an opening brace is missing", reterr);
		reader->state = reader->state == TMF_BEFORE_ENUM ? TMF_ENUM : TMF_ARGUMENTS;
		return 0;
	case TMF_ARGUMENTS:
		return is_close ? end_message(reader, number, reterr)
				: read_argument(reader, line, number, reterr);
	case TMF_ENUM:
		return is_close ? end_enum(reader) : read_enumerator(reader, line, number, reterr);
	}
	return 0;
}

/* Enumerators may stand behind the messages that use them. */
static int resolve_enums(struct tmf_reader *reader, struct etw_wpp_message *message)
{
	/* Made by this reader, and not handed out yet. */
	struct etw_wpp_argument *arguments = (struct etw_wpp_argument *)message->arguments;

	for (size_t i = 0; i < message->argument_count; i++) {
		struct etw_wpp_argument *argument = &arguments[i];
		const struct tmf_enum *known;
		struct etw_map *map;

		if ((argument->item != ETW_WPP_ENUM && argument->item != ETW_WPP_FLAGS_ENUM) ||
		    !argument->list)
			continue;
		known = etw_table_find(&reader->enums, hash_name(argument->list), is_known_enum,
				       argument->list);
		if (!known)
			continue;
		map = etw_arena_copy(reader->arena, &known->map, sizeof(known->map));
		if (!map)
			return -ENOMEM;
		if (argument->item == ETW_WPP_FLAGS_ENUM)
			map->flags = EVENTMAP_INFO_FLAG_MANIFEST_BITMAP;
		argument->names = map;
	}
	return 0;
}

int etw_tmf_reader_end(struct tmf_reader *reader, uint64_t number, struct etw_wpp_messages *ret,
		       struct etw_fault *reterr)
{
	struct etw_wpp_message **messages;

	if (reader->state != TMF_OUTSIDE)
		return fail(number, NULL, "the file ends within a message or enumeration", reterr);
	for (size_t i = 0; i < reader->count; i++)
		TRY(resolve_enums(reader, reader->messages[i]));
	messages = etw_arena_copy(reader->arena, reader->messages,
				  reader->count * sizeof(struct etw_wpp_message *));
	if (reader->count && !messages)
		return -ENOMEM;
	*ret = (struct etw_wpp_messages){reader->count, messages};
	return 0;
}
