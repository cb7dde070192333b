/* SPDX-License-Identifier: MIT */
/* See keeper.h. */
#include "daemon/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "daemon/keeper_message.h"
#include "daemon/log.h"

/* So many deaths that are the host's own fault within the window end the keeper. */
#define FAULTS_MAX      5
#define FAULT_WINDOW_MS 60000
/* So many hosts in a row that never became ready, whatever killed them. */
#define UNREADY_MAX 20
/* A host that lived shorter than this is replaced only after a pause of the same length. */
#define SHORT_LIFE_MS 20

struct kept {
	char name[ETWD_KEPT_NAME_BYTES];
	int fd; /* owned */
};

struct keeper {
	const struct etwd_keeper_callbacks *callbacks;
	struct kept *kept; /* owned */
	size_t kept_count;
	int signal_fd; /* owned */
	int socket;    /* owned; to the present host */
	pid_t host;
	int host_status; /* of waitpid */
	bool is_host_ready, was_reported, is_ending;
	uint64_t host_start_ms;
	uint64_t fault_ms[FAULTS_MAX]; /* when the last ones happened; 0: not yet */
	unsigned fault_count, unready_count;
};

/* Time asleep counts, too. */
static uint64_t now_ms(void)
{
	return etw_time_read_ns(CLOCK_BOOTTIME) / ETW_NS_PER_MS;
}

static struct kept *find_kept(struct keeper *keeper, const char *name)
{
	for (size_t i = 0; i < keeper->kept_count; i++) {
		if (strcmp(keeper->kept[i].name, name) == 0)
			return &keeper->kept[i];
	}
	return NULL;
}

static void keep(struct keeper *keeper, const char *name, int fd)
{
	struct kept *kept = find_kept(keeper, name);

	if (kept) {
		close(kept->fd);
		kept->fd = fd;
		return;
	}
	if (keeper->kept_count == ETWD_KEPT_MAX) {
		etwd_log("the keeper is full and cannot hold %s", name);
		close(fd);
		return;
	}
	kept = &keeper->kept[keeper->kept_count++];
	memcpy(kept->name, name, sizeof(kept->name));
	kept->fd = fd;
}

/* A name that ends with a slash means all that begin so. */
static void forget(struct keeper *keeper, const char *name)
{
	size_t bytes = strlen(name);
	bool is_prefix = bytes && name[bytes - 1] == '/';

	for (size_t i = 0; i < keeper->kept_count;) {
		struct kept *kept = &keeper->kept[i];

		if ((is_prefix ? strncmp(kept->name, name, bytes) : strcmp(kept->name, name)) !=
		    0) {
			i++;
			continue;
		}
		close(kept->fd);
		*kept = keeper->kept[--keeper->kept_count];
	}
}

static void report(struct keeper *keeper, int status)
{
	if (!keeper->was_reported)
		keeper->callbacks->report_ready(keeper->callbacks->context, status);
	keeper->was_reported = true;
}

/* Takes everything that the host has sent so far; also what a dead one sent. */
static void drain(struct keeper *keeper)
{
	struct etwd_keeper_message message;
	int fd;

	while (etwd_keeper_receive(keeper->socket, MSG_DONTWAIT, &message, &fd) == 0) {
		switch (message.op) {
		case ETWD_KEEPER_KEEP:
			if (fd >= 0)
				keep(keeper, message.name, fd);
			continue;
		case ETWD_KEEPER_FORGET:
			forget(keeper, message.name);
			break;
		case ETWD_KEEPER_READY:
			keeper->is_host_ready = true;
			keeper->unready_count = 0;
			report(keeper, 0);
			break;
		default:
			break;
		}
		if (fd >= 0)
			close(fd);
	}
}

/* In the new process: nothing of the keeper's but its end of the socketpair goes along. */
static void become_host(struct keeper *keeper, int socket)
{
	for (size_t i = 0; i < keeper->kept_count; i++)
		close(keeper->kept[i].fd);
	free(keeper->kept);
	close(keeper->signal_fd);
	_exit(keeper->callbacks->run_host(keeper->callbacks->context, socket));
}

static int hand_over(struct keeper *keeper)
{
	for (size_t i = 0; i < keeper->kept_count; i++)
		TRY(etwd_keeper_send(keeper->socket, ETWD_KEEPER_GIVEN, keeper->kept[i].name,
				     keeper->kept[i].fd));
	return etwd_keeper_send(keeper->socket, ETWD_KEEPER_GIVEN_ALL, "", -1);
}

static int start_host(struct keeper *keeper)
{
	int sockets[2];
	pid_t pid;
	int r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		int error = errno;

		close(sockets[0]);
		close(sockets[1]);
		return -error;
	}
	if (pid == 0) {
		close(sockets[0]);
		become_host(keeper, sockets[1]);
	}
	close(sockets[1]);
	keeper->socket = sockets[0];
	keeper->host = pid;
	keeper->is_host_ready = false;
	keeper->host_start_ms = now_ms();
	r = hand_over(keeper);
	if (r < 0) {
		/* It waits for the rest, and would do so for ever; it is still there until it is waited for. */
		etwd_log("the keeper cannot hand everything over: %s", strerror(-r));
		(void)kill(pid, SIGKILL);
	}
	return 0;
}

/* Returns true when the host has ended; its status is in keeper->host_status. */
static bool take_signals(struct keeper *keeper)
{
	struct signalfd_siginfo info;

	while (read(keeper->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		keeper->is_ending = true;
		(void)kill(keeper->host, SIGTERM);
	}
	return waitpid(keeper->host, &keeper->host_status, WNOHANG) == keeper->host;
}

static void wait_for_host(struct keeper *keeper)
{
	for (;;) {
		struct pollfd waits[2] = {{keeper->signal_fd, POLLIN, 0},
					  {keeper->socket, POLLIN, 0}};

		(void)poll(waits, 2, -1);
		drain(keeper);
		if (take_signals(keeper))
			break;
		/* A host that has closed its end is about to end: only the signal is news then. */
		if (waits[1].revents & (POLLHUP | POLLERR)) {
			(void)poll(waits, 1, 1000);
			if (take_signals(keeper))
				break;
		}
	}
	drain(keeper);
	close(keeper->socket);
	keeper->socket = -1;
}

static bool is_over_the_limit(struct keeper *keeper)
{
	uint64_t now = now_ms();
	uint64_t *oldest = &keeper->fault_ms[keeper->fault_count++ % FAULTS_MAX];
	bool is_over = *oldest && now - *oldest < FAULT_WINDOW_MS;

	*oldest = now;
	return is_over;
}

/* Why there is no next host, as exit status; -1: there is one. */
static int judge_death(struct keeper *keeper)
{
	int status = keeper->host_status;
	bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status))
		etwd_log("the host ended with status %d", WEXITSTATUS(status));
	else
		etwd_log("the host died of signal %d", WTERMSIG(status));
	if (keeper->is_ending)
		return 1;
	if (!keeper->was_reported && !is_killed)
		return 1; /* the first one never worked: that is an error of the setup */
	if (!keeper->is_host_ready && ++keeper->unready_count >= UNREADY_MAX) {
		etwd_log("%d hosts in a row never became ready; the keeper gives up", UNREADY_MAX);
		return 1;
	}
	if (!is_killed && is_over_the_limit(keeper)) {
		etwd_log("the host fails too often; the keeper gives up");
		return 1;
	}
	return -1;
}

static int keep_hosts_running(struct keeper *keeper)
{
	const struct timespec pause = {0, SHORT_LIFE_MS * 1000000L};

	for (;;) {
		int r = start_host(keeper);

		if (r < 0) {
			etwd_log("the keeper cannot start a host: %s", strerror(-r));
			return 1;
		}
		wait_for_host(keeper);
		r = judge_death(keeper);
		if (r >= 0)
			return r;
		if (now_ms() - keeper->host_start_ms < SHORT_LIFE_MS)
			(void)nanosleep(&pause, NULL);
		etwd_log("the keeper starts a new host with %zu descriptors", keeper->kept_count);
	}
}

static int open_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
		return -errno;
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int etwd_keeper_run(const struct etwd_keeper_callbacks *callbacks)
{
	struct keeper keeper = {.callbacks = callbacks, .socket = -1};
	int status = 1;

	keeper.kept = calloc(ETWD_KEPT_MAX, sizeof(*keeper.kept));
	keeper.signal_fd = open_signals();
	if (keeper.kept && keeper.signal_fd >= 0)
		status = keep_hosts_running(&keeper);
	report(&keeper, status ? status : 1);
	if (status)
		callbacks->clean_up(callbacks->context);
	for (size_t i = 0; i < keeper.kept_count; i++)
		close(keeper.kept[i].fd);
	free(keeper.kept);
	if (keeper.signal_fd >= 0)
		close(keeper.signal_fd);
	return status;
}
