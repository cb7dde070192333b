/* SPDX-License-Identifier: MIT */
/*
 * The table of sessions: names, numbers, and who may control what. A session's handle is its number. What a session
 * does from START to its end is daemon/session_start.h and daemon/session_end.h.
 *
 * Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_SESSIONS_H
#define ETW_DAEMON_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <guiddef.h>

#include "daemon/access.h"
#include "daemon/budget.h"
#include "daemon/jobs.h"
#include "daemon/lease.h"
#include "daemon/peer.h"
#include "daemon/unable.h"
#include "session/session.h"

#define ETWD_SYSTEM_SESSION_ID_LAST 0xFF
#define ETWD_USER_SESSION_ID_FIRST  0x100
#define ETWD_LEASE_GRACE_MS         5000 /* after a restart, for the controller to come back */
#define ETWD_REFUSED_MAX            16

enum etwd_session_state {
	ETWD_SESSION_STARTING, /* has name and number; nobody sees it yet */
	ETWD_SESSION_RUNNING,
	ETWD_SESSION_STOPPING,
};

/* What is to be done with a session beside the loop; of daemon/session_end.h. */
struct etwd_session_work {
	bool has_job;             /* one at a time */
	struct etwd_job *waiting; /* owned; the first comes first */
	unsigned waiting_count;
	struct etwd_job *stop; /* owned; comes behind all of them */
};

/* What a session that ends takes back from its providers; of daemon/enable.h. */
struct etwd_session_withdrawal {
	bool is_over;                   /* processes stopped writing, or had their time */
	struct etwd_enabled *providers; /* owned: whose callbacks are to hear of the end */
	size_t provider_count;
};

/* Users that got no rings; the log has a line for each. Of daemon/ring_holders.h. */
struct etwd_session_refused {
	uid_t uids[ETWD_REFUSED_MAX];
	unsigned count;
};

struct etwd_autologger; /* daemon/autologgers.h */
struct etwd_enabled;    /* daemon/providers.h */

/* What TraceSetInformation said; of daemon/information.h. */
struct etwd_session_settings {
	GUID *captured; /* owned: asked for their state from time to time */
	size_t captured_count;
	uint32_t capture_s; /* how often */
	uint64_t capture_next_ms;
	GUID *disallowed; /* owned: providers that are not enabled with their group */
	size_t disallowed_count;
};

struct etwd_session {
	uint32_t id;
	enum etwd_session_state state;
	struct etw_session *engine; /* owned; NULL while it starts */
	char *key;                  /* owned: the name, folded */
	GUID guid;
	uid_t uid;
	bool is_nonstoppable; /* no controller may stop it */
	struct etwd_autologger
		*autologger; /* borrowed; whose session it is; NULL: a controller's */
	/* Told when a controller's stop has succeeded, or the session has ended because its file was full; NULL: nobody. */
	void (*stopped)(struct etwd_session *session);
	bool is_system_logger;   /* takes a place of those: see wire/system_logger.h */
	bool has_sources;        /* takes one, too: a provider that a source owns was enabled */
	bool is_fixed;           /* and one of the two that are kept for it */
	bool has_one_stream;     /* EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING */
	bool is_secure;          /* EVENT_TRACE_SECURE_MODE: who may write is checked */
	bool is_unkept;          /* the keeper cannot keep it: it ends as soon as it runs */
	bool is_buffering;       /* EVENT_TRACE_BUFFERING_MODE: a flush may make a file */
	uint32_t control_rights; /* of its descriptor, to control it; but for the kernel's */
	struct etwd_lease lease;
	struct etwd_session_work work;
	struct etwd_session_withdrawal withdrawal;
	struct etwd_unable unable;
	struct etwd_session_refused refused;
	struct etwd_session_settings settings;
};

struct etwd_sessions {
	struct etwd_session *table[ETWD_SESSIONS_MAX]; /* owned */
	struct etwd_budget *budget;                    /* borrowed */
	uint32_t system_logger_limit;
	const struct etwd_descriptors *security; /* borrowed */
	uint32_t last_id;
	bool is_system; /* whose numbers they get */
	bool is_closed; /* the host leaves: no new ones */
};

/* What somebody wants of a session. */
enum etwd_act {
	ETWD_ACT_QUERY,   /* WMIGUID_QUERY */
	ETWD_ACT_CONTROL, /* what starting it took */
	ETWD_ACT_CONSUME, /* TRACELOG_ACCESS_REALTIME */
};

/* etwd_sessions_init() - none. @budget, @security: borrowed; @is_system: of the system's instance */
void etwd_sessions_init(struct etwd_sessions *sessions, struct etwd_budget *budget,
			const struct etwd_descriptors *security, bool is_system);

/*
 * etwd_sessions_add() - a session that starts, with the identity that its configuration says.
 *
 * @id: its number; 0: there is none left
 *
 * Returns 0; -EEXIST: there is one of this name or GUID; -EUSERS: too many, or too many system loggers;
 * -ETOOMANYREFS: too many of the uid;
 * -EINVAL: the name is no UTF-8; -ENOMEM.
 */
int etwd_sessions_add(struct etwd_sessions *sessions, uint32_t id,
		      const struct wire_session_config *config, uid_t uid,
		      struct etwd_session **ret);

/* etwd_sessions_take_sources() - a session has sources from now on. Returns 0; -EUSERS: no place of a system logger is left. */
int etwd_sessions_take_sources(const struct etwd_sessions *sessions, struct etwd_session *session);

/* etwd_sessions_remove() - frees a session, without its engine, and its place in the table. */
void etwd_sessions_remove(struct etwd_sessions *sessions, struct etwd_session *session);

/*
 * etwd_sessions_pick_id() - the next number behind the last one given, so that a stale handle meets nobody for a
 * while. 0: all are in use.
 */
uint32_t etwd_sessions_pick_id(struct etwd_sessions *sessions);

/* etwd_sessions_find() - by number, in any state; NULL: there is none. */
struct etwd_session *etwd_sessions_find(const struct etwd_sessions *sessions, uint64_t handle);

/*
 * etwd_sessions_find_for() - a running session with which this peer may do what it wants.
 *
 * One that is stopping is in @ret too.
 *
 * Returns 0; -ENOENT: there is none, or none that this peer may do anything with; -EACCES: it may do something else
 * with it; -EBUSY: it is stopping.
 */
int etwd_sessions_find_for(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
			   enum etwd_act act, uint64_t handle, struct etwd_session **ret);

/*
 * etwd_sessions_find_name_for() - the same by name; where @guid is not NULL and no name is given, by that.
 *
 * -EINVAL, -ENOMEM: of folding the name.
 */
int etwd_sessions_find_name_for(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
				enum etwd_act act, const char *name, const GUID *guid,
				struct etwd_session **ret);

/* etwd_session_is_owned() - whether a peer is the session's user, or one who may do everything. */
bool etwd_session_is_owned(const struct etwd_session *session, const struct etwd_peer *peer);

/*
 * etwd_sessions_allow() - whether a peer may do something with a session: root, the host's own uid and the session's
 * may always; others as the descriptor of its GUID says.
 */
bool etwd_sessions_allow(const struct etwd_sessions *sessions, const struct etwd_session *session,
			 const struct etwd_peer *peer, enum etwd_act act);

/* etwd_sessions_list() - those that have begun and that a peer may query. */
void etwd_sessions_list(const struct etwd_sessions *sessions, const struct etwd_peer *peer,
			struct wire_sessions *ret);

/* etwd_sessions_count() - all of them, in any state. */
unsigned etwd_sessions_count(const struct etwd_sessions *sessions);

/* etwd_sessions_has_kernel() - whether there is a system logger, in any state: it has the kernel's events. */
bool etwd_sessions_has_kernel(const struct etwd_sessions *sessions);

/* etwd_sessions_wake() - has all that run look around, see etw_session_wake(). */
void etwd_sessions_wake(const struct etwd_sessions *sessions);

/* etwd_session_is_usable() - whether the engine may be called from the loop, beside etw_session_info(). */
bool etwd_session_is_usable(const struct etwd_session *session);

#endif
