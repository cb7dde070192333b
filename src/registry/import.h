/* SPDX-License-Identifier: MIT */
/* Importing files and whole folders into a registry, in one change. */
#ifndef ETW_REGISTRY_IMPORT_H
#define ETW_REGISTRY_IMPORT_H

#include "registry/change.h"

/* What an import has done; told as it goes. */
struct etw_registry_import {
	struct etw_registry_change *change; /* the caller's */
	uint64_t looked_at;                 /* files */
	uint64_t added;                     /* definitions */
	uint64_t same;                      /* definitions that were there */
	uint64_t providers;                 /* of those added */
	uint64_t events;
	uint64_t stepped_over; /* files of other kinds, and without schemas */
	uint64_t failed;       /* files and folders that could not be read */
	/* A file or folder could not be read; @fault has a sentence for damage. */
	void (*complain)(void *context, const char *path, int error, const struct etw_fault *fault);
	/* Called before each file; may be NULL. Returns whether to go on. */
	bool (*progress)(void *context, const struct etw_registry_import *import);
	/* A file gives a provider another name than the one that defined it before; may be NULL. */
	void (*conflict)(void *context, const GUID *provider, const char *path, const char *name,
			 const struct etw_registry_defined *before);
	void *context;
};

/* etw_registry_import_item() - adds a file that was read, and counts it. Returns 0; else as etw_registry_change_add(). */
int etw_registry_import_item(struct etw_registry_import *import,
			     const struct etw_registry_item *item);

/*
 * etw_registry_import_folder() - all that can be imported below a folder, as etw_registry_walk() finds it.
 *
 * What cannot be read is counted and told of, and does not end the import. Returns 0; -ECANCELED when progress said so; -ENOMEM, -EUSERS and what writing
 * fails with, which do end it.
 */
int etw_registry_import_folder(struct etw_registry_import *import, const char *folder);

#endif
