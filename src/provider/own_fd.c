/* SPDX-License-Identifier: MIT */
#include "provider/own_fd.h"

#include <sys/stat.h>
#include <unistd.h>

struct etw_own_fd etw_own_fd_take(int fd)
{
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return ETW_OWN_FD_NONE;
	return (struct etw_own_fd){fd, info.st_dev, info.st_ino};
}

bool etw_own_fd_is_there(const struct etw_own_fd *fd)
{
	struct stat info;

	return fd->number >= 0 && fstat(fd->number, &info) == 0 && info.st_dev == fd->device &&
	       info.st_ino == fd->inode;
}

void etw_own_fd_close(struct etw_own_fd *fd)
{
	if (etw_own_fd_is_there(fd))
		(void)close(fd->number);
	*fd = ETW_OWN_FD_NONE;
}
