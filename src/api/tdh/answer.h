/* SPDX-License-Identifier: MIT */
/* Blobs that are made for one call: a fixed part with offsets, then strings. And which provider is meant. */
#ifndef ETW_API_TDH_ANSWER_H
#define ETW_API_TDH_ANSWER_H

#include <tdh.h>

#include "api/tdh/shared.h"
#include "base/text.h"
#include "schema/provider_schema.h"

/*
 * etw_tdh_answer_string() - appends a string in UTF-16 with its NUL.
 *
 * @base: what the offset counts from
 * @tail: "" or " ", which stands behind texts of message tables
 *
 * Returns its offset; 0 for NULL.
 */
ULONG etw_tdh_answer_string(struct etw_text *answer, size_t base, const char *string,
			    const char *tail);

/*
 * etw_tdh_answer_give() - copies an answer out by the required-size protocol.
 *
 * Returns ERROR_SUCCESS, ERROR_INSUFFICIENT_BUFFER, ERROR_NOT_ENOUGH_MEMORY when the answer was not
 * finished, ERROR_ARITHMETIC_OVERFLOW for one beyond 4 GiB. The first two set *size.
 */
ULONG etw_tdh_answer_give(const struct etw_text *answer, void *buffer, ULONG room, ULONG *size);

/*
 * etw_tdh_provider() - the definition of a provider, registered or loaded, or the tracepoints of this machine.
 *
 * Looks first whether the registry has changed. Returns ERROR_SUCCESS; ERROR_NOT_FOUND when it is none of these;
 * ERROR_FILE_NOT_FOUND when it is registered, but its definition is gone or damaged; ERROR_NOT_ENOUGH_MEMORY; what
 * reading the definition failed with. Context: holding etw_tdh_lock().
 */
ULONG etw_tdh_provider(struct etw_tdh_shared *shared, const GUID *guid,
		       const struct etw_provider_schema **ret);

/*
 * etw_tdh_provider_of_event() - the same for an event that has a schema: without the tracepoints of this machine, as the trace
 * may be of another one.
 */
ULONG etw_tdh_provider_of_event(struct etw_tdh_shared *shared, const GUID *guid,
				const struct etw_provider_schema **ret);

#endif
