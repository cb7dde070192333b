/* SPDX-License-Identifier: MIT */
/* Ring sets that are taken away, given again, and given wrongly. */
#include "provider_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "provider/lock.h"
#include "provider/ring_sets.h"

static struct taken taken;

struct writer {
	pthread_t thread;
	uint64_t handle;
	uint32_t is_done; /* atomic */
	uint64_t written, refused;
};

static void *write_on(void *context)
{
	struct writer *writer = context;

	while (!load_relaxed(&writer->is_done)) {
		if (write_number(writer->handle, 1, 0, writer->written) == 0)
			writer->written++;
		else
			writer->refused++;
	}
	return NULL;
}

static void test_ring_sets__are_retired_while_threads_write(void **state)
{
	struct writer writers[3] = {{0}};
	struct fake_session session;
	uint64_t written = 0;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		writers[i].handle = register_provider(NULL, NULL);
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]),
				 0);
	}
	for (uint32_t i = 1; i <= 200; i++) {
		open_session(&session, i, 4, 0);
		assert_int_equal(fake_host_enable(&host, &test_provider, &session,
						  (struct fake_wish){.level = 5}),
				 0);
		(void)usleep(i % 7 * 100);
		if (i % 2) {
			/* While slots still name it. */
			assert_int_equal(fake_host_retire(&host, &session), 0);
			assert_int_equal(fake_host_disable(&host, &test_provider, &session), 0);
			assert_int_equal(fake_host_retire(&host, &session), 0);
			fake_session_close(&session);
		} else {
			end_session(&session);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		store_relaxed(&writers[i].is_done, 1u);
		assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
		written += writers[i].written;
		assert_int_equal(etw_provider_unregister(writers[i].handle), 0);
	}
	/* On a busy machine one of them may have had no turn while a session was there. */
	assert_true(written > 0);
}

static void test_ring_sets__when_its_session_is_over_a_set_takes_nothing_and_refuses_nothing(
	void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	struct fake_session session;

	(void)state;
	open_session(&session, 900, 4, 0);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5}),
		0);
	/* As a forked child sees it, which nobody tells: the page alone says so. */
	store_release(&etw_ring_set_page(&session.set)->refused, WIRE_RING_OVER);
	store_release(&etw_ring_set_page(&session.set)->is_retired, 1u);
	assert_int_equal(write_number(handle, 1, 0, 1), 0);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&session);
}

/* The same child, when the session goes on with other rings. Another session's set takes what it can. */
static void test_ring_sets__a_replaced_set_counts_what_nobody_takes(void **state)
{
	const uint64_t handle = register_provider(NULL, NULL);
	struct fake_session session, other;

	(void)state;
	open_session(&session, 902, 4, 0);
	open_session(&other, 903, 4, 0);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &session, (struct fake_wish){.level = 5}),
		0);
	store_release(&etw_ring_set_page(&session.set)->is_retired, 1u);
	assert_int_equal(write_number(handle, 1, 0, 1), -ENOBUFS);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&session.set)->refused), 1);
	assert_int_equal(
		fake_host_enable(&host, &test_provider, &other, (struct fake_wish){.level = 5}), 0);
	assert_int_equal(write_number(handle, 1, 0, 2), -ENOBUFS);
	assert_int_equal(load_relaxed(&etw_ring_set_page(&session.set)->refused), 2);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(take_all(&other, &taken), 1);
	(void)or_acq_rel(&etw_ring_set_page(&session.set)->refused, WIRE_RING_OVER);
	assert_int_equal(write_number(handle, 1, 0, 3), 0);
	assert_int_equal(take_all(&other, &taken), 1);
	assert_int_equal(etw_provider_unregister(handle), 0);
	end_session(&other);
	end_session(&session);
}

static void test_ring_sets__the_same_memory_is_mapped_once(void **state)
{
	const struct wire_clock_page *clock, *same;
	struct etw_ring_mapping *first;
	struct fake_session session;
	int zero = memfd_create("zero", MFD_CLOEXEC);

	(void)state;
	open_session(&session, 901, 4, 0);
	etw_provider_lock();
	assert_int_equal(etw_provider_ring_sets_clock(1, host.clock_fd, &clock), 0);
	assert_int_equal(etw_provider_ring_sets_clock(1, host.clock_fd, &same), 0);
	assert_ptr_equal(clock, same);
	assert_int_equal(etw_provider_ring_sets_clock(1, zero, &same), -EPROTO);
	assert_int_equal(etw_provider_ring_sets_clock(1, -1, &same), -EBADF);
	assert_int_equal(etw_provider_ring_sets_add(1, 5, &session.fds, clock), 0);
	assert_int_equal(etw_provider_ring_sets_add(1, 5, &session.fds, clock), -EPROTO);
	assert_int_equal(etw_provider_ring_sets_add(1, 0, &session.fds, clock), -EPROTO);
	assert_int_equal(
		etw_provider_ring_sets_add(1, 6, &(struct etw_ring_set_fds){zero, zero}, clock),
		-EPROTO);
	assert_int_equal(
		etw_provider_ring_sets_add(1, 6, &(struct etw_ring_set_fds){-1, -1}, clock),
		-EBADF);
	first = etw_provider_ring_sets_find(1, 5);
	assert_non_null(first);
	assert_null(etw_provider_ring_sets_find(0, 5));
	assert_null(etw_provider_ring_sets_find(1, 6));
	assert_true(etw_provider_ring_sets_has(1));
	etw_provider_ring_sets_forget_numbers(1);
	assert_null(etw_provider_ring_sets_find(1, 5));
	assert_int_equal(etw_provider_ring_sets_add(1, 17, &session.fds, clock), 0);
	assert_ptr_equal(etw_provider_ring_sets_find(1, 17), first);
	assert_null(etw_provider_ring_sets_unannounced(1, NULL));
	etw_provider_ring_sets_forget_numbers(1);
	assert_ptr_equal(etw_provider_ring_sets_unannounced(1, NULL), first);
	assert_null(etw_provider_ring_sets_unannounced(1, first));
	assert_int_equal(etw_provider_ring_sets_retire(first), 0);
	assert_false(etw_provider_ring_sets_has(1));
	/* Retired for good: the same memory is mapped anew. */
	assert_int_equal(etw_provider_ring_sets_add(1, 18, &session.fds, clock), 0);
	assert_int_equal(etw_provider_ring_sets_retire(etw_provider_ring_sets_find(1, 18)), 0);
	etw_provider_unlock();
	fake_session_close(&session);
	(void)close(zero);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_sets__are_retired_while_threads_write),
		cmocka_unit_test(
			test_ring_sets__when_its_session_is_over_a_set_takes_nothing_and_refuses_nothing),
		cmocka_unit_test(test_ring_sets__a_replaced_set_counts_what_nobody_takes),
		cmocka_unit_test(test_ring_sets__the_same_memory_is_mapped_once),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
