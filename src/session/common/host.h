/* SPDX-License-Identifier: MIT */
/*
 * What a session asks of the host that runs it: where descriptors outlive the host, who may write what, and who is to
 * be told.
 */
#ifndef ETW_SESSION_COMMON_HOST_H
#define ETW_SESSION_COMMON_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <guiddef.h>

#include "base/process_facts.h"
#include "base/source.h"
#include "ring/clock.h"
#include "session/common/suspends.h"

struct etw_budget;

/* When a process of some number can have been a uid's, both included; CLOCK_MONOTONIC. */
struct etw_session_pid_span {
	uint64_t since_ns, until_ns;
};

/* What a session asks of the host. All may be called by the session's thread; context is the host's. */
struct etw_session_host {
	void *context;
	const struct etw_clock_page *clock;  /* outlives the session */
	const struct etw_source_ops *kernel; /* NULL: this host has no kernel source */
	const struct etw_source_ops *sources[ETW_SOURCES_MAX - 1]; /* others; NULL: none */
	/* Of samples, for sessions that have named none; in 100 ns, 0: the source's; atomic. NULL: 0. */
	const uint32_t *profile_interval_ft;
	bool is_private; /* the process of the providers; only there are private sessions */
	/* A complaint, for the host's log; NULL: nobody keeps one. */
	void (*tell)(void *context, uint32_t session_id, const char *sentence);
	struct etw_budget *budget; /* of all sessions; NULL: no limits */
	struct etw_budget *owners; /* of their owners; NULL: no limits */
	/* Numbers that messages of sessions with EVENT_TRACE_USE_GLOBAL_SEQUENCE have got so far; atomic. NULL: they get 0. */
	uint32_t *message_sequence;
	/* The keeper's store. Names are "session-<id>/<what>". Borrowed descriptors. */
	int (*keep_fd)(void *context, const char *name, int fd);
	/* Whether so many more may be kept for something new: 0; -EMFILE. NULL: always. */
	int (*keep_room)(void *context, unsigned count);
	int (*kept_fd)(void *context, const char *name); /* owned by the caller, or -ENOENT */
	void (*forget_fd)(void *context, const char *name);
	/* What is known of suspends of the machine; any thread of a session. NULL: nothing. */
	void (*suspends)(void *context, struct etw_suspends *ret);
	/* CLOCK_MONOTONIC as QPC; as etw_source_host.to_raw. */
	int (*to_raw)(void *context, uint64_t monotonic_ns, int64_t *ret);
	/*
	 * May this uid write events of this provider (registered and enabled), and was this pid its
	 * writer? Called for new (provider, uid) and pid only; answers are cached by the session.
	 * *@ret_span, preset to all times: where it was so not always, or is so no longer.
	 */
	bool (*may_write)(void *context, uint32_t session_id, uid_t uid, const GUID *provider);
	/* The same of classic events and messages, which name no provider. NULL: nobody may. */
	bool (*may_write_classic)(void *context, uint32_t session_id, uid_t uid);
	bool (*may_be_pid)(void *context, uid_t uid, uint32_t pid,
			   struct etw_session_pid_span *ret_span);
	/*
	 * What the extended items of the process's events say of it. *@ret, preset to what is said of an unknown one. NULL:
	 * nothing is known of any.
	 */
	void (*describe_pid)(void *context, uid_t uid, uint32_t pid, struct etw_process_facts *ret);
	/*
	 * Processes of a uid are to leave this ring set for the one that etw_session_ring_set() now gives, if
	 * there are any.
	 * Until they have, and the host says etw_session_ring_set_gone(), what they write to it counts.
	 */
	void (*ring_set_replaced)(void *context, uint32_t session_id, uid_t uid, uint32_t ring_set);
	/*
	 * The session's file has its greatest size, and its events go nowhere else: the host ends the session. Said again for
	 * each buffer that comes until then, so that a host that dies in between forgets nothing. NULL: it goes on.
	 */
	void (*file_is_full)(void *context, uint32_t session_id);
};

#endif
