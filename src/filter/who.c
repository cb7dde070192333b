/* SPDX-License-Identifier: MIT */
/* Which process an event is about. */
#include "filter/filter_internal.h"

void etw_filter_ids(struct etw_filter_subject *subject, uint32_t *ret_pid, uint32_t *ret_tid)
{
	*ret_pid = subject->record->EventHeader.ProcessId;
	*ret_tid = subject->record->EventHeader.ThreadId;
}

const char *etw_filter_process_name(struct etw_filter_subject *subject)
{
	(void)subject;
	return NULL;
}
