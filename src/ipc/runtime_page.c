/* SPDX-License-Identifier: MIT */
/* The discovery page of a runtime directory. */
#include "ipc/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/time.h"
#include "ipc/runtime_internal.h"

#define PAGE_VERSION 1

static int map_page(int fd, int protection, struct wire_discovery_page **ret)
{
	void *page = mmap(NULL, WIRE_DISCOVERY_PAGE_BYTES, protection, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	*ret = page;
	return 0;
}

static bool is_page(const struct wire_discovery_page *page)
{
	return load_acquire(&page->magic) == WIRE_DISCOVERY_PAGE_MAGIC &&
	       page->version == PAGE_VERSION;
}

/* Maps the host's own page; a new one becomes valid with the store of the magic. */
static int prepare_page(int fd, struct wire_discovery_page **ret)
{
	struct wire_discovery_page *page = NULL;
	struct stat info;

	if (fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
	    (info.st_mode & ETW_RUNTIME_OTHERS_WRITE))
		return -EPERM;
	/* Never shorter: whoever maps it already would die on the part that is gone. */
	if (info.st_size < WIRE_DISCOVERY_PAGE_BYTES && ftruncate(fd, WIRE_DISCOVERY_PAGE_BYTES))
		return -errno;
	if (!info.st_size && fchmod(fd, 0644) < 0)
		return -errno;
	TRY(map_page(fd, PROT_READ | PROT_WRITE, &page));
	if (!load_acquire(&page->magic)) {
		page->version = PAGE_VERSION;
		store_release(&page->magic, WIRE_DISCOVERY_PAGE_MAGIC);
	}
	if (!is_page(page)) {
		etw_runtime_page_unmap(page);
		return -EPROTO;
	}
	*ret = page;
	return 0;
}

int etw_runtime_prepare(const char *directory, struct wire_discovery_page **ret_page)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	struct stat info;

	TRY(etw_runtime_make_directory(directory));
	TRY(etw_runtime_open_directory(directory, &folder, &info));
	if (info.st_uid != geteuid() || (info.st_mode & ETW_RUNTIME_OTHERS_WRITE))
		return -EPERM;
	file = openat(folder, ETW_RUNTIME_PAGE,
		      O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (file < 0)
		return errno == ELOOP || errno == EISDIR || errno == ENXIO ? -EPERM : -errno;
	return prepare_page(file, ret_page);
}

static long futex(const uint32_t *word, int operation, uint32_t value,
		  const struct timespec *deadline)
{
	return syscall(SYS_futex, word, operation, value, deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void etw_runtime_announce(struct wire_discovery_page *page, bool is_hosted)
{
	uint32_t epoch = load_relaxed(&page->epoch);
	bool was_hosted = epoch & 1;

	/* A host that died left it odd: the next one counts on, so that who waits sees a change. */
	if (is_hosted)
		epoch += was_hosted ? 2 : 1;
	else if (was_hosted)
		epoch++;
	store_release(&page->epoch, epoch); /* pairs with etw_runtime_wait() */
	(void)futex(&page->epoch, FUTEX_WAKE, INT_MAX, NULL);
}

int etw_runtime_page(const char *directory, const struct wire_discovery_page **ret_page)
{
	CLEANUP(etw_file_closep) int folder = -1;
	CLEANUP(etw_file_closep) int file = -1;
	struct wire_discovery_page *page = NULL;
	struct stat info;

	TRY(etw_runtime_open_directory(directory, &folder, &info));
	file = openat(folder, ETW_RUNTIME_PAGE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return errno == ELOOP ? -EPERM : -errno;
	if (fstat(file, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode) || (info.st_uid != 0 && info.st_uid != geteuid()) ||
	    (info.st_mode & ETW_RUNTIME_OTHERS_WRITE))
		return -EPERM;
	if (info.st_size < WIRE_DISCOVERY_PAGE_BYTES)
		return -EPROTO;
	TRY(map_page(file, PROT_READ, &page));
	if (!is_page(page)) {
		etw_runtime_page_unmap(page);
		return -EPROTO;
	}
	*ret_page = page;
	return 0;
}

void etw_runtime_page_unmap(const struct wire_discovery_page *page)
{
	if (page)
		(void)munmap((void *)(uintptr_t)page, WIRE_DISCOVERY_PAGE_BYTES);
}

int etw_runtime_wait(const struct wire_discovery_page *page, uint32_t epoch, uint32_t timeout_ms)
{
	struct timespec deadline =
		etw_timespec_of_ns(etw_monotonic_ns() + timeout_ms * ETW_NS_PER_MS);

	/* Not the private kind of futex: the page is a file that other processes map. */
	while (load_acquire(&page->epoch) == epoch) { /* pairs with etw_runtime_announce() */
		if (futex(&page->epoch, FUTEX_WAIT_BITSET, epoch, &deadline) < 0 && errno != EAGAIN)
			return -errno;
	}
	return 0;
}
