/* SPDX-License-Identifier: MIT */
/* Counted texts. See shared_text.h. */
#include "source/kernel/processes/shared_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf.h"

static struct etw_kernel_text *make(const void *at, size_t bytes, size_t nul_bytes)
{
	struct etw_kernel_text *text;

	if (bytes > UINT32_MAX - nul_bytes)
		return NULL;
	text = calloc(1, sizeof(*text) + bytes + nul_bytes);
	if (!text)
		return NULL;
	text->refs = 1;
	text->byte_count = (uint32_t)(bytes + nul_bytes);
	if (bytes)
		memcpy(text->at, at, bytes);
	return text;
}

struct etw_kernel_text *etw_kernel_text_new(const char *at, size_t bytes)
{
	return make(at, bytes, 1);
}

struct etw_kernel_text *etw_kernel_text_new_wide(const char *text)
{
	size_t units;
	CLEANUP(freep) uint8_t *wide = etw_utf8_to_utf16(text, &units);

	return wide ? make(wide, units * 2, 2) : NULL;
}

struct etw_kernel_text *etw_kernel_text_ref(struct etw_kernel_text *text)
{
	if (text)
		text->refs++;
	return text;
}

void etw_kernel_text_unref(struct etw_kernel_text *text)
{
	if (text && !--text->refs)
		free(text);
}
