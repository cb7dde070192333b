/* SPDX-License-Identifier: MIT */
/* Records that callers hand in: made up, or put together from copies, so that a part may be missing. */
#ifndef ETW_API_RECORD_H
#define ETW_API_RECORD_H

#include <stdbool.h>

#include <evntcons.h>

/* etw_api_has_record() - whether a record is there, with the payload and the items that it says it has. */
static inline bool etw_api_has_record(const EVENT_RECORD *record)
{
	if (!record || (record->UserDataLength && !record->UserData) ||
	    (record->ExtendedDataCount && !record->ExtendedData))
		return false;
	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		if (record->ExtendedData[i].DataSize && !record->ExtendedData[i].DataPtr)
			return false;
	}
	return true;
}

#endif
