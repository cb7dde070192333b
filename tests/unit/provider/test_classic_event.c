/* SPDX-License-Identifier: MIT */
/* The write path of classic events: what their place says, how large they may be, and each error. */
#include "provider/classic_event.h"

#include <errno.h>
#include <unistd.h>

#include "classic_test.h"

#define SESSION_ID 0x40007
#define LOGGER_ID  7
#define EVENTS_MAX 100000

static struct fake_session session;
static struct taken taken;
static TRACEHANDLE provider;
static uint32_t filled; /* times that fill() was called */

struct filling {
	uint32_t bytes;
	struct etw_classic_place place;
};

/* As a ring's reader expects it, with a pattern behind. */
static void fill(const struct etw_classic_place *place, void *context)
{
	struct filling *filling = context;
	struct wire_full_header head = {
		.bytes = le16_of((uint16_t)filling->bytes),
		.header_type = WIRE_HEADER_FULL64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.thread_id = le32_of(place->thread_id),
		.process_id = le32_of(place->process_id),
		.time_raw = le64_of((uint64_t)place->time_raw),
	};

	filled++;
	filling->place = *place;
	memset(place->at, 0x5A, filling->bytes);
	memcpy(place->at, &head, sizeof(head));
}

static int write_bytes(uint32_t bytes, struct filling *filling)
{
	*filling = (struct filling){.bytes = bytes};
	return etw_classic_write(LOGGER_ID, bytes, fill, filling);
}

/* First of all: nothing of the library has been used. */
static void test_classic_event__before_any_registration(void **state)
{
	struct filling filling;

	(void)state;
	assert_int_equal(write_bytes(100, &filling), -EBADF);
	assert_int_equal(filled, 0);
}

static int begin(void **state)
{
	(void)state;
	filled = 0;
	provider = register_classic(&classic_provider);
	open_session(&session, SESSION_ID, 2, WIRE_RING_ONE_STREAM);
	enable_provider(&classic_provider, &session);
	return 0;
}

static int end(void **state)
{
	(void)state;
	disable_provider(&classic_provider, &session);
	retire_session(&session);
	assert_int_equal(etw_provider_unregister_classic(provider), 0);
	return 0;
}

static void test_classic_event__says_who_wrote_it(void **state)
{
	struct filling first, second;

	(void)state;
	assert_int_equal(write_bytes(sizeof(struct wire_full_header) + 5, &first), 0);
	assert_int_equal(write_bytes(sizeof(struct wire_full_header), &second), 0);
	assert_int_equal(filled, 2);
	assert_int_equal((uintptr_t)first.place.at % 8, 0);
	assert_int_equal((uintptr_t)second.place.at % 8, 0);
	assert_int_equal(first.place.thread_id, gettid());
	assert_int_equal(first.place.process_id, getpid());
	assert_true(first.place.time_raw > 0 && second.place.time_raw >= first.place.time_raw);
	assert_int_equal(take_all(&session, &taken), 2);
	assert_int_equal(taken.last.bytes, sizeof(struct wire_full_header));
	assert_int_equal(fake_session_lost(&session), 0);
}

/* All sizes around the end of a buffer. */
static void test_classic_event__as_large_as_a_buffer(void **state)
{
	struct filling filling;

	(void)state;
	for (uint32_t bytes = TEST_BUFFER_BYTES - 16; bytes <= TEST_BUFFER_BYTES; bytes++) {
		assert_int_equal(write_bytes(bytes, &filling), 0);
		assert_int_equal(take_all(&session, &taken), 1);
		assert_int_equal(taken.last.bytes, bytes);
		assert_int_equal(taken.last.data[bytes - 1], 0x5A);
	}
	filled = 0;
	for (uint32_t bytes = TEST_BUFFER_BYTES + 1; bytes <= 65535; bytes++)
		assert_int_equal(write_bytes(bytes, &filling), -EMSGSIZE);
	assert_int_equal(filled, 0);
	assert_int_equal(take_all(&session, &taken), 0);
	assert_int_equal(fake_session_lost(&session), 65535 - TEST_BUFFER_BYTES);
}

/* Both buffers are full, and nobody takes anything: refused and counted; then there is room again. */
static void test_classic_event__without_a_free_buffer(void **state)
{
	struct filling filling;
	unsigned written = 0;
	int r;

	(void)state;
	while ((r = write_bytes(1000, &filling)) == 0 && written < EVENTS_MAX)
		written++;
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(written, 2 * (TEST_BUFFER_BYTES / 1000));
	assert_int_equal(filled, written);
	assert_int_equal(fake_session_lost(&session), 1);
	assert_int_equal(take_all(&session, &taken), written);
	assert_int_equal(write_bytes(1000, &filling), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(fake_session_lost(&session), 1);
}

static void test_classic_event__to_a_session_that_is_not_its(void **state)
{
	struct filling filling = {.bytes = 100};

	(void)state;
	assert_int_equal(etw_classic_write(0, 100, fill, &filling), -EBADF);
	assert_int_equal(etw_classic_write(LOGGER_ID + 1, 100, fill, &filling), -EBADF);
	assert_int_equal(etw_classic_write(SESSION_ID, 100, fill, &filling), -EBADF);
	disable_provider(&classic_provider, &session);
	assert_int_equal(write_bytes(100, &filling), -EBADF);
	assert_int_equal(filled, 0);
	enable_provider(&classic_provider, &session);
	assert_int_equal(write_bytes(100, &filling), 0);
	assert_int_equal(take_all(&session, &taken), 1);
	assert_int_equal(fake_session_lost(&session), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classic_event__before_any_registration),
		cmocka_unit_test_setup_teardown(test_classic_event__says_who_wrote_it, begin, end),
		cmocka_unit_test_setup_teardown(test_classic_event__as_large_as_a_buffer, begin,
						end),
		cmocka_unit_test_setup_teardown(test_classic_event__without_a_free_buffer, begin,
						end),
		cmocka_unit_test_setup_teardown(test_classic_event__to_a_session_that_is_not_its,
						begin, end),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
