/* SPDX-License-Identifier: MIT */
/*
 * A descriptor in somebody else's program, which may close it like all others (closefrom() of a daemon) and open a
 * file of its own with the same number. So the file is known by its inode, and a number that has come to
 * mean another file is neither used nor closed. Sockets and pidfds have inodes of their own; eventfds
 * and memory mappings' files of all kinds do not.
 */
#ifndef ETW_PROVIDER_OWN_FD_H
#define ETW_PROVIDER_OWN_FD_H

#include <stdbool.h>
#include <sys/types.h>

struct etw_own_fd {
	int number; /* -1: none */
	dev_t device;
	ino_t inode;
};

#define ETW_OWN_FD_NONE ((struct etw_own_fd){.number = -1})

/* etw_own_fd_take() - @fd is ours from now on; a negative one is none. */
struct etw_own_fd etw_own_fd_take(int fd);

/* etw_own_fd_is_there() - whether the number still means the file that was taken. */
bool etw_own_fd_is_there(const struct etw_own_fd *fd);

/* etw_own_fd_close() - closes it, if it is still there; none afterwards. */
void etw_own_fd_close(struct etw_own_fd *fd);

#endif
