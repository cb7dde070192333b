/* SPDX-License-Identifier: MIT */
/* The providers that are installed on this machine, as schemas have them. Private to src/api/friendly. */
#ifndef ETW_API_FRIENDLY_INSTALLED_H
#define ETW_API_FRIENDLY_INSTALLED_H

#include "api/friendly/friendly.h"

/*
 * etw_installed_open() - lets the store of new schemas ask the registry and the table of known providers.
 *
 * @options: LIBETW_SCHEMAS_..., which may leave both out
 *
 * Returns 0 or -ENOMEM.
 */
int etw_installed_open(struct libetw_schemas *schemas, uint32_t options);

/*
 * etw_installed_find() - the GUID by which an installed provider is enabled.
 *
 * @name: in either case
 *
 * Returns whether there is one.
 */
bool etw_installed_find(const struct libetw_schemas *schemas, const char *name, GUID *ret);

/*
 * etw_installed_list() - the installed providers that the store has not loaded, each once.
 *
 * @ret: owned; their names live as long as the schemas
 *
 * Returns 0 or -ENOMEM.
 */
int etw_installed_list(const struct libetw_schemas *schemas, struct etw_registry_row **ret,
		       size_t *ret_count);

#endif
