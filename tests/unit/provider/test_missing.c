/* SPDX-License-Identifier: MIT */
#include "provider_test.h"

#include <errno.h>

#include "provider/missing.h"
#include "ring/writer.h"

static void test_missing__a_set_refuses_and_counts(void **state)
{
	const struct etw_ring_mapping *ring = etw_missing_find(0, 5, -ENOMEM);
	struct etw_ring_span span;

	(void)state;
	assert_ptr_equal(etw_missing_find(0, 5, -ENOMEM), ring);
	assert_int_equal(etw_ring_reserve(&ring->set, NULL, 100, &span), -ESTALE);
	assert_int_equal(etw_ring_refuse(&ring->set), -ENOBUFS);
	assert_int_equal(etw_missing_count(ring), 1);
}

static void test_missing__the_host_is_told_what_is_new(void **state)
{
	const struct etw_ring_mapping *ring = etw_missing_find(1, 6, -EMFILE);
	struct wire_undelivered told;
	int status;

	(void)state;
	assert_true(etw_missing_next(1, &told, &status));
	assert_int_equal(told.session_id, 6);
	assert_int_equal(told.events, 0);
	assert_int_equal(status, -EMFILE);
	assert_false(etw_missing_next(1, &told, &status));
	(void)etw_ring_refuse(&ring->set);
	(void)etw_ring_refuse(&ring->set);
	assert_true(etw_missing_next(1, &told, &status));
	assert_int_equal(told.events, 2);
	(void)etw_ring_refuse(&ring->set);
	etw_missing_forget_told(1); /* another host */
	assert_true(etw_missing_next(1, &told, &status));
	assert_int_equal(told.events, 3);
	assert_false(etw_missing_next(1, &told, &status));
}

static void test_missing__the_oldest_gives_its_place_away(void **state)
{
	const struct etw_ring_mapping *first = etw_missing_find(1, 1000, 0);
	const struct etw_ring_mapping *last = NULL;

	(void)state;
	for (uint32_t id = 1001; id <= 1000 + ETW_MISSING_SESSIONS; id++)
		last = etw_missing_find(1, id, 0);
	assert_ptr_equal(first, last);
}

/* A session whose rings the host does not give: EventWrite says that the event is lost. */
static void test_missing__writes_are_refused_while_no_rings_come(void **state)
{
	struct fake_session session = {.id = 9, .fds = {-1, -1}}; /* no set is given for it */
	uint64_t handle;

	(void)state;
	handle = register_provider(NULL, NULL);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5}),
		-ENOENT);
	assert_true(etw_provider_wants(handle, 1, 0));
	assert_int_equal(write_number(handle, 1, 0, 1), -ENOBUFS);
	assert_int_equal(etw_provider_unregister(handle), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing__a_set_refuses_and_counts),
		cmocka_unit_test(test_missing__the_host_is_told_what_is_new),
		cmocka_unit_test(test_missing__the_oldest_gives_its_place_away),
		cmocka_unit_test(test_missing__writes_are_refused_while_no_rings_come),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
