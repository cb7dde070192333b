/* SPDX-License-Identifier: MIT */
/*
 * write_manifest [COUNT] - a provider whose events are described by a manifest: etw-mc makes write_events.h of
 * write_events.man, with one function for each event. Its events are those of write_events.c. In CMake,
 * etw_add_manifest() makes the header; the Makefile here has a rule.
 */
#include <stdint.h>
#include <stdlib.h>

#include <write_events.h>

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10;

	if (EventRegisterLibetw_Examples_WriteEvents() != ERROR_SUCCESS)
		return 1;
	EventWriteStarted(count);
	for (uint32_t i = 0; i < count; i++)
		EventWriteWorked(i, i / 1000.0, "a piece of work");
	EventWriteStopped(count);
	EventUnregisterLibetw_Examples_WriteEvents();
	return 0;
}
