/* SPDX-License-Identifier: MIT */
/* What the tests of the provider's room share: a host, a session, events that are taken and looked at. */
#ifndef ETW_TESTS_UNIT_PROVIDER_PROVIDER_TEST_H
#define ETW_TESTS_UNIT_PROVIDER_PROVIDER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/time.h"
#include "fake_host/fake_host.h"
#include "provider/event.h"
#include "provider/provider.h"
#include "provider/registrations.h"
#include "wire/etl_event.h"

#define TEST_BUFFER_BYTES 65528
#define REGISTER_WAIT_MS  200 /* what registering waits for a host at most */

static struct fake_host host;

static const GUID test_provider = {
	0x11223344, 0x5566, 0x7788, {0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x01}};
static const GUID test_activity = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

/* Events as they came out of the rings. */
struct taken {
	unsigned count;
	struct fake_event last;
};

static inline void keep_event(void *context, const struct fake_event *event)
{
	struct taken *taken = context;

	taken->count++;
	taken->last.bytes = event->bytes;
	memcpy(taken->last.data, event->data, event->bytes);
}

/* Takes everything; *@taken is what came and the last of it. */
static inline unsigned take_all(struct fake_session *session, struct taken *taken)
{
	taken->count = 0;
	assert_true(fake_session_take(session, keep_event, taken) >= 0);
	return taken->count;
}

static inline const struct wire_event_header *header_of(const struct taken *taken)
{
	return (const struct wire_event_header *)(const void *)taken->last.data;
}

/*
 * Registers and waits until the host, if one runs, knows of it: on a loaded machine that may take longer than
 * registering waits, and what the host then says would not be said to this registration.
 */
static inline void register_into(PENABLECALLBACK callback, void *context, REGHANDLE *ret_handle)
{
	const uint32_t registered = fake_host_registered(&host);

	assert_int_equal(etw_provider_register(&test_provider, callback, context, ret_handle), 0);
	if (host.is_running) /* the test's to change */
		assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
}

static inline uint64_t register_provider(PENABLECALLBACK callback, void *context)
{
	REGHANDLE handle = 0;

	register_into(callback, context, &handle);
	return handle;
}

/* One event of a level and keyword, with a payload of 8 bytes. */
static inline int write_number(uint64_t handle, uint8_t level, uint64_t keyword, uint64_t number)
{
	const EVENT_DESCRIPTOR descriptor = {.Id = 7, .Level = level, .Keyword = keyword};
	EVENT_DATA_DESCRIPTOR data;

	EventDataDescCreate(&data, &number, sizeof(number));
	return etw_provider_write(handle, &(struct etw_event_request){
						  .descriptor = &descriptor,
						  .data = &data,
						  .data_count = 1,
						  .activity = &test_activity,
					  });
}

static inline void open_session(struct fake_session *session, uint32_t id, uint32_t buffers,
				uint32_t flags)
{
	assert_int_equal(fake_session_open(session, id, buffers, TEST_BUFFER_BYTES, flags), 0);
}

/* A session is over: nobody may write to its memory when it is taken down. */
static inline void end_session(struct fake_session *session)
{
	assert_int_equal(fake_host_disable(&host, &test_provider, session), 0);
	assert_int_equal(fake_host_retire(&host, session), 0);
	fake_session_close(session);
}

static inline int start_host(void **state)
{
	(void)state;
	return fake_host_init(&host) < 0 || fake_host_start(&host) < 0 ? -1 : 0;
}

static inline int end_host(void **state)
{
	(void)state;
	fake_host_leave(&host);
	fake_host_done(&host);
	return 0;
}

#endif
