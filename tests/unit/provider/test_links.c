/* SPDX-License-Identifier: MIT */
/* The links of a process, in a runtime directory that no host was ever in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/time.h"
#include "provider/links.h"
#include "provider/lock.h"
#include "provider/poke.h"

static void test_links__one_for_each_place(void **state)
{
	(void)state;
	etw_provider_lock();
	assert_int_equal(etw_links_count(), 0);
	assert_int_equal(etw_links_open(), 0);
	assert_int_equal(etw_links_count(), 1); /* $ETW_RUNTIME_DIR is both instances' */
	assert_int_equal(etw_links_at(0)->state, ETW_LINK_UNKNOWN);
	/* Once: a program that changes its environment later keeps its links. */
	(void)unsetenv("ETW_RUNTIME_DIR");
	assert_int_equal(etw_links_open(), 0);
	assert_int_equal(etw_links_count(), 1);
	assert_false(etw_links_have_lost_socket());
	etw_provider_unlock();
}

static void test_links__look_again_where_no_page_is(void **state)
{
	struct etw_link *link = etw_links_at(0);

	(void)state;
	link->retry_ns = 5 * ETW_NS_PER_S;
	assert_int_equal(etw_links_due_ms(false, 3 * ETW_NS_PER_S), 2001);
	assert_int_equal(etw_links_due_ms(false, 6 * ETW_NS_PER_S), 1);
	link->state = ETW_LINK_CONNECTED; /* a host tells of its end itself */
	assert_true(etw_links_due_ms(true, 3 * ETW_NS_PER_S) == UINT64_MAX);
	link->state = ETW_LINK_UNKNOWN;
}

static void test_links__a_poke_ends_the_wait(void **state)
{
	const uint32_t seen = etw_poke_count();

	(void)state;
	etw_provider_lock();
	etw_poke_open();
	etw_poke();
	etw_provider_unlock();
	etw_links_wait(600000, seen); /* poked since: it does not begin to wait */
	etw_poke_take();
	etw_links_wait(1, etw_poke_count()); /* and ends with its time */
	etw_provider_lock();
	etw_poke_close();
	etw_provider_unlock();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links__one_for_each_place),
		cmocka_unit_test(test_links__look_again_where_no_page_is),
		cmocka_unit_test(test_links__a_poke_ends_the_wait),
	};

	(void)setenv("ETW_RUNTIME_DIR", "/nonexistent/etw", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
