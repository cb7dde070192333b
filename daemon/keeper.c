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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "daemon/keeper_message.h"
#include "daemon/keeper_table.h"
#include "daemon/log.h"
#include "daemon/standby.h"
#include "ipc/connection.h"

/* So many deaths that are the host's own fault within the window end the keeper. */
#define FAULTS_MAX      5
#define FAULT_WINDOW_MS 60000
/* Between hosts that live for a short time; doubled each time. */
#define PAUSE_FIRST_MS 10
#define PAUSE_MOST_MS  5000
/* From so many short lives in a row on people are told why there is no host. */
#define LIVES_TO_EXPLAIN 4

struct keeper {
	const struct etwd_keeper_callbacks *callbacks;
	struct etwd_keeper_table kept;
	struct etwd_standby standby;
	int signal_fd; /* owned */
	/* The present host. */
	int socket;       /* owned; to it */
	int host_fd;      /* owned: its pidfd; -1: none, or the kernel has no such thing */
	int next_host_fd; /* owned: that of the host that the standby hears of next; -1: none */
	pid_t host;
	int host_status;   /* of waitpid */
	bool is_host_ours; /* it is a child; else a keeper that is gone has started it */
	bool is_host_ready, has_host_all, has_host_left;
	bool was_reported, is_ending;
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

static void report(struct keeper *keeper, int status)
{
	if (!keeper->was_reported)
		keeper->callbacks->report_ready(keeper->callbacks->context, status);
	keeper->was_reported = true;
}

static void tell_pids(const struct keeper *keeper)
{
	if (keeper->callbacks->tell_pids)
		keeper->callbacks->tell_pids(keeper->callbacks->context, getpid(),
					     keeper->standby.pid, keeper->host);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A host that the standby hears of: it knows no more of it until it is told. @socket: taken */
static void take_host(struct keeper *keeper, pid_t pid, int socket)
{
	close_fd(&keeper->socket);
	close_fd(&keeper->host_fd);
	keeper->socket = socket;
	keeper->host_fd = keeper->next_host_fd;
	keeper->next_host_fd = -1;
	keeper->host = pid;
	keeper->is_host_ready = keeper->has_host_all = keeper->has_host_left = false;
	keeper->error = 0;
	keeper->host_start_ms = now_ms();
}

/* The host is told: what it believes to be kept it would lose without a word when it dies. */
static void refuse(struct keeper *keeper, const char *name, int error)
{
	int r = etwd_keeper_try(keeper->socket, ETWD_KEEPER_REFUSED, name, -1);

	etwd_log("the keeper cannot keep %s: %s", name, strerror(error));
	if (r < 0 && r != -EPIPE)
		etwd_log("the host does not hear that: %s", strerror(-r));
}

/* @fd: taken; -1: none */
static void take_message(struct keeper *keeper, const struct etwd_keeper_message *message, int fd)
{
	switch (message->op) {
	case ETWD_KEEPER_KEEP:
		if (fd >= 0 && etwd_keeper_table_keep(&keeper->kept, message->name, fd) < 0)
			refuse(keeper, message->name, ENOSPC);
		return;
	case ETWD_KEEPER_FORGET:
		etwd_keeper_table_forget(&keeper->kept, message->name);
		break;
	case ETWD_KEEPER_READY:
		keeper->is_host_ready = true;
		break;
	case ETWD_KEEPER_LEAVING:
		keeper->has_host_left = true;
		break;
	case ETWD_KEEPER_FAILED:
		keeper->error = message->number;
		memcpy(keeper->reason, message->name, sizeof(keeper->reason));
		break;
	case ETWD_KEEPER_HOST:
		take_host(keeper, message->number, fd);
		return;
	case ETWD_KEEPER_HOST_PID:
		close_fd(&keeper->next_host_fd);
		keeper->next_host_fd = fd;
		return;
	case ETWD_KEEPER_HANDED:
		keeper->has_host_all = true;
		break;
	default:
		break;
	}
	close_fd(&fd);
}

/*
 * Takes everything that the host has sent so far; also what a dead one sent. The standby has a message before it is
 * taken from the socket: when the keeper dies in between it finds it there once more, which changes nothing.
 */
static void drain(struct keeper *keeper)
{
	struct etwd_keeper_message message;
	int fd, r;

	while ((r = etwd_keeper_look(keeper->socket, &message, &fd)) != -EAGAIN && r != -EPIPE) {
		if (r == -EPROTO) {
			etwd_log("the keeper cannot take what the host says: %s", strerror(-r));
			etwd_keeper_drop(keeper->socket);
			continue;
		}
		if (r == -EMFILE) {
			refuse(keeper, message.name, EMFILE);
			/* An old one of the name is not what the host means. */
			message.op = ETWD_KEEPER_FORGET;
			fd = -1;
			r = 0;
		}
		if (r < 0)
			break;
		/* The host may say only what is a host's to say, to the standby, too. */
		if (message.op >= ETWD_KEEPER_HOST) {
			etwd_keeper_drop(keeper->socket);
			close_fd(&fd);
			continue;
		}
		SCHED_POINT("keeper.message.seen");
		etwd_standby_tell(&keeper->standby, &message, fd);
		SCHED_POINT("keeper.message.told");
		etwd_keeper_drop(keeper->socket);
		take_message(keeper, &message, fd);
		if (message.op == ETWD_KEEPER_READY) {
			keeper->callbacks->explain(keeper->callbacks->context, 0, NULL);
			report(keeper, 0);
		}
	}
}

/* In the new process: nothing of the keeper's but its end of the socketpair goes along. */
static void become_host(struct keeper *keeper, int socket)
{
	etwd_keeper_table_done(&keeper->kept);
	etwd_standby_close(&keeper->standby);
	close(keeper->signal_fd);
	_exit(keeper->callbacks->run_host(keeper->callbacks->context, socket));
}

static int hand_over(struct keeper *keeper)
{
	for (size_t i = 0; i < keeper->kept.count; i++)
		TRY(etwd_keeper_send(keeper->socket, ETWD_KEEPER_GIVEN,
				     keeper->kept.entries[i].name, keeper->kept.entries[i].fd));
	return etwd_keeper_send(keeper->socket, ETWD_KEEPER_GIVEN_ALL, "", -1);
}

/*
 * The standby has a new host before anything depends on that one. The pidfd comes first: a standby that had the host's
 * socket alone could neither end the host, which waits at that socket for the rest, nor see it end.
 */
static void tell_of_host(struct keeper *keeper)
{
	struct etwd_keeper_message message = {.op = ETWD_KEEPER_HOST_PID};

	if (keeper->host_fd >= 0)
		etwd_standby_tell(&keeper->standby, &message, keeper->host_fd);
	SCHED_POINT("keeper.host.half_told");
	message = (struct etwd_keeper_message){.op = ETWD_KEEPER_HOST, .number = keeper->host};
	etwd_standby_tell(&keeper->standby, &message, keeper->socket);
}

static void tell_of_handing_over(struct keeper *keeper)
{
	const struct etwd_keeper_message message = {.op = ETWD_KEEPER_HANDED};

	keeper->has_host_all = true;
	etwd_standby_tell(&keeper->standby, &message, -1);
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
	take_host(keeper, pid, sockets[0]);
	keeper->is_host_ours = true;
	keeper->host_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	tell_pids(keeper);
	SCHED_POINT("keeper.host.made");
	tell_of_host(keeper);
	SCHED_POINT("keeper.host.told");
	r = hand_over(keeper);
	if (r < 0) {
		/* It waits for the rest, and would do so for ever; it is still there until it is waited for. */
		etwd_log("the keeper cannot hand everything over: %s", strerror(-r));
		(void)kill(pid, SIGKILL);
	}
	SCHED_POINT("keeper.host.given");
	tell_of_handing_over(keeper);
	return 0;
}

/* Of a host that is no child nobody but the kernel can say that the number is still its. */
static void signal_host(const struct keeper *keeper, int signal)
{
	if (keeper->is_host_ours)
		(void)kill(keeper->host, signal);
	else if (keeper->host_fd >= 0)
		(void)syscall(SYS_pidfd_send_signal, keeper->host_fd, signal, NULL, 0);
}

/* Returns true when the host has ended; its status is in keeper->host_status if it is a child. */
static bool has_host_ended(struct keeper *keeper)
{
	struct pollfd wait = {keeper->host_fd, POLLIN, 0};

	if (keeper->is_host_ours)
		return waitpid(keeper->host, &keeper->host_status, WNOHANG) == keeper->host;
	if (keeper->host_fd >= 0)
		return poll(&wait, 1, 0) == 1;
	/* Without pidfds: its end of the socket is closed when it ends, and no sooner. */
	wait = (struct pollfd){keeper->socket, POLLIN, 0};
	return poll(&wait, 1, 0) == 1 && (wait.revents & POLLHUP);
}

/* Returns true when the host has ended. */
static bool take_signals(struct keeper *keeper)
{
	struct signalfd_siginfo info;

	while (read(keeper->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		keeper->is_ending = true;
		signal_host(keeper, SIGTERM);
	}
	return has_host_ended(keeper);
}

/*
 * In the standby, which has the keeper's part from here on. A host that has not got everything waits for the rest; and
 * what one does that is not ready yet the next one does again.
 */
static void take_over(struct keeper *keeper, int socket)
{
	close(socket);
	etwd_log("the keeper is gone, and this process takes its place");
	keeper->is_host_ours = false;
	close_fd(
		&keeper->next_host_fd); /* of a host that ends by itself, as nobody has its socket */
	if (!keeper->has_host_all || !keeper->is_host_ready)
		signal_host(keeper, SIGKILL);
	tell_pids(keeper);
}

/* Until the keeper is gone. What it said before it went is in the socket. */
static void stand_by(struct keeper *keeper, int socket)
{
	struct etwd_keeper_message message;
	int fd;

	for (;;) {
		int r = etwd_keeper_receive(socket, 0, &message, &fd);

		if (r == 0)
			take_message(keeper, &message, fd);
		else if (r == -EPIPE)
			break;
		else
			_exit(1); /* what is missing here the next standby has */
	}
	take_over(keeper, socket);
}

/* Returns true in a standby, when it has become the keeper and has none itself yet. */
static bool look_after_standby(struct keeper *keeper)
{
	int socket = -1;

	/* Without a host that has ever been ready there is nothing to keep. */
	if (!etwd_standby_check(&keeper->standby) || !keeper->was_reported ||
	    now_ms() < keeper->standby.due_ms)
		return false;
	if (etwd_standby_start(&keeper->standby, now_ms(), &socket) == 1) {
		stand_by(keeper, socket);
		return true;
	}
	tell_pids(keeper);
	return false;
}

/* How long to wait for news at most, in ms. */
static int standby_wait_ms(const struct keeper *keeper)
{
	uint64_t now = now_ms();

	if (keeper->standby.pid || !keeper->was_reported)
		return -1;
	return keeper->standby.due_ms > now ? (int)(keeper->standby.due_ms - now) : 0;
}

static void wait_for_host(struct keeper *keeper)
{
	for (;;) {
		struct pollfd waits[3] = {{keeper->signal_fd, POLLIN, 0}};

		while (look_after_standby(keeper))
			;
		waits[1] = (struct pollfd){keeper->socket, POLLIN, 0};
		waits[2] = (struct pollfd){keeper->is_host_ours ? -1 : keeper->host_fd, POLLIN, 0};
		(void)poll(waits, 3, standby_wait_ms(keeper));
		drain(keeper);
		if (take_signals(keeper))
			break;
		/* A host that has closed its end is about to end: only that is news then. */
		if (waits[1].revents & (POLLHUP | POLLERR)) {
			waits[1].fd = -1;
			(void)poll(waits, 3, 1000);
			if (take_signals(keeper))
				break;
		}
	}
	drain(keeper);
	close_fd(&keeper->socket);
	close_fd(&keeper->host_fd);
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
	if (!keeper->is_host_ours) {
		(void)snprintf(keeper->reason, sizeof(keeper->reason),
			       "the host ended as its keeper did");
	} else if (WIFEXITED(status)) {
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
	/* Of what another keeper's host died nobody can say; the next one's death will tell. */
	bool is_killed = !keeper->is_host_ours ||
			 (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	unsigned short_max = keeper->was_reported ? ETWD_SHORT_LIVES_MAX : ETWD_FIRST_LIVES_MAX;

	if (keeper->is_host_ours ? WIFEXITED(status) && WEXITSTATUS(status) == 0
				 : keeper->has_host_left)
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
		etwd_log("the keeper starts a new host with %zu descriptors", keeper->kept.count);
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
	struct keeper keeper = {
		.callbacks = callbacks, .socket = -1, .host_fd = -1, .next_host_fd = -1};
	int status = 1;

	etwd_standby_init(&keeper.standby);
	keeper.signal_fd = open_signals();
	if (etwd_keeper_table_init(&keeper.kept) == 0 && keeper.signal_fd >= 0)
		status = keep_hosts_running(&keeper);
	report(&keeper, status ? status : 1);
	if (status)
		callbacks->clean_up(callbacks->context);
	etwd_standby_end(&keeper.standby);
	etwd_keeper_table_done(&keeper.kept);
	close_fd(&keeper.signal_fd);
	return status;
}
