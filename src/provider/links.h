/* SPDX-License-Identifier: MIT */
/*
 * The links of this process: one for each instance of the host that it talks to, and what they all wait for. Which
 * lock what needs: provider/link.h.
 */
#ifndef ETW_PROVIDER_LINKS_H
#define ETW_PROVIDER_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "provider/link.h"

/* etw_ms_until() - rounded up, and 1 for what is due already. */
static inline uint64_t etw_ms_until(uint64_t due_ns, uint64_t now_ns)
{
	return due_ns > now_ns ? (due_ns - now_ns) / ETW_NS_PER_MS + 1 : 1;
}

/*
 * etw_links_open() - finds the hosts' places, once: from the environment of the caller, who is not changing it at this
 * moment. Returns 0 or -ENAMETOOLONG. Holding the lock.
 */
int etw_links_open(void);

/* etw_links_count() - 0 before etw_links_open(). */
unsigned etw_links_count(void);

/* etw_links_at() - @index: below etw_links_count() */
struct etw_link *etw_links_at(unsigned index);

/* etw_links_abandon() - etw_link_abandon() of each. */
void etw_links_abandon(void);

/* etw_links_have_lost_socket() - whether the program has closed a connection. Holding the lock. */
bool etw_links_have_lost_socket(void);

/*
 * etw_links_due_ms() - how long until something is due that nobody announces; UINT64_MAX: nothing is.
 *
 * @has_connection: the listener waits for descriptors, and hears of no page. Owner thread (the listener).
 */
uint64_t etw_links_due_ms(bool has_connection, uint64_t now_ns);

/*
 * etw_links_wait() - without any connection: until a host comes, somebody pokes after @seen_pokes (etw_poke_count()), or
 * @ms are over. Owner thread (the listener).
 */
void etw_links_wait(int ms, uint32_t seen_pokes);

#endif
