/* SPDX-License-Identifier: MIT */
/*
 * WPP events where a TDH_CONTEXT list says how to decode them: TdhGetEventInformation(), TdhGetPropertySize()
 * and TdhGetProperty() come here with them.
 */
#ifndef ETW_API_TDH_WPP_CONTEXT_H
#define ETW_API_TDH_WPP_CONTEXT_H

#include "api/tdh/context.h"

/* etw_wpp_is_event() - whether an event is a WPP message. */
static inline bool etw_wpp_is_event(const EVENT_RECORD *record)
{
	return (record->EventHeader.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0;
}

/*
 * etw_wpp_context_event() - what TdhGetEventInformation() gives.
 *
 * @size: of @buffer; becomes what is needed
 *
 * Returns ERROR_SUCCESS; ERROR_INSUFFICIENT_BUFFER; ERROR_NOT_FOUND when no file has the message;
 * ERROR_FILE_NOT_FOUND when the TMF file that the list names is not there; ERROR_FILE_CORRUPT when it cannot be
 * read; ERROR_NOT_ENOUGH_MEMORY.
 */
ULONG etw_wpp_context_event(const struct etw_tdh_context *context, const EVENT_RECORD *record,
			    TRACE_EVENT_INFO *buffer, ULONG *size);

/*
 * etw_wpp_context_property() - what TdhGetProperty() gives.
 *
 * @size: of @buffer; becomes the property's
 *
 * Returns as etw_wpp_context_event(), and ERROR_NOT_FOUND when there is no such property;
 * ERROR_INVALID_PARAMETER for a name that is NULL, for more than one descriptor, and for an element of what is
 * no array.
 */
ULONG etw_wpp_context_property(const struct etw_tdh_context *context, const EVENT_RECORD *record,
			       ULONG count, const PROPERTY_DATA_DESCRIPTOR *descriptors,
			       uint8_t *buffer, ULONG *size);

#endif
