/* SPDX-License-Identifier: MIT */
/* The kernel as providers: what their keywords stand for. */
#include "wire/system_providers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define INITGUID
#include <evntrace.h>

#include "wire/kernel_names.h"

static const GUID *const providers[] = {
	&SystemAlpcProviderGuid,       &SystemConfigProviderGuid,    &SystemCpuProviderGuid,
	&SystemHypervisorProviderGuid, &SystemInterruptProviderGuid, &SystemIoProviderGuid,
	&SystemIoFilterProviderGuid,   &SystemLockProviderGuid,      &SystemMemoryProviderGuid,
	&SystemObjectProviderGuid,     &SystemPowerProviderGuid,     &SystemProcessProviderGuid,
	&SystemProfileProviderGuid,    &SystemRegistryProviderGuid,  &SystemSchedulerProviderGuid,
	&SystemSyscallProviderGuid,    &SystemTimerProviderGuid,
};

static void test_system_providers__no_two_have_the_same_kinds(void **state)
{
	uint32_t all[WIRE_GROUP_MASKS_WORDS] = {0}, masks[WIRE_GROUP_MASKS_WORDS];

	(void)state;
	for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		assert_true(etw_system_provider_is(providers[i]));
		assert_true(etw_system_provider_masks(providers[i], 0, masks) == 0);
		assert_true(masks[6] || etw_kernel_masks_events(masks, masks));
		for (size_t k = 0; k < WIRE_GROUP_MASKS_WORDS; k++) {
			assert_int_equal(all[k] & masks[k], 0);
			all[k] |= masks[k];
		}
	}
}

static void test_system_providers__keywords(void **state)
{
	const GUID nobodys = {1, 2, 3, {4}};
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	(void)state;
	assert_true(etw_system_provider_masks(
			    &SystemSchedulerProviderGuid,
			    SYSTEM_SCHEDULER_KW_CONTEXT_SWITCH | SYSTEM_SCHEDULER_KW_AUTOBOOST |
				    UINT64_C(1) << 63,
			    masks) == (SYSTEM_SCHEDULER_KW_AUTOBOOST | UINT64_C(1) << 63));
	assert_int_equal(masks[1], 0x4);
	assert_int_equal(masks[0], 0);
	assert_true(etw_system_provider_masks(&SystemIoProviderGuid,
					      SYSTEM_IO_KW_FILE_INIT | SYSTEM_IO_KW_OPTICAL,
					      masks) == 0);
	assert_int_equal(masks[0], EVENT_TRACE_FLAG_FILE_IO_INIT);
	assert_int_equal(masks[4], 0x1);
	assert_false(etw_system_provider_is(&nobodys));
	assert_true(etw_system_provider_masks(&nobodys, 1, masks) == UINT64_MAX);
	assert_int_equal(masks[4], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_providers__no_two_have_the_same_kinds),
		cmocka_unit_test(test_system_providers__keywords),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
