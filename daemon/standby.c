/* SPDX-License-Identifier: MIT */
/* See standby.h. */
#include "daemon/standby.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/log.h"
#include "ipc/connection.h"

#define TELL_MS 1000

void etwd_standby_init(struct etwd_standby *standby)
{
	*standby = (struct etwd_standby){.socket = -1};
}

int etwd_standby_start(struct etwd_standby *standby, uint64_t now_ms, int *ret_socket)
{
	int sockets[2] = {-1, -1};
	pid_t pid = -1;

	standby->due_ms = now_ms + ETWD_STANDBY_PAUSE_MS;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0)
		pid = fork();
	if (pid < 0) {
		int error = errno;

		if (sockets[0] >= 0) {
			close(sockets[0]);
			close(sockets[1]);
		}
		etwd_log("the keeper has no standby: %s", strerror(error));
		return -error;
	}
	if (pid == 0) {
		close(sockets[0]);
		etwd_standby_init(standby);
		*ret_socket = sockets[1];
		return 1;
	}
	close(sockets[1]);
	etw_ipc_enlarge(sockets[0]);
	standby->pid = pid;
	standby->socket = sockets[0];
	return 0;
}

/* -EAGAIN: it does not take it in time. */
static int tell(struct etwd_standby *standby, const struct etwd_keeper_message *message, int fd)
{
	struct pollfd wait = {standby->socket, POLLOUT, 0};

	for (int waited_ms = 0;; waited_ms++) {
		int r = etwd_keeper_pass_on(standby->socket, message, fd);

		if ((r != -EAGAIN && r != -ETOOMANYREFS && r != -ENOBUFS) || waited_ms >= TELL_MS)
			return r;
		/* Where descriptors are the limit the socket is writable, and only time helps. */
		(void)poll(r == -EAGAIN ? &wait : NULL, r == -EAGAIN, 1);
	}
}

void etwd_standby_tell(struct etwd_standby *standby, const struct etwd_keeper_message *message,
		       int fd)
{
	int r;

	if (standby->socket < 0)
		return;
	r = tell(standby, message, fd);
	if (r == 0)
		return;
	if (r != -EPIPE && r != -ECONNRESET)
		etwd_log("the standby takes nothing, and another one takes its place: %s",
			 strerror(-r));
	etwd_standby_end(standby);
}

bool etwd_standby_check(struct etwd_standby *standby)
{
	if (standby->pid && waitpid(standby->pid, NULL, WNOHANG) == standby->pid) {
		etwd_log("the standby is gone");
		etwd_standby_close(standby);
	}
	return standby->pid == 0;
}

void etwd_standby_close(struct etwd_standby *standby)
{
	if (standby->socket >= 0)
		close(standby->socket);
	standby->socket = -1;
	standby->pid = 0;
}

void etwd_standby_end(struct etwd_standby *standby)
{
	pid_t pid = standby->pid;

	if (pid) {
		/* Killed before its socket breaks, so that it does not take the keeper for dead. */
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	etwd_standby_close(standby);
}
