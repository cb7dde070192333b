/* SPDX-License-Identifier: MIT */
#include "api/control/mode.h"

#include <evntrace.h>
#include <winerror.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/system_logger.h"

struct mode_row {
	uint32_t bit;
	uint32_t excludes;
	bool needs_file;
	bool needs_size; /* MaximumFileSize */
	uint32_t needs;  /* another bit */
};

static const struct mode_row rows[] = {
	{EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_FILE_MODE_CIRCULAR, false, false, 0},
	{EVENT_TRACE_FILE_MODE_CIRCULAR,
	 EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_RELOG_MODE,
	 false, true, 0},
	{EVENT_TRACE_FILE_MODE_APPEND,
	 EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_FILE_MODE_PREALLOCATE |
		 EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_RELOG_MODE,
	 false, false, 0},
	{EVENT_TRACE_FILE_MODE_NEWFILE,
	 EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_RELOG_MODE |
		 EVENT_TRACE_SYSTEM_LOGGER_MODE,
	 true, true, 0},
	{EVENT_TRACE_FILE_MODE_PREALLOCATE, 0, true, true, 0},
	{EVENT_TRACE_USE_KBYTES_FOR_SIZE, 0, true, true, 0},
	{EVENT_TRACE_REAL_TIME_MODE, EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_ADD_HEADER_MODE,
	 false, false, 0},
	{EVENT_TRACE_BUFFERING_MODE,
	 EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_FILE_MODE_CIRCULAR |
		 EVENT_TRACE_FILE_MODE_APPEND | EVENT_TRACE_FILE_MODE_NEWFILE |
		 EVENT_TRACE_FILE_MODE_PREALLOCATE,
	 false, false, 0},
	{EVENT_TRACE_USE_GLOBAL_SEQUENCE, EVENT_TRACE_USE_LOCAL_SEQUENCE, false, false, 0},
	/* Windows has none since version 8; before, it was of private sessions. */
	{EVENT_TRACE_RELOG_MODE, EVENT_TRACE_RELOG_MODE, false, false, 0},
	{EVENT_TRACE_PRIVATE_LOGGER_MODE,
	 EVENT_TRACE_FILE_MODE_PREALLOCATE | EVENT_TRACE_SYSTEM_LOGGER_MODE, false, false, 0},
	{EVENT_TRACE_PRIVATE_IN_PROC, 0, false, false, EVENT_TRACE_PRIVATE_LOGGER_MODE},
	{EVENT_TRACE_STOP_ON_HYBRID_SHUTDOWN, EVENT_TRACE_PERSIST_ON_HYBRID_SHUTDOWN, false, false,
	 0},
	{EVENT_TRACE_USE_PAGED_MEMORY, EVENT_TRACE_SYSTEM_LOGGER_MODE, false, false, 0},
	{EVENT_TRACE_INDEPENDENT_SESSION_MODE, EVENT_TRACE_PRIVATE_LOGGER_MODE, false, false, 0},
};

static bool breaks(const struct mode_row *row, const struct wire_session_config *config,
		   uint32_t mode)
{
	if (!(mode & row->bit))
		return false;
	return (mode & row->excludes) || (row->needs && !(mode & row->needs)) ||
	       (row->needs_file && !config->log_file_shown[0]) ||
	       (row->needs_size && !config->maximum_file_size);
}

/* Exactly one conversion, and it is %d. */
static bool has_counter(const char *name)
{
	const char *at = strchr(name, '%');

	return at && at[1] == 'd' && !strchr(at + 1, '%');
}

ULONG etw_mode_check_together(uint32_t mode)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if ((mode & rows[i].bit) && (mode & rows[i].excludes))
			return ERROR_INVALID_PARAMETER;
	}
	return ERROR_SUCCESS;
}

/* The GUID is the provider's, in whose processes the session is to be. */
static ULONG check_private(const struct wire_session_config *config)
{
	const bool is_in_proc = config->log_file_mode & EVENT_TRACE_PRIVATE_IN_PROC;

	return !is_in_proc && etw_guid_is_null(&config->guid) ? ERROR_INVALID_PARAMETER
							      : ERROR_SUCCESS;
}

ULONG etw_mode_check(const struct wire_session_config *config)
{
	uint32_t mode = config->log_file_mode;

	if (etw_system_logger_is(config))
		mode |= EVENT_TRACE_SYSTEM_LOGGER_MODE;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (breaks(&rows[i], config, mode))
			return ERROR_INVALID_PARAMETER;
	}
	/* Only sessions that the system starts at boot may refuse to be stopped. */
	if (mode & EVENT_TRACE_NONSTOPPABLE_MODE)
		return ERROR_INVALID_PARAMETER;
	if ((mode & EVENT_TRACE_BUFFERING_MODE) && config->log_file_shown[0])
		return ERROR_INVALID_PARAMETER;
	if (!(mode & (EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_BUFFERING_MODE)) &&
	    !config->log_file_shown[0])
		return ERROR_BAD_PATHNAME;
	if ((mode & EVENT_TRACE_FILE_MODE_NEWFILE) && !has_counter(config->log_file_shown))
		return ERROR_INVALID_NAME;
	if (mode & EVENT_TRACE_PRIVATE_LOGGER_MODE)
		return check_private(config);
	return ERROR_SUCCESS;
}
