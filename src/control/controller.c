/* SPDX-License-Identifier: MIT */
/*
 * A controller: one socket, any number of threads that ask over it. A request is a call on its
 * caller's stack, in a list. Whoever waits and finds nobody reading reads for all: it hands each answer to
 * the call with that number, until its own has come; then another one reads on. So a callback of a
 * provider in this very process may control sessions while EnableTraceEx2 waits for that callback.
 *
 * A lost connection ends all calls that went out over it. Those that may be repeated are, once, over a new
 * one; so is any that had not gone out.
 */
#include "control/controller.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "base/macros.h"
#include "base/time.h"
#include "control/connect.h"
#include "control/controller_internal.h"

#define PID_BEING_REPLACED (-1)
#define PROBE_AFTER_MS     1000 /* of silence; see probe() */
#define STEP_MS            100
#define LOCK_STEP_NS       (100 * ETW_NS_PER_MS)

/* The lock and what it guards, as it is in a new controller or in a child of fork(). */
static void reset(struct etw_controller *controller)
{
	(void)pthread_mutex_init(&controller->lock, NULL);
	(void)pthread_cond_init(&controller->changed, NULL);
	controller->socket = -1;
	controller->is_reading = controller->is_broken = false;
	controller->probe = 0;
	controller->calls = NULL;
	controller->leases.count = 0;
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
 * A child of fork() has a copy of the parent's socket, and perhaps a lock that a thread held which does not exist here:
 * it begins anew. Closing its copy ends nothing for the parent. What a message of the parent's had brought is left
 * alone: by now its numbers may be the child's own files.
 */
int etw_controller_enter(struct etw_controller *controller, struct etw_control_wait *wait)
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
	etw_control_wait_begin(wait, controller->waiting, controller->directory);
	for (;;) {
		if (etw_lock_until(&controller->lock, etw_monotonic_ns() + LOCK_STEP_NS))
			return 0;
		TRY(etw_control_wait_look(wait));
	}
}

void etw_controller_leave(struct etw_controller *controller)
{
	(void)pthread_mutex_unlock(&controller->lock);
}

/* Ends every call that went out. Holding the lock. */
static void fail_calls(struct etw_controller *controller, int result)
{
	for (struct etw_control_call *call = controller->calls; call; call = call->next) {
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

/* Whether an etwd of this process would be the host of the controller's instance. */
static bool may_start(const struct etw_controller *controller)
{
	return controller->is_starting &&
	       (controller->instance == ETW_INSTANCE_USER || etw_runtime_is_one());
}

/* Sends the message that was encoded. Holding the lock. */
static int send_encoded(struct etw_controller *controller, int fd, size_t bytes,
			struct etw_control_wait *wait)
{
	int r;

	while ((r = etw_ipc_send(fd, controller->encoded, bytes, NULL, 0)) == -EAGAIN)
		TRY(etw_control_wait_for(wait, fd, POLLOUT, STEP_MS));
	return r;
}

/* Takes the lease once more at a host that is new. A session that is gone needs none. */
static int renew_lease(struct etw_controller *controller, int fd, uint64_t handle,
		       struct etw_control_wait *wait)
{
	struct wire_message head = {WIRE_LEASE, next_request(controller), 0};
	struct wire_lease lease = {handle};
	size_t bytes = wire_message_encode_lease(&head, &lease, controller->encoded);
	int r;

	TRY(send_encoded(controller, fd, bytes, wait));
	while ((r = etw_ipc_receive(fd, &controller->message)) == -EAGAIN)
		TRY(etw_control_wait_for(wait, fd, POLLIN, STEP_MS));
	if (r < 0)
		return r;
	etw_control_wait_heard(wait);
	if (controller->message.head.type != WIRE_REPLY ||
	    controller->message.head.request != head.request)
		return -EPROTO;
	return controller->message.head.status;
}

/* Whether a host that answered so leaves the connection usable: what it says of a lease is another matter. */
static bool is_conversation_over(int result)
{
	return result == -EPIPE || result == -EPROTO || result == -ETIMEDOUT ||
	       result == -ECANCELED;
}

static int renew_leases(struct etw_controller *controller, int fd, struct etw_control_wait *wait)
{
	struct etw_control_leases *leases = &controller->leases;
	size_t kept = 0;

	for (size_t i = 0; i < leases->count; i++) {
		int r = renew_lease(controller, fd, leases->handles[i], wait);

		if (is_conversation_over(r))
			return r;
		if (!r)
			leases->handles[kept++] = leases->handles[i];
	}
	leases->count = kept;
	return 0;
}

/* Holding the lock, which is given up while another thread still reads from a broken connection. */
static int ensure_connected(struct etw_controller *controller, bool is_starting,
			    struct etw_control_wait *wait)
{
	struct stat info;
	uint64_t incarnation = 0;
	int fd, r;

	while (controller->is_broken)
		(void)pthread_cond_wait(&controller->changed, &controller->lock);
	if (controller->socket >= 0)
		return 0;
	r = etw_control_connect(wait, is_starting && may_start(controller), &controller->message,
				&fd, &incarnation);
	if (r < 0)
		return r;
	r = renew_leases(controller, fd, wait);
	if (r == 0 && fstat(fd, &info) < 0)
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	controller->socket = fd;
	controller->socket_inode = info.st_ino;
	store_relaxed(&controller->incarnation, incarnation);
	controller->probe = 0;
	return 0;
}

/* What an answer means for its call. */
static int take_answer(const struct etw_control_call *call, const struct etw_ipc_message *message)
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
	controller->heard++;
	if (controller->message.head.request == controller->probe)
		controller->probe = 0;
	for (struct etw_control_call *call = controller->calls; call; call = call->next) {
		if (call->request != controller->message.head.request || call->is_done)
			continue;
		call->result = take_answer(call, &controller->message);
		call->is_done = true;
		return;
	}
}

/*
 * Reads one message for whom it may concern, or returns without one after a while. Holding the lock, which is
 * given up while it waits. Returns 0, or why the caller waits no longer.
 */
static int read_one(struct etw_controller *controller, struct etw_control_wait *wait)
{
	int ready, r = -EAGAIN;

	controller->is_reading = true;
	etw_controller_leave(controller);
	ready = etw_control_wait_for(wait, controller->socket, POLLIN, STEP_MS);
	if (ready > 0)
		r = etw_ipc_receive(controller->socket, &controller->message);
	(void)pthread_mutex_lock(&controller->lock);
	controller->is_reading = false;
	if ((r < 0 && r != -EAGAIN) || controller->is_broken)
		break_connection(controller, r == -EPROTO ? -EPROTO : -EPIPE);
	else if (r == 0)
		dispatch(controller);
	etw_ipc_message_done(&controller->message);
	(void)pthread_cond_broadcast(&controller->changed);
	return ready < 0 ? ready : 0;
}

/*
 * Asks a host that says nothing for something that it answers at once, whatever else it has to do. A stop that
 * flushes to a slow disk, or an enable that waits for a callback, takes long; without an answer to this one the
 * host stands still.
 */
static void probe(struct etw_controller *controller)
{
	struct wire_message head = {.type = WIRE_LIST};
	int r;

	if (controller->probe || controller->socket < 0 || controller->is_broken)
		return;
	head.request = next_request(controller);
	r = etw_ipc_send(controller->socket, controller->encoded,
			 wire_message_encode_plain(&head, controller->encoded), NULL, 0);
	if (r == 0)
		controller->probe = head.request;
	else if (r == -EPIPE)
		break_connection(controller, r);
}

/* Another thread reads: waits until it has something for this one, or stops reading. Holding the lock. */
static int wait_for_reader(struct etw_controller *controller, struct etw_control_wait *wait)
{
	struct timespec until = etw_timespec_of_ns(etw_monotonic_ns() + LOCK_STEP_NS);

	(void)pthread_cond_clockwait(&controller->changed, &controller->lock, CLOCK_MONOTONIC,
				     &until);
	return etw_control_wait_look(wait);
}

/* Waits until a call is done. Holding the lock. */
static void await_answer(struct etw_controller *controller, struct etw_control_call *call,
			 struct etw_control_wait *wait)
{
	uint64_t heard = controller->heard;

	while (!call->is_done) {
		int r = controller->is_reading ? wait_for_reader(controller, wait)
					       : read_one(controller, wait);

		if (call->is_done)
			return;
		if (heard != controller->heard) {
			heard = controller->heard;
			etw_control_wait_heard(wait);
		} else if (r < 0) {
			call->is_done = true;
			call->result = r;
		} else if (etw_control_wait_silence_ms(wait) >= PROBE_AFTER_MS) {
			probe(controller);
		}
	}
}

static void unlink_call(struct etw_controller *controller, const struct etw_control_call *call)
{
	struct etw_control_call **at = &controller->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
}

/* One try over the connection that is there. Holding the lock. */
static int ask_once(struct etw_controller *controller, struct etw_control_call *call,
		    struct etw_control_wait *wait, bool *ret_was_sent)
{
	struct wire_message head = {call->type, next_request(controller), 0};
	size_t bytes = call->encode ? call->encode(&head, call->body, controller->encoded)
				    : wire_message_encode_plain(&head, controller->encoded);
	int r;

	*ret_was_sent = false;
	call->request = head.request;
	call->is_done = call->is_lost = false;
	if (!bytes)
		return -EINVAL;
	r = send_encoded(controller, controller->socket, bytes, wait);
	if (r < 0) {
		call->is_lost = r == -EPIPE;
		if (call->is_lost)
			break_connection(controller, r);
		return r;
	}
	*ret_was_sent = true;
	call->next = controller->calls;
	controller->calls = call;
	await_answer(controller, call, wait);
	unlink_call(controller, call);
	return call->result;
}

int etw_controller_ask(struct etw_controller *controller, struct etw_control_call *call,
		       struct etw_control_wait *wait)
{
	unsigned sent = 0, unsent = 0;

	for (;;) {
		bool was_sent;
		int r = ensure_connected(controller, call->may_start, wait);

		if (r < 0)
			return is_absent(r) ? -ECONNREFUSED : r; /* -ENOENT is for what hosts say */
		r = ask_once(controller, call, wait, &was_sent);
		if (!call->is_lost)
			return r;
		if (was_sent ? !call->is_repeatable || sent++ : unsent++)
			return r;
		call->is_repeated |= was_sent;
	}
}

void etw_controller_close(struct etw_controller *controller)
{
	if (!controller)
		return;
	close_socket(controller);
	/* In a child of fork() see etw_controller_enter(); and the lock may be held by nobody: it is left alone there. */
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

uint64_t etw_controller_incarnation(struct etw_controller *controller)
{
	return load_relaxed(&controller->incarnation);
}

int etw_controller_open(enum etw_instance instance, bool is_starting,
			const struct etw_control_waiting *waiting, struct etw_controller **ret)
{
	CLEANUP(etw_controller_closep)
	struct etw_controller *controller = calloc(1, sizeof(*controller));
	struct etw_control_wait wait;
	int r;

	if (!controller)
		return -ENOMEM;
	reset(controller);
	controller->pid = getpid();
	controller->instance = instance;
	controller->is_starting = is_starting;
	controller->waiting = waiting;
	TRY(etw_runtime_directory(instance, controller->directory));
	etw_control_wait_begin(&wait, waiting, controller->directory);
	r = ensure_connected(controller, is_starting, &wait);
	if (r < 0)
		return is_absent(r) ? -ENOENT : r;
	*ret = TAKE(controller);
	return 0;
}
