/* SPDX-License-Identifier: MIT */
/* Which loaded object of this process an address of code belongs to, with the tables by which its callers are found. */
#ifndef ETW_PROVIDER_OWN_OBJECT_H
#define ETW_PROVIDER_OWN_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/unwind.h"

/*
 * etw_own_object_find() - the object that an address belongs to.
 *
 * @object: the one that was found last
 *
 * Returns whether there is one. Context: any thread, signal-safe, no lock.
 */
bool etw_own_object_find(uintptr_t pc, struct etw_unwind_object *object);

#endif
