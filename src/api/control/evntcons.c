/* SPDX-License-Identifier: MIT */
/* evntcons.h, the controller's side: who may do what with a session or provider. */
#include <evntcons.h>
#include <winerror.h>

#include "api/unbuilt.h"

ULONG EventAccessControl(LPGUID Guid, ULONG Operation, PSID Sid, ULONG Rights, BOOLEAN AllowOrDeny)
{
	ETW_UNBUILT(EventAccessControl, Guid, Operation, Sid, Rights, AllowOrDeny);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventAccessQuery(LPGUID Guid, PSECURITY_DESCRIPTOR Buffer, PULONG BufferSize)
{
	ETW_UNBUILT(EventAccessQuery, Guid, Buffer, BufferSize);
	return ERROR_CALL_NOT_IMPLEMENTED;
}

ULONG EventAccessRemove(LPGUID Guid)
{
	ETW_UNBUILT(EventAccessRemove, Guid);
	return ERROR_CALL_NOT_IMPLEMENTED;
}
