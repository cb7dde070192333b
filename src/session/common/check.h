/* SPDX-License-Identifier: MIT */
/*
 * The check of an event that was copied out of shared memory. Whatever a process may have written there,
 * what passes is an event that user mode may write (wire/event_shape.h), of a provider that this uid may write,
 * said to be of a process that was this uid's at that time, and with a time that cannot spoil the order of its processor. Its thread is the writer's claim. Whose an event is, where
 * its items say so, the host has put in (session/common/vouch.h).
 * Source: docs/design/recording.md "Rings", Trust.
 */
#ifndef ETW_SESSION_COMMON_CHECK_H
#define ETW_SESSION_COMMON_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <guiddef.h>

#include "base/process_facts.h"

#define ETW_CHECK_PROVIDERS  512
#define ETW_CHECK_PIDS       2048
#define ETW_CHECK_FACTS      512                  /* processes that extended items tell of */
#define ETW_CHECK_FACTS_WAYS 4                    /* places where one of them may be kept */
#define ETW_CHECK_MEMOS      512                  /* a power of two */
#define ETW_CHECK_REFUSED_NS UINT64_C(100000000)  /* a refusal is believed so long */
#define ETW_CHECK_ALLOWED_NS UINT64_C(1000000000) /* a process's permission: its id may be reused */
/*
 * Questions about processes in a second, and at once. One costs some microseconds of the session's thread,
 * which serves other users too; what is beyond is refused.
 */
#define ETW_CHECK_ASKS_PER_S 10000

struct etw_session_host;

/* What an event is allowed by. */
enum etw_check_kind {
	ETW_CHECK_MODERN = 0, /* by its provider */
	ETW_CHECK_CLASSIC =
		1, /* by the uid's right to write classic events; its class must not be the host's or the kernel's */
	ETW_CHECK_MESSAGE = 2, /* by the same right */
};

/* A good decision about a writer, so that the next event of it costs a few comparisons. */
struct etw_check_memo {
	uint64_t provider[2]; /* as the event has it */
	uint64_t until_ns;    /* 0: no decision here */
	uint32_t pid;
	uint32_t kind; /* enum etw_check_kind */
};

/* Questions that may still be asked. */
struct etw_check_asks {
	uint64_t since_ns; /* when `left` was last raised */
	uint32_t left;
};

/* The host's answers about one uid, bounded: a new answer may push out an old one. */
struct etw_check_cache {
	const struct etw_session_host *host;
	uint32_t session_id;
	uid_t uid;
	uint32_t *
		sequence; /* counts messages, from 1; borrowed, atomic; NULL: they have no numbers */
	double raw_per_second; /* of the session's clock; 0: it may be set, and dates nothing */
	struct etw_check_memo memos[ETW_CHECK_MEMOS];
	struct etw_check_provider {
		uint8_t provider[16];
		uint64_t asked_ns; /* 0: no answer here */
		uint8_t kind;
		bool is_allowed;
	} providers[ETW_CHECK_PROVIDERS];
	struct etw_check_pid {
		uint32_t pid;
		uint64_t asked_ns;
		uint64_t since_ns, until_ns; /* as struct etw_session_pid_span */
		bool is_allowed;
	} pids[ETW_CHECK_PIDS];
	struct etw_check_facts {
		uint32_t pid;
		uint64_t asked_ns; /* 0: no answer here */
		struct etw_process_facts facts;
	} facts[ETW_CHECK_FACTS];
	struct etw_check_asks whose; /* whose a process is: events go by the answer */
	struct etw_check_asks about; /* what else is known of it */
};

/* What an event is held against. */
struct etw_check_limits {
	int64_t floor_raw; /* of the event before it in the output */
	int64_t bound_raw; /* what is still to come to the output may be as early: nothing is later */
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
enum etw_check_result etw_check_event(struct etw_check_cache *cache,
				      const struct etw_check_limits *limits, uint8_t *event,
				      uint32_t bytes, int64_t *ret_raw);

/* The events of a run that passed: all before the first that did not. */
struct etw_check_run {
	uint32_t bytes, count; /* bytes with padding */
	uint32_t raised;       /* of them */
};

/*
 * etw_check_run() - decides about the copy of several events, each padded to 8 bytes, as etw_check_event() does
 * of each.
 *
 * @limits: floor_raw becomes the time of the last event that passed
 * @run:    the copy; times may be changed, and padding is zeroed
 * @bytes:  a multiple of 8
 */
struct etw_check_run etw_check_run(struct etw_check_cache *cache, struct etw_check_limits *limits,
				   uint8_t *run, uint32_t bytes);

#endif
