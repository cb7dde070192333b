/* SPDX-License-Identifier: MIT */
/* evntprov.h as a program sees it: the codes of its functions, and that events arrive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <evntcons.h>
#include <evntprov.h>
#include <winerror.h>

#include "fake_host/fake_host.h"
#include "wire/etl_event.h"

#define BUFFER_BYTES 65528

static const GUID provider = {0x5EED, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
static const EVENT_DESCRIPTOR descriptor = {.Id = 3, .Level = 4, .Keyword = 2};

static struct fake_host host;
static struct fake_session session;
static struct fake_event last;
static REGHANDLE handle;

static void keep_last(void *context, const struct fake_event *event)
{
	(void)context;
	last.bytes = event->bytes;
	memcpy(last.data, event->data, event->bytes);
}

static int64_t take(void)
{
	return fake_session_take(&session, keep_last, NULL);
}

static const struct wire_event_header *header(void)
{
	return (const struct wire_event_header *)(const void *)last.data;
}

static int begin(void **state)
{
	const uint32_t registered = fake_host_registered(&host);

	(void)state;
	/* On a loaded machine EventRegister may return before the host knows of it. */
	if (fake_session_open(&session, 1, 4, BUFFER_BYTES, WIRE_RING_ONE_STREAM) < 0 ||
	    EventRegister(&provider, NULL, NULL, &handle) ||
	    fake_host_wait_registered(&host, registered + 1))
		return -1;
	return fake_host_enable(&host, &provider, &session, (struct fake_wish){.level = 5});
}

static int end(void **state)
{
	(void)state;
	if (EventUnregister(handle) || fake_host_disable(&host, &provider, &session) ||
	    fake_host_retire(&host, &session))
		return -1;
	fake_session_close(&session);
	return 0;
}

static void test_evntprov__arguments_of_registering(void **state)
{
	REGHANDLE unused = 5;

	(void)state;
	assert_int_equal(EventRegister(NULL, NULL, NULL, &unused), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventRegister(&provider, NULL, NULL, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventUnregister(0), ERROR_INVALID_HANDLE);
	assert_int_equal(EventUnregister(12345), ERROR_INVALID_HANDLE);
}

static void test_evntprov__arguments_of_writing(void **state)
{
	EVENT_DATA_DESCRIPTOR data[MAX_EVENT_DATA_DESCRIPTORS + 1];

	(void)state;
	for (size_t i = 0; i < MAX_EVENT_DATA_DESCRIPTORS + 1; i++)
		EventDataDescCreate(&data[i], "x", 1);
	assert_int_equal(EventWrite(0, &descriptor, 0, NULL), ERROR_INVALID_HANDLE);
	assert_int_equal(EventWriteString(0, 1, 1, (PCWSTR)u"x"), ERROR_INVALID_HANDLE);
	assert_int_equal(EventWrite(handle, NULL, 0, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventWrite(handle, &descriptor, 1, NULL), ERROR_INVALID_PARAMETER);
	assert_int_equal(EventWrite(handle, &descriptor, MAX_EVENT_DATA_DESCRIPTORS + 1, data),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventWrite(handle, &descriptor, MAX_EVENT_DATA_DESCRIPTORS, data),
			 ERROR_SUCCESS);
	assert_int_equal(EventWriteEx(handle, &descriptor, 0, 4, NULL, NULL, 0, NULL),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventWriteEx(handle, &descriptor, 1, 0, NULL, NULL, 0, NULL),
			 ERROR_SUCCESS);
	assert_int_equal(EventWriteString(handle, 1, 1, NULL), ERROR_INVALID_PARAMETER);
	assert_false(EventEnabled(handle, NULL));
	assert_int_equal(take(), 1);
}

static void test_evntprov__what_does_not_fit(void **state)
{
	static uint8_t bytes[65536];
	EVENT_DATA_DESCRIPTOR data;
	ULONG error;

	(void)state;
	EventDataDescCreate(&data, bytes, sizeof(bytes));
	assert_int_equal(EventWrite(handle, &descriptor, 1, &data), ERROR_ARITHMETIC_OVERFLOW);
	EventDataDescCreate(&data, bytes, 65535 - 0x50);
	assert_int_equal(EventWrite(handle, &descriptor, 1, &data), ERROR_MORE_DATA);
	EventDataDescCreate(&data, bytes, 60000);
	for (int i = 0; (error = EventWrite(handle, &descriptor, 1, &data)) == 0; i++)
		assert_true(i < 4);
	assert_int_equal(error, ERROR_NOT_ENOUGH_MEMORY);
	assert_int_equal(take(), 4);
	assert_int_equal(fake_session_lost(&session), 2);
}

static void test_evntprov__what_nobody_wants_succeeds(void **state)
{
	(void)state;
	assert_int_equal(fake_host_disable(&host, &provider, &session), 0);
	assert_int_equal(EventWrite(handle, NULL, 1, NULL), ERROR_SUCCESS);
	assert_int_equal(EventWriteString(handle, 1, 1, NULL), ERROR_SUCCESS);
	assert_false(EventEnabled(handle, &descriptor));
	assert_false(EventProviderEnabled(handle, 0, 0));
	assert_int_equal(fake_host_enable(&host, &provider, &session,
					  (struct fake_wish){.level = 4, .match_any = 2}),
			 0);
	assert_true(EventEnabled(handle, &descriptor));
	assert_true(EventProviderEnabled(handle, 4, 2));
	assert_false(EventProviderEnabled(handle, 5, 2));
	assert_false(EventProviderEnabled(handle, 4, 1));
	assert_false(EventProviderEnabled(0, 0, 0));
}

static void test_evntprov__activity_ids_go_into_the_header(void **state)
{
	static const GUID none;
	static const GUID related = {9, 9, 9, {9}};
	GUID own, other;

	(void)state;
	assert_int_equal(EventWrite(handle, &descriptor, 0, NULL), ERROR_SUCCESS);
	assert_int_equal(take(), 1);
	assert_memory_equal(header()->activity, &none, 16);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &own), 0);
	other = own;
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_GET_SET_ID, &other), 0);
	assert_int_equal(EventWriteTransfer(handle, &descriptor, NULL, &related, 0, NULL), 0);
	assert_int_equal(take(), 1);
	assert_memory_equal(header()->activity, &own, 16);
	assert_memory_equal(last.data + 0x58, &related, 16);
	assert_int_equal(EventWriteEx(handle, &descriptor, 0, EVENT_WRITE_FLAG_NO_FAULTING,
				      &related, NULL, 0, NULL),
			 0);
	assert_int_equal(take(), 1);
	assert_memory_equal(header()->activity, &related, 16);
	assert_int_equal(EventActivityIdControl(EVENT_ACTIVITY_CTRL_SET_ID, &other), 0);
}

static void test_evntprov__a_string_is_a_whole_event(void **state)
{
	static const uint8_t text[] = {'H', 0, 'i', 0, 0, 0};

	(void)state;
	assert_int_equal(EventWriteString(handle, 3, 8, (PCWSTR)u"Hi"), ERROR_SUCCESS);
	assert_int_equal(take(), 1);
	assert_int_equal(last.bytes, 0x50 + sizeof(text));
	assert_memory_equal(last.data + 0x50, text, sizeof(text));
	assert_int_equal(le16_get(header()->flags), EVENT_HEADER_FLAG_STRING_ONLY);
	assert_int_equal(header()->level, 3);
	assert_int_equal(le64_get(header()->keyword), 8);
	assert_int_equal(le16_get(header()->id), 0);
}

static void test_evntprov__information_classes(void **state)
{
	uint8_t traits[] = {4, 0, 'P', 0};
	BOOLEAN yes = TRUE;

	(void)state;
	assert_int_equal(EventSetInformation(handle, EventProviderBinaryTrackInfo, NULL, 0),
			 ERROR_SUCCESS);
	assert_int_equal(EventSetInformation(0, EventProviderBinaryTrackInfo, NULL, 0),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventSetInformation(handle, EventProviderSetReserved1, NULL, 0),
			 ERROR_NOT_SUPPORTED);
	assert_int_equal(EventSetInformation(handle, MaxEventInfo, NULL, 0), ERROR_NOT_SUPPORTED);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType, &yes, 1),
			 ERROR_SUCCESS);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType, NULL, 1),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventSetInformation(handle, EventProviderUseDescriptorType, &yes, 3),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventSetInformation(handle, EventProviderSetTraits, NULL, 4),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventSetInformation(handle, EventProviderSetTraits, traits, 3),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(EventSetInformation(0, EventProviderSetTraits, traits, sizeof(traits)),
			 ERROR_INVALID_PARAMETER);
	assert_int_equal(
		EventSetInformation(handle, EventProviderSetTraits, traits, sizeof(traits)),
		ERROR_SUCCESS);
	assert_int_equal(EventWrite(handle, &descriptor, 0, NULL), ERROR_SUCCESS);
	assert_int_equal(take(), 1);
	assert_memory_equal(last.data + 0x58, traits, sizeof(traits));
}

static int start(void **state)
{
	(void)state;
	return fake_host_init(&host) < 0 || fake_host_start(&host) < 0 ? -1 : 0;
}

static int stop(void **state)
{
	(void)state;
	fake_host_leave(&host);
	fake_host_done(&host);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_evntprov__arguments_of_registering),
		TEST(test_evntprov__arguments_of_writing),
		TEST(test_evntprov__what_does_not_fit),
		TEST(test_evntprov__what_nobody_wants_succeeds),
		TEST(test_evntprov__activity_ids_go_into_the_header),
		TEST(test_evntprov__a_string_is_a_whole_event),
		TEST(test_evntprov__information_classes),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
