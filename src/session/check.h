/* SPDX-License-Identifier: MIT */
/*
 * The check of an event that was copied out of shared memory. Whatever a process may have written there,
 * what passes is an event that user mode may write (wire/event_shape.h), of a provider that this uid may write,
 * said to be of a process that was this uid's at that time, without items that only the host can vouch for, and
 * with a time that cannot spoil the order of its processor. Its thread is the writer's claim.
 * Source: docs/design/recording.md "Rings", Trust.
 */
#ifndef ETW_SESSION_CHECK_H
#define ETW_SESSION_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <guiddef.h>

#define ETW_CHECK_PROVIDERS  512
#define ETW_CHECK_PIDS       2048
#define ETW_CHECK_REFUSED_NS UINT64_C(100000000)  /* a refusal is believed so long */
#define ETW_CHECK_ALLOWED_NS UINT64_C(1000000000) /* a process's permission: its id may be reused */
/*
 * Questions about processes in a second, and at once. One costs some microseconds of the session's thread,
 * which serves other users too; what is beyond is refused.
 */
#define ETW_CHECK_ASKS_PER_S 10000

struct etw_session_host;

/* A stream's last good decision, so that a run of events of one writer costs two comparisons. */
struct etw_check_memo {
	uint8_t provider[16];
	uint32_t pid;
	uint32_t is_valid;
	uint64_t asked_ns; /* when the decision was made */
};

/* The host's answers about one uid, bounded: a new answer may push out an old one. */
struct etw_check_cache {
	const struct etw_session_host *host;
	uint32_t session_id;
	uid_t uid;
	double raw_per_second; /* of the session's clock; 0: it may be set, and dates nothing */
	struct etw_check_provider {
		uint8_t provider[16];
		uint64_t asked_ns; /* 0: no answer here */
		bool is_allowed;
	} providers[ETW_CHECK_PROVIDERS];
	struct etw_check_pid {
		uint32_t pid;
		uint64_t asked_ns;
		uint64_t since_ns, until_ns; /* as struct etw_session_pid_span */
		bool is_allowed;
	} pids[ETW_CHECK_PIDS];
	uint64_t asks_ns; /* when `asks` was last raised */
	uint32_t asks;    /* questions about processes that may still be asked */
};

/* What an event is held against. */
struct etw_check_limits {
	int64_t floor_raw;  /* of the event before it in the output */
	int64_t latest_raw; /* now */
	int64_t slack_raw;  /* times may run back so far, and are raised */
	bool is_steppable;  /* the clock may be set: times are moved, not refused */
	uint64_t now_ns;
};

enum etw_check_result {
	ETW_CHECK_REFUSED = 0,
	ETW_CHECK_GOOD = 1,
	ETW_CHECK_RAISED = 2, /* good, and its time was raised to the floor */
};

/*
 * etw_check_event() - decides about a copy.
 *
 * @event: the copy; its time may be changed
 * @bytes: as the reader said; the copy must say the same
 * @ret_raw: the time it now has
 */
enum etw_check_result etw_check_event(struct etw_check_cache *cache, struct etw_check_memo *memo,
				      const struct etw_check_limits *limits, uint8_t *event,
				      uint32_t bytes, int64_t *ret_raw);

#endif
