/* SPDX-License-Identifier: MIT */
/*
 * Which process and thread an event is about. Most events are about the thread that wrote them, which their header
 * names. Many events of the kernel are not: their header has no ids, or those of whoever happened to run when the
 * kernel wrote the event, and the payload says it (a sample's ThreadId, a connection's PID, the process that a
 * rundown lists). docs/design/process.md has the list and the reasons.
 */
#ifndef ETW_PROCESS_SUBJECT_H
#define ETW_PROCESS_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decode.h"

/* An id that is not known; headers without a field for ids have it, too. */
#define ETW_PROCESS_NONE 0xFFFFFFFFu

struct etw_process_ids {
	uint32_t pid, tid; /* or ETW_PROCESS_NONE */
};

/*
 * etw_process_in_payload() - whether the payload of this kind of event may say which process it is about.
 *
 * Cheap: of most events the provider's first word decides. Of all others the header decides, and nobody has to
 * decode them to know their process.
 */
bool etw_process_in_payload(const EVENT_RECORD *record);

/* etw_process_ids_of_header() - what the header says. */
static inline struct etw_process_ids etw_process_ids_of_header(const EVENT_RECORD *record)
{
	return (struct etw_process_ids){record->EventHeader.ProcessId,
					record->EventHeader.ThreadId};
}

/*
 * etw_process_ids_of() - the process and thread that an event is about, as far as the event itself says.
 *
 * @decoding: of the event, with or without a schema; without one the header decides
 *
 * Where the payload names a thread only, `pid` is ETW_PROCESS_NONE and etw_processes_resolve() may know it. Where it
 * names another process than the header, the header's thread is not of that process and `tid` is ETW_PROCESS_NONE.
 */
struct etw_process_ids etw_process_ids_of(const struct etw_decoding *decoding);

/* etw_process_number() - the number in the top-level field of this name. Returns false where there is none. */
bool etw_process_number(const struct etw_decoding *decoding, const char *name, uint64_t *ret);

#endif
