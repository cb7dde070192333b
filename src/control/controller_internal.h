/* SPDX-License-Identifier: MIT */
/* A controller from within: a call, and asking it. For control.c, which knows what there is to ask. */
#ifndef ETW_CONTROL_CONTROLLER_INTERNAL_H
#define ETW_CONTROL_CONTROLLER_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

#include "control/controller.h"
#include "control/leases.h"
#include "ipc/connection.h"

/* A request that waits for its answer. Guarded by the controller's lock. */
struct etw_control_call {
	struct etw_control_call *next;
	uint32_t type, answer_type;
	bool is_repeatable;
	bool may_start; /* a host where there is none */
	size_t (*encode)(const struct wire_message *message, const void *body, uint8_t *ret);
	const void *body;
	int (*decode)(struct etw_bytes datagram, void *ret); /* NULL: the status is all */
	void *ret;

	uint32_t request;
	bool is_done, is_lost; /* lost: the connection ended first */
	bool is_repeated;      /* an earlier answer was lost */
	int result;
};

struct etw_controller {
	pid_t pid; /* whose socket it is; atomic; see etw_controller_enter() */
	enum etw_instance instance;
	bool is_starting;
	const struct etw_control_waiting *waiting; /* borrowed; may be NULL */
	char directory[PATH_MAX];

	pthread_mutex_t lock; /* of all below, but `message` belongs to the reader */
	pthread_cond_t changed;
	int socket; /* -1: none */
	ino_t socket_inode;
	bool is_reading, is_broken;
	uint32_t last_request;
	uint32_t probe; /* the request that asks whether the host is there; 0: none waits */
	uint64_t heard; /* messages so far: whoever waits sees that the host is not silent */
	uint64_t
		incarnation; /* atomic: read without the lock, which a thread that connects may hold for long */
	struct etw_control_call *calls;
	struct etw_control_leases leases;
	uint8_t encoded[WIRE_MESSAGE_BYTES_MAX]; /* the message that is being sent */
	struct etw_ipc_message message;          /* the one that was received */
};

/*
 * etw_controller_enter() - takes the lock, for one call. Another thread may hold it while it connects, as long as its
 * own patience lasts.
 *
 * Returns 0 with @wait begun, to be followed by etw_controller_leave(); otherwise as etw_control_wait_look(). Any
 * thread, in a child of fork() too.
 */
int etw_controller_enter(struct etw_controller *controller, struct etw_control_wait *wait);
void etw_controller_leave(struct etw_controller *controller);

/*
 * etw_controller_ask() - sends a call and waits for its answer, over a new connection where need be. A connection
 * that was lost before the call went out is made anew once, and so is one that was lost after.
 *
 * Returns the call's result; -ECONNREFUSED without a host; errors of connecting. Between etw_controller_enter() and
 * etw_controller_leave(); the lock is given up while it waits.
 */
int etw_controller_ask(struct etw_controller *controller, struct etw_control_call *call,
		       struct etw_control_wait *wait);

#endif
