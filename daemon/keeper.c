/* SPDX-License-Identifier: MIT */
/* See keeper.h. */
#include "daemon/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
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
#include "ipc/connection.h"

/* So many deaths that are the host's own fault within the window end the keeper. */
#define FAULTS_MAX      5
#define FAULT_WINDOW_MS 60000
/* Between hosts that live for a short time; doubled each time. */
#define PAUSE_FIRST_MS 10
#define PAUSE_MOST_MS  5000
/* From so many short lives in a row on people are told why there is no host. */
#define LIVES_TO_EXPLAIN 4

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
	unsigned fault_count;
	unsigned short_count; /* of hosts in a row that lived for a short time */
	/* Why the last host died. */
	int error;
	char reason[ETWD_KEPT_NAME_BYTES];
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
			keeper->callbacks->explain(keeper->callbacks->context, 0, NULL);
			report(keeper, 0);
			break;
		case ETWD_KEEPER_FAILED:
			keeper->error = message.error;
			memcpy(keeper->reason, message.name, sizeof(keeper->reason));
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
	etw_ipc_enlarge(sockets[0]);
	etw_ipc_enlarge(sockets[1]);
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
	keeper->error = 0;
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

/* What the host said itself when it ended, or what its status says. */
static void find_reason(struct keeper *keeper)
{
	int status = keeper->host_status;

	if (keeper->error > 0)
		return;
	keeper->error = ENOTRECOVERABLE;
	if (WIFEXITED(status)) {
		(void)snprintf(keeper->reason, sizeof(keeper->reason),
			       "the host ended with status %d", WEXITSTATUS(status));
	} else if (WTERMSIG(status) == SIGKILL) {
		keeper->error = ENOMEM;
		(void)snprintf(keeper->reason, sizeof(keeper->reason),
			       "the host was killed by signal 9, as when memory runs out");
	} else {
		(void)snprintf(keeper->reason, sizeof(keeper->reason), "the host died of signal %d",
			       WTERMSIG(status));
	}
}

__attribute__((format(printf, 2, 3))) static void explain(const struct keeper *keeper,
							  const char *format, ...)
{
	char more[128], sentence[sizeof(keeper->reason) + sizeof(more) + 2];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(more, sizeof(more), format, list);
	va_end(list);
	(void)snprintf(sentence, sizeof(sentence), "%s; %s", keeper->reason, more);
	etwd_log("%s", sentence);
	keeper->callbacks->explain(keeper->callbacks->context, keeper->error, sentence);
}

/* Why there is no next host, as exit status; -1: there is one. */
static int judge_death(struct keeper *keeper)
{
	int status = keeper->host_status;
	bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	unsigned short_max = keeper->was_reported ? ETWD_SHORT_LIVES_MAX : ETWD_FIRST_LIVES_MAX;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	find_reason(keeper);
	etwd_log("%s", keeper->reason);
	if (keeper->is_ending)
		return 1;
	if (keeper->is_host_ready &&
	    now_ms() - keeper->host_start_ms >= keeper->callbacks->steady_ms)
		keeper->short_count = 0;
	else
		keeper->short_count++;
	if (!keeper->was_reported && !is_killed) {
		explain(keeper, "the first one never worked"); /* an error of the setup */
		return 1;
	}
	if (keeper->short_count >= short_max) {
		explain(keeper, "%u hosts in a row ended at once, and the keeper gives up",
			short_max);
		return 1;
	}
	if (!is_killed && is_over_the_limit(keeper)) {
		explain(keeper, "the host fails too often, and the keeper gives up");
		return 1;
	}
	return -1;
}

static uint64_t pause_ms(const struct keeper *keeper)
{
	uint64_t pause = PAUSE_FIRST_MS;

	if (keeper->short_count == 0)
		return 0;
	for (unsigned i = 1; i < keeper->short_count && pause < PAUSE_MOST_MS; i++)
		pause *= 2;
	return pause < PAUSE_MOST_MS ? pause : PAUSE_MOST_MS;
}

/* Returns false when somebody has told the keeper to end meanwhile. */
static bool wait_before_next(struct keeper *keeper)
{
	uint64_t pause = pause_ms(keeper);
	uint64_t until = now_ms() + pause;
	struct signalfd_siginfo info;
	struct pollfd wait = {keeper->signal_fd, POLLIN, 0};

	if (keeper->short_count >= LIVES_TO_EXPLAIN)
		explain(keeper, "%u in a row ended at once, the next one starts in %llu ms",
			keeper->short_count, (unsigned long long)pause);
	for (uint64_t now = now_ms(); now < until; now = now_ms()) {
		(void)poll(&wait, 1, (int)(until - now));
		while (read(keeper->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			keeper->is_ending |= info.ssi_signo != SIGCHLD;
		if (keeper->is_ending)
			return false;
	}
	return true;
}

/* Returns -1 for the next host, else the exit status. */
static int run_one_host(struct keeper *keeper)
{
	int r = start_host(keeper);

	if (r == 0) {
		wait_for_host(keeper);
		return judge_death(keeper);
	}
	keeper->error = -r;
	(void)snprintf(keeper->reason, sizeof(keeper->reason), "the keeper cannot start a host: %s",
		       strerror(-r));
	etwd_log("%s", keeper->reason);
	if (keeper->was_reported && ++keeper->short_count < ETWD_SHORT_LIVES_MAX)
		return -1;
	explain(keeper, "the keeper gives up");
	return 1;
}

static int keep_hosts_running(struct keeper *keeper)
{
	for (;;) {
		int r = run_one_host(keeper);

		if (r >= 0)
			return r;
		if (!wait_before_next(keeper))
			return 1;
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
