/* SPDX-License-Identifier: MIT */
/* A program that only writes events: it links libetw-provider and nothing else. */
#include <evntprov.h>
#include <stdio.h>
#include <winerror.h>

int main(void)
{
	static const GUID provider = {0x6c5c0d5e, 0x2b1f, 0x4d0e, {1, 2, 3, 4, 5, 6, 7, 8}};
	static const EVENT_DESCRIPTOR event = {.Id = 1};
	REGHANDLE handle = 0;
	ULONG error = EventRegister(&provider, NULL, NULL, &handle);

	if (!error)
		error = EventWrite(handle, &event, 0, NULL);
	if (!error)
		error = EventUnregister(handle);
	if (error) {
		fprintf(stderr, "no event: error %u\n", (unsigned)error);
		return 1;
	}
	puts("wrote an event");
	return 0;
}
