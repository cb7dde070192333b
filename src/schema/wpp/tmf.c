/* SPDX-License-Identifier: MIT */
/* TMF files: their encoding and lines on the way in (tmf_reader.c reads the lines), the same text on the way out. */
#include "schema/wpp/tmf.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/wpp/tmf_internal.h"

static int read_lines(struct tmf_reader *reader, const struct etw_text *text,
		      struct etw_wpp_messages *ret, struct etw_fault *reterr)
{
	const char *at = text->at, *end = text->at + text->bytes;
	uint64_t number = 0;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end)
			line_end = end;
		number++;
		TRY(etw_tmf_reader_line(reader, at, (size_t)(line_end - at), number, reterr));
		at = line_end + 1;
	}
	if (!reader->has_section)
		return etw_fault_set(reterr, -EBADMSG, number ? number : 1, "TMF file", NULL,
				     "there is no section in the file");
	return etw_tmf_reader_end(reader, number, ret, reterr);
}

/* As UTF-8, whatever it was. */
static int convert(const char *from, size_t bytes, struct etw_text *text)
{
	const uint8_t *at = (const uint8_t *)from;

	if (bytes >= 2 && at[0] == 0xFF && at[1] == 0xFE)
		etw_text_utf16(text, at + 2, (bytes - 2) / 2);
	else if (bytes >= 3 && at[0] == 0xEF && at[1] == 0xBB && at[2] == 0xBF)
		etw_text_ansi(text, at + 3, bytes - 3);
	else
		etw_text_ansi(text, at, bytes);
	return etw_text_error(text);
}

int etw_tmf_parse(struct etw_arena *arena, const char *text, size_t bytes,
		  struct etw_wpp_messages *ret, struct etw_fault *reterr)
{
	CLEANUP(etw_text_done) struct etw_text utf8 = {0};
	CLEANUP(etw_tmf_reader_done) struct tmf_reader reader = {0};
	struct etw_arena_mark mark = etw_arena_mark(arena);
	int r;

	TRY(convert(text, bytes, &utf8));
	TRY(etw_tmf_reader_init(&reader, arena));
	r = read_lines(&reader, &utf8, ret, reterr);
	if (r < 0)
		etw_arena_release(arena, mark);
	return r;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static bool is_same_text(const char *left, const char *right)
{
	return !strcmp(or_empty(left), or_empty(right));
}

static bool is_same_section(const struct etw_wpp_message *left, const struct etw_wpp_message *right)
{
	return etw_guid_equal(&left->guid, &right->guid) &&
	       is_same_text(left->module, right->module) &&
	       is_same_text(left->source_file, right->source_file) &&
	       is_same_text(left->component, right->component) &&
	       is_same_text(left->subcomponent, right->subcomponent);
}

static void write_section(const struct etw_wpp_message *message, struct etw_text *text)
{
	char guid[ETW_GUID_BARE_BYTES];

	etw_guid_format(&message->guid, guid);
	etw_text_printf(text, "%s %s // SRC=%s MJ=%s MN=%s\n", guid, or_empty(message->module),
			or_empty(message->source_file), or_empty(message->component),
			or_empty(message->subcomponent));
}

static void write_quoted(const char *at, struct etw_text *text)
{
	etw_text_putc(text, '"');
	for (; *at; at++) {
		if (*at == '"' || *at == '\\')
			etw_text_putc(text, '\\');
		if (*at == '\n')
			etw_text_puts(text, "\\n");
		else if (*at == '\t')
			etw_text_puts(text, "\\t");
		else if (*at == '\r')
			etw_text_puts(text, "\\r");
		else
			etw_text_putc(text, *at);
	}
	etw_text_putc(text, '"');
}

static void write_message(const struct etw_wpp_message *message, struct etw_text *text)
{
	etw_text_printf(text, "#typev %s %u ", message->type_name, message->number);
	write_quoted(message->text, text);
	etw_text_puts(text, " //  ");
	if (message->level)
		etw_text_printf(text, " LEVEL=%s", message->level);
	if (message->flags)
		etw_text_printf(text, " FLAGS=%s", message->flags);
	if (message->function)
		etw_text_printf(text, " FUNC=%s", message->function);
	etw_text_puts(text, "\n{\n");
	for (size_t i = 0; i < message->argument_count; i++) {
		const struct etw_wpp_argument *argument = &message->arguments[i];

		etw_text_printf(text, "%s, %s", argument->expression, argument->item_name);
		if (argument->list)
			etw_text_printf(text, "(%s)", argument->list);
		etw_text_printf(text, " -- %u\n", argument->number);
	}
	etw_text_puts(text, "}\n");
}

static bool is_same_name(const void *item, const void *key)
{
	return !strcmp(((const struct etw_map *)item)->name, key);
}

/* Each enumeration once, behind the first message that uses it. */
static void write_enums(const struct etw_wpp_message *message, struct etw_table *written,
			struct etw_text *text)
{
	for (size_t i = 0; i < message->argument_count; i++) {
		const struct etw_map *map = message->arguments[i].names;
		uint64_t hash;

		if (!map || !map->name)
			continue;
		hash = etw_hash_bytes(etw_hash_seed(), map->name, strlen(map->name));
		if (etw_table_find(written, hash, is_same_name, map->name))
			continue;
		if (etw_table_insert(written, hash, (void *)map) < 0)
			text->error = -ENOMEM;
		etw_text_printf(text, "#enumv %s\n{\n", map->name);
		for (uint32_t k = 0; k < map->count; k++)
			etw_text_printf(text, "%s,0x%X\n", map->entries[k].text,
					map->entries[k].value);
		etw_text_puts(text, "}\n");
	}
}

void etw_tmf_write(const struct etw_wpp_messages *messages, struct etw_text *text)
{
	CLEANUP(etw_table_done) struct etw_table written = {0};

	for (size_t i = 0; i < messages->count; i++) {
		const struct etw_wpp_message *message = messages->at[i];

		if (!i || !is_same_section(message, messages->at[i - 1]))
			write_section(message, text);
		write_message(message, text);
		write_enums(message, &written, text);
	}
}
