/* SPDX-License-Identifier: MIT */
/*
 * Orders: what other threads want done by the session's thread, which owns most of a session. An order is a function
 * that the thread calls between two rounds, when all outputs are committed; whoever gives it waits for its result.
 *
 * Lock: `lock` owns the list, and is not held while an order runs.
 */
#ifndef ETW_SESSION_ORDERS_H
#define ETW_SESSION_ORDERS_H

#include <pthread.h>
#include <stdbool.h>

#include "session/common/context.h"

struct etw_order;

struct etw_session_orders {
	struct etw_session_context *context; /* borrowed: whose thread is woken */
	pthread_mutex_t lock;
	pthread_cond_t done;
	struct etw_order *first; /* borrowed from those who wait; atomic for a first look */
	bool is_over;            /* none is carried out any more */
};

/* etw_orders_init() - none. etw_orders_done() is for when the thread is joined. */
void etw_orders_init(struct etw_session_context *context, struct etw_session_orders *ret);
void etw_orders_done(struct etw_session_orders *orders);

/*
 * etw_orders_give() - has the session's thread call @run and waits for it.
 *
 * Returns what @run returns; -ESHUTDOWN when the session ends first. Any thread but the session's.
 */
int etw_orders_give(struct etw_session_orders *orders, int (*run)(void *what), void *what);

/* etw_orders_carry_out() - calls what was ordered. Returns whether there was anything. Owner thread. */
bool etw_orders_carry_out(struct etw_session_orders *orders);

/* etw_orders_end() - what is and will be ordered fails with -ESHUTDOWN. Owner thread. */
void etw_orders_end(struct etw_session_orders *orders);

#endif
