/* SPDX-License-Identifier: MIT */
#include "provider/callback.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <evntrace.h>
#include <wmistr.h>

#include "provider/code.h"
#include "provider/lock.h"

/* A callback that runs, and below it the one that it was called in. On the stack of the thread that runs it. */
struct running {
	const struct running *below;
	uint32_t number; /* of the registration */
};

/* Under the lock. */
static const struct running *running; /* NULL: none */
static pthread_t runner;              /* whose stack these are on; while there are any */
static pthread_t listener;
static bool has_listener;

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

static bool is_listener(void)
{
	return has_listener && pthread_equal(pthread_self(), listener);
}

void etw_callback_adopt_thread(void)
{
	listener = pthread_self();
	has_listener = true;
}

bool etw_callback_is_caller(void)
{
	return running && pthread_equal(pthread_self(), runner);
}

/* Returns whether the registration is still there. */
static bool await_turn(const struct etw_registration *registration, uint32_t number)
{
	bool has_waited = false;

	while (running && !etw_callback_is_caller()) {
		etw_provider_wait();
		has_waited = true;
	}
	return !has_waited || etw_registration_find(number) == registration;
}

static uint32_t run_unlocked(const struct call *call, const struct etw_callback_news *news,
			     uint32_t number)
{
	const struct running own = {.below = running, .number = number};
	const uint64_t origin = load_relaxed(&etw_fork_page->origin);
	const bool is_listeners = is_listener();
	uint32_t result;

	running = &own;
	runner = pthread_self();
	etw_provider_unlock();
	result = run(call, news);
	/* A child that was forked in there has come out of it: it has no host to listen to. */
	if (is_listeners && load_relaxed(&etw_fork_page->origin) != origin)
		(void)syscall(SYS_exit, 0);
	etw_provider_lock();
	running = running == &own ? own.below : NULL; /* a child's has been forgotten */
	etw_provider_wake();
	return result;
}

void etw_callback_run(struct etw_registration *registration, const struct etw_callback_news *news)
{
	const uint32_t number = etw_registration_number(registration);
	const uint64_t words[2] = {load_relaxed(&registration->provider[0]),
				   load_relaxed(&registration->provider[1])};
	struct call call;
	uint32_t result;

	if (!await_turn(registration, number))
		return;
	drop_unloaded_callback(registration);
	call = (struct call){
		.callback = registration->callback,
		.request = registration->request,
		.context = registration->context,
	};
	if (!call.callback && !call.request)
		return;
	memcpy(&call.provider, words, sizeof(words));
	result = run_unlocked(&call, news, number);
	if (news->control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER &&
	    etw_registration_find(number) == registration)
		registration->request_result = result;
}

static bool is_running(uint32_t number)
{
	for (const struct running *i = running; i; i = i->below) {
		if (i->number == number)
			return true;
	}
	return false;
}

void etw_callback_await(uint32_t number)
{
	while (is_running(number) && !etw_callback_is_caller())
		etw_provider_wait();
}

void etw_callback_reset_in_child(void)
{
	running = NULL;
	has_listener = false;
}
