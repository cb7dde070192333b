/* SPDX-License-Identifier: MIT */
/* A process that writes from some threads, each with an account of its own. It may be stopped or killed at any time. */
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <evntprov.h>

#include "base/atomic.h"
#include "recording/storm_shared.h"

#define OTHER_UID    65534
#define EVENTS_BURST 16
#define PAUSE_US     1000
#define LOOK_US      1000

static REGHANDLE provider;

static void write_burst(struct storm_writer *self, struct storm_payload *payload)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, payload, sizeof(*payload));
	for (int i = 0; i < EVENTS_BURST; i++) {
		ULONG error;

		payload->number++;
		store_release(&self->is_inside, 1u);
		error = EventWrite(provider, &descriptor, 1, &data);
		add_acq_rel(error ? &self->refused : &self->succeeded, UINT64_C(1));
		store_release(&self->is_inside, 0u);
	}
}

struct thread {
	pthread_t handle;
	struct storm_writer *self;
	uint32_t place;
};

static void *write_on(void *context)
{
	const struct thread *thread = context;
	struct storm_writer *self = thread->self;
	struct storm_payload payload = {.writer = thread->place};
	uint32_t order;

	while ((order = load_acquire(&self->order)) != STORM_END) {
		uint32_t is_enabled = EventProviderEnabled(provider, 0, 0);

		if (order == STORM_PAUSE || !is_enabled) {
			store_release(&self->is_enabled, is_enabled);
			store_release(&self->is_paused, (uint32_t)(order == STORM_PAUSE));
			usleep(LOOK_US);
			continue;
		}
		store_release(&self->is_paused, 0u);
		store_release(&self->is_enabled, 1u);
		write_burst(self, &payload);
		usleep(PAUSE_US);
	}
	return NULL;
}

/* Every other process is another user's. */
int storm_write(struct storm_shared *shared, uint32_t place, uint32_t threads)
{
	struct thread own[STORM_THREADS_MAX];

	if (threads > STORM_THREADS_MAX || place > STORM_WRITERS_MAX - threads)
		return 2;
	if (geteuid() == 0 && place / threads % 2 &&
	    (setgroups(0, NULL) || setgid(OTHER_UID) || setuid(OTHER_UID)))
		return 1;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (EventRegister(&storm_provider, NULL, NULL, &provider))
		return 1;
	for (uint32_t i = 0; i < threads; i++) {
		own[i].place = place + i;
		own[i].self = &shared->writers[place + i];
		if (i && pthread_create(&own[i].handle, NULL, write_on, &own[i]))
			return 1;
	}
	(void)write_on(&own[0]);
	for (uint32_t i = 1; i < threads; i++)
		(void)pthread_join(own[i].handle, NULL);
	EventUnregister(provider);
	return 0;
}
