/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

static void close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* Of a file that became shorter, what is left of it. */
static int read_all(int fd, char *to, size_t room, size_t *ret)
{
	size_t bytes = 0;

	while (bytes < room) {
		ssize_t got = read(fd, to + bytes, room - bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		bytes += (size_t)got;
	}
	*ret = bytes;
	return 0;
}

int etw_file_read(const char *path, size_t bytes_max, char **ret, size_t *ret_bytes)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	CLEANUP(freep) char *at = NULL;
	struct stat info;
	size_t bytes = 0;

	if (fd < 0 || fstat(fd, &info) < 0)
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	if ((uint64_t)info.st_size > bytes_max)
		return -EFBIG;
	at = malloc((size_t)info.st_size + 1);
	if (!at)
		return -ENOMEM;
	TRY(read_all(fd, at, (size_t)info.st_size, &bytes));
	at[bytes] = '\0';
	*ret_bytes = bytes;
	*ret = TAKE(at);
	return 0;
}
