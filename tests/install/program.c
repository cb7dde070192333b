/* SPDX-License-Identifier: MIT */
/*
 * The smallest program that needs both halves of the library: an activity id comes from
 * libetw-provider, opening a trace from libetw-core. Also compiled as C++.
 */
#include <evntprov.h>
#include <evntrace.h>
#include <stdio.h>
#include <string.h>
#include <winerror.h>

#ifdef WIDE_IS_16_BITS
static_assert(sizeof(wchar_t) == 2, "the compiler's flags came along");
#ifndef UNICODE
#error "UNICODE did not come along"
#endif
#endif

int main(void)
{
	static char nothing[] = "no such file.etl";
	EVENT_TRACE_LOGFILEA logfile;
	GUID activity;

	memset(&activity, 0, sizeof(activity));
	if (EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &activity) != ERROR_SUCCESS ||
	    !activity.Data1) {
		fprintf(stderr, "no activity id\n");
		return 1;
	}
	memset(&logfile, 0, sizeof(logfile));
	logfile.LogFileName = nothing;
	if (OpenTraceA(&logfile) != INVALID_PROCESSTRACE_HANDLE) {
		fprintf(stderr, "a file that does not exist was opened\n");
		return 1;
	}
	puts("installed and linked");
	return 0;
}
