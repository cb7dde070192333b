/* SPDX-License-Identifier: MIT */
#include "daemon/inbox.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define THREADS 4
#define ITEMS   2000

struct numbered {
	struct etwd_inbox_item item; /* first */
	unsigned thread, number;
};

static struct etwd_inbox inbox;
static unsigned next_of[THREADS], handled;

static void handle(struct etwd_inbox_item *item)
{
	struct numbered *numbered = (struct numbered *)(void *)item;

	assert_int_equal(numbered->number, next_of[numbered->thread]++);
	handled++;
	free(numbered);
}

static void post(unsigned thread, unsigned number)
{
	struct numbered *numbered = calloc(1, sizeof(*numbered));

	numbered->item.handle = handle;
	numbered->thread = thread;
	numbered->number = number;
	etwd_inbox_post(&inbox, &numbered->item);
}

static void *post_many(void *context)
{
	for (unsigned i = 0; i < ITEMS; i++)
		post((unsigned)(uintptr_t)context, i);
	return NULL;
}

static void test_inbox__items_of_a_thread_keep_their_order(void **state)
{
	struct pollfd wait = {.events = POLLIN};
	pthread_t threads[THREADS];

	(void)state;
	assert_int_equal(etwd_inbox_init(&inbox), 0);
	wait.fd = inbox.event_fd;
	assert_int_equal(poll(&wait, 1, 0), 0);
	etwd_inbox_run(&inbox); /* nothing */
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_many, (void *)i), 0);
	while (handled < THREADS * ITEMS) {
		assert_int_equal(poll(&wait, 1, 120000), 1);
		etwd_inbox_run(&inbox);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_null(inbox.first);
	etwd_inbox_done(&inbox);
}

static void post_again(struct etwd_inbox_item *item)
{
	handled++;
	free(item);
	post(0, next_of[0]);
}

/* What is posted while items are handled is handled in the next run, which is woken. */
static void test_inbox__a_handler_may_post(void **state)
{
	struct etwd_inbox_item *item = calloc(1, sizeof(*item));
	struct pollfd wait = {.events = POLLIN};

	(void)state;
	handled = 0;
	assert_int_equal(etwd_inbox_init(&inbox), 0);
	wait.fd = inbox.event_fd;
	item->handle = post_again;
	etwd_inbox_post(&inbox, item);
	etwd_inbox_run(&inbox);
	assert_int_equal(handled, 1);
	assert_int_equal(poll(&wait, 1, 0), 1);
	etwd_inbox_run(&inbox);
	assert_int_equal(handled, 2);
	assert_int_equal(poll(&wait, 1, 0), 0);
	etwd_inbox_done(&inbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inbox__items_of_a_thread_keep_their_order),
		cmocka_unit_test(test_inbox__a_handler_may_post),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
