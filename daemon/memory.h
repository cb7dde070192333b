/* SPDX-License-Identifier: MIT */
/*
 * The host's memory: a memfd that the keeper holds, with two records of which one holds. A new record is
 * written beside the old one and then flipped to, so that a host that dies at any point leaves a whole
 * one. Beside it there is a list of entries that grows at its end, for what comes often: two of them as well,
 * so that it can be replaced as a whole. Native byte order: only this program reads it.
 */
#ifndef ETW_DAEMON_MEMORY_H
#define ETW_DAEMON_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define ETWD_MEMORY_RECORD_MAX  (16 * 1024 * 1024)
#define ETWD_MEMORY_ENTRY_BYTES 24
#define ETWD_MEMORY_ENTRIES_MAX (128 * 1024)

struct etwd_memory {
	uint8_t *at; /* mapped; NULL: none */
	int fd;      /* owned */
};

/* etwd_memory_create() - an empty one. Returns 0 or the errno of memfd_create, ftruncate, fcntl, mmap. */
int etwd_memory_create(struct etwd_memory *ret);

/*
 * etwd_memory_adopt() - the last host's.
 *
 * @fd: taken
 *
 * Returns 0; -EPROTO when it is none of this version; errno of fstat, mmap.
 */
int etwd_memory_adopt(int fd, struct etwd_memory *ret);

/* etwd_memory_done() - unmaps and closes; takes one that is done. */
void etwd_memory_done(struct etwd_memory *memory);

/* etwd_memory_store() - replaces what is remembered. Returns 0; -ENOSPC: more than the maximum. */
int etwd_memory_store(struct etwd_memory *memory, const uint8_t *bytes, size_t byte_count);

/*
 * etwd_memory_load() - what is remembered.
 *
 * @ret: borrowed until the second store from now
 *
 * Returns 0; -ENOENT: nothing yet; -EPROTO: damaged.
 */
int etwd_memory_load(const struct etwd_memory *memory, const uint8_t **ret, size_t *ret_bytes);

/* etwd_memory_append() - one entry more. Returns 0; -ENOSPC: there are ETWD_MEMORY_ENTRIES_MAX. */
int etwd_memory_append(struct etwd_memory *memory, const void *entry);

/* etwd_memory_replace() - all entries at once. Returns 0; -ENOSPC: more than the maximum. */
int etwd_memory_replace(struct etwd_memory *memory, const void *entries, size_t count);

/* etwd_memory_entries() - how many there are, and where; borrowed until the next change. */
size_t etwd_memory_entries(const struct etwd_memory *memory, const uint8_t **ret);

#endif
