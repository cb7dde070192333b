/* SPDX-License-Identifier: MIT */
/* The traces that the consumer's conformance tests read, made into a folder of their own. */
#ifndef ETW_TESTS_CONFORMANCE_TRACES_H
#define ETW_TESTS_CONFORMANCE_TRACES_H

#include <guiddef.h>

#define TRACE_PATH_BYTES 256

#define TRACE_EVENTS     300 /* of each of the two plain traces, the header events aside */
#define TRACE_STEP_RAW   1000
#define TRACE_T0_RAW     1000000
#define TRACE_START_FT   INT64_C(132999999880000000)
#define TRACE_BUILD      19045
#define TRACE_PROCESSORS 2

extern const GUID trace_provider; /* of the modern events */
extern const GUID trace_class;    /* of the classic ones */

/* A folder with plain.etl (events of both kinds in turn), later.etl (the same, half a step later),
 * lossy.etl (a buffer with every loss flag) and damaged.etl (no trace at all). */
struct trace_folder {
	char path[TRACE_PATH_BYTES];
};

void trace_folder_make(struct trace_folder *folder);
void trace_folder_remove(struct trace_folder *folder);

/* trace_path() - the path of a file in the folder; a static buffer, good until the next call but three. */
char *trace_path(const struct trace_folder *folder, const char *name);

#endif
