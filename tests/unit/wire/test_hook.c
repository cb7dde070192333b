/* SPDX-License-Identifier: MIT */
/* Groups of kernel events as class GUIDs, row by row, as System Informer's ntwmi.h and PerfView's sources have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/guid.h"
#include "wire/hook.h"
#include "wire/well_known.h"

static const char *const classes[WIRE_HOOK_GROUPS] = {
	"68fdd900-4a3e-11d1-84f4-0000f80464e3", "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c",
	"3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c",
	"90cbdc39-4a3e-11d1-84f4-0000f80464e3", "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c",
	"9a280ac0-c8e0-11d1-84e2-00c04fb998a2", "3282fc76-feed-498e-8aa7-e70f459d430e",
	"bf3a50c5-a9c9-4988-a005-2df0b7c80f80", "ae53722e-c863-11d2-8659-00c04fa321a1",
	"13976d09-a327-438c-950b-7f03192815c7", "01853a65-418f-4f36-aefc-dc0f1d2fd235",
	"99134383-5248-43fc-834b-529454e75df3", "42695762-ea50-497a-9068-5cbbb35e0b95",
	"0268a8b6-74fd-4302-9dd0-6e8f1795c0cf", "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc",
	"222962ab-6180-4b88-a825-346b75f2a24a", "89497f50-effe-4440-8cf2-ce6b1cdcaca7",
	"e43445e0-0903-48c3-b878-ff0fccebdd04", "a9152f00-3f58-4bee-92a1-70c7d079d5dd",
	"2cb15d1d-5fc1-11d2-abe1-00a0c911f518", "b2d14872-7c5b-463d-8419-ee9bf7d23e04",
	"7687a439-f752-45b8-b741-321aec0f8df9", "3ac66736-cc59-4cff-8115-8df50e39816b",
	"def2fe46-7bd6-4b80-bd94-f57fe20d0ce3", "9aec974b-5b8e-4118-9b92-3186d8002ce5",
	"45d8cccd-539f-4b72-a8b7-5c683142609a", "d837ca92-12b9-44a5-ad6a-3a65b3578aa8",
	"c861d0e2-a2c1-4d36-9f9c-970bab943a12", "7f2a405c-69b5-4bf9-a1f5-30e8f1afab5e",
	"2ce9a149-effe-42f0-a635-a1d39e26c8f2"};

static void assert_class(unsigned group, unsigned type, const char *wanted)
{
	char text[ETW_GUID_BARE_BYTES];

	etw_guid_format(etw_hook_class((uint8_t)group, (uint8_t)type), text);
	assert_string_equal(text, wanted);
}

static void test_hook__every_group(void **state)
{
	(void)state;
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++) {
		assert_class(group, 0x01, classes[group]);
		assert_class(group, 0xFF, classes[group]);
	}
}

static void test_hook__image_load_is_stored_in_the_process_group(void **state)
{
	(void)state;
	assert_class(0x03, 0x0A, classes[0x14]);
	assert_class(0x03, 0x0B, classes[0x03]);
	assert_class(0x01, 0x0A, classes[0x01]);
}

/* Every hook is found by its class and type again; image loads in the group where they are stored. */
static void test_hook__is_found_by_class(void **state)
{
	static const GUID nobodys = {0x12345678, 0, 0, {0}};
	uint16_t hook = 0;

	(void)state;
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++) {
		assert_true(etw_hook_find(etw_hook_class((uint8_t)group, 0x24), 0x24, &hook));
		assert_int_equal(hook, group << 8 | 0x24);
	}
	assert_true(etw_hook_find(etw_hook_class(0x14, 0x0A), 0x0A, &hook));
	assert_int_equal(hook, WIRE_HOOK_IMAGE_LOAD);
	assert_true(etw_hook_find(etw_hook_class(0x14, 0x02), 0x02, &hook));
	assert_int_equal(hook, 0x1402);
	assert_false(etw_hook_find(&nobodys, 1, &hook));
	assert_false(etw_hook_find(etw_hook_class(0x1F, 0), 1, &hook));
	assert_int_equal(hook, 0x1402);
}

static void test_hook__groups_without_a_name_are_null(void **state)
{
	(void)state;
	for (unsigned group = WIRE_HOOK_GROUPS; group < 0x100; group++)
		assert_class(group, 0x0A, "00000000-0000-0000-0000-000000000000");
}

static void test_hook__named_guids(void **state)
{
	char text[ETW_GUID_BARE_BYTES];

	(void)state;
	etw_guid_format(&etw_event_trace_guid, text);
	assert_string_equal(text, classes[0]);
	etw_guid_format(&etw_lost_event_guid, text);
	assert_string_equal(text, "6a399ae0-4bc6-4de9-870b-3657f8947e7e");
}

static void test_hook__the_kernels_own_guids(void **state)
{
	static const GUID system = WIRE_KERNEL_LOGGER_GUID, other = {.Data1 = 1}, none;

	(void)state;
	for (unsigned group = 0; group < WIRE_HOOK_GROUPS; group++)
		assert_true(etw_hook_is_kernels(etw_hook_class((uint8_t)group, 0)));
	assert_true(etw_hook_is_kernels(&etw_lost_event_guid));
	assert_true(etw_hook_is_kernels(&system));
	assert_false(etw_hook_is_kernels(&other));
	assert_false(etw_hook_is_kernels(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hook__every_group),
		cmocka_unit_test(test_hook__image_load_is_stored_in_the_process_group),
		cmocka_unit_test(test_hook__is_found_by_class),
		cmocka_unit_test(test_hook__groups_without_a_name_are_null),
		cmocka_unit_test(test_hook__named_guids),
		cmocka_unit_test(test_hook__the_kernels_own_guids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
