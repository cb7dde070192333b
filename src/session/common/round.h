/* SPDX-License-Identifier: MIT */
/*
 * One round of a session's thread: what it goes by, and what the parts found in it. Owner thread.
 */
#ifndef ETW_SESSION_COMMON_ROUND_H
#define ETW_SESSION_COMMON_ROUND_H

#include <stdbool.h>
#include <stdint.h>

struct etw_session_round {
	int64_t now_raw;   /* before the list of streams and the looks were taken */
	int64_t after_raw; /* behind the looks: no sound event is later */
	uint64_t now_ns;   /* CLOCK_MONOTONIC */
	/* What is asked for: session/flushes.h. */
	bool is_flush; /* open buffers too */
	bool is_look;  /* the same, for the numbers alone */
	bool is_stop;
	uint64_t look_ticket;
	/* What was found. */
	bool has_more; /* there is more to do at once */
	bool has_gap;
	bool has_progress;
	bool awaits_source; /* events stand behind its clock */
};

#endif
