/* SPDX-License-Identifier: MIT */
/*
 * A host in a process of its own that tests kill: the parent is keeper, writer and judge. Descriptors that
 * the host keeps come over a socket; the next host inherits them by fork.
 */
#ifndef TESTS_UNIT_SESSION_RECOVERY_HOST_H
#define TESTS_UNIT_SESSION_RECOVERY_HOST_H

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/sched_point.h"
#include "fixture.h"

#define RECOVERY_UIDS 2

/* What stands where the name of a descriptor stands otherwise: a question whether all before it are kept. */
#define RECOVERY_SYNC '\001'

/* Shared with the host. */
struct recovery_shared {
	struct wire_clock_page page;
	uint32_t ready; /* counts hosts that run; atomic */
	uint32_t stop;  /* atomic */
	uint32_t is_stopped;
	int32_t failure; /* what start or adopt said */
	uint32_t ring_sets[RECOVERY_UIDS];
	struct wire_session_info info;
	char point[64]; /* where to die; empty: nowhere */
	uint32_t countdown;
};

struct recovery {
	struct fixture *fixture;
	struct wire_session_config config;
	struct recovery_shared *shared;
	int sockets[2]; /* the keeper's end, the host's */
	pthread_t keeper;
	pid_t host;
	void (*on_session)(struct recovery *recovery, struct etw_session *session); /* or NULL */
};

static struct recovery_shared *recovery_point_shared;

/* A name and a descriptor, then an answer: the host goes on when it is kept. */
static int recovery_keep(void *context, const char *name, int fd)
{
	struct recovery *recovery = context;
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {(void *)(uintptr_t)name, strlen(name) + 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	char answer;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(recovery->sockets[1], &message, 0) < 0)
		return -errno;
	return recv(recovery->sockets[1], &answer, 1, 0) == 1 ? 0 : -EIO;
}

static void recovery_forget(void *context, const char *name)
{
	(void)context;
	(void)name;
}

static int recovery_kept(void *context, const char *name)
{
	struct recovery *recovery = context;

	return fixture_kept(recovery->fixture, name);
}

static bool recovery_may_write(void *context, uint32_t session_id, uid_t uid, const GUID *provider)
{
	struct recovery *recovery = context;

	return fixture_may_write(recovery->fixture, session_id, uid, provider);
}

static bool recovery_may_be_pid(void *context, uid_t uid, uint32_t pid,
				struct etw_session_pid_span *ret_span)
{
	struct recovery *recovery = context;

	return fixture_may_be_pid(recovery->fixture, uid, pid, ret_span);
}

static void *recovery_run_keeper(void *context)
{
	struct recovery *recovery = context;
	char control[CMSG_SPACE(sizeof(int))], name[96];
	int fd;

	for (;;) {
		struct iovec part = {name, sizeof(name)};
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof(control)};

		if (recvmsg(recovery->sockets[0], &message, MSG_CMSG_CLOEXEC) <= 0)
			return NULL;
		if (name[0] == '\0')
			return NULL;
		if (name[0] == RECOVERY_SYNC) {
			(void)send(recovery->sockets[0], name, 1, 0);
			continue;
		}
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
		(void)fixture_keep(recovery->fixture, name, fd);
		close(fd);
		(void)send(recovery->sockets[0], "", 1, 0);
	}
}

static void recovery_maybe_die(const char *name)
{
	struct recovery_shared *shared = recovery_point_shared;

	if (strcmp(name, shared->point) == 0 && --shared->countdown == 0)
		(void)kill(getpid(), SIGKILL);
}

static void recovery_run_host(struct recovery *recovery, const struct etw_source_ops *kernel)
{
	struct fixture *fixture = recovery->fixture;
	struct recovery_shared *shared = recovery->shared;
	struct etw_session_host host = fixture->host;
	struct etw_session *session;
	int state;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)alarm(600);
	pthread_mutex_init(&fixture->lock, NULL);
	recovery_point_shared = shared;
#ifdef ETW_SCHED_POINTS
	etw_sched_point_hook = recovery_maybe_die;
#else
	(void)recovery_maybe_die;
#endif
	host.context = recovery;
	host.keep_fd = recovery_keep;
	host.kept_fd = recovery_kept;
	host.forget_fd = recovery_forget;
	host.may_write = recovery_may_write;
	host.may_be_pid = recovery_may_be_pid;
	host.ring_set_replaced = NULL;
	host.kernel = kernel;
	state = fixture_kept(fixture, "session-7/state");
	if (state >= 0)
		shared->failure = etw_session_adopt(&host, state, &session);
	else
		shared->failure = etw_session_start(&host, 7, getuid(), &recovery->config, &session,
						    NULL);
	for (uint32_t i = 0; i < RECOVERY_UIDS && shared->failure == 0; i++)
		shared->failure = fixture_ring_set(session, getuid() + i, &shared->ring_sets[i]);
	if (shared->failure == 0 && recovery->on_session)
		recovery->on_session(recovery, session);
	(void)add_acq_rel(&shared->ready, 1u);
	while (shared->failure == 0 && !load_acquire(&shared->stop))
		(void)usleep(1000);
	if (shared->failure == 0) {
		etw_session_stop(session, &shared->info);
		store_release(&shared->is_stopped, 1u);
	}
	_exit(0);
}

struct recovery_thread {
	void *(*run)(void *context);
	void *context;
	uint32_t is_running; /* atomic */
};

static void *recovery_run_thread(void *context)
{
	struct recovery_thread *thread = context;
	struct recovery_thread own = *thread;

	store_release(&thread->is_running, 1u);
	return own.run(own.context);
}

/*
 * Returns when the thread runs: a sanitizer's allocator may be locked while one starts, and a host that is
 * forked just then would find it locked for ever.
 */
static inline pthread_t recovery_start_thread(void *(*run)(void *context), void *context)
{
	struct recovery_thread thread = {run, context, 0};
	pthread_t id;

	assert_int_equal(pthread_create(&id, NULL, recovery_run_thread, &thread), 0);
	while (!load_acquire(&thread.is_running))
		(void)usleep(100);
	return id;
}

static inline void recovery_open(struct fixture *fixture, const struct wire_session_config *config,
				 struct recovery *ret)
{
	*ret = (struct recovery){.fixture = fixture, .config = *config};
	ret->shared = mmap(NULL, sizeof(*ret->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(ret->shared != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret->sockets), 0);
	ret->keeper = recovery_start_thread(recovery_run_keeper, ret);
}

static inline void recovery_close(struct recovery *recovery)
{
	(void)send(recovery->sockets[1], "", 1, 0);
	pthread_join(recovery->keeper, NULL);
	close(recovery->sockets[0]);
	close(recovery->sockets[1]);
	munmap(recovery->shared, sizeof(*recovery->shared));
}

/*
 * What a host that is dead has sent is kept, and the answers that it did not read any more are gone. Else the keeper
 * may take in a descriptor, and with it the lock of a file, after the next host has looked what there is.
 */
static inline void recovery_sync(struct recovery *recovery)
{
	const char question = RECOVERY_SYNC;
	char answer = 0;

	assert_int_equal(send(recovery->sockets[1], &question, 1, 0), 1);
	while (answer != RECOVERY_SYNC)
		assert_int_equal(recv(recovery->sockets[1], &answer, 1, 0), 1);
}

/* The host runs, or has died at its point already, when this returns. */
static inline void recovery_fork(struct recovery *recovery, const struct etw_source_ops *kernel)
{
	uint32_t ready = load_acquire(&recovery->shared->ready);

	recovery_sync(recovery);
	/* The child's copy of the keeper's table must be whole. */
	pthread_mutex_lock(&recovery->fixture->lock);
	recovery->host = fork();
	if (recovery->host == 0)
		recovery_run_host(recovery, kernel);
	pthread_mutex_unlock(&recovery->fixture->lock);
	assert_true(recovery->host > 0);
	while (load_acquire(&recovery->shared->ready) == ready &&
	       waitpid(recovery->host, NULL, WNOHANG | __WNOTHREAD) == 0)
		(void)usleep(500);
}

static inline void recovery_kill(struct recovery *recovery)
{
	(void)kill(recovery->host, SIGKILL);
	(void)waitpid(recovery->host, NULL, 0);
}

static inline void recovery_stop(struct recovery *recovery)
{
	store_release(&recovery->shared->stop, 1u);
	(void)waitpid(recovery->host, NULL, 0);
	assert_int_equal(recovery->shared->failure, 0);
	assert_int_equal(recovery->shared->is_stopped, 1);
}

#endif
