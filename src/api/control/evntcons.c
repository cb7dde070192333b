/* SPDX-License-Identifier: MIT */
/* evntcons.h, the controller's side: who may do what with a session or provider. */
#include <evntcons.h>
#include <winerror.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/control/hosts.h"
#include "api/win32_error.h"
#include "base/macros.h"
#include "wire/security.h"

#define SID_HEAD_BYTES 8
#define SID_COUNT_AT   1 /* of its sub-authorities */

static_assert(WIRE_SECURITY_SET_DACL == (int)EventSecuritySetDACL &&
		      WIRE_SECURITY_SET_SACL == (int)EventSecuritySetSACL &&
		      WIRE_SECURITY_ADD_DACL == (int)EventSecurityAddDACL &&
		      WIRE_SECURITY_ADD_SACL == (int)EventSecurityAddSACL,
	      "the conversation speaks Microsoft's numbers");

static ULONG access_error(int result)
{
	switch (result) {
	case -ENOENT: /* no value in Windows' registry */
		return ERROR_FILE_NOT_FOUND;
	case -ENOSPC:
		return ERROR_NO_SYSTEM_RESOURCES;
	default:
		return etw_win32_from_result(result);
	}
}

static ULONG ask(const struct wire_access *access, struct etw_control_answer **ret)
{
	CLEANUP(freep) struct etw_control_answer *answer = malloc(sizeof(*answer));
	int result;

	if (!answer)
		return ERROR_NOT_ENOUGH_MEMORY;
	result = etw_hosts_access(access, answer);
	if (result)
		return access_error(result);
	if (ret)
		*ret = TAKE(answer);
	return ERROR_SUCCESS;
}

ULONG EventAccessControl(LPGUID Guid, ULONG Operation, PSID Sid, ULONG Rights, BOOLEAN AllowOrDeny)
{
	struct wire_access access = {
		.code = WIRE_ACCESS_CHANGE,
		.operation = Operation,
		.rights = Rights,
		.is_allowed = AllowOrDeny != FALSE,
	};

	if (!Guid || !Sid || Operation >= EventSecurityMax)
		return ERROR_INVALID_PARAMETER;
	access.guid = *Guid;
	access.sid.at = Sid;
	access.sid.left = SID_HEAD_BYTES + access.sid.at[SID_COUNT_AT] * sizeof(ULONG);
	if (!etw_sid_bytes(access.sid))
		return ERROR_INVALID_SID;
	return ask(&access, NULL);
}

ULONG EventAccessQuery(LPGUID Guid, PSECURITY_DESCRIPTOR Buffer, PULONG BufferSize)
{
	CLEANUP(freep) struct etw_control_answer *answer = NULL;
	struct wire_access access = {.code = WIRE_ACCESS_QUERY};
	ULONG room, error;

	if (!Guid || !BufferSize || (*BufferSize && !Buffer))
		return ERROR_INVALID_PARAMETER;
	access.guid = *Guid;
	error = ask(&access, &answer);
	if (error)
		return error;
	room = *BufferSize;
	*BufferSize = (ULONG)answer->byte_count;
	if (room < answer->byte_count)
		return ERROR_MORE_DATA;
	memcpy(Buffer, answer->bytes, answer->byte_count);
	return ERROR_SUCCESS;
}

ULONG EventAccessRemove(LPGUID Guid)
{
	struct wire_access access = {.code = WIRE_ACCESS_REMOVE};

	if (!Guid)
		return ERROR_INVALID_PARAMETER;
	access.guid = *Guid;
	return ask(&access, NULL);
}
