/* SPDX-License-Identifier: MIT */
/* What the tests of classic providers share: registering one with a fake host, and enabling it. */
#ifndef ETW_TESTS_UNIT_PROVIDER_CLASSIC_TEST_H
#define ETW_TESTS_UNIT_PROVIDER_CLASSIC_TEST_H

#include "provider_test.h"

static const GUID classic_provider = {
	0x11223344, 0x5566, 0x7788, {0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF, 0x11}};

static inline ULONG WINAPI hear_nothing(WMIDPREQUESTCODE code, PVOID context, ULONG *bytes,
					PVOID buffer)
{
	(void)code;
	(void)context;
	(void)bytes;
	(void)buffer;
	return 0;
}

/* Returns when the host knows of it. */
static inline TRACEHANDLE register_classic(const GUID *provider)
{
	const struct etw_classic_request request = {.callback = hear_nothing};
	const uint32_t registered = fake_host_registered(&host);
	TRACEHANDLE handle = 0;
	uint32_t result = 4711;

	assert_int_equal(etw_provider_register_classic(provider, &request, &handle, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(fake_host_wait_registered(&host, registered + 1), 0);
	return handle;
}

static inline void enable_provider(const GUID *provider, struct fake_session *session)
{
	assert_int_equal(fake_host_enable(&host, provider, session, (struct fake_wish){.level = 5}),
			 0);
}

static inline void disable_provider(const GUID *provider, struct fake_session *session)
{
	assert_int_equal(fake_host_disable(&host, provider, session), 0);
}

/* A session is over: nobody may write to its memory when it is taken down. */
static inline void retire_session(struct fake_session *session)
{
	assert_int_equal(fake_host_retire(&host, session), 0);
	fake_session_close(session);
}

#endif
