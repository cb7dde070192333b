/* SPDX-License-Identifier: MIT */
/*
 * What is made of a message text file. The header has the layout of Microsoft's as far as it is documented; numbers
 * have no suffix L, which would make them 64 bits wide where long is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "compile/text.h"

#define PRIMARY_BITS       10
#define TYPE_MESSAGE_TABLE 11

static bool has_symbols(const struct mc_text_name *names)
{
	while (names && !names->symbol)
		names = names->next;
	return names != NULL;
}

static void put_names(const struct mc_text_name *names, const char *what, bool is_decimal,
		      struct etw_text *out)
{
	if (!has_symbols(names))
		return;
	etw_text_printf(out, "//\n// Define the %s codes\n//\n", what);
	for (; names; names = names->next) {
		if (names->symbol)
			etw_text_printf(out,
					is_decimal ? "#define %-32s %u\n" : "#define %-32s 0x%X\n",
					names->symbol, names->number);
	}
	etw_text_puts(out, "\n\n");
}

static const char *first_text(const struct mc_text_file *file,
			      const struct mc_text_message *message)
{
	for (size_t i = 0; i < file->language_count; i++) {
		if (message->texts[i])
			return message->texts[i];
	}
	return "";
}

/* As comments of one line each: a backslash at the end of one would take in the next. */
static void put_comment(const char *text, struct etw_text *out)
{
	while (*text) {
		size_t bytes = strcspn(text, "\r\n");
		bool is_continued = bytes && text[bytes - 1] == '\\';

		etw_text_puts(out, bytes ? "//  " : "//");
		etw_text_append(out, text, bytes);
		etw_text_puts(out, is_continued ? ".\n" : "\n");
		text += bytes;
		text += *text == '\r';
		text += *text == '\n';
	}
}

static void put_message(const struct mc_text_file *file, const struct mc_text_message *message,
			struct etw_text *out)
{
	if (!message->symbol)
		return;
	etw_text_printf(out, "//\n// MessageId: %s\n//\n// MessageText:\n//\n", message->symbol);
	put_comment(first_text(file, message), out);
	etw_text_printf(out, "//\n#define %-32s ", message->symbol);
	if (message->type)
		etw_text_printf(out, "((%s)", message->type);
	etw_text_printf(out, message->base == 10 ? "%u" : "0x%08X", message->id);
	etw_text_puts(out, message->type ? ")\n\n" : "\n\n");
}

int etw_compile_text_header(const struct mc_text_file *file,
			    const struct etw_compile_text_options *options, struct etw_text *out)
{
	const struct mc_text_item *names = NULL;

	for (const struct mc_text_item *item = file->items; item; item = item->next) {
		if (!item->message && !item->line)
			names = item;
	}
	for (const struct mc_text_item *item = file->items; item; item = item->next) {
		if (item == names) {
			put_names(file->facilities, "facility", options->is_decimal, out);
			put_names(file->severities, "severity", options->is_decimal, out);
		}
		if (item->message)
			put_message(file, item->message, out);
		else if (item->line)
			etw_text_printf(out, "%s\n", item->line);
	}
	return etw_text_error(out);
}

int etw_compile_text_debug(const struct mc_text_file *file, const char *base, struct etw_text *out)
{
	etw_text_puts(out,
		      "//\n// This file maps message ids to the names of their symbols\n//\n"
		      "struct {\n    unsigned int MessageId;\n    const char *SymbolicName;\n} ");
	for (const char *at = base; *at; at++)
		etw_text_putc(out, strchr("-. ", *at) ? '_' : *at);
	etw_text_puts(out, "SymbolicNames[] = {\n");
	for (const struct mc_text_item *item = file->items; item; item = item->next) {
		if (item->message && item->message->symbol)
			etw_text_printf(out, "    {0x%08X, \"%s\"},\n", item->message->id,
					item->message->symbol);
	}
	etw_text_puts(out, "    {0xFFFFFFFF, 0}\n};\n");
	return etw_text_error(out);
}

/* The messages of one language as those of a manifest with one culture. */
static int as_manifest(const struct mc_text_file *file, size_t language, struct mc_manifest *ret)
{
	for (const struct mc_text_item *item = file->items; item; item = item->next) {
		struct mc_message *message;

		if (!item->message || !item->message->texts[language])
			continue;
		message = etw_arena_alloc(&ret->arena, sizeof(*message));
		if (!message)
			return -ENOMEM;
		message->id = item->message->id;
		message->texts = &item->message->texts[language];
		if (ret->last_message)
			ret->last_message->next = message;
		else
			ret->messages = message;
		ret->last_message = message;
	}
	return 0;
}

int etw_compile_text_table(const struct mc_text_file *file, const struct mc_text_name *language,
			   bool is_line_kept, enum etw_compile_encoding encoding,
			   struct etw_text *out, struct etw_fault *reterr)
{
	struct mc_manifest manifest = {0};
	int r;

	etw_arena_init(&manifest.arena);
	r = as_manifest(file, language->index, &manifest);
	if (r == 0)
		r = etw_compile_message_table_as(&manifest, NULL, is_line_kept, encoding, out,
						 reterr);
	etw_arena_done(&manifest.arena);
	return r;
}

int etw_compile_text_rc(const struct mc_text_file *file, const char *base, struct etw_text *out)
{
	for (const struct mc_text_name *at = file->languages; at; at = at->next)
		etw_text_printf(out, "LANGUAGE 0x%x,0x%x\n1 %d \"%s%s%s.bin\"\n",
				at->number & ((1u << PRIMARY_BITS) - 1), at->number >> PRIMARY_BITS,
				TYPE_MESSAGE_TABLE, base ? base : "", base ? "_" : "", at->symbol);
	return etw_text_error(out);
}
