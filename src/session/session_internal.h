/* SPDX-License-Identifier: MIT */
/*
 * The parts of a session, for the files of this module.
 *
 * | what                                   | owner                                                     |
 * |----------------------------------------|-----------------------------------------------------------|
 * | state.head, records, output buffers    | the session's thread; counts are read by others, relaxed  |
 * | sets[]: which are there                | `lock`; a set's readers and streams: the session's thread |
 * | pages[]: which are there               | the session's thread, holding `lock`                      |
 * | subscribers, delivery memory           | `consumer_lock`                                           |
 * | wanted_*, done_*, is_ready, complaint, | `lock`                                                    |
 * | notes                                  |                                                           |
 *
 * Lock order: consumer_lock, then lock. No function of the host is called holding `lock`; notify() is
 * called holding consumer_lock alone.
 */
#ifndef ETW_SESSION_SESSION_INTERNAL_H
#define ETW_SESSION_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/patience.h"
#include "etl/file_writer.h"
#include "session/check.h"
#include "session/session.h"
#include "session/state.h"
#include "wire/session_note.h"

#define ETW_SESSION_SLACK_NS      UINT64_C(2000)      /* how far times of one ring may run back */
#define ETW_SESSION_GAP_NS        UINT64_C(100000000) /* how long a ring's reader waits for a gap */
#define ETW_SESSION_STALL_NS      UINT64_C(150000000) /* after that a gap holds nobody any more */
#define ETW_SESSION_ROUND_BUFFERS 16                  /* of one output in one round */
#define ETW_SESSION_NOTES         16                  /* that wait to be written at once */

enum etw_stream_status {
	ETW_STREAM_EMPTY, /* nothing before its watermark */
	ETW_STREAM_EVENT, /* head_* say which is next */
	ETW_STREAM_GAP,   /* somebody is writing what comes next */
};

/* What is merged into an output: a ring, or a source's events of one processor. */
struct etw_session_stream {
	struct etw_session_set *set;    /* NULL: the source */
	struct etw_ring_reader *reader; /* owned */
	uint32_t source_cpu;
	uint32_t mark; /* index in the record's marks */
	enum etw_stream_status status;
	bool is_touched; /* moved since the last commit */
	bool is_bumped;  /* the last look closed the open buffer to earlier times */
	uint32_t head_bytes;
	const uint8_t *head_at;
	int64_t head_raw;  /* its place in the merge */
	int64_t floor_raw; /* whatever is still to come is not before it */
	struct etw_source_mark popped;
	struct etw_ring_counts counts;     /* as of the last commit */
	uint64_t gaps_base, rejected_base; /* of counts, already in the record */
	struct etw_state_claims *claims;   /* borrowed from the state; `lock` */
	uint32_t late; /* events without a buffer that may yet be counted: `lock` */
	struct etw_check_memo memo;
};

/* A uid that is given no rings for the time being: where its processes count what they lose. */
struct etw_session_refusal {
	uid_t uid;
	uint32_t set_id;
	struct etw_ring_set_fds
		fds; /* owned; of a set of the smallest size, retired from its birth */
};

#define ETW_SESSION_REFUSALS 64

/* A ring set: one uid's rings. */
struct etw_session_set {
	uint32_t id, slot;
	uid_t uid;
	struct etw_ring_set_fds fds; /* owned */
	bool is_replaced;            /* processes are to leave it; owner thread, atomic */
	bool is_retired;             /* nobody reserves in it; owner thread, atomic */
	bool is_gone;                /* no process maps it: lock */
	bool is_orphan;              /* no process that is connected has it: lock */
	bool is_untracked;           /* whether others have it cannot be known: lock */
	bool is_broken;
	uint64_t retired_ns;
	uint64_t orphan_due_ns; /* when to see who has it: lock */
	uint64_t charged_bytes; /* to its uid; 0: none */
	uint64_t left_ns; /* when a process that had it ended, until that is settled; 0; atomic */
	struct etw_ring_set map;
	struct etw_check_cache *cache; /* owned */
	uint32_t stream_count;
	struct etw_session_stream streams[]; /* by output */
};

/* A processor's output buffer and what flows into it. */
struct etw_session_output {
	uint32_t index;
	uint8_t *buffer;                 /* in the state */
	struct etw_state_record *record; /* owned: what the next commit makes hold */
	bool is_changed;                 /* since the last commit */
	bool has_progress;               /* in this round */
	uint32_t stream_count;
	struct etw_session_stream **streams; /* owned array of borrowed */
	int64_t merged_raw;                  /* what comes later is not before it */
	uint32_t round_buffers;
};

/* What one round goes by. */
struct etw_session_round {
	int64_t now_raw;   /* before the list of streams and the looks were taken */
	int64_t after_raw; /* behind the looks: no sound event is later */
	uint64_t now_ns;   /* CLOCK_MONOTONIC */
	bool is_flush;     /* open buffers too */
	bool is_look;      /* the same, for the numbers alone */
	uint64_t look_ticket;
	bool is_stop;
	bool has_more; /* there is more to do at once */
	bool has_gap;
	bool has_progress;
};

struct etw_subscriber;

/* Why everything up to a moment is to be taken. */
enum etw_flush_reason {
	ETW_FLUSH_REQUEST = 0x1,
	ETW_FLUSH_FILE_TIMER = 0x2,
	ETW_FLUSH_BATCH_TIMER = 0x4,
	ETW_FLUSH_STOP = 0x8,
};

struct etw_session {
	struct etw_session_host host;
	struct etw_state state;
	uid_t host_uid;
	struct etw_session_plan plan; /* a copy of state.head->plan */
	int64_t slack_raw;

	struct etw_session_output *outputs; /* owned, plan.output_count */
	struct etw_etl_file_writer file;
	uint64_t file_trouble_ns; /* since when its writes have failed; 0: they have not */
	uint64_t file_again_ns;   /* when one that ended for lack of space is tried again */
	uint64_t file_looked_ns;  /* when it was last made sure that it is still there */

	struct etw_source *source;
	struct etw_session_stream *source_streams; /* owned, plan.cpu_count */
	struct etw_source_host source_host;
	int64_t source_watermark_raw;
	int64_t realtime_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, for clock type 2 */
	bool has_source_more;

	pthread_mutex_t lock;
	pthread_cond_t done;
	struct etw_session_set *sets[ETW_STATE_SETS];
	struct wire_ring_set *pages[ETW_STATE_PAGES]; /* mapped; NULL: none */
	uint64_t wanted_flush, done_flush;            /* requests counted */
	uint64_t wanted_look,
		done_look;     /* the same; who asks for numbers wants those of open buffers */
	bool has_dropped_page; /* that there are too many has been said */
	bool has_ended_pages;  /* those that come now are of a session that is over */
	struct etw_session_refusal refusals[ETW_SESSION_REFUSALS];
	uint32_t refusal_count;
	uint64_t refusals_due_ns; /* when their uids are looked at again */
	bool has_complained_of_refusal;
	bool wants_stop, is_ready, has_thread;
	bool has_new_disregarded; /* session/claims.c has to complain */
	int32_t thread_id;
	uint64_t free_buffers; /* as of the last sleep */
	char complaint[512];
	struct wire_session_note notes[ETW_SESSION_NOTES]; /* that wait: the first note_count */
	uint32_t note_count;                               /* written holding lock; atomic */
	uint32_t wake;                                     /* futex: counts kicks; atomic */

	pthread_mutex_t consumer_lock;
	struct etw_subscriber *subscribers[ETW_STATE_CONSUMERS];
	bool is_place_taken[ETW_STATE_CONSUMERS]; /* also for one that is being made */
	uint32_t subscriber_count;                /* atomic for those without the lock */
	uint64_t pieces, piece_events;            /* that went by: sums over the records */
	bool is_over;                             /* the last batch is closed */
	uint64_t adopted_ns;                      /* from another host; 0: this one began it */
	struct etw_patience last_wait;            /* of a stop, for consumers; from adopted_ns on */
	uint64_t batch_bytes;                     /* of the open batch */

	pthread_t thread;
	/* The thread's own. */
	struct etw_session_round round;
	uint64_t next_file_flush_ns, next_batch_ns; /* 0: no timer */
	uint32_t flush_reasons;   /* enum etw_flush_reason; 0: no flush is under way */
	int64_t flush_target_raw; /* everything before it is to be taken */
	uint64_t flush_ticket, flush_deadline_ns, flush_most_ns;
	bool needs_source_retry;
	bool is_ending;          /* nobody reserves any more; the last flush may begin */
	bool is_drained;         /* the last flush is done */
	bool is_source_given_up; /* the last flush goes on without it */
	bool is_armed;           /* the rings' writers wake the thread */
	bool is_spurious;        /* the last wait ended at once */
};

/* etw_session_is_trusted() - a uid that no budget binds: root, the host's, the session's owner. */
static inline bool etw_session_is_trusted(const struct etw_session *session, uid_t uid)
{
	return uid == 0 || uid == session->host_uid || uid == session->state.head->uid;
}

/* etw_session_now() - the session's clock. */
static inline int64_t etw_session_now(const struct etw_session *session)
{
	return etw_clock_now(session->host.clock, session->plan.clock_type);
}

/* etw_session_kick() - wakes the session's thread. Any thread. */
void etw_session_kick(struct etw_session *session);

#define ETW_SESSION_NAME_BYTES 96

/* etw_session_name() - what the keeper calls a descriptor of the session; @format: of what comes behind its id. */
__attribute__((format(printf, 3, 4))) void etw_session_name(const struct etw_session *session,
							    char name[ETW_SESSION_NAME_BYTES],
							    const char *format, ...);

/* etw_session_complain() - adds a sentence to the session's complaint. */
void etw_session_complain(struct etw_session *session, const char *what, int error,
			  const struct etw_fault *fault);

/* etw_session_thread() - the life of a session after its start. */
void *etw_session_thread(void *session);

#endif
