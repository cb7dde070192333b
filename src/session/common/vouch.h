/* SPDX-License-Identifier: MIT */
/*
 * The extended items of an event that was copied out of shared memory: whether they are sound, and the values of those
 * that say whose the event is. The host puts these in itself, as it knows the process, so that none can be made to look
 * like another's. Source: docs/design/recording.md "Extended items".
 */
#ifndef ETW_SESSION_COMMON_VOUCH_H
#define ETW_SESSION_COMMON_VOUCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/process_facts.h"

/*
 * etw_items_are_sound() - whether each item is one that a ring may hold, and there once: two of one kind would be read by
 * one reader one way, and by another the other way.
 *
 * @event: an EVENT header with WIRE_EVENT_EXTENDED_INFO
 * @ret_types: one bit for each type
 */
bool etw_items_are_sound(const uint8_t *event, uint32_t bytes, uint32_t *ret_types);

/*
 * etw_items_vouch() - fills in what is the host's to say.
 *
 * @event: sound
 * @uid: the ring's
 */
void etw_items_vouch(uint8_t *event, uid_t uid, const struct etw_process_facts *facts);

#endif
