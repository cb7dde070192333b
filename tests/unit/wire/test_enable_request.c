/* SPDX-License-Identifier: MIT */
/* What of a request to enable is built, and what is refused, bit by bit and kind by kind. */
#include "wire/enable_request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

static struct wire_enable_provider request_of(uint32_t code, uint32_t property)
{
	return (struct wire_enable_provider){
		.handle = 1, .code = code, .property = property, .provider = {1, 2, 3, {4}}};
}

static void test_enable_request__properties(void **state)
{
	const uint32_t built = EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 |
			       EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 |
			       EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE | EVENT_ENABLE_PROPERTY_SID |
			       EVENT_ENABLE_PROPERTY_PROVIDER_GROUP | EVENT_ENABLE_PROPERTY_TS_ID |
			       EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_PSM_KEY |
			       EVENT_ENABLE_PROPERTY_PROCESS_START_KEY |
			       EVENT_ENABLE_PROPERTY_EVENT_KEY |
			       EVENT_ENABLE_PROPERTY_ENABLE_SILOS |
			       EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING;

	(void)state;
	for (unsigned i = 0; i < 32; i++) {
		uint32_t property = UINT32_C(1) << i;
		struct wire_enable_provider request = request_of(EVENT_CONTROL_CODE_ENABLE_PROVIDER,
								 property);

		assert_int_equal(etw_enable_request_check(&request),
				 property & built ? 0 : -EOPNOTSUPP);
		request.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
		assert_int_equal(etw_enable_request_check(&request), 0);
		request.code = EVENT_CONTROL_CODE_CAPTURE_STATE;
		assert_int_equal(etw_enable_request_check(&request), 0);
	}
}

static void test_enable_request__no_container_no_item(void **state)
{
	static const GUID none, one = {1, 2, 3, {4}};
	const uint32_t both = EVENT_ENABLE_PROPERTY_SID |
			      EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING;

	(void)state;
	assert_int_equal(etw_enable_property_of(both, &one), both);
	assert_int_equal(etw_enable_property_of(both, &none), EVENT_ENABLE_PROPERTY_SID);
}

static void test_enable_request__contradictions(void **state)
{
	struct wire_enable_provider request = request_of(
		EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0);

	(void)state;
	assert_int_equal(etw_enable_request_check(&request), -EINVAL);
	request = request_of(EVENT_CONTROL_CODE_CAPTURE_STATE + 1, 0);
	assert_int_equal(etw_enable_request_check(&request), -EINVAL);
}

/* What lists may hold is in test_filter_list.c. */
static void test_enable_request__filters(void **state)
{
	struct wire_enable_provider request = request_of(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0);
	const struct wire_filter unbuilt = {EVENT_FILTER_TYPE_CONTAINER, {NULL, 0}};
	const struct wire_filter own = {77, {NULL, 0}};
	uint8_t list[16];

	(void)state;
	request.filters = (struct etw_bytes){list, wire_filter_put(list, sizeof(list), &unbuilt)};
	assert_int_equal(etw_enable_request_check(&request), -EOPNOTSUPP);
	request.filters = (struct etw_bytes){list, wire_filter_put(list, sizeof(list), &own)};
	assert_int_equal(etw_enable_request_check(&request), 0);
	request.filters.left--;
	assert_int_equal(etw_enable_request_check(&request), -EINVAL);
}

/* The kernel as a provider is taken; the processor's branches, of which nothing would come, are not. */
static void test_enable_request__system_providers(void **state)
{
	struct wire_enable_provider request = request_of(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0);

	(void)state;
	request.provider = (GUID){
		0x151f55dc, 0x467d, 0x471f, {0x83, 0xb5, 0x5f, 0x88, 0x9d, 0x46, 0xff, 0x66}};
	assert_int_equal(etw_enable_request_check(&request), 0);
	request.provider = (GUID){
		0x99134383, 0x5248, 0x43fc, {0x83, 0x4b, 0x52, 0x94, 0x54, 0xe7, 0x5d, 0xf3}};
	assert_int_equal(etw_enable_request_check(&request), -EOPNOTSUPP);
	request.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER;
	assert_int_equal(etw_enable_request_check(&request), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enable_request__properties),
		cmocka_unit_test(test_enable_request__no_container_no_item),
		cmocka_unit_test(test_enable_request__contradictions),
		cmocka_unit_test(test_enable_request__filters),
		cmocka_unit_test(test_enable_request__system_providers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
