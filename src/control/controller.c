/* SPDX-License-Identifier: MIT */
/*
 * A controller: one socket, any number of threads that ask over it. A request is a struct call on its
 * caller's stack, in a list. Whoever waits and finds nobody reading reads for all: it hands each answer to
 * the call with that number, until its own has come; then another one reads on. So a callback of a
 * provider in this very process may control sessions while EnableTraceEx2 waits for that callback.
 *
 * A lost connection ends all calls that went out over it. Those that may be repeated are, once, over a new
 * one; so is any that had not gone out.
 */
#include "control/control.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "control/host_start.h"
#include "ipc/connection.h"

#define START_TIMEOUT_MS   5000
#define LOOK_AGAIN_MS      50 /* while a host starts and its page says nothing */
#define PAGE_MISSING_MS    5
#define PID_BEING_REPLACED (-1)

/* A request that waits for its answer. Guarded by the controller's lock. */
struct call {
	struct call *next;
	uint32_t type, answer_type;
	bool is_repeatable;
	size_t (*encode)(const struct wire_message *message, const void *body, uint8_t *room);
	const void *body;
	int (*decode)(struct etw_bytes datagram, void *ret); /* NULL: the status is all */
	void *ret;

	uint32_t request;
	bool is_done, is_lost; /* lost: the connection ended first */
	bool is_repeated;      /* an earlier answer was lost */
	int result;
};

struct etw_controller {
	pid_t pid; /* whose socket it is; atomic; see enter() */
	enum etw_instance instance;
	bool is_starting;
	char directory[PATH_MAX];

	pthread_mutex_t lock; /* of all below, but `message` belongs to the reader */
	pthread_cond_t changed;
	int socket; /* -1: none */
	ino_t socket_inode;
	bool is_reading, is_broken;
	uint32_t last_request;
	struct call *calls;
	uint64_t leases[WIRE_LIST_SESSIONS_MAX];
	size_t lease_count;
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	struct etw_ipc_message message;
};

/* The lock and what it guards, as it is in a new controller or in a child of fork(). */
static void reset(struct etw_controller *controller)
{
	(void)pthread_mutex_init(&controller->lock, NULL);
	(void)pthread_cond_init(&controller->changed, NULL);
	controller->socket = -1;
	controller->is_reading = controller->is_broken = false;
	controller->calls = NULL;
	controller->lease_count = 0;
	etw_ipc_message_init(&controller->message);
}

/* A process that closed all its files may have another one under the socket's number. */
static void close_socket(struct etw_controller *controller)
{
	struct stat info;

	if (controller->socket >= 0 && fstat(controller->socket, &info) == 0 &&
	    S_ISSOCK(info.st_mode) && info.st_ino == controller->socket_inode)
		(void)close(controller->socket);
	controller->socket = -1;
}

/*
 * Takes the lock. A child of fork() has a copy of the parent's socket, and perhaps a lock that a thread
 * held which does not exist here: it begins anew. Closing its copy ends nothing for the parent. What a
 * message of the parent's had brought is left alone: by now its numbers may be the child's own files.
 */
static void enter(struct etw_controller *controller)
{
	pid_t self = getpid();

	for (;;) {
		pid_t owner = load_acquire(&controller->pid);

		if (owner == self)
			break;
		if (owner == PID_BEING_REPLACED) {
			(void)sched_yield();
		} else if (cas_acq_rel(&controller->pid, &owner, PID_BEING_REPLACED)) {
			close_socket(controller);
			reset(controller);
			store_release(&controller->pid, self);
		}
	}
	(void)pthread_mutex_lock(&controller->lock);
}

static void leave(struct etw_controller *controller)
{
	(void)pthread_mutex_unlock(&controller->lock);
}

/* Ends every call that went out. Holding the lock. */
static void fail_calls(struct etw_controller *controller, int result)
{
	for (struct call *call = controller->calls; call; call = call->next) {
		if (call->is_done)
			continue;
		call->is_done = true;
		call->is_lost = true;
		call->result = result;
	}
	(void)pthread_cond_broadcast(&controller->changed);
}

/*
 * The connection is of no more use. Holding the lock. A thread that reads from the socket must come back
 * before its number may be used for something else.
 */
static void break_connection(struct etw_controller *controller, int result)
{
	fail_calls(controller, result);
	if (controller->socket < 0)
		return;
	if (controller->is_reading) {
		controller->is_broken = true;
		(void)shutdown(controller->socket, SHUT_RDWR);
		return;
	}
	close_socket(controller);
	controller->is_broken = false;
}

static uint32_t next_request(struct etw_controller *controller)
{
	if (!++controller->last_request)
		controller->last_request = 1;
	return controller->last_request;
}

static bool is_absent(int result)
{
	return result == -ENOENT || result == -ECONNREFUSED;
}

static int connect_once(const struct etw_controller *controller, int *ret_socket)
{
	struct wire_welcome welcome;

	return etw_runtime_connect(controller->directory, WIRE_ROLE_CONTROLLER, ret_socket,
				   &welcome, NULL);
}

/*
 * Waits until something may have changed since the page said @epoch. The page is looked for again each
 * time: the host that starts makes it.
 */
static void wait_for_change(const struct wire_discovery_page *page, uint32_t epoch, uint64_t left)
{
	uint64_t step = page ? LOOK_AGAIN_MS : PAGE_MISSING_MS;

	if (step > left)
		step = left;
	if (page)
		(void)etw_runtime_wait(page, epoch, (uint32_t)step);
	else
		(void)usleep((useconds_t)step * 1000);
}

/* Connects to a host that was just started. */
static int connect_when_ready(const struct etw_controller *controller, int *ret_socket)
{
	const struct wire_discovery_page *page = NULL;
	uint64_t deadline = etw_monotonic_ms() + START_TIMEOUT_MS;
	int r;

	for (;;) {
		uint64_t now;
		uint32_t epoch;

		if (!page && etw_runtime_page(controller->directory, &page) < 0)
			page = NULL;
		/* Before the try: what changes during it ends the wait at once. */
		epoch = page ? load_acquire(&page->epoch) : 0;
		r = connect_once(controller, ret_socket);
		now = etw_monotonic_ms();
		if (!is_absent(r) || now >= deadline)
			break;
		wait_for_change(page, epoch, deadline - now);
	}
	etw_runtime_page_unmap(page);
	return is_absent(r) ? -ETIMEDOUT : r;
}

/* Whether an etwd of this process would be the host of the controller's instance. */
static bool may_start(const struct etw_controller *controller)
{
	return controller->is_starting &&
	       (controller->instance == ETW_INSTANCE_USER || etw_runtime_is_one());
}

static int find_host(const struct etw_controller *controller, int *ret_socket)
{
	char program[PATH_MAX];
	int r = connect_once(controller, ret_socket);

	if (!is_absent(r))
		return r;
	if (!may_start(controller))
		return -ENOENT;
	/* Of several that are started at once one becomes the host, and the others leave. */
	TRY(etw_host_find(program));
	TRY(etw_host_spawn(program, program[0] == '/' && controller->directory[0] == '/'));
	return connect_when_ready(controller, ret_socket);
}

/* Takes the lease once more at a host that is new. A session that is gone needs none. */
static int renew_lease(struct etw_controller *controller, int fd, uint64_t handle)
{
	struct wire_message head = {WIRE_LEASE, next_request(controller), 0};
	struct wire_lease lease = {handle};
	size_t bytes = wire_message_encode_lease(&head, &lease, controller->room);

	TRY(etw_ipc_send(fd, controller->room, bytes, NULL, 0));
	TRY(etw_ipc_receive(fd, &controller->message));
	if (controller->message.head.type != WIRE_REPLY ||
	    controller->message.head.request != head.request)
		return -EPROTO;
	return controller->message.head.status;
}

static int renew_leases(struct etw_controller *controller, int fd)
{
	size_t kept = 0;

	for (size_t i = 0; i < controller->lease_count; i++) {
		int r = renew_lease(controller, fd, controller->leases[i]);

		if (r == -EPIPE || r == -EPROTO)
			return r;
		if (!r)
			controller->leases[kept++] = controller->leases[i];
	}
	controller->lease_count = kept;
	return 0;
}

/* Holding the lock, which is given up while another thread still reads from a broken connection. */
static int ensure_connected(struct etw_controller *controller)
{
	struct stat info;
	int fd, r;

	while (controller->is_broken)
		(void)pthread_cond_wait(&controller->changed, &controller->lock);
	if (controller->socket >= 0)
		return 0;
	r = find_host(controller, &fd);
	if (r < 0)
		return r;
	r = renew_leases(controller, fd);
	if (r == 0 && fstat(fd, &info) < 0)
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	controller->socket = fd;
	controller->socket_inode = info.st_ino;
	return 0;
}

/* What an answer means for its call. */
static int take_answer(const struct call *call, const struct etw_ipc_message *message)
{
	/* An error may come as the answer's own type or as a plain REPLY; it says nothing more. */
	if (message->head.status < 0)
		return message->head.type == call->answer_type || message->head.type == WIRE_REPLY
			       ? message->head.status
			       : -EPROTO;
	if (message->head.type != call->answer_type)
		return -EPROTO;
	return call->decode ? call->decode(message->datagram, call->ret) : 0;
}

/* Holding the lock. An answer that nobody waits for any more is dropped. */
static void dispatch(struct etw_controller *controller)
{
	for (struct call *call = controller->calls; call; call = call->next) {
		if (call->request != controller->message.head.request || call->is_done)
			continue;
		call->result = take_answer(call, &controller->message);
		call->is_done = true;
		return;
	}
}

/* Reads one message for whom it may concern. Holding the lock, which is given up while it waits. */
static void read_one(struct etw_controller *controller)
{
	int r;

	controller->is_reading = true;
	leave(controller);
	r = etw_ipc_receive(controller->socket, &controller->message);
	(void)pthread_mutex_lock(&controller->lock);
	controller->is_reading = false;
	if (r < 0 || controller->is_broken)
		break_connection(controller, r == -EPROTO ? -EPROTO : -EPIPE);
	else
		dispatch(controller);
	etw_ipc_message_done(&controller->message);
	(void)pthread_cond_broadcast(&controller->changed);
}

static void unlink_call(struct etw_controller *controller, const struct call *call)
{
	struct call **at = &controller->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

/* One try over the connection that is there. Holding the lock. */
static int ask_once(struct etw_controller *controller, struct call *call, bool *ret_was_sent)
{
	struct wire_message head = {call->type, next_request(controller), 0};
	size_t bytes = call->encode ? call->encode(&head, call->body, controller->room)
				    : wire_message_encode_plain(&head, controller->room);
	int r;

	*ret_was_sent = false;
	call->request = head.request;
	call->is_done = call->is_lost = false;
	if (!bytes)
		return -EINVAL;
	r = etw_ipc_send(controller->socket, controller->room, bytes, NULL, 0);
	if (r < 0) {
		call->is_lost = r == -EPIPE;
		if (call->is_lost)
			break_connection(controller, r);
		return r;
	}
	*ret_was_sent = true;
	call->next = controller->calls;
	controller->calls = call;
	while (!call->is_done) {
		if (controller->is_reading)
			(void)pthread_cond_wait(&controller->changed, &controller->lock);
		else
			read_one(controller);
	}
	unlink_call(controller, call);
	return call->result;
}

/*
 * Holding the lock. A line that was lost before the question went out, and one that was lost behind it: each
 * is made anew once.
 */
static int ask(struct etw_controller *controller, struct call *call)
{
	unsigned sent = 0, unsent = 0;

	for (;;) {
		bool was_sent;
		int r = ensure_connected(controller);

		if (r < 0)
			return is_absent(r) ? -ECONNREFUSED : r; /* -ENOENT is for what hosts say */
		r = ask_once(controller, call, &was_sent);
		if (!call->is_lost)
			return r;
		if (was_sent ? !call->is_repeatable || sent++ : unsent++)
			return r;
		call->is_repeated |= was_sent;
	}
}

static void forget_lease(struct etw_controller *controller, uint64_t handle)
{
	for (size_t i = 0; i < controller->lease_count; i++) {
		if (controller->leases[i] == handle)
			controller->leases[i--] = controller->leases[--controller->lease_count];
	}
}

static int remember_lease(struct etw_controller *controller, uint64_t handle)
{
	forget_lease(controller, handle);
	if (controller->lease_count == ARRAY_SIZE(controller->leases))
		return -ENOSPC;
	controller->leases[controller->lease_count++] = handle;
	return 0;
}

void etw_controller_close(struct etw_controller *controller)
{
	if (!controller)
		return;
	close_socket(controller);
	/* In a child of fork() see enter(); and the lock may be held by nobody: it is left alone there. */
	if (load_relaxed(&controller->pid) == getpid()) {
		etw_ipc_message_done(&controller->message);
		(void)pthread_cond_destroy(&controller->changed);
		(void)pthread_mutex_destroy(&controller->lock);
	}
	free(controller);
}

void etw_controller_closep(struct etw_controller **controller)
{
	etw_controller_close(*controller);
}

int etw_controller_open(enum etw_instance instance, bool is_starting, struct etw_controller **ret)
{
	CLEANUP(etw_controller_closep)
	struct etw_controller *controller = calloc(1, sizeof(*controller));
	int r;

	if (!controller)
		return -ENOMEM;
	reset(controller);
	controller->pid = getpid();
	controller->instance = instance;
	controller->is_starting = is_starting;
	TRY(etw_runtime_directory(instance, controller->directory));
	r = ensure_connected(controller);
	if (r < 0)
		return is_absent(r) ? -ENOENT : r;
	*ret = TAKE(controller);
	return 0;
}

static size_t encode_config(const struct wire_message *head, const void *body, uint8_t *room)
{
	return wire_message_encode_session_config(head, body, room);
}

static size_t encode_control(const struct wire_message *head, const void *body, uint8_t *room)
{
	return wire_message_encode_control(head, body, room);
}

static size_t encode_enable(const struct wire_message *head, const void *body, uint8_t *room)
{
	return wire_message_encode_enable_provider(head, body, room);
}

static int decode_info(struct etw_bytes datagram, void *ret)
{
	return wire_message_decode_session_info(datagram, ret);
}

static int decode_sessions(struct etw_bytes datagram, void *ret)
{
	return wire_message_decode_sessions(datagram, ret);
}

int etw_control_start(struct etw_controller *controller, const struct wire_session_config *config,
		      struct wire_session_info *ret)
{
	struct call call = {.type = WIRE_START,
			    .answer_type = WIRE_SESSION,
			    .encode = encode_config,
			    .body = config,
			    .decode = decode_info,
			    .ret = ret};
	int r;

	enter(controller);
	r = config->is_leased && controller->lease_count == ARRAY_SIZE(controller->leases)
		    ? -EUSERS
		    : ask(controller, &call);
	if (!r && config->is_leased)
		r = remember_lease(controller, ret->handle);
	leave(controller);
	return r;
}

int etw_control(struct etw_controller *controller, const struct wire_control *control,
		struct wire_session_info *ret)
{
	struct call call = {
		.type = WIRE_CONTROL,
		.answer_type = WIRE_SESSION,
		/* Another session may have the name by now; no handle is given again soon. */
		.is_repeatable = control->code != WIRE_CONTROL_STOP || control->handle,
		.encode = encode_control,
		.body = control,
		.decode = decode_info,
		.ret = ret};
	int r;

	enter(controller);
	r = ask(controller, &call);
	if (control->code == WIRE_CONTROL_STOP) {
		if (!r)
			forget_lease(controller, ret->handle);
		else if (r == -ENOENT && call.is_repeated)
			r = -EPIPE; /* the first one ended it, and its answer is lost */
	}
	leave(controller);
	return r;
}

int etw_control_enable(struct etw_controller *controller, const struct wire_enable_provider *enable)
{
	struct call call = {.type = WIRE_ENABLE_PROVIDER,
			    .answer_type = WIRE_REPLY,
			    .is_repeatable = true,
			    .encode = encode_enable,
			    .body = enable};
	int r;

	enter(controller);
	r = ask(controller, &call);
	leave(controller);
	return r;
}

int etw_control_list(struct etw_controller *controller, struct wire_sessions *ret)
{
	struct call call = {.type = WIRE_LIST,
			    .answer_type = WIRE_SESSIONS,
			    .is_repeatable = true,
			    .decode = decode_sessions,
			    .ret = ret};
	int r;

	enter(controller);
	r = ask(controller, &call);
	leave(controller);
	return r;
}
