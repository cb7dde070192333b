/* SPDX-License-Identifier: MIT */
/* Tracepoints of Linux as `etw record --provider` names them: linux:SYSTEM, linux:SYSTEM:EVENT, where EVENT may have "*". */
#ifndef ETW_TOOLS_ETW_RECORD_TRACEPOINTS_H
#define ETW_TOOLS_ETW_RECORD_TRACEPOINTS_H

#include <stdbool.h>

#include "base/text.h"
#include "ipc/runtime.h"
#include "tools/etw/record_provider.h"

#define RECORD_TRACEPOINT_FILTER_BYTES 4200 /* that the longest filter takes */

/* record_tracepoints_is() - whether a provider is named so. */
bool record_tracepoints_is(const char *text);

/*
 * record_tracepoints_parse() - takes a name apart.
 *
 * @ret: zeroed; all but the event's name, which is left in the text
 *
 * Where tracefs can be read, what is not there is refused. Returns NULL, or what is wrong with it, static.
 */
const char *record_tracepoints_parse(const char *text, struct record_provider *ret);

/*
 * record_tracepoints_why_silent() - why nothing came from a provider of this name, as far as this user can tell. Static; NULL:
 * it is none of tracepoints, or nothing is known.
 */
const char *record_tracepoints_why_silent(const char *text);

/*
 * record_tracepoints_why_none() - why the host of an instance can record none of a provider of this name: it runs as this user,
 * who has not the rights. It would take the name for that of a program's provider. Static; NULL: nothing is known against it.
 */
const char *record_tracepoints_why_none(const char *text, enum etw_instance instance);

/*
 * record_tracepoints_merge() - chooses what another one of the same system does, too.
 *
 * @from: its events are taken over; nothing is left in it
 *
 * Returns false when memory ran out.
 */
bool record_tracepoints_merge(struct record_provider *to, struct record_provider *from);

/*
 * record_tracepoints_filter() - the filter by names (wire/filter_list.h).
 *
 * @room: RECORD_TRACEPOINT_FILTER_BYTES
 *
 * Returns its bytes; 0: all events are chosen; -EMSGSIZE: the names are too long together.
 */
int record_tracepoints_filter(const struct record_provider *provider, uint8_t *room);

/* record_tracepoints_complete() - lines of what may stand for @word: systems; of one that is whole, its events. */
void record_tracepoints_complete(const char *word, struct etw_text *text);

#endif
