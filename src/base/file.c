/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

void etw_file_closep(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

int etw_file_read_all(int fd, void *to, size_t room, size_t *ret_bytes)
{
	uint8_t *at = to;
	size_t bytes = 0;

	while (bytes < room) {
		ssize_t got = read(fd, at + bytes, room - bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		bytes += (size_t)got;
	}
	*ret_bytes = bytes;
	return 0;
}

int etw_file_write_all(int fd, const void *at, size_t bytes)
{
	const uint8_t *from = at;

	while (bytes) {
		ssize_t done = write(fd, from, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		from += done;
		bytes -= (size_t)done;
	}
	return 0;
}

static int write_new(int folder, const char *name, mode_t mode, const void *at, size_t bytes)
{
	CLEANUP(etw_file_closep)
	const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			      mode);

	if (fd < 0 || fchmod(fd, mode) < 0)
		return -errno;
	TRY(etw_file_write_all(fd, at, bytes));
	return fsync(fd) < 0 ? -errno : 0;
}

int etw_file_replace(const char *folder, mode_t folder_mode, const char *name, mode_t mode,
		     const void *at, size_t bytes)
{
	CLEANUP(etw_file_closep) int fd = -1;
	CLEANUP(freep) char *fresh = NULL;
	int r;

	if (asprintf(&fresh, ".%s.new", name) < 0) {
		fresh = NULL;
		return -ENOMEM;
	}
	TRY(etw_file_make_folders(folder, folder_mode));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write_new(fd, fresh, mode, at, bytes);
	if (r == 0 && renameat(fd, fresh, fd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(fd, fresh, 0);
	else
		(void)fsync(fd); /* the name, too */
	return r;
}

bool etw_file_is_private(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) &&
	       !(info.st_mode & (S_IWGRP | S_IWOTH));
}

/* One that is there keeps its mode: it may be somebody else's. */
static int make_folder(const char *path, mode_t mode)
{
	if (mkdir(path, mode) < 0)
		return errno == EEXIST ? 0 : -errno;
	return chmod(path, mode) < 0 ? -errno : 0;
}

int etw_file_make_folders(const char *path, mode_t mode)
{
	CLEANUP(freep) char *copy = strdup(path);
	char *slash = copy;

	if (!copy)
		return -ENOMEM;
	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		TRY(make_folder(copy, mode));
		*slash = '/';
	}
	return make_folder(copy, mode);
}

int etw_file_open_place(int place_fd)
{
	struct stat info;
	char path[64];
	int fd;

	if (fstat(place_fd, &info) < 0)
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (S_ISLNK(info.st_mode))
		return -ELOOP;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int etw_file_open_regular(const char *path, size_t bytes_max, int *ret, size_t *ret_bytes)
{
	CLEANUP(etw_file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	if ((uint64_t)info.st_size > bytes_max)
		return -EFBIG;
	*ret_bytes = (size_t)info.st_size;
	*ret = fd;
	fd = -1;
	return 0;
}

int etw_file_read(const char *path, size_t bytes_max, char **ret, size_t *ret_bytes)
{
	CLEANUP(etw_file_closep) int fd = -1;
	CLEANUP(freep) char *at = NULL;
	size_t bytes = 0;

	TRY(etw_file_open_regular(path, bytes_max, &fd, &bytes));
	at = malloc(bytes + 1);
	if (!at)
		return -ENOMEM;
	TRY(etw_file_read_all(fd, at, bytes, &bytes));
	at[bytes] = '\0';
	*ret_bytes = bytes;
	*ret = TAKE(at);
	return 0;
}

mode_t etw_file_mode(void)
{
	char status[4096];
	size_t bytes = 0;
	const char *line;
	int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : etw_file_read_all(fd, status, sizeof(status) - 1, &bytes);

	etw_file_closep(&fd);
	status[bytes] = '\0';
	line = r == 0 ? strstr(status, "\nUmask:") : NULL;
	if (!line)
		return 0600;
	return (mode_t)(0666 & ~strtoul(line + strlen("\nUmask:"), NULL, 8));
}
