/* SPDX-License-Identifier: MIT */
/* The kinds of names in a manifest, and those that Windows' own manifest (winmeta) defines. */
#ifndef ETW_SCHEMA_MANIFEST_WINMETA_H
#define ETW_SCHEMA_MANIFEST_WINMETA_H

#include <stdbool.h>
#include <stdint.h>

enum symbol_kind {
	SYMBOL_STRING,  /* text; value: cultures that have it; object: the last one's element */
	SYMBOL_MESSAGE, /* text: a string reference */
	SYMBOL_PROVIDER,
	SYMBOL_LEVEL, /* object of the next four: struct manifest_name */
	SYMBOL_TASK,
	SYMBOL_OPCODE,
	SYMBOL_KEYWORD,
	SYMBOL_CHANNEL,  /* object: struct etw_channel */
	SYMBOL_MAP,      /* object: struct etw_map */
	SYMBOL_MAP_NAME, /* that it is taken, before the maps are in their places */
	SYMBOL_TEMPLATE, /* object: struct manifest_template */
	SYMBOL_FIELD,    /* value: index; scope: the template or struct */
	SYMBOL_FILTER,
	SYMBOL_PATTERN_MAP,
	SYMBOL_EVENT,
	SYMBOL_KINDS,
};

/* etw_winmeta_find() - one of winmeta's names, without its prefix; false when there is none. */
bool etw_winmeta_find(enum symbol_kind kind, const char *name, uint64_t *ret_value,
		      const char **ret_message);

#endif
