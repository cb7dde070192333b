/* SPDX-License-Identifier: MIT */
/* What events are called, and whether a word means one: the same rule in the tools and the friendly layer. */
#ifndef ETW_SCHEMA_EVENT_NAME_H
#define ETW_SCHEMA_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntcons.h>

#include "schema/model.h"

/*
 * etw_schema_event_task() / _event_opcode() - what the event says of itself, NULL when it says nothing.
 *
 * The opcode's name is NULL for plain information too, so that it can be appended wherever there is
 * one. Both take a NULL schema and live as long as the schema.
 */
const char *etw_schema_event_task(const struct etw_schema *schema);
const char *etw_schema_event_opcode(const struct etw_schema *schema, uint8_t opcode);

/* etw_schema_name_fits() - whether a name, which may be NULL, fits a pattern; blanks at its end do not count. */
bool etw_schema_name_fits(const char *pattern, const char *name);

/* Takes one name. Returns whether it is enough. */
typedef bool etw_schema_name_taker(void *context, const char *name, size_t bytes);

/*
 * etw_schema_each_event_name() - what an event is called: its task, its opcode with and without "win:", its own name,
 * "Task/Opcode".
 *
 * Returns whether @take said that it is enough.
 */
bool etw_schema_each_event_name(const EVENT_HEADER *header, const struct etw_schema *schema,
				etw_schema_name_taker *take, void *context);

/* etw_schema_word_is_number() - whether a word means events by number, so that names do not matter. */
bool etw_schema_word_is_number(const char *word);

/*
 * etw_schema_event_is() - whether an event is one that a word means.
 *
 * @word:   a number up to 65535, the id or of classic events the opcode; or a pattern (base/pattern.h) for the
 *          event's name, its task, its opcode with or without "win:", or "Task/Opcode"
 * @schema: of the event; NULL when unknown, which only a number can mean
 *
 * For a word that is no number the answer is the same for all events of a schema.
 */
bool etw_schema_event_is(const char *word, const EVENT_HEADER *header,
			 const struct etw_schema *schema);

#endif
