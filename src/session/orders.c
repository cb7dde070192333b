/* SPDX-License-Identifier: MIT */
/* Orders to the session's thread; see session/orders.h. */
#include "session/orders.h"

#include <errno.h>
#include <stddef.h>

#include "base/atomic.h"
#include "base/macros.h"

/* Lies on the stack of the thread that waits for it. */
struct etw_order {
	struct etw_order *next;
	int (*run)(void *what);
	void *what;
	int result;
	bool is_done;
};

void etw_orders_init(struct etw_session_context *context, struct etw_session_orders *ret)
{
	*ret = (struct etw_session_orders){.context = context};
	pthread_mutex_init(&ret->lock, NULL);
	pthread_cond_init(&ret->done, NULL);
}

void etw_orders_done(struct etw_session_orders *orders)
{
	pthread_mutex_destroy(&orders->lock);
	pthread_cond_destroy(&orders->done);
}

/* Behind the others. Holding the lock. */
static void append(struct etw_session_orders *orders, struct etw_order *order)
{
	struct etw_order *last = orders->first;

	while (last && last->next)
		last = last->next;
	if (last)
		last->next = order;
	else
		store_relaxed(&orders->first, order);
}

int etw_orders_give(struct etw_session_orders *orders, int (*run)(void *what), void *what)
{
	struct etw_order order = {.run = run, .what = what, .result = -ESHUTDOWN};

	pthread_mutex_lock(&orders->lock);
	if (!orders->is_over) {
		append(orders, &order);
		etw_context_kick(orders->context);
		while (!order.is_done)
			pthread_cond_wait(&orders->done, &orders->lock);
	}
	pthread_mutex_unlock(&orders->lock);
	return order.result;
}

/* The first one leaves the list. Holding the lock. */
static struct etw_order *take(struct etw_session_orders *orders)
{
	struct etw_order *order = orders->first;

	if (order)
		store_relaxed(&orders->first, order->next);
	return order;
}

static void finish(struct etw_session_orders *orders, struct etw_order *order, int result)
{
	order->result = result;
	order->is_done = true;
	pthread_cond_broadcast(&orders->done);
}

bool etw_orders_carry_out(struct etw_session_orders *orders)
{
	struct etw_order *order;
	bool is_any = false;

	/* Whoever orders wakes the thread behind it, so an order that is not seen here is seen in the next round. */
	if (LIKELY(!load_relaxed(&orders->first)))
		return false;
	pthread_mutex_lock(&orders->lock);
	while ((order = take(orders))) {
		int result;

		pthread_mutex_unlock(&orders->lock);
		result = order->run(order->what);
		pthread_mutex_lock(&orders->lock);
		finish(orders, order, result);
		is_any = true;
	}
	pthread_mutex_unlock(&orders->lock);
	return is_any;
}

void etw_orders_end(struct etw_session_orders *orders)
{
	struct etw_order *order;

	pthread_mutex_lock(&orders->lock);
	orders->is_over = true;
	while ((order = take(orders)))
		finish(orders, order, -ESHUTDOWN);
	pthread_mutex_unlock(&orders->lock);
}
