/* SPDX-License-Identifier: MIT */
/*
 * Sockets with descriptors of a peer's in their queues. Whoever drops the last reference to such a socket
 * closes those, which may take as long as their sender likes: so they are collected, and then handed to a
 * child that does nothing but end. A process that ends does not wait for what lingers, and if it should hang
 * all the same, the host does not.
 *
 * Only kernels that cannot refuse descriptors ever bring one here (ipc/connection.h). Context: owner thread.
 */
#ifndef ETW_DAEMON_PARKED_H
#define ETW_DAEMON_PARKED_H

#define ETWD_PARKED_MAX 32

struct etwd_parked {
	unsigned count;
	int fds[ETWD_PARKED_MAX]; /* owned */
};

/*
 * etwd_park() - takes a socket. When there are ETWD_PARKED_MAX, a child gets them all.
 *
 * Returns 0; errno of pipe2 and fork: nothing was taken, and the socket must stay open.
 */
int etwd_park(struct etwd_parked *parked, int fd);

#endif
