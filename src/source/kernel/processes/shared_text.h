/* SPDX-License-Identifier: MIT */
/*
 * Texts that many processes share: a fork has its parent's command line, and everybody maps the C
 * library. Counted references; never changed once made.
 */
#ifndef ETW_SOURCE_KERNEL_PROCESSES_SHARED_TEXT_H
#define ETW_SOURCE_KERNEL_PROCESSES_SHARED_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct etw_kernel_text {
	uint32_t refs;
	uint32_t byte_count; /* with the NUL, of 1 or 2 bytes */
	uint8_t at[];
};

/* etw_kernel_text_new() - a text of @bytes bytes and a NUL behind them. Returns owned, or NULL. */
struct etw_kernel_text *etw_kernel_text_new(const char *at, size_t bytes);

/* etw_kernel_text_new_wide() - the same as UTF-16LE; malformed bytes become U+FFFD. */
struct etw_kernel_text *etw_kernel_text_new_wide(const char *text);

/* etw_kernel_text_ref() - one more owner; takes and returns NULL. */
struct etw_kernel_text *etw_kernel_text_ref(struct etw_kernel_text *text);

/* etw_kernel_text_unref() - one owner less; takes NULL. */
void etw_kernel_text_unref(struct etw_kernel_text *text);

/* etw_kernel_text_string() - a text that was made by etw_kernel_text_new(); "" for NULL. */
static inline const char *etw_kernel_text_string(const struct etw_kernel_text *text)
{
	return text ? (const char *)text->at : "";
}

#endif
