/* SPDX-License-Identifier: MIT */
/*
 * Kernel events on disk carry a hook id (group and type) in place of a class GUID.
 * Source: docs/format/etl.md "Groups".
 */
#ifndef ETW_WIRE_HOOK_H
#define ETW_WIRE_HOOK_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#define WIRE_HOOK_GROUPS 0x1F

/* The hooks that the reader itself must know. */
#define WIRE_HOOK_IMAGE_LOAD 0x030A /* stored in the Process group, delivered as Image */

extern const GUID etw_event_trace_guid; /* group 0: the header event and its companions */
extern const GUID etw_lost_event_guid;  /* RT_LostEvent, synthesised by the reader */

/* etw_hook_class() - the class GUID of a hook; the null GUID for groups nobody has named. */
const GUID *etw_hook_class(uint8_t group, uint8_t type);

/*
 * etw_hook_find() - the hook of a class and a type. Returns false for a GUID that is no class of the kernel's.
 */
bool etw_hook_find(const GUID *class_, uint8_t type, uint16_t *ret);

/*
 * etw_hook_is_kernels() - whether a GUID is the kernel's own, so that no program may register it: that of a class of its
 * events, RT_LostEvent's, or SystemTraceControlGuid.
 */
bool etw_hook_is_kernels(const GUID *guid);

#endif
