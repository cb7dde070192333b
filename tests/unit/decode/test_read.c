/* SPDX-License-Identifier: MIT */
/* Items as values of C, by their type and as they are shown. */
#include <errno.h>

#include "base/guid.h"
#include "decode/read.h"
#include "typed_event.h"

static const struct etw_item *find(const struct typed_event *event, const char *name)
{
	const struct etw_item *item = etw_decoding_find(&event->decoding, name);

	assert_non_null(item);
	return item;
}

static void test_read__by_type(void **state)
{
	static const GUID guid = TEST_GUID;
	struct typed_event event;
	const struct etw_decoding *decoding = &event.decoding;
	bool is_negative;
	uint64_t number;
	int64_t time_ft;
	double real;
	GUID read;

	(void)state;
	typed_event_begin(&event, &test_schema);
	assert_true(etw_read_integer(decoding, find(&event, "Signed"), &number, &is_negative));
	assert_int_equal((int64_t)number, -5);
	assert_true(is_negative);
	assert_true(etw_read_integer(decoding, find(&event, "Port"), &number, &is_negative));
	assert_int_equal(number, 0xBB01);
	assert_false(etw_read_integer(decoding, find(&event, "Path"), &number, &is_negative));
	assert_true(etw_read_real(decoding, find(&event, "Real"), &real));
	assert_true(real == 1.5);
	assert_false(etw_read_real(decoding, find(&event, "Byte"), &real));
	assert_true(etw_read_guid(decoding, find(&event, "Id"), &read));
	assert_true(etw_guid_equal(&read, &guid));
	assert_false(etw_read_guid(decoding, find(&event, "User"), &read));
	assert_int_equal(etw_read_filetime(decoding, find(&event, "When"), &time_ft), 0);
	assert_int_equal(time_ft, 116444736000000010);
	assert_int_equal(etw_read_filetime(decoding, find(&event, "Big"), &time_ft), -EINVAL);
	assert_true(etw_read_is_string(decoding, find(&event, "Path")));
	assert_false(etw_read_is_string(decoding, find(&event, "List")));
	assert_true(etw_read_is_sid(decoding, find(&event, "User")));
	assert_int_equal(*etw_read_at(decoding, find(&event, "Byte")), 5);
	typed_event_end(&event);
}

static void test_read__as_shown(void **state)
{
	static const struct {
		const char *name;
		enum etw_read_shape shape;
	} rows[] = {
		{"Byte", ETW_READ_INTEGER},    {"Hex", ETW_READ_INTEGER},  {"Real", ETW_READ_REAL},
		{"Truth", ETW_READ_BOOLEAN},   {"Id", ETW_READ_GUID},      {"When", ETW_READ_TIME},
		{"Address", ETW_READ_ADDRESS}, {"Port", ETW_READ_INTEGER}, {"Path", ETW_READ_TEXT},
		{"User", ETW_READ_TEXT},       {"List", ETW_READ_TEXT},    {"Pairs", ETW_READ_TEXT},
	};
	struct typed_event event;
	bool is_negative;
	uint64_t number;
	int64_t time_ft;
	size_t bytes;

	(void)state;
	typed_event_begin(&event, &test_schema);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(etw_read_shape(&event.decoding, find(&event, rows[i].name)),
				 rows[i].shape);
	assert_true(etw_read_shown_integer(&event.decoding, find(&event, "Port"), &number,
					   &is_negative));
	assert_int_equal(number, 443);
	assert_true(etw_read_shown_integer(&event.decoding, find(&event, "Signed"), &number,
					   &is_negative));
	assert_true(is_negative);
	assert_true(etw_read_shown_time(&event.decoding, find(&event, "When"), &time_ft));
	assert_int_equal(time_ft, 116444736000000010);
	assert_int_equal(*etw_read_address(&event.decoding, find(&event, "Address"), &bytes), 10);
	assert_int_equal(bytes, 4);
	typed_event_end(&event);
}

/* A socket's address: the family says which and where. */
static void test_read__addresses_of_sockets(void **state)
{
	static const struct etw_field field = {.name = "Socket",
					       .in_type = TDH_INTYPE_BINARY,
					       .out_type = TDH_OUTTYPE_SOCKETADDRESS,
					       .count = 1};
	const struct etw_schema schema = {.field_count = 1, .top_count = 1, .fields = &field};
	uint8_t payload[28] = {2, 0, 1, 0xBB, 10, 0, 0, 7};
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = sizeof(payload)};
	struct etw_item item = {.kind = ETW_ITEM_VALUE, .bytes = 16};
	const struct etw_decoding decoding = {
		.record = &record, .schema = &schema, .items = &item, .item_count = 1};
	size_t bytes;

	(void)state;
	assert_int_equal(etw_read_shape(&decoding, &item), ETW_READ_ADDRESS);
	assert_ptr_equal(etw_read_address(&decoding, &item, &bytes), payload + 4);
	assert_int_equal(bytes, 4);
	payload[0] = 23;
	assert_int_equal(etw_read_shape(&decoding, &item), ETW_READ_TEXT);
	item.bytes = 28;
	assert_ptr_equal(etw_read_address(&decoding, &item, &bytes), payload + 8);
	assert_int_equal(bytes, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read__by_type),
		cmocka_unit_test(test_read__as_shown),
		cmocka_unit_test(test_read__addresses_of_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
