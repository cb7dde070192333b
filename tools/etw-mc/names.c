/* SPDX-License-Identifier: MIT */
#include "tools/etw-mc/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf.h"

#define UTF8_MARK "\xef\xbb\xbf"

char *mc_base_name(const struct mc_options *options, const char *path)
{
	const char *name = path + strlen(path);
	const char *dot;

	if (options->base)
		return strdup(options->base);
	while (name > path && name[-1] != '/')
		name--;
	dot = strrchr(name, '.');
	return strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static void put_before(struct etw_text *text, const char *mark, size_t bytes)
{
	struct etw_text marked = {0};

	etw_text_append(&marked, mark, bytes);
	etw_text_append(&marked, etw_text_string(text), text->bytes);
	etw_text_done(text);
	*text = marked;
}

static void to_utf16(struct etw_text *text)
{
	struct etw_text wide = {0};
	size_t units = etw_utf8_put_utf16(etw_text_string(text), text->bytes, NULL);
	char *to;

	etw_text_append(&wide, "\xff\xfe", 2);
	to = etw_text_begin(&wide, 2 * units);
	if (to) {
		(void)etw_utf8_put_utf16(etw_text_string(text), text->bytes, (uint8_t *)to);
		etw_text_end(&wide, to + 2 * units);
	}
	etw_text_done(text);
	*text = wide;
}

void mc_encode(enum mc_encoding encoding, struct etw_text *text)
{
	if (etw_text_error(text) < 0)
		return;
	if (encoding == MC_ENCODING_UTF8)
		put_before(text, UTF8_MARK, sizeof(UTF8_MARK) - 1);
	else if (encoding == MC_ENCODING_UTF16)
		to_utf16(text);
}

enum mc_encoding mc_script_encoding(enum mc_encoding encoding)
{
	return encoding == MC_ENCODING_UTF8 ? MC_ENCODING_UTF16 : encoding;
}
