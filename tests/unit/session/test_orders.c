/* SPDX-License-Identifier: MIT */
/* Orders to a session's thread: carried out in turn, each with its own result, and refused when the session ends. */
#include "session/orders.h"

#include <sched.h>

#include "base/atomic.h"
#include "fixture.h"

#define GIVERS 4
#define EACH   50

struct scene {
	struct etw_session_context context;
	struct etw_session_orders orders;
	uint32_t given, refused; /* atomic */
	uint32_t run;            /* the owner's */
};

struct job {
	struct scene *scene;
	int result;
};

static void begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	etw_orders_init(&scene->context, &scene->orders);
}

static int run(void *what)
{
	struct job *job = what;

	job->scene->run++;
	return job->result;
}

static void *give(void *what)
{
	struct scene *scene = what;

	for (int i = 0; i < EACH; i++) {
		struct job job = {.scene = scene, .result = i};
		int result = etw_orders_give(&scene->orders, run, &job);

		if (result == -ESHUTDOWN)
			(void)add_relaxed(&scene->refused, 1u);
		else if (result == i)
			(void)add_relaxed(&scene->given, 1u);
	}
	return NULL;
}

static void test_orders__each_gets_its_result(void **state)
{
	static struct scene scene;
	pthread_t threads[GIVERS];

	(void)state;
	begin(&scene);
	assert_false(etw_orders_carry_out(&scene.orders));
	for (int i = 0; i < GIVERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, give, &scene), 0);
	while (scene.run < GIVERS * EACH) {
		(void)etw_orders_carry_out(&scene.orders);
		(void)sched_yield();
	}
	for (int i = 0; i < GIVERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(scene.given, GIVERS * EACH);
	/* Whoever orders wakes the thread. */
	assert_int_equal(scene.context.wake, GIVERS * EACH);
	etw_orders_done(&scene.orders);
}

static void test_orders__the_end_refuses_what_waits_and_what_comes(void **state)
{
	static struct scene scene;
	pthread_t thread;

	(void)state;
	begin(&scene);
	assert_int_equal(pthread_create(&thread, NULL, give, &scene), 0);
	while (load_relaxed(&scene.context.wake) == 0)
		(void)sched_yield();
	etw_orders_end(&scene.orders);
	pthread_join(thread, NULL);
	assert_int_equal(scene.refused, EACH);
	assert_int_equal(scene.run, 0);
	assert_false(etw_orders_carry_out(&scene.orders));
	etw_orders_done(&scene.orders);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders__each_gets_its_result),
		cmocka_unit_test(test_orders__the_end_refuses_what_waits_and_what_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
