/* SPDX-License-Identifier: MIT */
/*
 * Names of the providers that Windows and Microsoft's products register: those of the table of known providers
 * (known/table), and of providers of which no more than the name is known. They are compiled in, so that they are
 * there without the index as well.
 */
#ifndef ETW_SCHEMA_PROVIDER_NAMES_H
#define ETW_SCHEMA_PROVIDER_NAMES_H

#include <stddef.h>

#include <guiddef.h>

struct etw_provider_name {
	GUID guid;
	const char *name;
};

/* etw_provider_name_find() - the name of a provider, static, or NULL. */
const char *etw_provider_name_find(const GUID *provider);

/*
 * etw_provider_guid_find() - the provider that has a name, or once had it; A to Z are a to z.
 *
 * Returns 0, or -ENOENT.
 */
int etw_provider_guid_find(const char *name, GUID *ret);

/* etw_provider_name_count() / _at() - walks the table in order of GUID, for listings and tests. */
size_t etw_provider_name_count(void);
const struct etw_provider_name *etw_provider_name_at(size_t index);

#endif
