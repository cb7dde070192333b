/* SPDX-License-Identifier: MIT */
/*
 * What all parts of a session share: the host that they ask, the numbers that they go by, the memory that outlives the
 * host, the clock, the sentences that the session complains with, and the word that wakes its thread. It is below all
 * parts and knows none of them.
 *
 * | member                               | who writes it                                                          |
 * |--------------------------------------|------------------------------------------------------------------------|
 * | host, host_uid, slack_raw            | nobody, once the session is made                                       |
 * | plan, state.head->plan               | the session's thread, by etw_context_change(): ring_buffers, has_file, |
 * |                                      | is_realtime and the timers, atomic; it alone reads them as they are    |
 * | state: which memory                  | nobody, once the session is made; what is in it: common/state.h        |
 * | state.head->config                   | the session's thread, holding config_lock; it alone reads it without   |
 * | thread_id                            | the session's thread, at its start; atomic                             |
 * | wake                                 | any thread; atomic                                                     |
 * | complaint                            | any thread, holding complaint_lock, under which nothing else is locked |
 * | state: names of files, header buffer | the same                                                               |
 */
#ifndef ETW_SESSION_COMMON_CONTEXT_H
#define ETW_SESSION_COMMON_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "session/common/config.h"
#include "session/common/host.h"
#include "session/common/state.h"

#define ETW_CONTEXT_COMPLAINT_BYTES 512
#define ETW_CONTEXT_NAME_BYTES      96
#define ETW_CONTEXT_SLACK_NS        UINT64_C(2000) /* how far times of one ring may run back */

struct etw_session_context {
	struct etw_session_host host;
	struct etw_session_plan plan; /* a copy of state.head->plan */
	uid_t host_uid;
	int64_t slack_raw;           /* ETW_CONTEXT_SLACK_NS on the session's clock */
	struct etw_state state;      /* owned */
	uint32_t message_sequence;   /* of EVENT_TRACE_USE_LOCAL_SEQUENCE: given so far */
	int32_t thread_id;           /* 0: it does not run yet */
	uint32_t wake;               /* futex: counts kicks */
	pthread_mutex_t config_lock; /* nothing else is locked under it */
	pthread_mutex_t complaint_lock;
	char complaint[ETW_CONTEXT_COMPLAINT_BYTES];
};

/* etw_context_open() - of a host's session, without plan and state. etw_context_close() ends it, and its state. */
void etw_context_open(const struct etw_session_host *host, struct etw_session_context *ret);
void etw_context_close(struct etw_session_context *context);

/* etw_context_set_plan() - the plan, and what follows from it. */
void etw_context_set_plan(struct etw_session_context *context, const struct etw_session_plan *plan);

/*
 * etw_context_change() - makes the numbers hold that an UPDATE may change, in the state and here: of @config the flush
 * timer, the buffers and the mode, of @plan what follows from them. A host that dies on the way leaves some changed;
 * each of them is sound without the others, and whoever asked asks again: but for has_file, whose loss the next host
 * makes a whole conversion (etw_session_convert_adopted()). Owner thread.
 */
void etw_context_change(struct etw_session_context *context,
			const struct wire_session_config *config,
			const struct etw_session_plan *plan);

/* etw_context_config() - the configuration as it is now, with the names of the present file. Any thread. */
void etw_context_config(struct etw_session_context *context, struct wire_session_config *ret);

/* etw_context_is_trusted() - a uid that is held to no pace and to few limits: root, the host's, the session's owner. */
static inline bool etw_context_is_trusted(const struct etw_session_context *context, uid_t uid)
{
	return uid == 0 || uid == context->host_uid || uid == context->state.head->uid;
}

/* etw_context_now() - the session's clock. */
static inline int64_t etw_context_now(const struct etw_session_context *context)
{
	return etw_clock_now(context->host.clock, context->plan.clock_type);
}

/* etw_context_kick() - wakes the session's thread. Any thread. */
void etw_context_kick(struct etw_session_context *context);

/*
 * etw_context_name() - what the keeper calls a descriptor of the session.
 *
 * @format: of what comes behind the session's id
 */
__attribute__((format(printf, 3, 4))) void etw_context_name(
	const struct etw_session_context *context, char name[ETW_CONTEXT_NAME_BYTES],
	const char *format, ...);

/*
 * etw_context_complain() - adds a sentence to the session's complaint, and tells it the host's log. Any thread, holding
 * no lock of the session but the consumers'.
 *
 * @error: a negative errno that is named behind @what when there is no @fault; 0: nothing is
 */
void etw_context_complain(struct etw_session_context *context, const char *what, int error,
			  const struct etw_fault *fault);

/* etw_context_complaint() - all sentences so far. */
void etw_context_complaint(struct etw_session_context *context, char *text, size_t bytes);

/* The keeper's store, by the names of etw_context_name(); a host without one keeps nothing. */

/* etw_context_room() - whether so many more may be kept for something new: 0, also without a keeper; -EMFILE. */
int etw_context_room(const struct etw_session_context *context, unsigned count);

/* etw_context_keep() - returns 0, also without a keeper, or what it says. */
__attribute__((format(printf, 3, 4))) int etw_context_keep(
	const struct etw_session_context *context, int fd, const char *format, ...);

/* etw_context_kept() - owned by the caller; -ENOENT: the keeper has it no more, or never had it. */
__attribute__((format(printf, 2, 3))) int etw_context_kept(
	const struct etw_session_context *context, const char *format, ...);

/* etw_context_forget() - the keeper closes it. Not holding a lock of the session but the consumers'. */
__attribute__((format(printf, 2, 3))) void etw_context_forget(
	const struct etw_session_context *context, const char *format, ...);

#endif
