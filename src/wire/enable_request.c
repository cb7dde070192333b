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

/* Records of the processor's branches, of which no session has any. */
static const GUID last_branch_records = {
	0x99134383, 0x5248, 0x43fc, {0x83, 0x4b, 0x52, 0x94, 0x54, 0xe7, 0x5d, 0xf3}};

static int check_enable(const struct wire_enable_provider *request)
{
	const uint32_t both = EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 |
			      EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0;

	if ((request->property & both) == both)
		return -EINVAL;
	if (request->property & ~(uint32_t)PROPERTIES_BUILT)
		return -EOPNOTSUPP;
	return etw_guid_equal(&request->provider, &last_branch_records) ? -EOPNOTSUPP : 0;
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
