/* SPDX-License-Identifier: MIT */
/* What a store asks of a registry of providers. store_installed.h says how a registry answers. */
#ifndef ETW_SCHEMA_STORE_REGISTRY_HOOKS_H
#define ETW_SCHEMA_STORE_REGISTRY_HOOKS_H

#include <stdbool.h>

#include <guiddef.h>

#include "base/fault.h"

struct etw_schema_store;

struct etw_schema_registry {
	/*
	 * Gives the store what is registered for @guid, with etw_schema_store_register(). Asked once a GUID, again
	 * after a shortage (etw_is_shortage()), and again when refresh() says so. What it gives of other GUIDs
	 * beside it counts until these are asked for.
	 * Returns 0; -EBADMSG when some of it is damaged; what reading fails with; -ENOMEM. But for shortages, with
	 * @reterr the first time, unless the failure was told elsewhere.
	 */
	int (*load)(void *context, struct etw_schema_store *store, const GUID *guid,
		    struct etw_fault *reterr);
	/* The registered name, valid until release(), or NULL. */
	const char *(*name)(void *context, const GUID *guid);
	/* Takes notice of what was registered and removed meanwhile; whether there was anything. */
	bool (*refresh)(void *context);
	void (*release)(void *context); /* when the store goes */
	void *context;
};

#endif
