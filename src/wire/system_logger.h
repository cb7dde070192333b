/* SPDX-License-Identifier: MIT */
/*
 * Which sessions are system loggers: those that get the kernel's events, and whose EnableFlags mean anything. A session
 * is one by EVENT_TRACE_SYSTEM_LOGGER_MODE, by one of the two fixed names, or by the GUID of the global logger. All who
 * have to know ask here: the API, the controller, the host and the session.
 * Source: Microsoft's page "StartTrace", "System Loggers"; "Configuring and Starting a SystemTraceProvider Session".
 */
#ifndef ETW_WIRE_SYSTEM_LOGGER_H
#define ETW_WIRE_SYSTEM_LOGGER_H

#include <stdbool.h>

#include "wire/message.h"

/* System loggers at a time. Two of the places are kept for the fixed sessions, whether these run or not. */
#define WIRE_SYSTEM_LOGGERS_MAX   8
#define WIRE_SYSTEM_LOGGERS_FIXED 2

/* etw_fixed_session_has_name() - whether the kernel logger or the circular context logger is called so. */
bool etw_fixed_session_has_name(const char *name);

/*
 * etw_fixed_session_bind() - a fixed name has its GUID, whatever the caller said.
 *
 * Returns 0; -EINVAL when the GUID is that of a fixed session and the name is not.
 */
int etw_fixed_session_bind(const char *name, GUID *guid);

/* etw_system_logger_is() - whether a session of this configuration gets the kernel's events. */
bool etw_system_logger_is(const struct wire_session_config *config);

#endif
