/* SPDX-License-Identifier: MIT */
#include "provider/callback.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <evntrace.h>
#include <wmistr.h>

#include "provider/code.h"
#include "provider/lock.h"

/* Under the lock: registration whose callback runs, 0: none. */
static uint32_t running_number;

/* What a callback needs, copied: the registration may go while it runs. */
struct call {
	PENABLECALLBACK callback; /* one of the two, or none */
	WMIDPREQUEST request;
	void *context;
	GUID provider;
};

static PENABLECALLBACK code_of(const struct etw_registration *registration)
{
	return registration->is_classic ? (PENABLECALLBACK)(void (*)(void))registration->request
					: registration->callback;
}

/* For good: another plugin may come to lie at the same place. */
static void drop_unloaded_callback(struct etw_registration *registration)
{
	if (!registration->code || etw_code_object(code_of(registration)) == registration->code)
		return;
	registration->callback = NULL;
	registration->request = NULL;
}

static WMIDPREQUESTCODE request_code(uint32_t control_code)
{
	switch (control_code) {
	case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
		return WMI_ENABLE_EVENTS;
	case EVENT_CONTROL_CODE_CAPTURE_STATE:
		return WMI_CAPTURE_STATE;
	default:
		return WMI_DISABLE_EVENTS;
	}
}

/* A classic provider hears of the session by a WNODE_HEADER. */
static uint32_t call_classic(const struct call *call, const struct etw_callback_news *news)
{
	WNODE_HEADER node = {
		.BufferSize = sizeof(node),
		.HistoricalContext = news->logger_handle,
		.Guid = call->provider,
		.Flags = WNODE_FLAG_TRACED_GUID,
	};
	ULONG bytes = sizeof(node);

	return call->request(request_code(news->control_code), call->context, &bytes, &node);
}

/* Returns what a classic provider's callback did; the others return nothing. */
static uint32_t run(const struct call *call, const struct etw_callback_news *news)
{
	if (call->request)
		return call_classic(call, news);
	call->callback(&news->source, news->control_code, news->level, news->match_any,
		       news->match_all, news->filter, call->context);
	return 0;
}

void etw_callback_run(struct etw_registration *registration, const struct etw_callback_news *news)
{
	const uint64_t origin = load_relaxed(&etw_fork_page->origin);
	const uint64_t words[2] = {load_relaxed(&registration->provider[0]),
				   load_relaxed(&registration->provider[1])};
	const uint32_t number = etw_registration_number(registration);
	struct call call;
	uint32_t result;

	drop_unloaded_callback(registration);
	call = (struct call){
		.callback = registration->callback,
		.request = registration->request,
		.context = registration->context,
	};
	if (!call.callback && !call.request)
		return;
	memcpy(&call.provider, words, sizeof(words));
	running_number = number;
	etw_provider_unlock();
	result = run(&call, news);
	/* A child that was forked in there has come out of it: it has no host to listen to. */
	if (load_relaxed(&etw_fork_page->origin) != origin)
		(void)syscall(SYS_exit, 0);
	etw_provider_lock();
	if (news->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
	    etw_registration_find(number) == registration)
		registration->request_result = result;
	running_number = 0;
	etw_provider_wake();
}

void etw_callback_await(uint32_t number)
{
	while (running_number == number)
		etw_provider_wait();
}

void etw_callback_reset_in_child(void)
{
	running_number = 0;
}
