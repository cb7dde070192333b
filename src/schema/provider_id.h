/* SPDX-License-Identifier: MIT */
/* From a provider's name to its GUID: Windows' own names, then the rule of base/guid_name.h. */
#ifndef ETW_SCHEMA_PROVIDER_ID_H
#define ETW_SCHEMA_PROVIDER_ID_H

#include <guiddef.h>

/*
 * etw_provider_id_find() - what a user means by a provider.
 *
 * @text: a GUID with or without braces; the name of one of Windows' providers, in any case; any other name,
 *        which is hashed; "*Name" is always hashed
 *
 * Returns 0; -EINVAL for an empty name and for braces around what is no GUID; otherwise as etw_guid_of_name().
 */
int etw_provider_id_find(const char *text, GUID *ret);

#endif
