/* SPDX-License-Identifier: MIT */
/* See consuming.h. */
#include "recording/consuming.h"

#include <string.h>

#include "base/atomic.h"
#include "recording/numbered.h"
#include "recording/support.h"

static void WINAPI on_event(PEVENT_RECORD record)
{
	struct consuming *consuming = record->UserContext;

	if (!memcmp(&record->EventHeader.ProviderId, consuming->provider, sizeof(GUID)))
		(void)add_relaxed(&consuming->events, 1u);
}

static void *consume(void *context)
{
	struct consuming *consuming = context;

	consuming->error = ProcessTrace(&consuming->trace, 1, NULL, NULL);
	return NULL;
}

void consuming_begin(struct consuming *consuming, const GUID *provider, const char *name)
{
	*consuming = (struct consuming){.provider = provider};
	consuming->trace = live_open(name, on_event, consuming);
	if (pthread_create(&consuming->thread, NULL, consume, consuming))
		fail("no thread");
}

void consuming_await(const struct consuming *consuming, uint32_t count)
{
	const struct wait wait = wait_for("a consumer does not get what was written");

	while (load_relaxed(&consuming->events) < count)
		wait_on(&wait);
}

void consuming_finish(struct consuming *consuming, uint32_t expected)
{
	pthread_join(consuming->thread, NULL);
	CloseTrace(consuming->trace);
	if (consuming->error)
		fail("ProcessTrace: error %u", (unsigned)consuming->error);
	if (consuming->events != expected)
		fail("a consumer got %u events, not %u", consuming->events, expected);
}
