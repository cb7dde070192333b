/* SPDX-License-Identifier: MIT */
/* What hostile.c tells its attackers, in shared memory. */
#ifndef ETW_TESTS_RECORDING_HOSTILE_H
#define ETW_TESTS_RECORDING_HOSTILE_H

#include <stdint.h>

#include "recording/hostile_attacker.h"

enum hostile_attack {
	HOSTILE_HOLD_CONNECTIONS, /* as many as there are, silent */
	HOSTILE_GARBAGE,          /* random bytes, and sound messages with some bytes changed */
	HOSTILE_REGISTRATIONS,    /* as many as there are, again and again */
	HOSTILE_CONTROL,          /* requests for other users' sessions */
	HOSTILE_DEAF,             /* asks for much and reads nothing */
	HOSTILE_DESCRIPTORS,      /* a descriptor with each message */
	HOSTILE_COMING_AND_GOING, /* connects and leaves */
	HOSTILE_FORGE,            /* events that are not its own, or none at all */
	HOSTILE_COUNT,            /* counters of loss that are not true */
	HOSTILE_BREAK,            /* rings that make no sense, again and again; keeps the memory */
	HOSTILE_CONSUME, /* consumes, scribbles over its delivery memory, gives back what it never got */
	HOSTILE_CLAIM_MISSED, /* comes as a consumer that has missed everything, again and again */
	HOSTILE_TEAR,         /* takes the pages out of its rings, and tries to cut and lock them */
	HOSTILE_ANSWER, /* answers what nobody asked, and says that events were not delivered */
	HOSTILE_ATTACKS,
};

/* hostile_attack() - attacks for @seconds, or until it cannot any more. Returns what it did, for the log. */
uint64_t hostile_attack(const struct hostile_plan *plan, enum hostile_attack attack,
			uint32_t seconds, unsigned chance);

/*
 * hostile_forge_for_later() - writes events that are right in all but the process, behind a gap, for which the host
 * waits: it sees them when the victim may have ended. Returns how many; 0: it got no rings.
 */
uint64_t hostile_forge_for_later(const struct hostile_plan *plan);

#endif
