/* SPDX-License-Identifier: MIT */
/* See parked.h. */
#include "daemon/parked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/*
 * In the child, which is a copy of a process with threads: system calls only. It holds its references until
 * the host has closed its own, so that the last ones are here.
 */
static _Noreturn void end_behind(const int ends[2])
{
	char byte;

	(void)close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

static int hand_over(struct etwd_parked *parked)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	/* The host waits for no child: this one is nobody's to wait for. */
	(void)signal(SIGCHLD, SIG_IGN);
	pid = _Fork();
	if (pid == 0)
		end_behind(ends);
	if (pid < 0) {
		int r = -errno;

		(void)close(ends[0]);
		(void)close(ends[1]);
		return r;
	}
	while (parked->count)
		(void)close(parked->fds[--parked->count]);
	(void)close(ends[0]);
	(void)close(ends[1]);
	return 0;
}

int etwd_park(struct etwd_parked *parked, int fd)
{
	if (parked->count == ETWD_PARKED_MAX) {
		int r = hand_over(parked);

		if (r < 0)
			return r;
	}
	parked->fds[parked->count++] = fd;
	return 0;
}
