/* SPDX-License-Identifier: MIT */
/* A library that writes an event of its manifest. */
#include <shared.h>

ULONG write_inner(void);

ULONG write_inner(void)
{
	ULONG r = EventRegisterInstalled_Shared();

	if (r == ERROR_SUCCESS)
		r = EventWriteShared(2);
	EventUnregisterInstalled_Shared();
	return r;
}
