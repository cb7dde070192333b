/* SPDX-License-Identifier: MIT */
/* See snapshot.h. */
#include "daemon/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/table.h"

#define SNAPSHOT_MAGIC   UINT32_C(0x4D485445) /* "ETHM" */
#define SNAPSHOT_VERSION 2
#define RECORDS_AT       4096
#define RECORD_STRIDE    (ETWD_SNAPSHOT_RECORD_MAX + 4096)
#define LISTS_AT         (RECORDS_AT + 2 * (size_t)RECORD_STRIDE)
#define LIST_STRIDE      (ETWD_SNAPSHOT_ENTRIES_MAX * (size_t)ETWD_SNAPSHOT_ENTRY_BYTES)
#define SNAPSHOT_BYTES   (LISTS_AT + 2 * LIST_STRIDE)

struct head {
	uint32_t magic, version;
	uint32_t holding; /* 0: neither record; else its number, 1 or 2; atomic */
	uint32_t reserved_pad;
	/* Of the list of entries: which one holds, 0 or 1, in the upper half, and their number. Atomic. */
	uint64_t list;
};

struct record {
	uint64_t bytes;
	uint64_t hash;
	uint8_t body[];
};

static struct head *head_of(const struct etwd_snapshot *snapshot)
{
	return (struct head *)(void *)snapshot->at;
}

static struct record *record_of(const struct etwd_snapshot *snapshot, uint32_t number)
{
	return (struct record *)(void *)(snapshot->at + RECORDS_AT +
					 (size_t)(number - 1) * RECORD_STRIDE);
}

static int map_snapshot(struct etwd_snapshot *snapshot)
{
	void *at = mmap(NULL, SNAPSHOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, snapshot->fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	snapshot->at = at;
	return 0;
}

static int make_snapshot(struct etwd_snapshot *snapshot)
{
	snapshot->fd = memfd_create("etwd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (snapshot->fd < 0 || ftruncate(snapshot->fd, SNAPSHOT_BYTES) < 0 ||
	    fcntl(snapshot->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	TRY(map_snapshot(snapshot));
	*head_of(snapshot) = (struct head){.magic = SNAPSHOT_MAGIC, .version = SNAPSHOT_VERSION};
	return 0;
}

int etwd_snapshot_create(struct etwd_snapshot *ret)
{
	struct etwd_snapshot snapshot = {NULL, -1};
	int r = make_snapshot(&snapshot);

	if (r < 0)
		etwd_snapshot_done(&snapshot);
	else
		*ret = snapshot;
	return r;
}

static int check_snapshot(struct etwd_snapshot *snapshot)
{
	struct stat info;

	if (fstat(snapshot->fd, &info) < 0)
		return -errno;
	if (info.st_size != (off_t)SNAPSHOT_BYTES)
		return -EPROTO;
	TRY(map_snapshot(snapshot));
	if (head_of(snapshot)->magic != SNAPSHOT_MAGIC ||
	    head_of(snapshot)->version != SNAPSHOT_VERSION)
		return -EPROTO;
	return 0;
}

int etwd_snapshot_adopt(int fd, struct etwd_snapshot *ret)
{
	struct etwd_snapshot snapshot = {NULL, fd};
	int r = check_snapshot(&snapshot);

	if (r < 0)
		etwd_snapshot_done(&snapshot);
	else
		*ret = snapshot;
	return r;
}

void etwd_snapshot_done(struct etwd_snapshot *snapshot)
{
	if (snapshot->at)
		munmap(snapshot->at, SNAPSHOT_BYTES);
	if (snapshot->fd >= 0)
		close(snapshot->fd);
	*snapshot = (struct etwd_snapshot){NULL, -1};
}

int etwd_snapshot_store(struct etwd_snapshot *snapshot, const uint8_t *bytes, size_t byte_count)
{
	uint32_t number = load_relaxed(&head_of(snapshot)->holding) == 1 ? 2 : 1;
	struct record *record = record_of(snapshot, number);

	if (byte_count > ETWD_SNAPSHOT_RECORD_MAX)
		return -ENOSPC;
	record->bytes = byte_count;
	record->hash = etw_hash_bytes(byte_count, bytes, byte_count);
	memcpy(record->body, bytes, byte_count);
	/* Whoever sees the number sees the record: pairs with etwd_snapshot_load() of the next host. */
	store_release(&head_of(snapshot)->holding, number);
	return 0;
}

int etwd_snapshot_load(const struct etwd_snapshot *snapshot, const uint8_t **ret, size_t *ret_bytes)
{
	uint32_t number = load_acquire(&head_of(snapshot)->holding);
	const struct record *record;

	if (number == 0)
		return -ENOENT;
	if (number > 2)
		return -EPROTO;
	record = record_of(snapshot, number);
	if (record->bytes > ETWD_SNAPSHOT_RECORD_MAX ||
	    record->hash != etw_hash_bytes(record->bytes, record->body, record->bytes))
		return -EPROTO;
	*ret = record->body;
	*ret_bytes = record->bytes;
	return 0;
}

static uint8_t *entries_of(const struct etwd_snapshot *snapshot, uint64_t number)
{
	return snapshot->at + LISTS_AT + (size_t)number * LIST_STRIDE;
}

int etwd_snapshot_append(struct etwd_snapshot *snapshot, const void *entry)
{
	uint64_t list = load_relaxed(&head_of(snapshot)->list);
	uint32_t count = (uint32_t)list;

	if (count >= ETWD_SNAPSHOT_ENTRIES_MAX)
		return -ENOSPC;
	memcpy(entries_of(snapshot, list >> 32) + (size_t)count * ETWD_SNAPSHOT_ENTRY_BYTES, entry,
	       ETWD_SNAPSHOT_ENTRY_BYTES);
	/* Whoever sees the number sees the entry: pairs with etwd_snapshot_entries() of the next host. */
	store_release(&head_of(snapshot)->list, list + 1);
	return 0;
}

int etwd_snapshot_replace(struct etwd_snapshot *snapshot, const void *entries, size_t count)
{
	uint64_t number = !(load_relaxed(&head_of(snapshot)->list) >> 32);

	if (count > ETWD_SNAPSHOT_ENTRIES_MAX)
		return -ENOSPC;
	if (count)
		memcpy(entries_of(snapshot, number), entries, count * ETWD_SNAPSHOT_ENTRY_BYTES);
	/* As above. */
	store_release(&head_of(snapshot)->list, number << 32 | count);
	return 0;
}

size_t etwd_snapshot_entries(const struct etwd_snapshot *snapshot, const uint8_t **ret)
{
	uint64_t list = load_acquire(&head_of(snapshot)->list);
	size_t count = (uint32_t)list;

	*ret = entries_of(snapshot, list >> 32 & 1);
	return count < ETWD_SNAPSHOT_ENTRIES_MAX ? count : ETWD_SNAPSHOT_ENTRIES_MAX;
}
