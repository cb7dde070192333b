/* SPDX-License-Identifier: MIT */
/* See memory.h. */
#include "daemon/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/table.h"

#define MEMORY_MAGIC   UINT32_C(0x4D485445) /* "ETHM" */
#define MEMORY_VERSION 2
#define RECORDS_AT     4096
#define RECORD_STRIDE  (ETWD_MEMORY_RECORD_MAX + 4096)
#define LISTS_AT       (RECORDS_AT + 2 * (size_t)RECORD_STRIDE)
#define LIST_STRIDE    (ETWD_MEMORY_ENTRIES_MAX * (size_t)ETWD_MEMORY_ENTRY_BYTES)
#define MEMORY_BYTES   (LISTS_AT + 2 * LIST_STRIDE)

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

static struct head *head_of(const struct etwd_memory *memory)
{
	return (struct head *)(void *)memory->at;
}

static struct record *record_of(const struct etwd_memory *memory, uint32_t number)
{
	return (struct record *)(void *)(memory->at + RECORDS_AT +
					 (size_t)(number - 1) * RECORD_STRIDE);
}

static int map_memory(struct etwd_memory *memory)
{
	void *at = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	memory->at = at;
	return 0;
}

static int make_memory(struct etwd_memory *memory)
{
	memory->fd = memfd_create("etwd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory->fd < 0 || ftruncate(memory->fd, MEMORY_BYTES) < 0 ||
	    fcntl(memory->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	TRY(map_memory(memory));
	*head_of(memory) = (struct head){.magic = MEMORY_MAGIC, .version = MEMORY_VERSION};
	return 0;
}

int etwd_memory_create(struct etwd_memory *ret)
{
	struct etwd_memory memory = {NULL, -1};
	int r = make_memory(&memory);

	if (r < 0)
		etwd_memory_done(&memory);
	else
		*ret = memory;
	return r;
}

static int check_memory(struct etwd_memory *memory)
{
	struct stat info;

	if (fstat(memory->fd, &info) < 0)
		return -errno;
	if (info.st_size != (off_t)MEMORY_BYTES)
		return -EPROTO;
	TRY(map_memory(memory));
	if (head_of(memory)->magic != MEMORY_MAGIC || head_of(memory)->version != MEMORY_VERSION)
		return -EPROTO;
	return 0;
}

int etwd_memory_adopt(int fd, struct etwd_memory *ret)
{
	struct etwd_memory memory = {NULL, fd};
	int r = check_memory(&memory);

	if (r < 0)
		etwd_memory_done(&memory);
	else
		*ret = memory;
	return r;
}

void etwd_memory_done(struct etwd_memory *memory)
{
	if (memory->at)
		munmap(memory->at, MEMORY_BYTES);
	if (memory->fd >= 0)
		close(memory->fd);
	*memory = (struct etwd_memory){NULL, -1};
}

int etwd_memory_store(struct etwd_memory *memory, const uint8_t *bytes, size_t byte_count)
{
	uint32_t number = load_relaxed(&head_of(memory)->holding) == 1 ? 2 : 1;
	struct record *record = record_of(memory, number);

	if (byte_count > ETWD_MEMORY_RECORD_MAX)
		return -ENOSPC;
	record->bytes = byte_count;
	record->hash = etw_hash_bytes(byte_count, bytes, byte_count);
	memcpy(record->body, bytes, byte_count);
	/* Whoever sees the number sees the record: pairs with etwd_memory_load() of the next host. */
	store_release(&head_of(memory)->holding, number);
	return 0;
}

int etwd_memory_load(const struct etwd_memory *memory, const uint8_t **ret, size_t *ret_bytes)
{
	uint32_t number = load_acquire(&head_of(memory)->holding);
	const struct record *record;

	if (number == 0)
		return -ENOENT;
	if (number > 2)
		return -EPROTO;
	record = record_of(memory, number);
	if (record->bytes > ETWD_MEMORY_RECORD_MAX ||
	    record->hash != etw_hash_bytes(record->bytes, record->body, record->bytes))
		return -EPROTO;
	*ret = record->body;
	*ret_bytes = record->bytes;
	return 0;
}

static uint8_t *entries_of(const struct etwd_memory *memory, uint64_t number)
{
	return memory->at + LISTS_AT + (size_t)number * LIST_STRIDE;
}

int etwd_memory_append(struct etwd_memory *memory, const void *entry)
{
	uint64_t list = load_relaxed(&head_of(memory)->list);
	uint32_t count = (uint32_t)list;

	if (count >= ETWD_MEMORY_ENTRIES_MAX)
		return -ENOSPC;
	memcpy(entries_of(memory, list >> 32) + (size_t)count * ETWD_MEMORY_ENTRY_BYTES, entry,
	       ETWD_MEMORY_ENTRY_BYTES);
	/* Whoever sees the number sees the entry: pairs with etwd_memory_entries() of the next host. */
	store_release(&head_of(memory)->list, list + 1);
	return 0;
}

int etwd_memory_replace(struct etwd_memory *memory, const void *entries, size_t count)
{
	uint64_t number = !(load_relaxed(&head_of(memory)->list) >> 32);

	if (count > ETWD_MEMORY_ENTRIES_MAX)
		return -ENOSPC;
	if (count)
		memcpy(entries_of(memory, number), entries, count * ETWD_MEMORY_ENTRY_BYTES);
	/* As above. */
	store_release(&head_of(memory)->list, number << 32 | count);
	return 0;
}

size_t etwd_memory_entries(const struct etwd_memory *memory, const uint8_t **ret)
{
	uint64_t list = load_acquire(&head_of(memory)->list);
	size_t count = (uint32_t)list;

	*ret = entries_of(memory, list >> 32 & 1);
	return count < ETWD_MEMORY_ENTRIES_MAX ? count : ETWD_MEMORY_ENTRIES_MAX;
}
