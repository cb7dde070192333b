/* SPDX-License-Identifier: MIT */
/* The schema of an event, wherever it is. */
#ifndef ETW_API_TDH_FIND_H
#define ETW_API_TDH_FIND_H

#include <evntcons.h>

#include "api/tdh/shared.h"

/*
 * etw_tdh_lock_for_event() - what is shared, locked, and the schema of an event.
 *
 * @record: borrowed for the call
 * @ret_schema: valid while the lock is held
 *
 * When nothing is known of the event, or only what is installed or in the table of known providers, the files that
 * this process has opened are searched for schemas, each once (trace_files.h), before that is the answer. Of several
 * layouts, it is the one that uses up the payload (etw_decoder_choose()).
 * Returns 0 with the lock; without it -ESRCH when the event has no schema, which is also what events of one
 * plain string have; -ENOMEM; what kept a file from being searched, -ENOMEM, -EMFILE or -ENFILE. Context: any thread.
 */
int etw_tdh_lock_for_event(const EVENT_RECORD *record, struct etw_tdh_shared **ret,
			   const struct etw_schema **ret_schema);

#endif
