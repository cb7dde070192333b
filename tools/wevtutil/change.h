/* SPDX-License-Identifier: MIT */
/* What im and um share: the change, and how trouble with it is told. */
#ifndef ETW_TOOLS_WEVTUTIL_CHANGE_H
#define ETW_TOOLS_WEVTUTIL_CHANGE_H

#include "registry/change.h"

/*
 * wevtutil_change_begin() - begins a change of the registry that this user changes: root the system's.
 *
 * Returns 0, or -1 told on standard error.
 */
int wevtutil_change_begin(struct etw_registry_change **ret);

/* wevtutil_change_commit() - returns the same. */
int wevtutil_change_commit(struct etw_registry_change *change);

#endif
