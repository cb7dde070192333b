/* SPDX-License-Identifier: MIT */
#include "compile/message_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf.h"

#define STRUCTURE    "message table"
#define BLOCK_BYTES  12u /* first number, last number, offset of the first entry */
#define HEAD_BYTES   4u  /* of an entry: its size, its flags */
#define FLAG_UNICODE 1u
#define FLAG_UTF8    2u
#define ENTRY_MAX    ((size_t)UINT16_MAX & ~(size_t)3)
#define TABLE_MAX    ((size_t)64 << 20)

struct table {
	size_t culture;
	bool is_line_kept;
	enum etw_compile_encoding encoding;
};

static void put32(struct etw_text *out, size_t value)
{
	le32 raw = le32_of((uint32_t)value);

	etw_text_append(out, (const char *)&raw, sizeof(raw));
}

static int compare_messages(const void *left, const void *right)
{
	uint32_t a = (*(const struct mc_message *const *)left)->id;
	uint32_t b = (*(const struct mc_message *const *)right)->id;

	return (a > b) - (a < b);
}

/* The messages that something refers to, by their number. @ret is owned by the caller. */
static int sort_messages(const struct mc_manifest *manifest, const struct mc_message ***ret,
			 size_t *ret_count)
{
	const struct mc_message **messages;
	size_t count = 0;

	for (const struct mc_message *message = manifest->messages; message;
	     message = message->next)
		count++;
	messages = calloc(count + 1, sizeof(void *));
	if (!messages)
		return -ENOMEM;
	count = 0;
	for (const struct mc_message *message = manifest->messages; message;
	     message = message->next) {
		if (message->id != MC_NO_MESSAGE)
			messages[count++] = message;
	}
	qsort(messages, count, sizeof(void *), compare_messages);
	*ret = messages;
	*ret_count = count;
	return 0;
}

static bool is_next(const struct mc_message *const *messages, size_t i)
{
	return i > 0 && messages[i]->id - messages[i - 1]->id <= 1;
}

/* A number for each run of messages whose numbers follow each other; offsets come later. */
static void put_blocks(const struct mc_message *const *messages, size_t count, struct etw_text *out)
{
	size_t blocks = 0;
	size_t last;

	for (size_t i = 0; i < count; i++)
		blocks += !is_next(messages, i);
	put32(out, blocks);
	for (size_t i = 0; i < count; i = last + 1) {
		for (last = i; last + 1 < count && is_next(messages, last + 1); last++)
			;
		put32(out, messages[i]->id);
		put32(out, messages[last]->id);
		put32(out, 0);
	}
}

static const char *text_of(const struct mc_message *message, size_t culture)
{
	const char *text = message->texts[culture];

	if (!text)
		text = message->texts[0];
	return text ? text : "";
}

/* The size of a text in its encoding, with its NUL. */
static size_t stored_bytes(const char *text, enum etw_compile_encoding encoding)
{
	return encoding == COMPILE_UTF16 ? 2 * etw_utf8_put_utf16(text, strlen(text), NULL) + 2
					 : strlen(text) + 1;
}

static void store(uint8_t *to, const char *text, enum etw_compile_encoding encoding)
{
	if (encoding == COMPILE_UTF16)
		(void)etw_utf8_put_utf16(text, strlen(text), to);
	else
		memcpy(to, text, strlen(text));
}

static int put_entry(const struct mc_message *message, const struct table *table,
		     struct etw_text *out, struct etw_fault *reterr)
{
	static const uint16_t flags[] = {
		[COMPILE_UTF16] = FLAG_UNICODE, [COMPILE_ANSI] = 0, [COMPILE_UTF8] = FLAG_UTF8};
	const char *text = text_of(message, table->culture);
	size_t text_bytes = stored_bytes(text, table->encoding);
	size_t line_bytes = table->is_line_kept ? stored_bytes("\r\n", table->encoding) -
							  stored_bytes("", table->encoding)
						: 0;
	size_t bytes = (HEAD_BYTES + text_bytes + line_bytes + 3) & ~(size_t)3;
	uint8_t *to;

	if (bytes > ENTRY_MAX || out->bytes + bytes > TABLE_MAX)
		return etw_fault_set(
			reterr, -EFBIG, message->element ? message->element->line : 1, STRUCTURE,
			NULL,
			bytes > ENTRY_MAX ? "a message is longer than the 32761 characters that an "
					    "entry of a message table can hold"
					  : "the message table would be larger than 64 MiB");
	to = (uint8_t *)etw_text_begin(out, bytes);
	if (!to)
		return -ENOMEM;
	memset(to, 0, bytes);
	etw_store16(to, (uint16_t)bytes);
	etw_store16(to + 2, flags[table->encoding]);
	store(to + HEAD_BYTES, text, table->encoding);
	if (line_bytes)
		store(to + HEAD_BYTES + text_bytes - stored_bytes("", table->encoding), "\r\n",
		      table->encoding);
	etw_text_end(out, (char *)to + bytes);
	return 0;
}

int etw_compile_message_table(const struct mc_manifest *manifest, const struct mc_culture *culture,
			      bool is_line_kept, struct etw_text *out, struct etw_fault *reterr)
{
	return etw_compile_message_table_as(manifest, culture, is_line_kept, COMPILE_UTF16, out,
					    reterr);
}

int etw_compile_message_table_as(const struct mc_manifest *manifest,
				 const struct mc_culture *culture, bool is_line_kept,
				 enum etw_compile_encoding encoding, struct etw_text *out,
				 struct etw_fault *reterr)
{
	const struct table table = {culture ? culture->index : 0, is_line_kept, encoding};
	const struct mc_message **messages;
	size_t count;
	size_t block = sizeof(le32);
	int r = sort_messages(manifest, &messages, &count);

	if (r < 0)
		return r;
	put_blocks(messages, count, out);
	for (size_t i = 0; r == 0 && etw_text_error(out) == 0 && i < count; i++) {
		if (!is_next(messages, i)) {
			etw_store32((uint8_t *)out->at + block + 8, (uint32_t)out->bytes);
			block += BLOCK_BYTES;
		}
		/* Several names of one number are one message. */
		if (i == 0 || messages[i]->id != messages[i - 1]->id)
			r = put_entry(messages[i], &table, out, reterr);
	}
	free(messages);
	return r < 0 ? r : etw_text_error(out);
}
