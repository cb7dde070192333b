/* SPDX-License-Identifier: MIT */
/* Members of JSON objects that are written by hand; each puts a comma before itself. */
#ifndef ETW_TOOLS_ETW_JSON_MEMBERS_H
#define ETW_TOOLS_ETW_JSON_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* json_value() - a string. A path may have bytes that are no UTF-8, and JSON must not. */
void json_value(struct etw_text *text, const char *value);

/* json_string() - ,"key":"value"; nothing for NULL. */
void json_string(struct etw_text *text, const char *key, const char *value);

/* json_text() - the same of UTF-8; nothing for NULL and "". */
void json_text(struct etw_text *text, const char *key, const char *value);

/* json_number() - ,"key":7. */
void json_number(struct etw_text *text, const char *key, uint64_t value);

/* json_time() - ,"key":"2011-01-23T22:06:37.4768585Z"; nothing where there is no time. */
void json_time(struct etw_text *text, const char *key, int64_t time_ft);

#endif
