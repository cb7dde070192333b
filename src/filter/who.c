/* SPDX-License-Identifier: MIT */
/* Which process an event is about: only the few kinds whose payload says it are decoded for that. */
#include "filter/filter_internal.h"
#include "process/subject.h"

struct etw_process_ids etw_filter_ids(struct etw_filter_subject *subject)
{
	const struct etw_decoding *decoding = NULL;
	struct etw_process_ids ids;

	if (etw_process_in_payload(subject->record))
		decoding = subject->source->decode(subject->context);
	ids = decoding ? etw_process_ids_of(decoding) : etw_process_ids_of_header(subject->record);
	if (subject->processes)
		etw_processes_resolve(subject->processes, &ids, subject->time_ft);
	return ids;
}

const char *etw_filter_process_name(struct etw_filter_subject *subject)
{
	const struct etw_process_ids ids = etw_filter_ids(subject);

	if (!subject->processes || ids.pid == ETW_PROCESS_NONE)
		return NULL;
	return etw_processes_name(subject->processes, ids.pid, subject->time_ft);
}
