/* SPDX-License-Identifier: MIT */
/*
 * Which process was which uid's: what the host knows from its connections, and from what it saw in procfs. Events
 * are looked at after they were written, when their process may have ended and its number may be another's.
 * A process that has left is remembered for a minute, a bounded number of them and of one uid's.
 *
 * What it knows it writes into a snapshot for the next host, which takes a process that was connected to the last one for
 * one that has left just now, until it comes back.
 *
 * What nobody here knows is a child of such a process that never registered anything and has ended
 * (a fork that writes and exits): the host has no way to tell whose it was, and believes the uid whose ring the event
 * lies in.
 *
 * Context: any thread; the sessions' threads ask.
 */
#ifndef ETW_DAEMON_PIDS_H
#define ETW_DAEMON_PIDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/keeper_store.h"
#include "daemon/snapshot.h"
#include "session/common/host.h"

#define ETWD_PIDS_BUCKETS 1024
#define ETWD_PIDS_LEFT_MAX \
	4096 /* remembered processes; when all are taken, of one uid a quarter; root's not for others */
#define ETWD_PIDS_LEFT_NS UINT64_C(60000000000)
/* It may have closed its connection before it wrote its last event. */
#define ETWD_PIDS_SLACK_NS UINT64_C(1000000000)
/* How often it is written down that a process without a connection was seen. */
#define ETWD_PIDS_WRITE_NS UINT64_C(10000000000)

struct etwd_pid {
	struct etwd_pid *next;          /* in the bucket */
	struct etwd_pid *newer, *older; /* of those that have left */
	uid_t uid;
	uint32_t pid;
	uint32_t connections;  /* 0: it has left */
	uint64_t came_boot_ns; /* when it connected last */
	uint64_t left_ns;
	bool is_described;
	struct etw_process_facts facts; /* as procfs told when it was asked first */
	uint64_t written_ns; /* when the snapshot was told last that it has left; 0: it was not */
};

struct etwd_pids {
	pthread_mutex_t lock;
	struct etwd_pid *buckets[ETWD_PIDS_BUCKETS];
	struct etwd_pid *oldest, *newest; /* of those that have left */
	uint32_t left_count;
	struct etwd_snapshot snapshot; /* of entries alone; none before etwd_pids_open() */
	bool is_snapshot_stale;        /* the last change is not in it */
};

enum etwd_pid_answer {
	ETWD_PID_UNKNOWN,
	ETWD_PID_HERE,         /* it is connected as this uid */
	ETWD_PID_LEFT,         /* it was */
	ETWD_PID_ANOTHER,      /* it is connected as another uid's */
	ETWD_PID_WAS_ANOTHERS, /* it was */
};

/* etwd_pids_init() - none. */
void etwd_pids_init(struct etwd_pids *pids);

/*
 * etwd_pids_open() - takes over what the last host knew, or begins a new snapshot, which the keeper gets.
 *
 * Before any process comes. Returns 0 or negative errno.
 */
int etwd_pids_open(struct etwd_pids *pids, struct etwd_keeper_store *store, uint64_t now_ns);

/* etwd_pids_done() - frees all; the next host still finds the snapshot. */
void etwd_pids_done(struct etwd_pids *pids);

/* etwd_pids_came() - a process connected; @boot_ns: CLOCK_BOOTTIME. Without memory it is unknown. */
void etwd_pids_came(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t boot_ns);

/* etwd_pids_went() - one of its connections is gone. */
void etwd_pids_went(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns);

/* etwd_pids_seen() - it has no connection, but is this uid's now, as procfs says. */
void etwd_pids_seen(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns);

/*
 * etwd_pids_ask() - @ret_ns: when it was last known to be there, with ETWD_PID_LEFT and ETWD_PID_WAS_ANOTHERS; when it
 * connected last, as CLOCK_BOOTTIME, with ETWD_PID_HERE and ETWD_PID_ANOTHER.
 */
enum etwd_pid_answer etwd_pids_ask(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
				   uint64_t *ret_ns);

/*
 * etwd_pids_may_be() - may a process of this number have written an event into this uid's ring?
 *
 * Reads procfs for processes that the host does not know, and for those that came or left over a second ago: of one
 * that has just written and ended a look into /proc/<pid> finds nothing, and costs the session's thread some
 * microseconds. A connection alone says little: a child may hold it when the process has ended, and the number is
 * another's; that one has started after the connection was made. The number of a process that has just ended is nobody's
 * to sign with: events that were written before it had are still to be looked at.
 *
 * @ret_span: as etw_session_host.may_be_pid
 */
bool etwd_pids_may_be(struct etwd_pids *pids, uid_t uid, uint32_t pid, uint64_t now_ns,
		      struct etw_session_pid_span *ret_span);

/*
 * etwd_pids_describe() - what procfs says of a process: what it said first, for as long as the process is remembered, so
 * that events are described whose process has ended since. Of an unknown process that has ended nothing is known.
 *
 * @ret: as etw_process_facts_unknown() where nothing is known
 */
void etwd_pids_describe(struct etwd_pids *pids, uid_t uid, uint32_t pid,
			struct etw_process_facts *ret);

#endif
