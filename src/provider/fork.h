/* SPDX-License-Identifier: MIT */
/*
 * Who writes: the process ids that go into an event's header, without a system call. A page that the kernel
 * wipes in a forked child tells that they must be taken anew, also where the fork went past the C library.
 */
#ifndef ETW_PROVIDER_FORK_H
#define ETW_PROVIDER_FORK_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/macros.h"

/* Hosts that a process talks to: the system's and its user's. */
#define ETW_PROVIDER_HOSTS 2

/* Where sessions are that may enable a provider: the hosts, and this process with its private sessions. */
#define ETW_PROVIDER_LINKS (ETW_PROVIDER_HOSTS + 1)
#define ETW_PRIVATE_LINK   ETW_PROVIDER_HOSTS

/* All zero in a forked child until somebody fills it. Any thread, atomics. */
struct etw_fork_page {
	/*
	 * Odd; 0: wiped. Never the same in two processes of one family. Every thread carries the stamp under
	 * which it last looked around (provider/thread.h), so a new stamp makes each thread look again.
	 */
	uint64_t stamp;
	uint64_t origin; /* the first stamp: this process, among its parents and children */
	uint32_t own_id; /* getpid() of the process whose memory this is; a vfork child differs */
	uint32_t reserved_zero;                   /* so that the ids lie on a boundary of 8 */
	uint32_t process_ids[ETW_PROVIDER_LINKS]; /* as the link sees this process */
	/* Of keys that events got, apart from what every write reads. */
	_Alignas(64) uint64_t event_count;
};

#define ETW_HIDDEN __attribute__((visibility("hidden")))

/* NULL before etw_fork_prepare(). */
extern ETW_HIDDEN struct etw_fork_page *etw_fork_page;

/* etw_fork_prepare() - makes the page, once. Returns 0 or -ENOMEM. Holding the lock. */
int etw_fork_prepare(void);

/*
 * etw_fork_fill() - fills the page where it was wiped. Context: any thread, signal-safe; one system call.
 * Returns the page's origin.
 */
uint64_t etw_fork_fill(void);

/* etw_fork_wipe() - what the kernel does in a child, where it cannot. Only thread of the child. */
void etw_fork_wipe(void);

/*
 * etw_fork_renew_stamp() - makes every thread look around at its next event. Holding the lock.
 * Order: a release; pairs with the acquire in etw_thread_enter_slow().
 */
void etw_fork_renew_stamp(void);

/* etw_fork_set_process_id() - what the link's host calls this process. */
void etw_fork_set_process_id(unsigned link, uint32_t process_id);

/*
 * etw_fork_next_key() - a number that no other event of the machine has, as far as numbers of 64 bits that processes
 * choose by themselves can be: each counts on from a place of its own. Of a page that is filled.
 */
uint64_t etw_fork_next_key(void);

/* etw_process_id() - of a page that is filled, as it is for a thread that is inside a write. */
static inline uint32_t etw_process_id(unsigned link)
{
	return load_relaxed(&etw_fork_page->process_ids[link]);
}

#endif
