/* SPDX-License-Identifier: MIT */
/*
 * Changing a provider registry: under a lock, and all at once. Definitions are written first, under names
 * made of their contents; then the new index takes the place of the old one by rename. A crash at any
 * moment leaves the old index, and definitions that the next change sweeps away.
 *
 * Context: one owner thread per change; other threads and processes wait for the lock.
 */
#ifndef ETW_REGISTRY_CHANGE_H
#define ETW_REGISTRY_CHANGE_H

#include "registry/item.h"

#define ETW_REGISTRY_SAME 1 /* status: the definition was there already */

struct etw_registry_change;

/*
 * etw_registry_change_begin() - locks the registry of a folder, which is made when it is not there.
 *
 * Waits as long as another change lasts. Returns 0; -EBADMSG, -EPROTONOSUPPORT, -EPERM and -EFBIG as
 * etw_registry_index_open(); -ENOMEM; what making the folder and its lock fail with.
 */
int etw_registry_change_begin(const char *folder, struct etw_registry_change **ret,
			      struct etw_fault *reterr);

/*
 * etw_registry_change_add() - stores a definition.
 *
 * @item: borrowed for the call
 *
 * One that is named in the index, and gone or cut, is stored again. Returns 0; ETW_REGISTRY_SAME; -EUSERS
 * when the registry is full; -ENOMEM; what writing fails with.
 */
int etw_registry_change_add(struct etw_registry_change *change,
			    const struct etw_registry_item *item);

/* etw_registry_change_is_new() - whether this change has added the same definition already. */
bool etw_registry_change_is_new(const struct etw_registry_change *change,
				const struct etw_registry_item *item);

/* etw_registry_change_is_lost() - whether the index names the same definition, which is gone or cut. */
bool etw_registry_change_is_lost(const struct etw_registry_change *change,
				 const struct etw_registry_item *item);

/* Who defines a provider; valid until the change ends. */
struct etw_registry_defined {
	const char *name; /* "" when it has none */
	const char *from; /* the file that it was imported from */
	bool is_new;      /* by this change */
};

/* etw_registry_change_find() - whether a provider is defined already; @ret is then the latest definition. */
bool etw_registry_change_find(const struct etw_registry_change *change, const GUID *provider,
			      struct etw_registry_defined *ret);

/*
 * etw_registry_change_remove() - removes a provider.
 *
 * Definitions without any provider left go as well. WPP messages do not go by provider: their definitions go
 * whole when the GUID is that of a message or of a control GUID. What only has events of that GUID, as a MOF
 * class may, stays. Returns how many rows went.
 */
size_t etw_registry_change_remove(struct etw_registry_change *change, const GUID *guid);

/*
 * etw_registry_change_remove_item() - removes what a file defines.
 *
 * The definition of these contents; without one, what was imported from the same path; else the providers that
 * the file describes, in whatever version. Returns how many rows went.
 */
size_t etw_registry_change_remove_item(struct etw_registry_change *change,
				       const struct etw_registry_item *item);

/*
 * etw_registry_change_remove_from() - removes all that was imported from a file, or from below a folder.
 *
 * @path: absolute, as realpath() gives it
 * @ret_definitions: how many definitions went; may be NULL
 *
 * Returns how many rows went.
 */
size_t etw_registry_change_remove_from(struct etw_registry_change *change, const char *path,
				       size_t *ret_definitions);

/*
 * etw_registry_change_write() - writes the new index beside the old one, and all to the disk.
 *
 * The first half of etw_registry_change_commit(), by itself for tests. Returns the same.
 */
int etw_registry_change_write(struct etw_registry_change *change);

/*
 * etw_registry_change_commit() - puts the change into force.
 *
 * Without anything changed nothing is written. Returns 0; -EFBIG; -ENOMEM; what writing fails with: then
 * the old state is in force.
 */
int etw_registry_change_commit(struct etw_registry_change *change);

/* etw_registry_change_end() - unlocks and frees; what was not committed is dropped. Takes NULL. */
void etw_registry_change_end(struct etw_registry_change *change);
void etw_registry_change_endp(struct etw_registry_change **change);

#endif
