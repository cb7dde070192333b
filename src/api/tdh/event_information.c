/* SPDX-License-Identifier: MIT */
/* tdh.h: what TDH knows of an event. */
#include <tdh.h>
#include <winerror.h>

#include "api/record.h"
#include "api/tdh/blob.h"
#include "api/tdh/context.h"
#include "api/tdh/find.h"
#include "api/tdh/give.h"
#include "api/tdh/lock.h"
#include "api/tdh/shared.h"
#include "api/tdh/wpp_context.h"
#include "api/win32_error.h"

/* Puts into a copy of a blob what only the event at hand tells. Holding the lock. */
static void complete(const struct etw_tdh_blob *blob, const EVENT_RECORD *record, uint16_t count,
		     TRACE_EVENT_INFO *ret)
{
	/* Of a classic event the class knows type and version only, and perhaps a near version's. */
	if (ret->DecodingSource == DecodingSourceWbem)
		ret->EventDescriptor = record->EventHeader.EventDescriptor;
	if (blob->open != ETW_TDH_NO_PROPERTY)
		ret->EventPropertyInfoArray[blob->open].count = count;
}

/* Holding the lock. */
static ULONG give_event(struct etw_tdh_shared *shared, const EVENT_RECORD *record,
			const struct etw_schema *schema, TRACE_EVENT_INFO *buffer, ULONG *size)
{
	const struct etw_tdh_blob *blob;
	uint16_t count;
	ULONG error;

	TRY_WIN32(etw_tdh_event_blob(shared, record, schema, &blob, &count));
	error = etw_tdh_give(blob->at, blob->bytes, buffer, *size, size);
	if (!error)
		complete(blob, record, count, buffer);
	return error;
}

TDHSTATUS TdhGetEventInformation(PEVENT_RECORD Event, ULONG TdhContextCount,
				 PTDH_CONTEXT TdhContext, PTRACE_EVENT_INFO Buffer,
				 PULONG BufferSize)
{
	const struct etw_schema *schema;
	struct etw_tdh_context context;
	struct etw_tdh_shared *shared;
	const EVENT_RECORD *record;
	EVENT_RECORD copy;
	ULONG error;

	if (!etw_api_has_record(Event) || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	error = etw_tdh_context_read(TdhContextCount, TdhContext, &context);
	if (error)
		return error;
	record = etw_tdh_context_apply(&context, Event, &copy);
	if (UNLIKELY(etw_wpp_is_event(record)))
		return etw_wpp_context_event(&context, record, Buffer, BufferSize);
	TRY_WIN32(etw_tdh_lock_for_event(record, &shared, &schema));
	error = give_event(shared, record, schema, Buffer, BufferSize);
	etw_tdh_unlock();
	return error;
}
