/* SPDX-License-Identifier: MIT */
/*
 * What takes long is done beside the loop: starting, flushing, changing and stopping a session. A job has a
 * thread of its own and comes back through the inbox. A session has at most one at a time.
 */
#ifndef ETW_DAEMON_JOBS_H
#define ETW_DAEMON_JOBS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/inbox.h"
#include "session/session.h"

enum etwd_job_kind {
	ETWD_JOB_START,
	ETWD_JOB_FLUSH,
	ETWD_JOB_UPDATE,
	ETWD_JOB_CONVERT,
	ETWD_JOB_INCREMENT_FILE,
	ETWD_JOB_KERNEL,
	ETWD_JOB_PROVIDER,
	ETWD_JOB_STOP,
};

/* What jobs need. All borrowed. */
struct etwd_jobs {
	struct etwd_inbox *inbox;
	const struct etw_session_host *environment; /* of the sessions that are started */
};

/* First member of what takes the result. */
struct etwd_job {
	struct etwd_inbox_item item; /* first */
	struct etwd_job *
		next; /* of those that wait for the session's turn; the owner of the list uses it */
	const struct etwd_jobs *jobs;
	enum etwd_job_kind kind;
	uint32_t session_id;
	uid_t uid;            /* of who asks: START, UPDATE, FLUSH */
	uint64_t peer_serial; /* who is to be answered; 0: nobody */
	uint32_t request;
	bool is_plain;                            /* answered by REPLY in the place of SESSION */
	struct etw_session_kernel_change *change; /* KERNEL: owned */
	struct etw_session_provider_change *provider; /* PROVIDER: owned */
	struct wire_session_config *config;           /* START, UPDATE, FLUSH: owned */
	struct etw_session *engine;                   /* START: the result; else borrowed */
	int result;
	struct etw_fault fault; /* START, UPDATE, CONVERT */
	struct wire_session_info info;
};

/*
 * etwd_jobs_run() - starts a job; the loop calls @done with it later, which takes it.
 *
 * @jobs: borrowed until then
 *
 * Returns 0; the errno of making the thread, the job still the caller's.
 */
int etwd_jobs_run(const struct etwd_jobs *jobs, struct etwd_job *job,
		  void (*done)(struct etwd_inbox_item *item));

/* etwd_job_free() - takes NULL. */
void etwd_job_free(struct etwd_job *job);

#endif
