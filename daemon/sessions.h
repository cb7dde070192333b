/* SPDX-License-Identifier: MIT */
/*
 * The table of sessions: names, numbers, who may control what, and a session's way from START to its end.
 * A session's handle is its number.
 */
#ifndef ETW_DAEMON_SESSIONS_H
#define ETW_DAEMON_SESSIONS_H

#include "daemon/client.h"
#include "daemon/host.h"
#include "daemon/jobs.h"
#include "daemon/unable.h"

#define ETWD_LEASE_GRACE_MS    5000 /* after a restart, for the controller to come back */
#define ETWD_WITHDRAW_MS       200  /* for processes to stop writing to a session that ends */
#define ETWD_SESSION_WAITS_MAX 64   /* requests that wait for a session's job */

enum etwd_session_state {
	ETWD_SESSION_STARTING, /* has name and number; nobody sees it yet */
	ETWD_SESSION_RUNNING,
	ETWD_SESSION_STOPPING,
};

/* A controller's FLUSH or STOP that waits for its turn. */
struct etwd_session_request {
	struct etwd_session_request *next;
	uint64_t peer_serial; /* 0: nobody waits for the answer */
	uint32_t request;
};

#define ETWD_REFUSED_MAX 16

struct etwd_session {
	struct etwd_host *host;
	uint32_t id;
	enum etwd_session_state state;
	struct etw_session *engine; /* owned; NULL while it starts */
	char *key;                  /* owned: the name, folded */
	GUID guid;
	uid_t uid;
	bool has_job;
	bool is_withdrawn; /* processes stopped writing, or had their time */
	struct etwd_session_request *flushes, *stop; /* owned */
	unsigned flush_count;
	GUID *withdrawn; /* owned: providers whose callbacks are to hear of the end */
	size_t withdrawn_count;
	bool is_kernel;
	bool is_leased;
	uint64_t lease_peer;  /* serial number; 0: its controller has not come back yet */
	uint64_t lease_by_ms; /* until when it may */
	uid_t lease_uid;
	struct etwd_subscription *subscriptions; /* owned */
	struct etwd_unable unable;
	uid_t refused[ETWD_REFUSED_MAX]; /* got no rings; the log has a line for each */
	unsigned refused_count;
};

/* Handlers of START, CONTROL, LIST and LEASE (daemon/dispatch.h). */
int etwd_sessions_start(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_sessions_control(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_sessions_list(struct etwd_peer *peer, const struct etw_ipc_message *message);
int etwd_sessions_lease(struct etwd_peer *peer, const struct etw_ipc_message *message);

/* etwd_sessions_find() - by number, in any state; NULL: there is none. */
struct etwd_session *etwd_sessions_find(const struct etwd_host *host, uint64_t handle);

/*
 * etwd_sessions_find_for() - a running session that this peer may control.
 *
 * Returns 0; -ENOENT: there is none, or none that this peer may control; -EBUSY: it is stopping.
 */
int etwd_sessions_find_for(struct etwd_peer *peer, uint64_t handle, struct etwd_session **ret);

/*
 * etwd_sessions_find_name_for() - the same by name; where @guid is not NULL and no name is given, by that.
 * One that is stopping is in @ret too.
 */
int etwd_sessions_find_name_for(struct etwd_peer *peer, const char *name, const GUID *guid,
				struct etwd_session **ret);

/* etwd_sessions_count() - all of them, in any state. */
unsigned etwd_sessions_count(const struct etwd_host *host);

/* etwd_sessions_has_kernel() - whether one with the kernel's source runs or starts. */
bool etwd_sessions_has_kernel(const struct etwd_host *host);

/* etwd_session_is_usable() - whether the engine may be called from the loop, beside etw_session_info(). */
bool etwd_session_is_usable(const struct etwd_session *session);

/* etwd_sessions_adopt() - goes on with the sessions that the last host left. */
void etwd_sessions_adopt(struct etwd_host *host);

/* etwd_sessions_peer_gone() - a controller is gone: its leases end. */
void etwd_sessions_peer_gone(struct etwd_peer *peer);

/* etwd_sessions_check_leases() - ends those whose controller did not come back. Returns the next time. */
uint64_t etwd_sessions_check_leases(struct etwd_host *host, uint64_t now_ms);

/* etwd_sessions_stop_all() - this host is to leave for good. */
void etwd_sessions_stop_all(struct etwd_host *host);

#endif
