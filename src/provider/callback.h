/* SPDX-License-Identifier: MIT */
/*
 * The enable callbacks of registrations: one runs at a time, without the lock, on the listener's thread, or on that of
 * a program that enables a provider in a private session or registers one that such a session wants. Who unregisters
 * waits for it.
 */
#ifndef ETW_PROVIDER_CALLBACK_H
#define ETW_PROVIDER_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include <evntprov.h>

#include "provider/registrations.h"

/* What a callback is told. */
struct etw_callback_news {
	uint32_t control_code;
	uint8_t level;
	uint64_t match_any, match_all;
	GUID source;
	EVENT_FILTER_DESCRIPTOR *filter; /* NULL: none */
	uint64_t logger_handle; /* for classic providers, which get nothing but this and the code */
};

/*
 * etw_callback_run() - runs a registration's callback, if it has one, when no other thread runs one. Holding the
 * lock, which is given up meanwhile: the registration may be gone afterwards. A callback whose plugin has
 * been unloaded is none any more. A callback may cause others, on its own thread.
 */
void etw_callback_run(struct etw_registration *registration, const struct etw_callback_news *news);

/*
 * etw_callback_await() - waits while the callback of a registration runs. Holding the lock, which is given up
 * meanwhile; at once on the thread that runs callbacks.
 *
 * @number: what hosts call the registration, which may be gone
 */
void etw_callback_await(uint32_t number);

/* etw_callback_is_caller() - whether the calling thread is in a callback. Holding the lock. */
bool etw_callback_is_caller(void);

/* etw_callback_adopt_thread() - the calling thread is the listener. Holding the lock. */
void etw_callback_adopt_thread(void);

/* etw_callback_reset_in_child() - in a forked child, whose parent runs the callback. Holding the lock. */
void etw_callback_reset_in_child(void);

#endif
