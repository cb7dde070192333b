/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the life-cycle tests share: the program that controls the session, the program that writes, and its
 * plugin. Events say who wrote them; a log outside of any ring says what was written.
 */
#ifndef ETW_TESTS_RECORDING_LIFECYCLE_SHARED_H
#define ETW_TESTS_RECORDING_LIFECYCLE_SHARED_H

#include <stdint.h>

#include <guiddef.h>

#include "base/atomic.h"

#define LIFECYCLE_WRITERS 8192

/* A writer's log: one thread or one signal handler at a time; atomics. */
struct lifecycle_log {
	uint64_t done;    /* events that were accepted, as far as the function says it: 1 .. done */
	uint64_t refused; /* attempts that were refused, and are in the session's account */
	uint32_t process_id;
	uint32_t flag; /* a part's own */
};

/* What two programs share, in a memfd. */
struct lifecycle_shared {
	uint32_t
		request; /* atomic; control code + 1 that the writing program asks of the other; 0: none */
	uint32_t is_for_plugin;   /* of the request: the plugin's provider */
	uint32_t is_account_open; /* atomic; the functions' results do not say what was written */
	struct lifecycle_log logs[LIFECYCLE_WRITERS];
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
static const GUID lifecycle_class = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x08}};

/* The kinds of providers. */
enum lifecycle_kind {
	LIFECYCLE_MANIFEST,
	LIFECYCLE_TRACELOGGING,
	LIFECYCLE_CLASSIC,
	LIFECYCLE_KINDS,
};

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
	enum lifecycle_kind kind;
	enum lifecycle_plugin_end end;
	uint32_t has_callback;
	uint32_t *callbacks; /* counts them; atomic */
};

/* Exported by the plugin. Returns 0 or 1. */
int lifecycle_plugin_run(const struct lifecycle_plugin_order *order);
typedef int (*lifecycle_plugin_run_function)(const struct lifecycle_plugin_order *order);

#endif
