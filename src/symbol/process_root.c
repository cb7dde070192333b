/* SPDX-License-Identifier: MIT */
/* Roots of processes that live. See process_root.h. */
#include "symbol/process_root.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/time.h"

#define TEXT_BYTES 8192
/* Of /proc/PID/stat, counted from behind the name: in ticks since the machine started. */
#define START_FIELD 20
/* Wall clocks are set and slewed: a process seems to start up to so much later than it did. */
#define SLACK_FT ETW_FILETIME_PER_SECOND

/* What the number stands for from here on, whoever gets it next. */
static int open_process(uint32_t pid)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Returns whether there is such a file of the process, as text. */
static bool read_text(int process_fd, const char *name, char ret[TEXT_BYTES])
{
	CLEANUP(etw_file_closep) const int fd = openat(process_fd, name, O_RDONLY | O_CLOEXEC);
	size_t bytes;

	if (fd < 0 || etw_file_read_all(fd, ret, TEXT_BYTES - 1, &bytes))
		return false;
	ret[bytes] = '\0';
	return true;
}

/* The number with this place, from 0, in a line of a status; the last one for SIZE_MAX. */
static bool find_number(const char *status, const char *name, size_t place, uint32_t *ret)
{
	const char *at = strstr(status, name);
	bool is_found = false;

	if (!at)
		return false;
	at += strlen(name);
	for (size_t i = 0; i <= place; i++) {
		char *end;

		at += strspn(at, " \t");
		if (!isdigit((unsigned char)*at))
			return is_found && place == SIZE_MAX;
		*ret = (uint32_t)strtoul(at, &end, 10);
		is_found = true;
		at = end;
	}
	return true;
}

bool etw_symbol_living_read(uint32_t pid, struct etw_symbol_living *ret)
{
	CLEANUP(etw_file_closep) const int process_fd = open_process(pid);
	char status[TEXT_BYTES];

	if (process_fd < 0 || !read_text(process_fd, "status", status) ||
	    !find_number(status, "\nUid:", 1, &ret->uid))
		return false;
	if (!find_number(status, "\nNSpid:", SIZE_MAX, &ret->inner_pid))
		ret->inner_pid = pid;
	return true;
}

/* FILETIME at which a process started, by today's clock; INT64_MAX where nothing says it. */
static int64_t start_of(int process_fd)
{
	const int64_t up_ft = (int64_t)(etw_time_read_ns(CLOCK_BOOTTIME) / ETW_NS_PER_FT);
	const long ticks_per_second = sysconf(_SC_CLK_TCK);
	char text[TEXT_BYTES];
	const char *at;
	int64_t ticks;

	if (ticks_per_second <= 0 || !read_text(process_fd, "stat", text))
		return INT64_MAX;
	at = strrchr(text, ')');
	for (size_t i = 0; at && i < START_FIELD; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at || !isdigit((unsigned char)*at))
		return INT64_MAX;
	ticks = strtoll(at, NULL, 10);
	if (ticks > INT64_MAX / ETW_FILETIME_PER_SECOND)
		return INT64_MAX;
	return etw_filetime_now() - up_ft + ticks * ETW_FILETIME_PER_SECOND / ticks_per_second;
}

static bool is_that(int process_fd, int64_t time_ft)
{
	if (time_ft == INT64_MAX)
		return true;
	return start_of(process_fd) - SLACK_FT <= time_ft;
}

bool etw_symbol_living_is(const struct etw_symbol_process_at *process)
{
	CLEANUP(etw_file_closep) const int process_fd = open_process(process->pid);

	return process_fd >= 0 && is_that(process_fd, process->time_ft);
}

static bool is_same_file(int fd, const char *path)
{
	struct stat one, other;

	return fstat(fd, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

static bool is_own_user_namespace(int fd)
{
	uid_t owner;

	if (is_same_file(fd, "/proc/self/ns/user"))
		return true;
	return geteuid() != 0 && ioctl(fd, NS_GET_OWNER_UID, &owner) == 0 && owner == geteuid();
}

/* Whether nobody but root and who asks arranges what the process sees. */
static bool has_own_namespaces(int process_fd)
{
	CLEANUP(etw_file_closep)
	const int user_fd = openat(process_fd, "ns/user", O_RDONLY | O_CLOEXEC);
	CLEANUP(etw_file_closep)
	const int mount_fd = openat(process_fd, "ns/mnt", O_RDONLY | O_CLOEXEC);
	CLEANUP(etw_file_closep) int owner_fd = -1;

	if (user_fd < 0 && errno == ENOENT && access("/proc/self/ns/user", F_OK) < 0)
		return true; /* this kernel has none */
	if (user_fd < 0 || mount_fd < 0 || !is_own_user_namespace(user_fd))
		return false;
	if (is_same_file(mount_fd, "/proc/self/ns/mnt"))
		return true;
	owner_fd = ioctl(mount_fd, NS_GET_USERNS);
	return owner_fd >= 0 && is_own_user_namespace(owner_fd);
}

int etw_symbol_process_root_open(const struct etw_symbol_process_at *process)
{
	CLEANUP(etw_file_closep) const int process_fd = open_process(process->pid);
	CLEANUP(etw_file_closep) int root_fd = -1;
	int fd;

	if (process_fd < 0 || !is_that(process_fd, process->time_ft))
		return -ESRCH;
	root_fd = openat(process_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	/* Afterwards: a process may leave for a user namespace of its own, but not come back. */
	if (!has_own_namespaces(process_fd))
		return -EXDEV;
	fd = root_fd;
	root_fd = -1;
	return fd;
}

bool etw_symbol_is_owner(int fd, uint32_t uid)
{
	struct stat status;

	return fstat(fd, &status) == 0 &&
	       (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == uid);
}
