/* SPDX-License-Identifier: MIT */
/* The bytes of events, and what becomes of those that do not fit. */
#include "provider_test.h"

#include <errno.h>
#include <unistd.h>

#include <evntcons.h>

#define EVENTS_MAX 100000 /* more than the small sessions hold */

static struct taken taken;

static const EVENT_DESCRIPTOR descriptor = {.Id = 0x1234,
					    .Version = 5,
					    .Channel = 11,
					    .Level = 4,
					    .Opcode = 9,
					    .Task = 0x4321,
					    .Keyword = 0x8000000000000011};

static int write_data(uint64_t handle, EVENT_DATA_DESCRIPTOR *data, uint32_t count,
		      const GUID *related)
{
	return etw_provider_write(handle, &(struct etw_event_request){
						  .descriptor = &descriptor,
						  .data = data,
						  .data_count = count,
						  .activity = &test_activity,
						  .related = related,
					  });
}

/* A registration that a session of its own wants everything of. */
struct setting {
	struct fake_session session;
	uint64_t handle;
};

static void begin(struct setting *setting, uint32_t buffers, uint32_t flags)
{
	open_session(&setting->session, 1, buffers, flags);
	setting->handle = register_provider(NULL, NULL);
	assert_int_equal(fake_host_enable(&host, &test_provider, &setting->session,
					  (struct fake_wish){.level = 255}),
			 0);
}

static void end(struct setting *setting)
{
	assert_int_equal(etw_provider_unregister(setting->handle), 0);
	end_session(&setting->session);
}

static void test_event__has_the_header_of_the_format(void **state)
{
	static const uint8_t expected[] = {
		0x34, 0x12, 5, 11, 4, 9, 0x21, 0x43, /* 0x28: id to task */
		0x11, 0,    0, 0,  0, 0, 0,    0x80, /* keyword */
		0,    0,    0, 0,  0, 0, 0,    0,    /* times */
	};
	const struct wire_event_header *header = header_of(&taken);
	struct setting setting;
	int64_t before, after;

	(void)state;
	begin(&setting, 4, 0);
	before = etw_clock_now(&host.clock, ETW_CLOCK_QPC);
	assert_int_equal(write_data(setting.handle, NULL, 0, NULL), 0);
	after = etw_clock_now(&host.clock, ETW_CLOCK_QPC);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(taken.last.bytes, 0x50);
	assert_int_equal(le16_get(header->bytes), 0x50);
	assert_int_equal(header->header_type, WIRE_HEADER_EVENT64);
	assert_int_equal(header->header_flag, 0xC0);
	assert_int_equal(le16_get(header->flags), 0);
	assert_int_equal(le16_get(header->property), 0);
	assert_int_equal(le32_get(header->thread_id), gettid());
	assert_int_equal(le32_get(header->process_id), getpid());
	assert_in_range(le64_get(header->time_raw), (uint64_t)before, (uint64_t)after);
	assert_memory_equal(header->provider, &test_provider, 16);
	assert_memory_equal(&header->id, expected, sizeof(expected));
	assert_memory_equal(header->activity, &test_activity, 16);
	end(&setting);
}

static void test_event__payload_is_all_fields_in_order(void **state)
{
	static uint8_t bytes[40];
	EVENT_DATA_DESCRIPTOR data[40];
	struct setting setting;
	size_t at = 0x50;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	for (size_t i = 0; i < 40; i++)
		EventDataDescCreate(&data[i], bytes, (ULONG)i); /* of every length, none included */
	begin(&setting, 4, 0);
	assert_int_equal(write_data(setting.handle, data, 40, NULL), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(taken.last.bytes, 0x50 + 39 * 40 / 2);
	for (size_t i = 0; i < 40; i++) {
		assert_memory_equal(taken.last.data + at, bytes, i);
		at += i;
	}
	end(&setting);
}

static void test_event__items_come_in_the_order_of_windows(void **state)
{
	static const GUID related = {9, 8, 7, {6, 5, 4, 3, 2, 1, 0, 1}};
	static const uint8_t schema[] = {5, 0, 0, 'E', 0};
	static const uint8_t traits[] = {6, 0, 'P', 'r', 'o', 0};
	static const uint8_t items[] = {
		24,  0,   1,   0, 1, 0, 16, 0,                               /* related */
		9,   0,   0,   0, 8, 0, 7,  0, 6, 5, 4,   3,   2,   1, 0, 1, /* its GUID */
		16,  0,   12,  0, 1, 0, 6,  0, 6, 0, 'P', 'r', 'o', 0, 0, 0, /* traits */
		16,  0,   11,  0, 0, 0, 5,  0, 5, 0, 0,   'E', 0,   0, 0, 0, /* schema */
		'p', 'a', 'y',
	};
	EVENT_DATA_DESCRIPTOR data[4];
	struct setting setting;

	(void)state;
	EventDataDescCreate(&data[0], traits, sizeof(traits));
	data[0].Type = EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA;
	EventDataDescCreate(&data[1], schema, sizeof(schema));
	data[1].Type = EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA;
	EventDataDescCreate(&data[2], "pa", 2);
	EventDataDescCreate(&data[3], "y", 1);
	begin(&setting, 4, 0);
	assert_int_equal(etw_provider_set_typed(setting.handle, true), 0);
	assert_int_equal(write_data(setting.handle, data, 4, &related), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(le16_get(header_of(&taken)->flags), WIRE_EVENT_EXTENDED_INFO);
	assert_int_equal(taken.last.bytes, 0x50 + sizeof(items));
	assert_memory_equal(taken.last.data + 0x50, items, sizeof(items));
	/* Where types mean nothing, all is payload. */
	assert_int_equal(etw_provider_set_typed(setting.handle, false), 0);
	assert_int_equal(write_data(setting.handle, data, 4, NULL), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(taken.last.bytes, 0x50 + sizeof(traits) + sizeof(schema) + 3);
	end(&setting);
}

static void test_event__registered_traits_are_on_each_event(void **state)
{
	static const uint8_t traits[] = {25, 0, 'P', 'r', 0,  20, 0,  1,  1,  2,  3,  4,   5,
					 6,  7, 8,   9,   10, 11, 12, 13, 14, 15, 16, 0xFF};
	static const uint8_t head[] = {40, 0, 12, 0, 0, 0, 25, 0};
	struct setting setting;

	(void)state;
	begin(&setting, 4, 0);
	assert_int_equal(etw_provider_set_traits(setting.handle, traits, sizeof(traits)), 0);
	assert_int_equal(write_number(setting.handle, 1, 0, 5), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(taken.last.bytes, 0x50 + 40 + 8);
	assert_memory_equal(taken.last.data + 0x50, head, sizeof(head));
	assert_memory_equal(taken.last.data + 0x58, traits, sizeof(traits));
	assert_int_equal(etw_load64(taken.last.data + 0x50 + 40), 5);
	end(&setting);
}

static void test_event__64_kib_with_header_is_the_limit(void **state)
{
	static uint8_t bytes[65536];
	EVENT_DATA_DESCRIPTOR data[2];
	struct setting setting;

	(void)state;
	begin(&setting, 4, 0);
	EventDataDescCreate(&data[0], bytes, 65535 - 0x50 + 1);
	assert_int_equal(write_data(setting.handle, data, 1, NULL), -EOVERFLOW);
	EventDataDescCreate(&data[0], bytes, UINT32_MAX);
	EventDataDescCreate(&data[1], bytes, 0x100);
	assert_int_equal(write_data(setting.handle, data, 2, NULL), -EOVERFLOW);
	/* One that a header can tell, and this session's buffer cannot hold. */
	EventDataDescCreate(&data[0], bytes, 65535 - 0x50);
	assert_int_equal(write_data(setting.handle, data, 1, NULL), -EMSGSIZE);
	EventDataDescCreate(&data[0], bytes, TEST_BUFFER_BYTES - 0x50);
	assert_int_equal(write_data(setting.handle, data, 1, NULL), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(taken.last.bytes, TEST_BUFFER_BYTES);
	assert_int_equal(fake_session_lost(&setting.session), 1);
	end(&setting);
}

static void test_event__unknown_descriptor_types_are_errors(void **state)
{
	EVENT_DATA_DESCRIPTOR data;
	struct setting setting;

	(void)state;
	begin(&setting, 4, 0);
	assert_int_equal(etw_provider_set_typed(setting.handle, true), 0);
	EventDataDescCreate(&data, "x", 1);
	data.Type = EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE;
	assert_int_equal(write_data(setting.handle, &data, 1, NULL), -EOPNOTSUPP);
	data.Type = 4;
	assert_int_equal(write_data(setting.handle, &data, 1, NULL), -EINVAL);
	assert_int_equal(take_all(&setting.session, &taken), 0);
	end(&setting);
}

static void test_event__without_a_free_buffer_it_is_refused_and_counted(void **state)
{
	struct setting setting;
	uint64_t written = 0;
	int r;

	(void)state;
	begin(&setting, 2, WIRE_RING_ONE_STREAM);
	while ((r = write_number(setting.handle, 1, 0, written)) == 0 && written < EVENTS_MAX)
		written++;
	assert_int_equal(r, -ENOBUFS);
	assert_int_equal(fake_session_lost(&setting.session), 1);
	assert_int_equal(written, 2 * (TEST_BUFFER_BYTES / 0x58));
	assert_int_equal(take_all(&setting.session, &taken), written);
	assert_int_equal(write_number(setting.handle, 1, 0, 0), 0);
	end(&setting);
}

/* Three sessions, of which the second is full: returns what the others got. */
static void write_to_three(uint32_t flags_of_full, uint32_t flags_of_last, unsigned *ret_first,
			   unsigned *ret_last)
{
	struct fake_session sessions[3];
	uint64_t handle;

	open_session(&sessions[0], 1, 4, WIRE_RING_ONE_STREAM);
	open_session(&sessions[1], 2, 2, WIRE_RING_ONE_STREAM | flags_of_full);
	open_session(&sessions[2], 3, 4, WIRE_RING_ONE_STREAM | flags_of_last);
	handle = register_provider(NULL, NULL);
	assert_int_equal(fake_host_enable(&host, &test_provider, &sessions[1],
					  (struct fake_wish){.level = 5}),
			 0);
	for (unsigned i = 0; i < EVENTS_MAX && write_number(handle, 5, 0, 0) == 0; i++)
		;
	for (unsigned i = 0; i < 3; i += 2)
		assert_int_equal(fake_host_enable(&host, &test_provider, &sessions[i],
						  (struct fake_wish){.level = 5}),
				 0);
	assert_int_equal(write_number(handle, 5, 0, 42), -ENOBUFS);
	*ret_first = take_all(&sessions[0], &taken);
	*ret_last = take_all(&sessions[2], &taken);
	/* With room everywhere each gets it, with its own time. */
	(void)take_all(&sessions[1], &taken);
	assert_int_equal(write_number(handle, 5, 0, 43), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(take_all(&sessions[i], &taken), 1);
		assert_int_equal(etw_load64(taken.last.data + 0x50), 43);
		assert_int_equal(le32_get(header_of(&taken)->process_id), getpid());
	}
	assert_int_equal(etw_provider_unregister(handle), 0);
	for (unsigned i = 0; i < 3; i++)
		end_session(&sessions[i]);
}

static void test_event__one_full_session_refuses_for_all(void **state)
{
	unsigned first, last;

	(void)state;
	write_to_three(0, 0, &first, &last);
	assert_int_equal(first, 0);
	assert_int_equal(last, 0);
}

static void test_event__independent_sessions_do_not_care(void **state)
{
	unsigned first, last;

	(void)state;
	write_to_three(0, WIRE_RING_INDEPENDENT, &first, &last);
	assert_int_equal(first, 0);
	assert_int_equal(last, 1);
	write_to_three(WIRE_RING_INDEPENDENT, 0, &first, &last);
	assert_int_equal(first, 1);
	assert_int_equal(last, 1);
}

static void test_event__carries_the_process_id_that_the_host_knows(void **state)
{
	struct setting setting;

	(void)state;
	fake_host_leave(&host);
	host.told_pid = 4711;
	assert_int_equal(fake_host_start(&host), 0);
	begin(&setting, 4, 0);
	assert_int_equal(write_number(setting.handle, 1, 0, 0), 0);
	assert_int_equal(take_all(&setting.session, &taken), 1);
	assert_int_equal(le32_get(header_of(&taken)->process_id), 4711);
	end(&setting);
	host.told_pid = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event__has_the_header_of_the_format),
		cmocka_unit_test(test_event__payload_is_all_fields_in_order),
		cmocka_unit_test(test_event__items_come_in_the_order_of_windows),
		cmocka_unit_test(test_event__registered_traits_are_on_each_event),
		cmocka_unit_test(test_event__64_kib_with_header_is_the_limit),
		cmocka_unit_test(test_event__unknown_descriptor_types_are_errors),
		cmocka_unit_test(test_event__without_a_free_buffer_it_is_refused_and_counted),
		cmocka_unit_test(test_event__one_full_session_refuses_for_all),
		cmocka_unit_test(test_event__independent_sessions_do_not_care),
		cmocka_unit_test(test_event__carries_the_process_id_that_the_host_knows),
	};

	return cmocka_run_group_tests(tests, start_host, end_host);
}
