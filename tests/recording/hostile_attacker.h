/* SPDX-License-Identifier: MIT */
/* What the attacks share: one attacker, which is one process, and what it is told. */
#ifndef ETW_TESTS_RECORDING_HOSTILE_ATTACKER_H
#define ETW_TESTS_RECORDING_HOSTILE_ATTACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/connection.h"
#include "ring/clock.h"
#include "ring/ring_set.h"
#include "wire/message.h"

#define HOSTILE_RINGS_MOST 64

#define HOSTILE_REACHED 3 /* exit status of an attacker that has reached what it must not reach */

/* From the test to its attackers; read only there. */
struct hostile_plan {
	char directory[256]; /* of the host */
	uint32_t victim_pid; /* a writer of another uid */
	uint32_t session_id;
};

struct attacker {
	const struct hostile_plan *plan;
	uint64_t end_ms;
	uint64_t done;
	unsigned chance;
	int socket; /* -1: none */
	struct etw_clock_page clock;
	struct etw_ring_set rings[HOSTILE_RINGS_MOST];
	unsigned ring_count;
	uint8_t room[WIRE_MESSAGE_BYTES_MAX];
	struct etw_ipc_message message;
};

/* attacker_below() - a number by chance. */
uint32_t attacker_below(struct attacker *self, uint32_t limit);

/* attacker_any_number() - by chance, and often one at the end of what a type can hold. */
uint64_t attacker_any_number(struct attacker *self);

/* attacker_is_over() - its time is. */
bool attacker_is_over(const struct attacker *self);

/* attacker_leave() - ends the connection that it has, if any. */
void attacker_leave(struct attacker *self);

/* attacker_connect_more() - one connection more, past the library, which would give up. Returns it, or -1. */
int attacker_connect_more(const struct attacker *self);

/* attacker_connect() - a new connection instead of the one that it has, which says nothing yet. */
bool attacker_connect(struct attacker *self);

/* attacker_join() - a new connection instead of the one that it has, greeted in this role. */
bool attacker_join(struct attacker *self, enum wire_role role);

/* attacker_say() - what is in `room`. @fd: NULL: none */
bool attacker_say(struct attacker *self, size_t bytes, const int *fd);

/* attacker_put_register() - puts REGISTER into `room`. */
size_t attacker_put_register(struct attacker *self, const GUID *provider, uint32_t number);

/* attacker_register() - the storm's provider, in a new connection. */
bool attacker_register(struct attacker *self);

#endif
