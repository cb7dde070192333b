/* SPDX-License-Identifier: MIT */
/*
 * The built-in classic classes: the NT Kernel Logger's events in all their versions, the trace header
 * and its companions, and the events that the merge step adds (image identities, system information).
 */
#ifndef ETW_SCHEMA_KERNEL_H
#define ETW_SCHEMA_KERNEL_H

#include <stddef.h>

#include "schema/model.h"

/*
 * etw_kernel_class_find() - the built-in schema of a classic event.
 *
 * @version: EVENT_DESCRIPTOR.Version as delivered; an unknown newer version falls back to the highest
 *           known one, an older one to the nearest that is not newer (docs/design/kernel-classes.md)
 *
 * Returns a static schema (etw_schema.index is then unset), or NULL when the GUID or opcode is unknown.
 */
const struct etw_schema *etw_kernel_class_find(const GUID *class_guid, uint8_t opcode,
					       uint8_t version);

/* etw_kernel_class_name() - the display name of a class ("Process"), or NULL. */
const char *etw_kernel_class_name(const GUID *class_guid);

/* etw_kernel_class_count() / _at() - walks every built-in schema, for listings and tests. */
size_t etw_kernel_class_count(void);
const struct etw_schema *etw_kernel_class_at(size_t index);

#endif
