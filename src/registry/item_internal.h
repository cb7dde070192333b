/* SPDX-License-Identifier: MIT */
/* Pieces of item.c that the rest of the module and its tests use. */
#ifndef ETW_REGISTRY_ITEM_INTERNAL_H
#define ETW_REGISTRY_ITEM_INTERNAL_H

#include "registry/item.h"

/* What is read of a file to see what it is. */
#define ETW_REGISTRY_HEAD_BYTES ((size_t)8 * 1024)

/*
 * etw_registry_pack_binary() - a compiled binary's schemas and messages as they are stored.
 *
 * @messages: as etw_binary_parse() takes them
 * @ret:      in @arena
 *
 * Returns 0; -ENODATA when there are no schemas; -EBADMSG with @reterr; -EFBIG when more would be stored than a
 * definition may have; -ENOMEM.
 */
int etw_registry_pack_binary(struct etw_arena *arena, struct etw_bytes file,
			     struct etw_bytes messages, struct etw_bytes *ret,
			     struct etw_fault *reterr);

/* etw_registry_class_of() - the GUID that a MOF event is found by: its class, or the provider without one. */
const GUID *etw_registry_class_of(const struct etw_schema *schema);

#endif
