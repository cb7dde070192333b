/* SPDX-License-Identifier: MIT */
/* Text of four-byte characters, which does not compile: check_fields takes one FIELD after the other. */
#include <wchar.h>

#include <TraceLoggingProvider.h>

TRACELOGGING_DEFINE_PROVIDER(provider, "Libetw.Test.Refused");

extern void refused(const wchar_t *text);

void refused(const wchar_t *text)
{
	(void)text;
	TraceLoggingWrite(provider, "Event", FIELD);
}
