/* SPDX-License-Identifier: MIT */
#include "tools/etw/json_members.h"

#include <inttypes.h>
#include <string.h>

#include "decode/format.h"

void json_value(struct etw_text *text, const char *value)
{
	etw_text_json_ansi(text, (const uint8_t *)value, strlen(value));
}

void json_string(struct etw_text *text, const char *key, const char *value)
{
	if (!value)
		return;
	etw_text_printf(text, ",\"%s\":", key);
	json_value(text, value);
}

void json_text(struct etw_text *text, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	etw_text_printf(text, ",\"%s\":", key);
	etw_text_json_string(text, value, strlen(value));
}

void json_number(struct etw_text *text, const char *key, uint64_t value)
{
	etw_text_printf(text, ",\"%s\":%" PRIu64, key, value);
}

void json_time(struct etw_text *text, const char *key, int64_t time_ft)
{
	if (!time_ft)
		return;
	etw_text_printf(text, ",\"%s\":\"", key);
	etw_format_filetime(time_ft, text);
	etw_text_putc(text, '"');
}
