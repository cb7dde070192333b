/* SPDX-License-Identifier: MIT */
/*
 * The thread that makes and ends the private sessions of this process, and from which their own threads descend. It has a
 * table of descriptors of its own, which these share: so a program that closes all descriptors, or is given the numbers
 * anew, harms no session's file, a forked child gets no descriptor of one, and the program's table stays the program's.
 * Where the system has no such tables (before Linux 5.9, or forbidden) the program's is used.
 */
#ifndef ETW_PRIVATE_WORKER_H
#define ETW_PRIVATE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

/* Something to be done on the thread. Part of what it is about. */
struct etw_private_job {
	void (*run)(struct etw_private_job *job);
	/* The worker's. */
	struct etw_private_job *next;
	bool is_awaited, is_done;
};

/*
 * etw_private_worker_run() - has a job done and waits for it. On the thread itself it is done at once.
 *
 * Returns 0; -EAGAIN: no thread. Any thread, holding no lock that a job takes.
 */
int etw_private_worker_run(struct etw_private_job *job);

/*
 * etw_private_worker_run_for() - the same, but waits for @limit_ms at most; for the end of the program alone.
 *
 * Returns also -ETIMEDOUT: the job may still run, and stays where it is.
 */
int etw_private_worker_run_for(struct etw_private_job *job, uint32_t limit_ms);

/* etw_private_worker_post() - has a job done that nobody waits for, and that frees itself. As the above. */
int etw_private_worker_post(struct etw_private_job *job);

/* etw_private_worker_forget() - in a forked child, which has no such thread. Its only thread. */
void etw_private_worker_forget(void);

#endif
