/* SPDX-License-Identifier: MIT */
/*
 * Who writes: the process and thread ids that go into an event's header, without a system call. A page that the
 * kernel wipes in a forked child tells that both must be taken anew, also where the fork went past the
 * C library.
 */
#ifndef ETW_PROVIDER_FORK_H
#define ETW_PROVIDER_FORK_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/macros.h"

/* Hosts that a process talks to: the system's and its user's. */
#define ETW_PROVIDER_LINKS 2

/* All zero in a forked child until somebody fills it. Any thread, atomics. */
struct etw_fork_page {
	uint64_t stamp; /* even, never the same in two processes of one family; 0: wiped */
	uint32_t process_ids[ETW_PROVIDER_LINKS]; /* as the host of the link sees this process */
};

/* What a thread remembers of itself; of the process whose stamp it carries. */
struct etw_thread_identity {
	uint64_t stamp; /* 1: nothing yet, which is no page's stamp */
	uint32_t thread_id;
};

#define ETW_HIDDEN __attribute__((visibility("hidden")))

/* NULL before etw_fork_prepare(). */
extern ETW_HIDDEN struct etw_fork_page *etw_fork_page;
extern ETW_HIDDEN _Thread_local struct etw_thread_identity etw_thread_identity
	__attribute__((tls_model("initial-exec")));

/* etw_fork_prepare() - makes the page, once. Returns 0 or -ENOMEM. Holding the registry's lock. */
int etw_fork_prepare(void);

/* etw_fork_refresh() - fills page and thread. Context: any thread, signal-safe; two system calls. */
uint32_t etw_fork_refresh(void);

/* etw_fork_set_process_id() - what the link's host calls this process. */
void etw_fork_set_process_id(unsigned link, uint32_t process_id);

/* etw_thread_id() - the calling thread's id; afterwards the page is filled. Signal-safe. */
static inline uint32_t etw_thread_id(void)
{
	if (UNLIKELY(load_relaxed(&etw_fork_page->stamp) != etw_thread_identity.stamp))
		return etw_fork_refresh();
	return etw_thread_identity.thread_id;
}

/* etw_process_id() - after etw_thread_id(). */
static inline uint32_t etw_process_id(unsigned link)
{
	return load_relaxed(&etw_fork_page->process_ids[link]);
}

#endif
