/* SPDX-License-Identifier: MIT */
/*
 * The memory of a ring set: its numbers, checked once, and where everything lies. The numbers of a set
 * say everything about its layout, so that a set that somebody else made is sound exactly when its header
 * equals the one that would be written for its numbers.
 */
#include "ring/ring_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "ring/cpu_number.h"

#define CACHE_LINE_BYTES 64
#define TOTAL_BYTES_MAX  (UINT64_C(1) << 38)
#define KNOWN_FLAGS      (WIRE_RING_INDEPENDENT | WIRE_RING_ONE_STREAM)
#define SEALS            (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static bool is_in_range(const struct etw_ring_set_config *config)
{
	return config->cpu_count >= 1 && config->cpu_count <= WIRE_RING_CPUS_MAX &&
	       config->buffer_count >= 2 && config->buffer_count <= WIRE_RING_BUFFERS_MAX &&
	       config->buffer_bytes >= 8 && config->buffer_bytes % 8 == 0 &&
	       config->buffer_bytes / 8 <= WIRE_RING_OFFSET_MASK &&
	       config->clock_type >= ETW_CLOCK_QPC && config->clock_type <= ETW_CLOCK_CYCLE &&
	       !(config->flags & ~(uint32_t)KNOWN_FLAGS);
}

/* The rings are mapped behind the control page, so that this takes whole pages of the machine. */
static uint32_t page_bytes(void)
{
	const long of_machine = sysconf(_SC_PAGESIZE);

	return of_machine > WIRE_RING_PAGE_BYTES ? (uint32_t)of_machine : WIRE_RING_PAGE_BYTES;
}

/*
 * Where in its first page the first ring begins. An event goes to the same place of the rings of several sessions, and a
 * processor keeps few lines of the same place of a page: so neighbours lie an eighth of a page apart.
 */
static uint32_t shift_of(uint32_t session_id)
{
	return (session_id % 8 * 8 + session_id / 8 % 8) * CACHE_LINE_BYTES;
}

/* Everything but the mapping. Returns 0 or -EINVAL. */
static int lay_out(const struct etw_ring_set_config *config, struct etw_ring_set *ret)
{
	struct etw_ring_set set = {
		.rings_at = page_bytes(),
		.cpu_count = config->cpu_count,
		.buffer_count = config->buffer_count,
		.slot_count = 4,
		.buffer_bytes = config->buffer_bytes,
		.session_id = config->session_id,
		.uid = config->uid,
		.clock_type = config->clock_type,
		.flags = config->flags,
		.ends_at = sizeof(struct wire_ring),
	};
	uint64_t at;

	if (!is_in_range(config))
		return -EINVAL;
	while (set.slot_count <= set.buffer_count)
		set.slot_count *= 2;
	set.queue_at = set.ends_at + set.slot_count * (uint32_t)sizeof(uint64_t);
	set.maps_at = ALIGN_UP(set.queue_at + set.slot_count * (uint32_t)sizeof(uint32_t),
			       CACHE_LINE_BYTES);
	at = set.maps_at + (uint64_t)set.buffer_count * (set.buffer_bytes / 8);
	at = ALIGN_UP(at, CACHE_LINE_BYTES);
	if (at > UINT32_MAX)
		return -EINVAL;
	set.buffers_at = (uint32_t)at;
	at += (uint64_t)set.buffer_count * set.buffer_bytes;
	set.ring_stride = ALIGN_UP(at, WIRE_RING_PAGE_BYTES);
	set.total_bytes = set.rings_at + WIRE_RING_PAGE_BYTES + set.cpu_count * set.ring_stride;
	if (set.total_bytes > TOTAL_BYTES_MAX)
		return -EINVAL;
	*ret = set;
	return 0;
}

static void describe(const struct etw_ring_set *set, struct wire_ring_set *ret)
{
	*ret = (struct wire_ring_set){
		.magic = WIRE_RING_SET_MAGIC,
		.version = WIRE_RING_SET_VERSION,
		.cpu_count = set->cpu_count,
		.buffer_count = set->buffer_count,
		.slot_count = set->slot_count,
		.buffer_bytes = set->buffer_bytes,
		.rings_at = set->rings_at,
		.flags = set->flags,
		.ring_stride = set->ring_stride,
		.total_bytes = set->total_bytes,
		.session_id = set->session_id,
		.uid = set->uid,
		.clock_type = set->clock_type,
	};
}

void etw_ring_set_close(struct etw_ring_set_fds *fds)
{
	if (fds->page >= 0)
		(void)close(fds->page);
	if (fds->rings >= 0)
		(void)close(fds->rings);
	*fds = (struct etw_ring_set_fds){-1, -1};
}

uint64_t etw_ring_set_bytes(const struct etw_ring_set_config *config)
{
	struct etw_ring_set set;

	return lay_out(config, &set) < 0 ? 0 : set.total_bytes;
}

/* Memory is a file, too: it may be as large as RLIMIT_FSIZE says. */
static int memory_error(void)
{
	return errno == ENOSPC || errno == EFBIG ? -ENOMEM : -errno;
}

/* Takes the memory now: a writer must never find out that there is none. */
static int make_memory(const char *name, uint64_t bytes, int *ret)
{
	*ret = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*ret < 0 || ftruncate(*ret, (off_t)bytes) < 0 ||
	    fallocate(*ret, 0, 0, (off_t)bytes) < 0)
		return memory_error();
	return 0;
}

int etw_ring_set_create(const struct etw_ring_set_config *config, struct etw_ring_set_fds *ret)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds fds = {-1, -1};
	struct wire_ring_set header;
	struct etw_ring_set set;

	TRY(lay_out(config, &set));
	describe(&set, &header);
	TRY(make_memory("etw-ring-page", set.rings_at, &fds.page));
	TRY(make_memory("etw-ring-set", set.total_bytes - set.rings_at, &fds.rings));
	if (pwrite(fds.page, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return -ENOMEM;
	if (fcntl(fds.page, F_ADD_SEALS, SEALS) < 0 || fcntl(fds.rings, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	*ret = fds;
	fds = (struct etw_ring_set_fds){-1, -1};
	return 0;
}

/* The layout that a header describes, when it is one that etw_ring_set_create() would have made. */
static int check_header(const struct wire_ring_set *header, struct etw_ring_set *ret)
{
	struct etw_ring_set_config config = {
		.cpu_count = header->cpu_count,
		.buffer_count = header->buffer_count,
		.buffer_bytes = header->buffer_bytes,
		.session_id = header->session_id,
		.uid = header->uid,
		.clock_type = header->clock_type,
		.flags = header->flags,
	};
	struct wire_ring_set expected;

	if (lay_out(&config, ret) < 0)
		return -EPROTO;
	describe(ret, &expected);
	if (memcmp(header, &expected, offsetof(struct wire_ring_set, is_retired)) != 0)
		return -EPROTO;
	return 0;
}

/* Returns 0 for a memfd that keeps its size; -EPROTO; the errno of fcntl, fstat. */
static int check_memory(int fd, uint64_t *ret_bytes)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || fstat(fd, &status) < 0)
		return -errno;
	if ((seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return -EPROTO;
	*ret_bytes = (uint64_t)status.st_size;
	return 0;
}

static int map_at(uint8_t *at, uint64_t bytes, int fd)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd,
		    0) == MAP_FAILED
		       ? -errno
		       : 0;
}

/* One range of addresses for both, so that a writer knows the rings by the page and needs no second address. */
static int map_both(const struct etw_ring_set_fds *fds, struct etw_ring_set *set)
{
	int result;

	set->memory = mmap(NULL, set->total_bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (set->memory == MAP_FAILED)
		return -errno;
	result = map_at(set->memory, set->rings_at, fds->page);
	if (result == 0)
		result = map_at(set->memory + set->rings_at, set->total_bytes - set->rings_at,
				fds->rings);
	if (result < 0)
		etw_ring_set_unmap(set);
	return result;
}

int etw_ring_set_map(const struct etw_ring_set_fds *fds, struct etw_ring_set *ret)
{
	struct wire_ring_set header;
	uint64_t bytes_of_page, bytes_of_rings;
	struct etw_ring_set set;

	TRY(check_memory(fds->page, &bytes_of_page));
	TRY(check_memory(fds->rings, &bytes_of_rings));
	if (pread(fds->page, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return -EPROTO;
	TRY(check_header(&header, &set));
	if (bytes_of_page != set.rings_at || bytes_of_rings != set.total_bytes - set.rings_at)
		return -EPROTO;
	TRY(map_both(fds, &set));
	set.is_shared = (set.flags & WIRE_RING_ONE_STREAM) ||
			sysconf(_SC_NPROCESSORS_CONF) > (long)set.cpu_count;
	set.rings = set.memory + set.rings_at + shift_of(set.session_id);
	set.slot_mask = set.slot_count - 1;
	set.buffer_units = set.buffer_bytes / 8;
	set.direct_count = set.is_shared || set.clock_type != ETW_CLOCK_QPC ? 0 : set.cpu_count;
	etw_cpu_number_prepare();
	*ret = set;
	return 0;
}

void etw_ring_set_unmap(struct etw_ring_set *set)
{
	if (set->memory)
		(void)munmap(set->memory, set->total_bytes);
	set->memory = NULL;
}

/* OFD locks belong to an open file, and a mapping holds the file that it was made of. */
static int lock_page(int page, int command, short type, struct flock *ret)
{
	*ret = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
	return fcntl(page, command, ret) < 0 ? -errno : 0;
}

int etw_ring_set_lend(const struct etw_ring_set_fds *own, struct etw_ring_set_fds *ret)
{
	CLEANUP(etw_ring_set_close) struct etw_ring_set_fds lent = {-1, -1};
	struct flock lock;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", own->page);
	lent.page = open(path, O_RDWR | O_CLOEXEC);
	if (lent.page < 0)
		return -errno;
	TRY(lock_page(lent.page, F_OFD_SETLK, F_RDLCK, &lock));
	lent.rings = fcntl(own->rings, F_DUPFD_CLOEXEC, 0);
	if (lent.rings < 0)
		return -errno;
	*ret = lent;
	lent = (struct etw_ring_set_fds){-1, -1};
	return 0;
}

bool etw_ring_set_is_lent(int page)
{
	struct flock lock;

	/* What cannot be asked is taken for lent. */
	return lock_page(page, F_OFD_GETLK, F_WRLCK, &lock) < 0 || lock.l_type != F_UNLCK;
}

int etw_ring_set_discard(int rings)
{
	struct stat status;

	if (fstat(rings, &status) < 0 ||
	    fallocate(rings, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, status.st_size) < 0)
		return -errno;
	return 0;
}

int etw_ring_set_map_page(int fd, struct wire_ring_set **ret)
{
	struct stat status;
	void *page;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (status.st_size < WIRE_RING_PAGE_BYTES)
		return -EPROTO;
	page = mmap(NULL, WIRE_RING_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		    fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	*ret = page;
	return 0;
}

void etw_ring_set_unmap_page(struct wire_ring_set *page)
{
	if (page)
		(void)munmap(page, WIRE_RING_PAGE_BYTES);
}

int etw_ring_set_retire_mapping(struct etw_ring_set *set)
{
	struct wire_ring_set *page;
	int result;

	/* The new memory says that it is retired before anybody can see it; nobody looks at its count. */
	page = mmap(NULL, set->total_bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (page == MAP_FAILED)
		return -errno;
	store_relaxed(&page->refused, WIRE_RING_OVER);
	store_relaxed(&page->is_retired, 1u);
	if (mremap(page, set->total_bytes, set->total_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		   set->memory) == MAP_FAILED) {
		result = -errno;
		(void)munmap(page, set->total_bytes);
		return result;
	}
	return 0;
}
