/* SPDX-License-Identifier: MIT */
/* A process' side of the conversation, message by message, so that a test can also do it wrong. */
#ifndef ETW_TESTS_INTEGRATION_DAEMON_TALK_H
#define ETW_TESTS_INTEGRATION_DAEMON_TALK_H

#include "ipc/connection.h"
#include "ipc/runtime.h"

struct talk {
	int fd;
	struct wire_welcome welcome;
	struct etw_ipc_message message; /* received last */
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
};

/* talk_open() - connects in a role; the test fails when it cannot. talk_close() frees. */
struct talk *talk_open(enum wire_role role);
void talk_close(struct talk *talk);

/* talk_send() - @bytes of talk->room. Returns 0 or negative errno. */
int talk_send(struct talk *talk, size_t bytes);

/* talk_receive() - the next message into talk->message; -ETIMEDOUT; -EPIPE. */
int talk_receive(struct talk *talk);

/* talk_expect() - the next message is of this type. */
void talk_expect(struct talk *talk, uint32_t type);

/* talk_is_silent() - nothing comes for a while. */
bool talk_is_silent(struct talk *talk);

/* talk_is_closed() - the host ends the connection, whatever it sends before. */
bool talk_is_closed(struct talk *talk);

/* talk_register() - registers and takes the answer. Returns its status. */
int talk_register(struct talk *talk, uint32_t number, const GUID *provider);

/* talk_take_enable() - the next ENABLE, its RING_SETs before it. @ret_sets: how many of these came. */
void talk_take_enable(struct talk *talk, struct wire_enable *ret, unsigned *ret_sets);

/* talk_lease() - ties a session to this connection and takes the answer. Returns its status. */
int talk_lease(struct talk *talk, uint64_t handle);

/* talk_enable_done() - answers the ENABLE taken last. */
void talk_enable_done(struct talk *talk);

#endif
