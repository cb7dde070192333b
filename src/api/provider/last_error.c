/* SPDX-License-Identifier: MIT */
/*
 * GetLastError and SetLastError. The value lives in libetw-provider.so; libetw-core.so and the
 * program use the same one. Calls that succeed leave it as it was, as on Windows.
 */
#include <errhandlingapi.h>

#include "api/provider/copies.h"

static _Thread_local DWORD last_error __attribute__((tls_model("initial-exec")));

DWORD GetLastError(void)
{
	return etw_first_copy ? etw_first_copy->get_last_error() : last_error;
}

void SetLastError(DWORD dwErrCode)
{
	if (etw_first_copy)
		etw_first_copy->set_last_error(dwErrCode);
	else
		last_error = dwErrCode;
}
