/* SPDX-License-Identifier: MIT */
#include "wire/enable_request.h"

#include <errno.h>
#include <stdbool.h>

#include <evntcons.h>
#include <evntprov.h>
#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/filter_list.h"

/*
 * Events with keyword 0 pass unless IGNORE_KEYWORD_0 is set, so ENABLE_KEYWORD_0 asks for what is the case. No process
 * of Linux has a package, and none runs in a silo: PSM_KEY and ENABLE_SILOS find nothing to do, as on a Windows
 * without them.
 */
#define PROPERTIES_BUILT                                                                   \
	(EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 | EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 | \
	 EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE | EVENT_ENABLE_PROPERTY_PROVIDER_GROUP |  \
	 EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_STACK_TRACE |                   \
	 EVENT_ENABLE_PROPERTY_TS_ID | EVENT_ENABLE_PROPERTY_PSM_KEY |                     \
	 EVENT_ENABLE_PROPERTY_PROCESS_START_KEY | EVENT_ENABLE_PROPERTY_EVENT_KEY |       \
	 EVENT_ENABLE_PROPERTY_ENABLE_SILOS | EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)

/* Windows' kernel as providers, by GUID. Here the kernel is recorded by EnableFlags alone. */
static const GUID system_providers[] = {
	{0xc134884a, 0x32d5, 0x4488, {0x80, 0xe5, 0x14, 0xed, 0x7a, 0xbb, 0x82, 0x69}}, /* Power */
	{0xbafa072a, 0x918a, 0x4bed, {0xb6, 0x22, 0xbc, 0x15, 0x20, 0x97, 0x09, 0x8f}},
	/* Hypervisor */
	{0x721ddfd3, 0xdacc, 0x4e1e, {0xb2, 0x6a, 0xa2, 0xcb, 0x31, 0xd4, 0x70, 0x5a}}, /* Lock */
	{0xfef3a8b6, 0x318d, 0x4b67, {0xa9, 0x6a, 0x3b, 0x0f, 0x6b, 0x8f, 0x18, 0xfe}}, /* Config */
	{0xc6c5265f, 0xeae8, 0x4650, {0xaa, 0xe4, 0x9d, 0x48, 0x60, 0x3d, 0x85, 0x10}}, /* Cpu */
	{0x599a2a76, 0x4d91, 0x4910, {0x9a, 0xc7, 0x7d, 0x33, 0xf2, 0xe9, 0x7a, 0x6c}},
	/* Scheduler */
	{0xbfeb0324, 0x1cee, 0x496f, {0xa4, 0x09, 0x2a, 0xc2, 0xb4, 0x8a, 0x63, 0x22}},
	/* Profile */
	{0x3d5c43e3, 0x0f1c, 0x4202, {0xb8, 0x17, 0x17, 0x4c, 0x00, 0x70, 0xdc, 0x79}}, /* Io */
	{0x82958ca9, 0xb6cd, 0x47f8, {0xa3, 0xa8, 0x03, 0xae, 0x85, 0xa4, 0xbc, 0x24}}, /* Memory */
	{0x16156bd9, 0xfab4, 0x4cfa, {0xa2, 0x32, 0x89, 0xd1, 0x09, 0x90, 0x58, 0xe3}},
	/* Registry */
	{0x151f55dc, 0x467d, 0x471f, {0x83, 0xb5, 0x5f, 0x88, 0x9d, 0x46, 0xff, 0x66}},
	/* Process */
	{0xfcb9baaf, 0xe529, 0x4980, {0x92, 0xe9, 0xce, 0xd1, 0xa6, 0xaa, 0xdf, 0xdf}}, /* Alpc */
	{0x434286f7, 0x6f1b, 0x45bb, {0xb3, 0x7e, 0x95, 0xf6, 0x23, 0x04, 0x6c, 0x7c}},
	/* Syscall */
	{0xd4bbee17, 0xb545, 0x4888, {0x85, 0x8b, 0x74, 0x41, 0x69, 0x01, 0x5b, 0x25}},
	/* Interrupt */
	{0x4f061568, 0xe215, 0x499f, {0xab, 0x2e, 0xed, 0xa0, 0xae, 0x89, 0x0a, 0x5b}}, /* Timer */
	{0x99134383, 0x5248, 0x43fc, {0x83, 0x4b, 0x52, 0x94, 0x54, 0xe7, 0x5d, 0xf3}},
	/* LastBranchRecord */
};

static bool is_system_provider(const GUID *provider)
{
	for (size_t i = 0; i < ARRAY_SIZE(system_providers); i++) {
		if (etw_guid_equal(provider, &system_providers[i]))
			return true;
	}
	return false;
}

static int check_enable(const struct wire_enable_provider *request)
{
	const uint32_t both = EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 |
			      EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0;

	if ((request->property & both) == both)
		return -EINVAL;
	if (request->property & ~(uint32_t)PROPERTIES_BUILT)
		return -EOPNOTSUPP;
	return is_system_provider(&request->provider) ? -EOPNOTSUPP : 0;
}

int etw_enable_request_check(const struct wire_enable_provider *request)
{
	if (request->code > EVENT_CONTROL_CODE_CAPTURE_STATE)
		return -EINVAL;
	TRY(wire_filter_list_check(request->filters));
	/* To disable is never refused: what could not be enabled need not be disabled. */
	return request->code == EVENT_CONTROL_CODE_ENABLE_PROVIDER ? check_enable(request) : 0;
}

uint32_t etw_enable_property_of(uint32_t property, const GUID *container)
{
	static const GUID none;

	if (etw_guid_equal(container, &none))
		property &= ~(uint32_t)EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING;
	return property;
}
