/* SPDX-License-Identifier: MIT */
/* Activities of every kind, one within another: check_recorded.py knows which event belongs to which. */
#include <TraceLoggingActivity.h>

#include <utility>

TRACELOGGING_DEFINE_PROVIDER(activities, "Libetw.Test.Activities");

static const GUID first = {0xf1257, 0, 0, {0, 0, 0, 0, 0, 0, 0, 1}};

static void nested()
{
	TraceLoggingThreadActivity<activities, 0x20, WINEVENT_LEVEL_INFO> inner;

	TraceLoggingWriteStart(inner, "InnerStart", TraceLoggingValue(1, "Number"));
	TraceLoggingWrite(activities, "Inside");
}

static void moved()
{
	TraceLoggingActivity<activities> activity;
	TraceLoggingActivity<activities> later;

	activity.SetRelatedActivityId(first);
	TraceLoggingWriteStart(activity, "Start", TraceLoggingKeyword(0x40), TraceLoggingLevel(2));
	TraceLoggingActivity<activities> owner(std::move(activity));
	TraceLoggingWriteTagged(owner, "Tagged", TraceLoggingString("text", "Text"));
	later.SetRelatedActivity(owner);
	TraceLoggingWriteStart(later, "LaterStart");
	TraceLoggingWriteStop(later, "LaterStop");
	TraceLoggingWriteStop(owner, "Stop", TraceLoggingInt32(7, "Result"));
	TraceLoggingWrite(activities, "Outside");
}

struct methods {
	static int plain(int number)
	{
		TraceLoggingFunction(activities, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
				     TraceLoggingKeyword(0x80),
				     TraceLoggingInt32(number, "Number"));
		TraceLoggingWrite(activities, "Within");
		return number;
	}
};

template <typename T> static int generic(T value)
{
	TraceLoggingFunction(activities, TraceLoggingValue(value, "Value"));
	return methods::plain(static_cast<int>(value));
}

int main()
{
	if (TraceLoggingRegister(activities) != S_OK)
		return 1;
	{
		const TraceLoggingThreadActivityIdSetter setter(first);

		nested();
		TraceLoggingWrite(activities, "Again");
	}
	moved();
	(void)generic(5.0);
	TraceLoggingUnregister(activities);
	return 0;
}
