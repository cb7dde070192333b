/* SPDX-License-Identifier: MIT */
/* Definitions as a registry stores them, read into the model. registry/item.h makes them out of files. */
#ifndef ETW_REGISTRY_DEFINITION_H
#define ETW_REGISTRY_DEFINITION_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "registry/index.h"
#include "schema/provider_schema.h"
#include "schema/wpp/wpp.h"

/* What a stored definition says. */
struct etw_registry_definition {
	struct etw_definition *definition; /* of WPP messages their control GUIDs, or NULL */
	struct etw_wpp_messages messages;
};

/*
 * etw_registry_definition_parse() - reads a stored definition.
 *
 * @bytes: borrowed for the call
 * @ret:   lives in @arena
 *
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_registry_definition_parse(struct etw_arena *arena, enum wire_registry_kind kind,
				  struct etw_bytes bytes, struct etw_registry_definition *ret,
				  struct etw_fault *reterr);

#endif
