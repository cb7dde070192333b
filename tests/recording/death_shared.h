/* SPDX-License-Identifier: MIT */
/*
 * What writer_death.c and its writers share: for each writer a plan, which tells it where to die or to stop,
 * and a log, which it keeps outside of any ring. A memfd, whose number writers are given.
 */
#ifndef ETW_TESTS_RECORDING_DEATH_SHARED_H
#define ETW_TESTS_RECORDING_DEATH_SHARED_H

#include <stdint.h>

#include <guiddef.h>

#define DEATH_WRITERS_MAX 4096
#define DEATH_FILLER_MOST 200

/* From a writer's start on; unchanged while it lives. */
struct death_plan {
	char point[40];     /* "": none */
	uint32_t countdown; /* acts at the visit at which it gets to 0 */
	int32_t signal;     /* SIGKILL or SIGSTOP */
	int32_t cpu;        /* -1: goes from one to the next */
	uint32_t pause_us;  /* after each burst; 0: writes as fast as it can */
	uint32_t burst;
	uint32_t reserved_pad;
	uint64_t events; /* 0: until it is told to end */
	uint64_t seed;
};

/* Atomics; written by the writer alone, but for `is_told`. */
struct death_log {
	uint64_t done;     /* events whose EventWrite returned success: 1 .. done */
	uint64_t refused;  /* attempts whose EventWrite returned an error */
	uint32_t is_ready; /* enabled */
	uint32_t has_acted;
	uint32_t is_told; /* 1: write nothing for now; 2: end */
	uint32_t is_idle; /* writes nothing */
};

struct death_writer {
	struct death_plan plan;
	struct death_log log;
};

struct death_payload {
	uint32_t writer;
	uint32_t filler_bytes;
	uint64_t number;  /* from 1 */
	uint64_t sent_ns; /* CLOCK_MONOTONIC */
	uint8_t filler[DEATH_FILLER_MOST];
};
#define DEATH_PAYLOAD_FIXED 24

static const GUID death_provider = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x05}};

static inline uint32_t death_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 16);
}

static inline uint8_t death_filler(uint32_t writer, uint64_t number)
{
	return (uint8_t)(number * 7 + writer);
}

#endif
