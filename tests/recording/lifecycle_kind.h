/* SPDX-License-Identifier: MIT */
/*
 * The kinds of providers behind one set of functions, so that each part of the life-cycle tests runs with all of them:
 * EventWrite(), TraceLoggingWrite(), and TraceEvent() with TraceMessage() in turn. In the program and in its plugin.
 */
#ifndef ETW_TESTS_RECORDING_LIFECYCLE_KIND_H
#define ETW_TESTS_RECORDING_LIFECYCLE_KIND_H

#include <stdbool.h>

#include "recording/lifecycle_shared.h"

#define LIFECYCLE_PLACES 3 /* registrations that one program has at once */

/* lifecycle_kind_of() - by its name: manifest, tracelogging, classic. LIFECYCLE_KINDS: none. */
enum lifecycle_kind lifecycle_kind_of(const char *name);

/* lifecycle_register() - in a place that is free. Without a callback, if the kind can do so. Returns whether it was. */
bool lifecycle_register(enum lifecycle_kind kind, unsigned place, bool has_callback);

/* lifecycle_unregister() - returns whether there was a registration. */
bool lifecycle_unregister(enum lifecycle_kind kind, unsigned place);

bool lifecycle_is_enabled(enum lifecycle_kind kind, unsigned place);

/* lifecycle_write() - a writer's next event; a number that was refused is tried again by the next call. */
void lifecycle_write(enum lifecycle_kind kind, unsigned place, struct lifecycle_log *log,
		     uint32_t writer);

/* Callbacks that came so far, with a state to write down, and all. */
uint32_t lifecycle_captures(void);
uint32_t lifecycle_callbacks(void);

#endif
