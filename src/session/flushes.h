/* SPDX-License-Identifier: MIT */
/*
 * The flushes and looks of a session, one of its parts. A *flush* takes everything that is there at a moment, its target,
 * and ends when all outputs are past it; a *look* is one round that also takes what stands in open buffers, for the
 * numbers. Who asks for one gets a *ticket*, a number that counts requests, and waits until it is done. Timers and the
 * stop ask for flushes too. Here is also whether the session's thread runs and is to stop.
 *
 * Lock: `lock` owns what says so, and nothing else is locked under it; `done` tells whoever waits. The rest is the
 * session's thread's.
 * Source: docs/design/recording.md "The session engine", Flush.
 */
#ifndef ETW_SESSION_FLUSHES_H
#define ETW_SESSION_FLUSHES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/common/config.h"
#include "session/common/round.h"

/* A source whose clock stands still holds no flush up. */
#define ETW_FLUSH_DEADLINE_NS UINT64_C(1000000000)
/* A process that writes the past without end neither. */
#define ETW_FLUSH_MOST_NS UINT64_C(60000000000)

/* Why everything up to a moment is to be taken. */
enum etw_flush_reason {
	ETW_FLUSH_REQUEST = 0x1,
	ETW_FLUSH_FILE_TIMER = 0x2,
	ETW_FLUSH_BATCH_TIMER = 0x4,
	ETW_FLUSH_STOP = 0x8,
};

struct etw_session_flushes {
	pthread_mutex_t lock;
	pthread_cond_t done;
	uint64_t wanted_flush, done_flush; /* tickets; lock */
	uint64_t wanted_look, done_look;   /* lock */
	bool is_ready;                     /* the thread is past its start; lock */
	bool has_thread, wants_stop;       /* lock */
	/* The thread's own. */
	uint32_t reasons;   /* enum etw_flush_reason; 0: no flush is under way */
	int64_t target_raw; /* everything before it is to be taken */
	uint64_t ticket;    /* of the flush that is under way */
	uint64_t deadline_ns, most_ns;
	uint64_t next_file_flush_ns, next_batch_ns; /* 0: no timer */
	bool is_ending;  /* nobody reserves any more; the last flush may begin */
	bool is_drained; /* the last flush is done */
};

/* etw_flushes_open() - nothing is asked for. etw_flushes_close() ends it, when the thread is joined. */
void etw_flushes_open(struct etw_session_flushes *ret);
void etw_flushes_close(struct etw_session_flushes *flushes);

/* Any thread. */

/* etw_flushes_ask() - asks for a flush; the thread is to be woken. Returns its ticket. */
uint64_t etw_flushes_ask(struct etw_session_flushes *flushes);

/* etw_flushes_await() - waits for a ticket's flush. Returns 0; -ESHUTDOWN when the thread ended before. */
int etw_flushes_await(struct etw_session_flushes *flushes, uint64_t ticket);

/* etw_flushes_ask_look() - asks for a look; the thread is to be woken. Returns its ticket. */
uint64_t etw_flushes_ask_look(struct etw_session_flushes *flushes);

/* etw_flushes_await_look() - waits for a ticket's look, but not long, and not for a thread that is to stop. */
void etw_flushes_await_look(struct etw_session_flushes *flushes, uint64_t ticket);

/* etw_flushes_await_ready() - the thread is made: waits until it is past its start. */
void etw_flushes_await_ready(struct etw_session_flushes *flushes);

/* etw_flushes_ask_stop() - the thread is to end; it is to be woken. Returns false when there is none. */
bool etw_flushes_ask_stop(struct etw_session_flushes *flushes);

/* etw_flushes_mark_stopped() - the thread is joined; whoever waits has what there was. */
void etw_flushes_mark_stopped(struct etw_session_flushes *flushes);

/* Owner thread. */

/* etw_flushes_mark_ready() - the thread is past its start. */
void etw_flushes_mark_ready(struct etw_session_flushes *flushes);

/* etw_flushes_wants_stop() - whether the thread is to end. */
bool etw_flushes_wants_stop(struct etw_session_flushes *flushes);

/*
 * etw_flushes_begin() - what is asked for in a round that has just begun: a flush, that may go on from a round before, and a
 * look. A flush under way takes new reasons along only when it begins anew.
 */
void etw_flushes_begin(struct etw_session_flushes *flushes, struct etw_session_round *round);

/* What the outputs and the source have to say to a flush, behind a round. */
struct etw_flush_progress {
	int64_t merged_raw; /* what is still to come to any output is not before it */
	bool has_got_on;    /* an output has just taken something from before the target */
	bool has_source;    /* a source is waited for */
	uint64_t after_ns;  /* CLOCK_MONOTONIC, behind the round */
};

enum etw_flush_state {
	ETW_FLUSH_GOES_ON,
	ETW_FLUSH_REACHED,
	/* The last one must not leave behind what stands in the rings: it goes on without the source. */
	ETW_FLUSH_GIVES_SOURCE_UP,
};

/*
 * etw_flushes_look() - how far the flush that is under way has got.
 *
 * It ends at its deadline, whatever a source keeps to itself. Who waits for a flush, or for the end, is promised
 * everything: the deadline is for a standstill, and is put off while outputs get on, but for ETW_FLUSH_MOST_NS.
 */
enum etw_flush_state etw_flushes_look(struct etw_session_flushes *flushes,
				      const struct etw_session_round *round,
				      const struct etw_flush_progress *progress);

/* etw_flushes_writes_file() - whether the flush that is under way is for the file, too. */
static inline bool etw_flushes_writes_file(const struct etw_session_flushes *flushes)
{
	return flushes->reasons & (ETW_FLUSH_REQUEST | ETW_FLUSH_FILE_TIMER | ETW_FLUSH_STOP);
}

/* etw_flushes_finish() - the flush that was under way is done; tells whoever waits. */
void etw_flushes_finish(struct etw_session_flushes *flushes);

/* etw_flushes_finish_look() - the round's look is done; tells whoever waits. */
void etw_flushes_finish_look(struct etw_session_flushes *flushes,
			     const struct etw_session_round *round);

/* etw_flushes_is_batch_due() - whether the timer of batches has run out. */
bool etw_flushes_is_batch_due(const struct etw_session_flushes *flushes, uint64_t now_ns);

/* etw_flushes_set_timers() - those that have run out, or are to begin, are set anew; others end. */
void etw_flushes_set_timers(struct etw_session_flushes *flushes,
			    const struct etw_session_plan *plan, bool has_consumers,
			    uint64_t now_ns);

/* etw_flushes_due_ns() - when the next timer runs out; UINT64_MAX: none runs. */
uint64_t etw_flushes_due_ns(const struct etw_session_flushes *flushes);

#endif
