/* SPDX-License-Identifier: MIT */
/*
 * Decoded events in an output format. One file per format, one interface for all: begin, one call per
 * event, end. A format appends text; who calls it decides where the text goes.
 */
#ifndef ETW_EXPORT_EXPORT_H
#define ETW_EXPORT_EXPORT_H

#include <stdint.h>

#include "base/text.h"
#include "consumer/trace.h"
#include "decode/decode.h"
#include "schema/store.h"

/* One event on its way out; everything is borrowed for the call. */
struct etw_export_event {
	const EVENT_RECORD *record; /* TimeStamp is FILETIME */
	const struct etw_decoding *decoding;
	const char *provider_name; /* NULL when unknown */
	struct etw_event_address address;
	size_t trace; /* index of the file, for output of several */
	uint32_t processor;
	int64_t start_ft; /* of the trace: what relative times count from */
};

struct etw_export_format {
	const char *name;     /* "text", "json" */
	const char *one_line; /* what it is, for help texts */
	void (*begin)(struct etw_text *text);
	void (*event)(const struct etw_export_event *event, struct etw_text *text);
	void (*end)(struct etw_text *text);
};

extern const struct etw_export_format etw_export_text; /* one line for people */
extern const struct etw_export_format etw_export_json; /* one object a line; docs/format/json.md */

/* etw_export_format_find() - the format of this name, or NULL. */
const struct etw_export_format *etw_export_format_find(const char *name);

#endif
