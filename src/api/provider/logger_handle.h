/* SPDX-License-Identifier: MIT */
/*
 * The handles by which classic providers name a session: its id (16 bits), level (8), zero (8), flags (32). That of
 * StartTrace() is one, too.
 */
#ifndef ETW_API_PROVIDER_LOGGER_HANDLE_H
#define ETW_API_PROVIDER_LOGGER_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include <evntrace.h>

#define ETW_LOGGER_LEVEL_SHIFT 16
#define ETW_LOGGER_FLAGS_SHIFT 32
#define ETW_KERNEL_LOGGER_ID   0xFFFFu /* of the NT Kernel Logger: programs do not write there */

static inline uint32_t etw_logger_id(TRACEHANDLE handle)
{
	return handle & 0xFFFF;
}

/* etw_logger_handle_is() - whether it names a session at all. */
static inline bool etw_logger_handle_is(TRACEHANDLE handle)
{
	return etw_logger_id(handle) != 0 && etw_logger_id(handle) != ETW_KERNEL_LOGGER_ID;
}

#endif
