/* SPDX-License-Identifier: MIT */
/* The parts of `etw providers`: lists, one provider as a page or an object, a manifest. */
#ifndef ETW_TOOLS_ETW_PROVIDERS_H
#define ETW_TOOLS_ETW_PROVIDERS_H

#include "tools/common/options.h"
#include "tools/common/output.h"
#include "tools/etw/facts.h"

/* What of events is asked for; all zero: all events. */
struct provider_filter {
	struct etw_words events;   /* owned; ids or patterns, any of them */
	struct etw_words keywords; /* owned; masks or patterns, any of them */
	const char *search;        /* in names of events, fields, keywords and maps; NULL */
};

struct provider_look {
	size_t width;             /* of the terminal; 0: output that is no terminal */
	const char *bold, *plain; /* escape sequences, or "" */
	bool is_json;
};

/* provider_filter_is_empty() - whether it takes all events. */
bool provider_filter_is_empty(const struct provider_filter *filter);

/*
 * provider_filter_takes() - whether an event is asked for.
 *
 * @ret_where: what the word was found in is appended, "field PID"; may be NULL
 */
bool provider_filter_takes(const struct provider_filter *filter, const struct fact_event *event,
			   struct etw_text *ret_where);

/* provider_event_name() - "Task/Opcode" as far as there are names, else the symbol; may append nothing. */
void provider_event_name(const struct etw_schema *schema, struct etw_text *text);

/* provider_type_name() - "UInt32" of an in-type, without prefix; static. _out_type_name(): NULL for the usual one. */
const char *provider_type_name(const struct etw_field *field);
const char *provider_out_type_name(const struct etw_field *field);

/* providers_list_write() - a table, or one object a line. @entries: @count of them */
void providers_list_write(const struct catalogue_entry *const *entries, size_t count,
			  const struct provider_look *look, struct etw_text *text);

/* provider_object_begin() - name, GUID, builds and counts as members of an object that is left open. */
void provider_object_begin(const struct catalogue_entry *entry, struct etw_text *text);

/* provider_rows_write() - the events that a filter takes, one line each. Returns how many. */
size_t provider_rows_write(const struct facts *facts, const struct provider_filter *filter,
			   const struct provider_look *look, struct etw_text *text);

/* provider_page_write() - everything about a provider, for people. Returns how many events are in it. */
size_t provider_page_write(const struct facts *facts, const struct provider_filter *filter,
			   const struct provider_look *look, struct etw_text *text);

/* provider_json_write() - the same as one object. */
size_t provider_json_write(const struct facts *facts, const struct provider_filter *filter,
			   struct etw_text *text);

/* provider_json_event() - an event as an object. */
void provider_json_event(const struct facts *facts, const struct fact_event *event,
			 struct etw_text *text);

/*
 * provider_manifest_write() - a manifest that describes the provider.
 *
 * What a manifest cannot say is told on standard error. @build: as facts_open()
 * Returns an exit status; what was appended then is no manifest unless it is 0.
 */
int provider_manifest_write(const struct facts *facts, uint32_t build, struct etw_text *text);

#endif
