/* SPDX-License-Identifier: MIT */
/*
 * Event schemas in compiled form, wherever they lie: a PE file, with its messages in the file itself, in
 * another one or in the language files beside it, or a WEVT_TEMPLATE resource by itself. All access to
 * files is here; the parsers take bytes.
 */
#ifndef ETW_SCHEMA_BINARY_H
#define ETW_SCHEMA_BINARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/provider_schema.h"

#define ETW_BINARY_BYTES_MAX ((size_t)1 << 30) /* of a file */

/* etw_binary_is() - whether the bytes begin like a PE file or a WEVT_TEMPLATE resource. */
bool etw_binary_is(struct etw_bytes file);

/*
 * etw_binary_parse() - reads the schemas of a file in memory.
 *
 * @file:      a PE file or a WEVT_TEMPLATE resource; borrowed for the call
 * @messages:  a PE file or message table whose texts go before those of @file; nothing: {NULL, 0}
 * @languages: in order of preference, the last one NULL; NULL: no preference
 * @ret:       lives in @arena
 *
 * Returns 0; -ENODATA when a PE file has no such resource; -EBADMSG with @reterr, whose offset is that in
 * the file; -ENOMEM.
 */
int etw_binary_parse(struct etw_arena *arena, struct etw_bytes file, struct etw_bytes messages,
		     const char *const *languages, struct etw_definition **ret,
		     struct etw_fault *reterr);

#endif
