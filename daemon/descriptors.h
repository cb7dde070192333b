/* SPDX-License-Identifier: MIT */
/*
 * The security descriptors of sessions and providers, by GUID: what EventAccessControl said, in memory and in a folder,
 * one file each, so that they hold for every later host too. Who asks is looked at by daemon/access.h.
 * Source: docs/format/security.md.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_DESCRIPTORS_H
#define ETW_DAEMON_DESCRIPTORS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "wire/security.h"

#define ETWD_DESCRIPTORS_BUCKETS 256
#define ETWD_DESCRIPTORS_MAX     4096 /* GUIDs with a descriptor of their own */

struct etwd_descriptor {
	struct etwd_descriptor *next; /* in the bucket */
	GUID guid;
	size_t byte_count;
	uint8_t bytes[];
};

struct etwd_descriptors {
	char folder[PATH_MAX]; /* empty: nothing is kept */
	struct etwd_descriptor *buckets[ETWD_DESCRIPTORS_BUCKETS];
	size_t count;
	uint8_t fallback[WIRE_SECURITY_BYTES_MAX]; /* what holds where nobody said anything */
	size_t fallback_bytes;
};

/*
 * etwd_descriptors_folder() - where a host keeps descriptors: $ETWD_SECURITY_DIR; with $ETW_RUNTIME_DIR a folder in that;
 * else the system's /var/lib/etw/security, and a user's etw/security in the data folder.
 *
 * @directory: the runtime directory
 * @ret: room for PATH_MAX bytes; empty where there is no place
 *
 * Returns 0 or -ENAMETOOLONG.
 */
int etwd_descriptors_folder(const char *directory, bool is_system, char *ret);

/*
 * etwd_descriptors_init() - the default alone.
 *
 * @folder: copied; empty: nothing is kept
 */
void etwd_descriptors_init(struct etwd_descriptors *security, const char *folder);

/*
 * etwd_descriptors_load() - reads what is kept.
 *
 * A file that is damaged, or that another user could have written, is told to the log and stands for a descriptor that
 * lets administrators alone do anything. Returns 0, also without a folder; -ENOSPC: there are too many;
 * -ENOMEM; errno of reading the folder.
 */
int etwd_descriptors_load(struct etwd_descriptors *security);

/* etwd_descriptors_done() - frees all; what is kept stays. */
void etwd_descriptors_done(struct etwd_descriptors *security);

/*
 * etwd_descriptors_find() - what holds for a GUID: its own descriptor, else that of DefaultTraceSecurityGuid, else the
 * default. Borrowed until the next change.
 */
struct etw_bytes etwd_descriptors_find(const struct etwd_descriptors *security, const GUID *guid);

/*
 * etwd_descriptors_change() - EventAccessControl: one entry more, from now on and for later hosts.
 *
 * Returns 0; -EINVAL; -ENOSPC: too many GUIDs, or too large a list; -ENOMEM; errno of writing the file. Nothing has
 * changed on an error.
 */
int etwd_descriptors_change(struct etwd_descriptors *security, const GUID *guid,
			    enum wire_security_operation operation,
			    const struct wire_security_entry *entry);

/* etwd_descriptors_remove() - the default holds again. Returns 0; -ENOENT: there is none; errno of unlink. */
int etwd_descriptors_remove(struct etwd_descriptors *security, const GUID *guid);

#endif
