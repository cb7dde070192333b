/* SPDX-License-Identifier: MIT */
/* The names that Windows' own manifest defines and every other one may refer to. */
#include "schema/manifest/manifest_winmeta.h"

#include <string.h>

#include "base/macros.h"
#include "base/number.h"

struct winmeta_name {
	enum symbol_kind kind;
	const char *name;
	uint64_t value;
	const char *message; /* as the message compiler copies it; NULL: none known */
};

static const struct winmeta_name names[] = {
	{SYMBOL_LEVEL, "LogAlways", 0, "Log Always"},
	{SYMBOL_LEVEL, "Critical", 1, "Critical"},
	{SYMBOL_LEVEL, "Error", 2, "Error"},
	{SYMBOL_LEVEL, "Warning", 3, "Warning"},
	{SYMBOL_LEVEL, "Informational", 4, "Information"},
	{SYMBOL_LEVEL, "Verbose", 5, "Verbose"},
	{SYMBOL_TASK, "None", 0, "None"},
	{SYMBOL_OPCODE, "Info", 0, "Info"},
	{SYMBOL_OPCODE, "Start", 1, "Start"},
	{SYMBOL_OPCODE, "Stop", 2, "Stop"},
	{SYMBOL_OPCODE, "DC_Start", 3, "DCStart"},
	{SYMBOL_OPCODE, "DC_Stop", 4, "DCStop"},
	{SYMBOL_OPCODE, "Extension", 5, "Extension"},
	{SYMBOL_OPCODE, "Reply", 6, "Reply"},
	{SYMBOL_OPCODE, "Resume", 7, "Resume"},
	{SYMBOL_OPCODE, "Suspend", 8, "Suspend"},
	{SYMBOL_OPCODE, "Send", 9, "Send"},
	{SYMBOL_OPCODE, "Receive", 240, "Receive"},
	{SYMBOL_KEYWORD, "AnyKeyword", 0, NULL},
	{SYMBOL_KEYWORD, "ResponseTime", UINT64_C(1) << 48, "Response Time"},
	{SYMBOL_KEYWORD, "WDIContext", UINT64_C(1) << 49, "WDI Context"},
	{SYMBOL_KEYWORD, "WDIDiag", UINT64_C(1) << 50, "WDI Diag"},
	{SYMBOL_KEYWORD, "SQM", UINT64_C(1) << 51, "SQM"},
	{SYMBOL_KEYWORD, "AuditFailure", UINT64_C(1) << 52, "Audit Failure"},
	{SYMBOL_KEYWORD, "AuditSuccess", UINT64_C(1) << 53, "Audit Success"},
	{SYMBOL_KEYWORD, "CorrelationHint", UINT64_C(1) << 54, "Correlation Hint"},
	{SYMBOL_KEYWORD, "EventlogClassic", UINT64_C(1) << 55, "Classic"},
	{SYMBOL_CHANNEL, "TraceClassic", 0, "TraceClassic"},
	{SYMBOL_CHANNEL, "System", 8, "System"},
	{SYMBOL_CHANNEL, "Application", 9, "Application"},
	{SYMBOL_CHANNEL, "Security", 10, "Security"},
	{SYMBOL_CHANNEL, "TraceLogging", 11, "TraceLogging"},
	{SYMBOL_CHANNEL, "ProviderMetadata", 12, "ProviderMetadata"},
};

/* "ReservedLevel7" and the like. */
static const struct reserved_names {
	enum symbol_kind kind;
	const char *stem;
	uint64_t first, last;
} reserved[] = {
	{SYMBOL_LEVEL, "ReservedLevel", 6, 15},
	{SYMBOL_OPCODE, "ReservedOpcode", 241, 255},
	{SYMBOL_KEYWORD, "ReservedKeyword", 56, 63},
};

static bool find_reserved(enum symbol_kind kind, const char *name, uint64_t *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		const struct reserved_names *row = &reserved[i];
		size_t bytes = strlen(row->stem);
		uint64_t value;

		if (row->kind != kind || strncmp(name, row->stem, bytes) != 0 ||
		    !etw_number_parse(name + bytes, row->last, &value) || value < row->first)
			continue;
		*ret = kind == SYMBOL_KEYWORD ? UINT64_C(1) << value : value;
		return true;
	}
	return false;
}

bool etw_winmeta_find(enum symbol_kind kind, const char *name, uint64_t *ret_value,
		      const char **ret_message)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].kind != kind || strcmp(names[i].name, name) != 0)
			continue;
		*ret_value = names[i].value;
		*ret_message = names[i].message;
		return true;
	}
	*ret_message = NULL;
	return find_reserved(kind, name, ret_value);
}
