/* SPDX-License-Identifier: MIT */
/*
 * A growing UTF-8 text. Appending never fails at the call: when memory runs out the text remembers
 * it, later appends do nothing, and etw_text_error() tells once, at the end.
 */
#ifndef ETW_BASE_TEXT_H
#define ETW_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/macros.h"

struct etw_text {
	char *at;     /* owned; NUL-terminated once anything was appended */
	size_t bytes; /* without the NUL */
	size_t room;
	int error; /* 0 or -ENOMEM */
};

/* etw_text_init() - an empty text; owns nothing yet. */
static inline void etw_text_init(struct etw_text *text)
{
	*text = (struct etw_text){0};
}

/* etw_text_done() - frees the contents; takes NULL. The text is empty again. */
void etw_text_done(struct etw_text *text);

/* etw_text_clear() - empties the text and keeps its memory for reuse; forgets an error. */
void etw_text_clear(struct etw_text *text);

/* etw_text_reserve() - makes room for @bytes more; returns 0 or -ENOMEM (also remembered). */
int etw_text_reserve(struct etw_text *text, size_t bytes);

/*
 * etw_text_begin() - where the next @bytes bytes and a NUL may be written, for writers of hot paths.
 *
 * Returns NULL when memory ran out (remembered). Write, then call etw_text_end().
 */
static inline char *etw_text_begin(struct etw_text *text, size_t bytes)
{
	if (UNLIKELY(text->error || bytes >= text->room - text->bytes) &&
	    etw_text_reserve(text, bytes))
		return NULL;
	return text->at + text->bytes;
}

/* etw_text_end() - the text now reaches to @end, exclusive; terminates it. */
static inline void etw_text_end(struct etw_text *text, char *end)
{
	text->bytes = (size_t)(end - text->at);
	*end = '\0';
}

/* etw_text_append() - appends @bytes bytes, which must be UTF-8 already. */
static inline void etw_text_append(struct etw_text *text, const char *at, size_t bytes)
{
	char *to = etw_text_begin(text, bytes);

	if (!to)
		return;
	if (bytes)
		memcpy(to, at, bytes);
	etw_text_end(text, to + bytes);
}

/* etw_text_puts() - appends a NUL-terminated string. */
static inline void etw_text_puts(struct etw_text *text, const char *string)
{
	etw_text_append(text, string, strlen(string));
}

/* etw_text_putc() - appends one ASCII character. */
static inline void etw_text_putc(struct etw_text *text, char c)
{
	char *to = etw_text_begin(text, 1);

	if (!to)
		return;
	*to = c;
	etw_text_end(text, to + 1);
}

/* etw_text_printf() - appends formatted text. */
void etw_text_printf(struct etw_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* etw_text_unsigned() / _signed() / _hex() - number forms of hot output paths; hex has no prefix. */
void etw_text_unsigned(struct etw_text *text, uint64_t value);
void etw_text_signed(struct etw_text *text, int64_t value);
void etw_text_hex(struct etw_text *text, uint64_t value);

/*
 * etw_text_utf16() - appends UTF-16LE as UTF-8; lone surrogates become U+FFFD.
 *
 * @at:    @units code units, 2 bytes each, any alignment
 */
void etw_text_utf16(struct etw_text *text, const uint8_t *at, size_t units);

/* etw_text_ansi() - appends bytes of an unknown ANSI code page: UTF-8 where valid, else Windows-1252. */
void etw_text_ansi(struct etw_text *text, const uint8_t *at, size_t bytes);

/* etw_text_json_string() - appends @bytes of UTF-8 as a quoted JSON string. */
void etw_text_json_string(struct etw_text *text, const char *at, size_t bytes);

/* etw_text_json_escape() - what was appended from @start on becomes what a JSON string holds of it, without quotes. */
void etw_text_json_escape(struct etw_text *text, size_t start);

/* etw_text_json_utf16() / _ansi() - the same from UTF-16LE and from an unknown ANSI code page. */
void etw_text_json_utf16(struct etw_text *text, const uint8_t *at, size_t units);
void etw_text_json_ansi(struct etw_text *text, const uint8_t *at, size_t bytes);

/* etw_text_string() - the contents as a C string, "" when empty; borrowed until the next append. */
const char *etw_text_string(const struct etw_text *text);

/* etw_text_error() - 0, or -ENOMEM when an append was lost. */
static inline int etw_text_error(const struct etw_text *text)
{
	return text->error;
}

#endif
