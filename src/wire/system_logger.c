/* SPDX-License-Identifier: MIT */
#include "wire/system_logger.h"

#include <errno.h>
#include <strings.h>

#include <evntrace.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/well_known.h"

static const struct {
	const char *name;
	GUID guid;
} fixed[WIRE_SYSTEM_LOGGERS_FIXED] = {
	{KERNEL_LOGGER_NAMEA, WIRE_KERNEL_LOGGER_GUID},
	{WIRE_CONTEXT_LOGGER_NAME, WIRE_CONTEXT_LOGGER_GUID},
};

static const GUID global_logger = WIRE_GLOBAL_LOGGER_GUID;

bool etw_fixed_session_has_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (strcasecmp(name, fixed[i].name) == 0)
			return true;
	}
	return false;
}

int etw_fixed_session_bind(const char *name, GUID *guid)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (strcasecmp(name, fixed[i].name) == 0) {
			*guid = fixed[i].guid;
			return 0;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (etw_guid_equal(guid, &fixed[i].guid))
			return -EINVAL;
	}
	return 0;
}

bool etw_system_logger_is(const struct wire_session_config *config)
{
	return (config->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) ||
	       etw_fixed_session_has_name(config->name) ||
	       etw_guid_equal(&config->guid, &global_logger);
}
