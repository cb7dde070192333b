/* SPDX-License-Identifier: MIT */
/* What lifecycle.c and its plugin share: events that say who wrote them, and a log outside of any ring. */
#ifndef ETW_TESTS_RECORDING_LIFECYCLE_SHARED_H
#define ETW_TESTS_RECORDING_LIFECYCLE_SHARED_H

#include <stdint.h>

#include <evntprov.h>

#include "base/atomic.h"

/* A writer's log: one thread or one signal handler at a time; atomics. */
struct lifecycle_log {
	uint64_t done;    /* events whose EventWrite returned success: 1 .. done */
	uint64_t refused; /* attempts whose EventWrite returned an error */
	uint32_t process_id;
	uint32_t reserved_pad;
};

struct lifecycle_payload {
	uint32_t writer;
	uint32_t process_id;
	uint64_t number; /* from 1 */
};

static const GUID lifecycle_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x06}};
static const GUID lifecycle_plugin_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x07}};

/* Writes the next event of a writer; a number that was refused is tried again by the next call. */
static inline void lifecycle_write(REGHANDLE provider, struct lifecycle_log *log, uint32_t writer)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	struct lifecycle_payload payload = {
		.writer = writer,
		.process_id = load_relaxed(&log->process_id),
		.number = load_relaxed(&log->done) + 1,
	};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &payload, sizeof(payload));
	if (EventWrite(provider, &descriptor, 1, &data) == 0)
		store_relaxed(&log->done, payload.number);
	else
		store_relaxed(&log->refused, load_relaxed(&log->refused) + 1);
}

/* What a plugin is told: see lifecycle_plugin.c. */
enum lifecycle_plugin_end {
	LIFECYCLE_UNREGISTER,    /* before it is unloaded */
	LIFECYCLE_IN_DESTRUCTOR, /* while it is */
	LIFECYCLE_FORGET,        /* not at all */
	LIFECYCLE_ENDS,
};

struct lifecycle_plugin_order {
	struct lifecycle_log *log;
	uint32_t writer;
	uint32_t events;
	enum lifecycle_plugin_end end;
	uint32_t has_callback;
	uint32_t *callbacks; /* counts them; atomic */
};

/* Exported by the plugin. Returns 0 or 1. */
int lifecycle_plugin_run(const struct lifecycle_plugin_order *order);
typedef int (*lifecycle_plugin_run_function)(const struct lifecycle_plugin_order *order);

#endif
