/* SPDX-License-Identifier: MIT */
/*
 * A growing UTF-8 text. Appending never fails at the call: when memory runs out the text remembers
 * it, later appends do nothing, and etw_text_error() tells once, at the end.
 */
#ifndef ETW_BASE_TEXT_H
#define ETW_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

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

/* etw_text_append() - appends @bytes bytes, which must be UTF-8 already. */
void etw_text_append(struct etw_text *text, const char *at, size_t bytes);

/* etw_text_puts() - appends a NUL-terminated string. */
void etw_text_puts(struct etw_text *text, const char *string);

/* etw_text_putc() - appends one ASCII character. */
void etw_text_putc(struct etw_text *text, char c);

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

/* etw_text_string() - the contents as a C string, "" when empty; borrowed until the next append. */
const char *etw_text_string(const struct etw_text *text);

/* etw_text_error() - 0, or -ENOMEM when an append was lost. */
static inline int etw_text_error(const struct etw_text *text)
{
	return text->error;
}

#endif
