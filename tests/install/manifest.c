/* SPDX-License-Identifier: MIT */
/* Events of two generated headers: of this program's manifest, and of a library's. Prints the id of one. */
#include <stdio.h>

#include <own_events.h>
#include <shared.h>

ULONG write_inner(void);

int main(void)
{
	ULONG r = EventRegisterInstalled_Own();

	if (r == ERROR_SUCCESS)
		r = LogStarted(1);
	if (r == ERROR_SUCCESS)
		r = write_inner();
	printf("%d %d\n", OwnStarted_value, Shared_value);
	EventUnregisterInstalled_Own();
	return r == ERROR_SUCCESS ? 0 : 1;
}
