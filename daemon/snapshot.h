/* SPDX-License-Identifier: MIT */
/*
 * A snapshot that outlives the process: a memfd, for the keeper to hold, with two records of which one is valid. A new
 * record is written beside the old one and then switched to, so that a host that dies at any point leaves a whole
 * one. Beside it there is a list of entries that grows at its end, for what comes often: two of them as well,
 * so that it can be replaced as a whole. Native byte order: only this program reads it.
 */
#ifndef ETW_DAEMON_SNAPSHOT_H
#define ETW_DAEMON_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#define ETWD_SNAPSHOT_RECORD_MAX  (16 * 1024 * 1024)
#define ETWD_SNAPSHOT_ENTRY_BYTES 24
#define ETWD_SNAPSHOT_ENTRIES_MAX (128 * 1024)

struct etwd_snapshot {
	uint8_t *at; /* mapped; NULL: none */
	int fd;      /* owned */
};

/* etwd_snapshot_create() - an empty one. Returns 0 or the errno of memfd_create, ftruncate, fcntl, mmap. */
int etwd_snapshot_create(struct etwd_snapshot *ret);

/*
 * etwd_snapshot_adopt() - the last host's.
 *
 * @fd: taken
 *
 * Returns 0; -EPROTO when it is none of this version; errno of fstat, mmap.
 */
int etwd_snapshot_adopt(int fd, struct etwd_snapshot *ret);

/* etwd_snapshot_done() - unmaps and closes; takes one that is done. */
void etwd_snapshot_done(struct etwd_snapshot *snapshot);

/* etwd_snapshot_store() - replaces the record. Returns 0; -ENOSPC: more than the maximum. */
int etwd_snapshot_store(struct etwd_snapshot *snapshot, const uint8_t *bytes, size_t byte_count);

/*
 * etwd_snapshot_load() - the record.
 *
 * @ret: borrowed until the second store from now
 *
 * Returns 0; -ENOENT: nothing yet; -EPROTO: damaged.
 */
int etwd_snapshot_load(const struct etwd_snapshot *snapshot, const uint8_t **ret,
		       size_t *ret_bytes);

/* etwd_snapshot_append() - one entry more. Returns 0; -ENOSPC: there are ETWD_SNAPSHOT_ENTRIES_MAX. */
int etwd_snapshot_append(struct etwd_snapshot *snapshot, const void *entry);

/* etwd_snapshot_replace() - all entries at once. Returns 0; -ENOSPC: more than the maximum. */
int etwd_snapshot_replace(struct etwd_snapshot *snapshot, const void *entries, size_t count);

/* etwd_snapshot_entries() - how many there are, and where; borrowed until the next change. */
size_t etwd_snapshot_entries(const struct etwd_snapshot *snapshot, const uint8_t **ret);

#endif
