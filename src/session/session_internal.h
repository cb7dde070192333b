/* SPDX-License-Identifier: MIT */
/*
 * A session: its five parts (outputs, flushes, orders, consumers, sets), and what they share (feeds, notes, context). Nobody
 * below session.c and session_thread.c sees this struct: a part is given what it needs of the others.
 *
 *	session_thread.c   rounds: what is done when
 *	outputs            output buffers, merge, file         the session's thread
 *	flushes            requests, timers, the stop          flushes.lock
 *	orders             what others have its thread do      orders.lock
 *	consumers          subscribers, delivery               consumers.lock
 *	feeds              what sources give                   the session's thread
 *	sets               ring sets, pages, claims, limits    sets.lock
 *	notes              what readers are told               notes.lock
 *	context            plan, host, state, complaint, wake  context.complaint_lock, context.config_lock
 *
 * Each lock's rule is at the struct that has it. Lock order: consumers.lock, then sets.lock; each of the others is the
 * last that is taken. No function of the host is called holding sets.lock; notify(), the keeper and the log are called
 * holding no lock, or consumers.lock alone.
 */
#ifndef ETW_SESSION_SESSION_INTERNAL_H
#define ETW_SESSION_SESSION_INTERNAL_H

#include "session/common/context.h"
#include "session/common/notes.h"
#include "session/common/round.h"
#include "session/common/set_table.h"
#include "session/consumers.h"
#include "session/flushes.h"
#include "session/loss_notes.h"
#include "session/orders.h"
#include "session/output.h"
#include "session/rings/charge.h"
#include "session/session.h"
#include "session/source_feeds.h"
#include "session/suspend_notes.h"
#include "session/wait.h"

struct etw_session {
	struct etw_session_context context;
	struct etw_session_notes notes;
	struct etw_session_sets sets;
	struct etw_source_feeds feeds;
	struct etw_session_consumers consumers;
	struct etw_session_outputs outputs;
	struct etw_session_flushes flushes;
	struct etw_session_orders orders;
	struct etw_charge charge; /* for the state */
	pthread_t thread;         /* while flushes.has_thread */
	/* The thread's own. */
	struct etw_session_round round;
	struct etw_session_wait wait;
	uint32_t joined;    /* consumers whom sources have told what events are */
	uint64_t retold_ns; /* when they did */
	struct etw_loss_notes loss_notes;
	struct etw_suspend_notes suspend_notes;
	uint64_t loss_counted_ns; /* when sources were last asked for theirs */
	bool is_loss_open;        /* events went out since */
};

/* A file that a controller names for a session that runs, and whose rights it is made with. */
struct etw_session_name {
	const char *path, *shown;
	uid_t uid;
	uint32_t mode; /* as wire_session_config.file_mode */
};

/*
 * etw_session_change_file_now() - as etw_session_change_file(), behind the flush. Owner thread, when all outputs are
 * committed.
 *
 * @name: NULL: the next of its series, with the rights of who named that
 */
int etw_session_change_file_now(struct etw_session *session, const struct etw_session_name *name);

/*
 * etw_session_convert_adopted() - carries out to its end what a host that died has left half done: a session whose plan
 * has no file any more, and whose state names one. Before the plan is read.
 */
void etw_session_convert_adopted(struct etw_session *session);

/* etw_session_thread() - the life of a session after its start. */
void *etw_session_thread(void *session);

#endif
