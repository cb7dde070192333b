/* SPDX-License-Identifier: MIT */
#include "filter/operand.h"

#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "decode/decode.h"
#include "filter/value.h"

#define NUMBER (ETW_FILTER_INTEGER)
#define NAMED  (ETW_FILTER_INTEGER | ETW_FILTER_TEXT)

/* clang-format off */
static const struct etw_filter_operand operands[] = {
	{"provider", "a name or a GUID", 0, ETW_FILTER_GUID | ETW_FILTER_TEXT, ETW_FILTER_PROVIDER,
	 ETW_FILTER_LOOKUP, ETW_FILTER_LOOKUP},
	{"guid", "a GUID such as 9e814aad-3204-11d2-9a82-006008a86939", 0, ETW_FILTER_GUID,
	 ETW_FILTER_PROVIDER_ID, ETW_FILTER_FREE, 0},
	{"event", "a name or an id", UINT16_MAX, NAMED, ETW_FILTER_EVENT, ETW_FILTER_FREE,
	 ETW_FILTER_SCHEMA},
	{"id", "a number", UINT16_MAX, NUMBER, ETW_FILTER_ID, ETW_FILTER_FREE, 0},
	{"version", "a number", UINT8_MAX, NUMBER, ETW_FILTER_VERSION, ETW_FILTER_FREE, 0},
	{"level", "a number, or one of critical, error, warning, information, verbose", UINT8_MAX,
	 NUMBER, ETW_FILTER_LEVEL, ETW_FILTER_FREE, 0},
	{"opcode", "a number or a name", UINT8_MAX, NAMED, ETW_FILTER_OPCODE, ETW_FILTER_FREE,
	 ETW_FILTER_SCHEMA},
	{"task", "a number or a name", UINT16_MAX, NAMED, ETW_FILTER_TASK, ETW_FILTER_FREE,
	 ETW_FILTER_SCHEMA},
	{"keyword", "a number or a name", UINT64_MAX, NAMED, ETW_FILTER_KEYWORD, ETW_FILTER_FREE,
	 ETW_FILTER_SCHEMA},
	{"channel", "a number or a name", UINT8_MAX, NAMED, ETW_FILTER_CHANNEL, ETW_FILTER_FREE,
	 ETW_FILTER_SCHEMA},
	{"pid", "a process id", UINT32_MAX, NUMBER, ETW_FILTER_PID, ETW_FILTER_LOOKUP, 0},
	{"tid", "a thread id", UINT32_MAX, NUMBER, ETW_FILTER_TID, ETW_FILTER_LOOKUP, 0},
	{"header_pid", "a process id", UINT32_MAX, NUMBER, ETW_FILTER_HEADER_PID, ETW_FILTER_FREE, 0},
	{"header_tid", "a thread id", UINT32_MAX, NUMBER, ETW_FILTER_HEADER_TID, ETW_FILTER_FREE, 0},
	{"cpu", "the number of a processor", UINT32_MAX, NUMBER, ETW_FILTER_CPU, ETW_FILTER_FREE, 0},
	{"activity", "a GUID such as 9e814aad-3204-11d2-9a82-006008a86939", 0, ETW_FILTER_GUID,
	 ETW_FILTER_ACTIVITY, ETW_FILTER_FREE, 0},
	{"related_activity", "a GUID such as 9e814aad-3204-11d2-9a82-006008a86939", 0,
	 ETW_FILTER_GUID, ETW_FILTER_RELATED_ACTIVITY, ETW_FILTER_FREE, 0},
	{"time", "a time such as 2011-01-23T22:06:37.5Z, or +1.5s from the start", 0,
	 ETW_FILTER_TIME, ETW_FILTER_MOMENT, ETW_FILTER_FREE, 0},
	{"process", "a name", 0, ETW_FILTER_TEXT, ETW_FILTER_PROCESS, 0, ETW_FILTER_LOOKUP},
	{"user", "a SID such as S-1-5-18", 0, ETW_FILTER_TEXT, ETW_FILTER_USER, 0, ETW_FILTER_LOOKUP},
	{"classic", "true or false", 0, ETW_FILTER_TRUTH, ETW_FILTER_CLASSIC, ETW_FILTER_FREE, 0},
	{"status", "one of complete, extra, truncated, malformed, no-schema", 0, ETW_FILTER_TEXT,
	 ETW_FILTER_STATUS, 0, ETW_FILTER_PAYLOAD},
	{"message", "a text", 0, ETW_FILTER_TEXT, ETW_FILTER_MESSAGE, 0, ETW_FILTER_SEARCH},
	{"payload_bytes", "a number", UINT16_MAX, NUMBER, ETW_FILTER_PAYLOAD_BYTES, ETW_FILTER_FREE, 0},
};
/* clang-format on */

static const struct {
	const char *name;
	int level;
} levels[] = {
	{"critical", 1},      {"error", 2}, {"warning", 3}, {"information", 4},
	{"informational", 4}, {"info", 4},  {"verbose", 5},
};

const struct etw_filter_operand *etw_filter_operand_find(const char *name, size_t bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++) {
		if (strlen(operands[i].name) == bytes && !memcmp(operands[i].name, name, bytes))
			return &operands[i];
	}
	return NULL;
}

const struct etw_filter_operand *etw_filter_operand(enum etw_filter_operand_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(operands); i++) {
		if (operands[i].id == id)
			return &operands[i];
	}
	return NULL;
}

const struct etw_filter_operand *etw_filter_operand_next(size_t index)
{
	return index < ARRAY_SIZE(operands) ? &operands[index] : NULL;
}

int etw_filter_level(const char *name)
{
	if (!strncasecmp(name, "win:", 4))
		name += 4;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (!strcasecmp(levels[i].name, name))
			return levels[i].level;
	}
	return -1;
}

int etw_filter_status_exists(const char *name)
{
	for (int i = 0; i <= ETW_DECODE_NO_SCHEMA; i++) {
		if (!strcasecmp(etw_decode_status_name((enum etw_decode_status)i), name))
			return 1;
	}
	return 0;
}
