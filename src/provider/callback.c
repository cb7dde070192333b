/* SPDX-License-Identifier: MIT */
#include "provider/callback.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "provider/code.h"
#include "provider/lock.h"

/* Under the lock: registration whose callback runs, 0: none. */
static uint32_t running_number;

/* For good: another plugin may come to lie at the same place. */
static void drop_unloaded_callback(struct etw_registration *registration)
{
	if (registration->code && etw_code_object(registration->callback) != registration->code)
		registration->callback = NULL;
}

void etw_callback_run(struct etw_registration *registration, const struct etw_callback_news *news)
{
	PENABLECALLBACK callback;
	void *context = registration->context;
	const uint64_t origin = load_relaxed(&etw_fork_page->origin);

	drop_unloaded_callback(registration);
	callback = registration->callback;
	if (!callback)
		return;
	running_number = etw_registration_number(registration);
	etw_provider_unlock();
	callback(&news->source, news->control_code, news->level, news->match_any, news->match_all,
		 news->filter, context);
	/* A child that was forked in there has come out of it: it has no host to listen to. */
	if (load_relaxed(&etw_fork_page->origin) != origin)
		(void)syscall(SYS_exit, 0);
	etw_provider_lock();
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
