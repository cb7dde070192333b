/* SPDX-License-Identifier: MIT */
/* What formats show of a WPP message beside its fields: the formatted message and where it was written. */
#include "schema/wpp/wpp.h"
#include "decode/format_wpp.h"
#include "export/export_internal.h"

static const struct etw_wpp_options options = {.bytes_max = ETW_EXPORT_MESSAGE_BYTES_MAX};

void etw_export_wpp_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	(void)etw_format_wpp(decoding, &options, text);
}

static void put_json_string(const char *key, const char *value, struct etw_text *text)
{
	if (!value)
		return;
	etw_text_puts(text, key);
	etw_text_json_string(text, value, strlen(value));
}

void etw_export_wpp_json_message(const struct etw_decoding *decoding, struct etw_text *text)
{
	size_t start;

	etw_text_puts(text, ",\"message\":\"");
	start = text->bytes;
	etw_export_wpp_message(decoding, text);
	etw_text_json_escape(text, start);
	etw_text_putc(text, '"');
}

void etw_export_wpp_json_place(const struct etw_wpp_message *message, struct etw_text *text)
{
	put_json_string(",\"function\":", message->function, text);
	put_json_string(",\"level_name\":", message->level, text);
	put_json_string(",\"source_file\":", message->source_file, text);
	if (message->line) {
		etw_text_puts(text, ",\"source_line\":");
		etw_text_unsigned(text, message->line);
	}
	put_json_string(",\"component\":", message->component, text);
	put_json_string(",\"subcomponent\":", message->subcomponent, text);
}

static void put_word(const char *key, const char *value, struct etw_text *text)
{
	if (!value)
		return;
	etw_text_putc(text, ' ');
	etw_text_puts(text, key);
	etw_text_putc(text, '=');
	etw_text_puts(text, value);
}

void etw_export_wpp_text(const struct etw_decoding *decoding, struct etw_text *text)
{
	const struct etw_wpp_message *message = decoding->schema->wpp;
	size_t start = text->bytes;

	put_word("function", message->function, text);
	put_word("level", message->level, text);
	put_word("flags", message->flags, text);
	put_word("source", message->source_file, text);
	if (message->source_file && message->line) {
		etw_text_putc(text, ':');
		etw_text_unsigned(text, message->line);
	}
	(void)etw_export_clean(text, start);
}
