/* SPDX-License-Identifier: MIT */
#include "source/kernel/procfs/counters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "source/kernel/procfs/procfs.h"

#define TEXT_BYTES       4096
#define BYTES_PER_KIB    1024
#define FIELD_MINOR      10 /* of stat, as proc(5) counts */
#define FIELD_MAJOR      12
#define FIELD_AFTER_NAME 3

/* A line "Name:   123 kB" in pages; 0 without one, as kernel threads have none. */
static uint64_t find_pages(const char *text, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += bytes) {
		if ((at != text && at[-1] != '\n') || at[bytes] != ':')
			continue;
		return strtoull(at + bytes + 1, NULL, 10) * BYTES_PER_KIB /
		       (uint64_t)sysconf(_SC_PAGESIZE);
	}
	return 0;
}

static int read_text(int process_fd, const char *name, char text[TEXT_BYTES])
{
	CLEANUP(etw_file_closep) int fd = openat(process_fd, name, O_RDONLY | O_CLOEXEC);
	size_t bytes;

	if (fd < 0 || etw_file_read_all(fd, text, TEXT_BYTES - 1, &bytes) || !bytes)
		return -ESRCH;
	text[bytes] = '\0';
	return 0;
}

static void closedirp(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

/* Since Linux 6.2 the folder's size is how many there are; before, it is 0. */
static uint32_t count_files(int process_fd)
{
	int fd = openat(process_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedirp) DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat facts;
	uint32_t count = 0;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (fstat(fd, &facts) == 0 && facts.st_size > 0 && facts.st_size <= UINT32_MAX)
		return (uint32_t)facts.st_size;
	for (const struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] != '.';
	return count;
}

static int read_faults(const char *text, struct etw_kernel_counters *counters)
{
	const char *at = strrchr(text, ')');

	if (!at)
		return -EBADMSG;
	for (int field = FIELD_AFTER_NAME; field <= FIELD_MAJOR; field++) {
		at = strchr(at, ' ');
		if (!at)
			return -EBADMSG;
		at++;
		if (field == FIELD_MINOR || field == FIELD_MAJOR)
			counters->fault_count += strtoull(at, NULL, 10);
	}
	return 0;
}

static void read_memory(const char *text, struct etw_kernel_counters *counters)
{
	uint64_t swapped = find_pages(text, "VmSwap");

	counters->virtual_pages = find_pages(text, "VmSize");
	counters->peak_virtual_pages = find_pages(text, "VmPeak");
	counters->resident_pages = find_pages(text, "VmRSS");
	counters->peak_resident_pages = find_pages(text, "VmHWM");
	counters->private_pages = find_pages(text, "RssAnon") + swapped;
	counters->writable_pages = find_pages(text, "VmData") + find_pages(text, "VmStk");
}

int etw_kernel_counters_read(int root_fd, uint32_t pid, uint64_t start_ticks,
			     struct etw_kernel_counters *ret)
{
	CLEANUP(etw_file_closep) int process_fd = etw_kernel_proc_open(root_fd, pid);
	struct etw_kernel_counters counters = {.is_known = 1};
	struct etw_kernel_proc_task task;
	char text[TEXT_BYTES];

	if (process_fd < 0)
		return -ESRCH;
	TRY(etw_kernel_proc_read_task(process_fd, &task));
	if (task.start_ticks != start_ticks)
		return -ESRCH;
	TRY(read_text(process_fd, "stat", text));
	TRY(read_faults(text, &counters));
	TRY(read_text(process_fd, "status", text));
	read_memory(text, &counters);
	counters.file_count = count_files(process_fd);
	*ret = counters;
	return 0;
}
