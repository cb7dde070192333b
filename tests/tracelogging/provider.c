/* SPDX-License-Identifier: MIT */
/* The body of a published TraceLogging program, without its <windows.h>; the id is made of the name. */
#include <TraceLoggingProvider.h>

TRACELOGGING_DECLARE_PROVIDER(MyProvider);
TRACELOGGING_DEFINE_PROVIDER(MyProvider, "MyCompany.MyProvider", /* {GUID} */);

int main()
{
	TraceLoggingRegister(MyProvider);
	TraceLoggingWrite(MyProvider, "MyEvent", TraceLoggingString("Hello from ETW", "Message"));
	TraceLoggingUnregister(MyProvider);
	return 0;
}
