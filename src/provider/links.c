/* SPDX-License-Identifier: MIT */
#include "provider/links.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/macros.h"
#include "base/time.h"
#include "provider/poke.h"

#define CALL_CHECK_MS     2000
#define PAGE_BESIDE_FD_MS 200 /* a futex and a descriptor cannot be waited for together */

static struct etw_link links[ETW_PROVIDER_HOSTS];
static unsigned link_count; /* the lock */

int etw_links_open(void)
{
	static const enum etw_instance instances[ETW_PROVIDER_HOSTS] = {ETW_INSTANCE_SYSTEM,
									ETW_INSTANCE_USER};
	static struct etw_runtime_places places;
	const unsigned count = etw_runtime_is_one() ? 1 : ETW_PROVIDER_HOSTS;

	if (link_count)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		TRY(etw_runtime_find_places(instances[i], &places));
		etw_link_init(&links[i], i, &places);
	}
	link_count = count;
	return 0;
}

unsigned etw_links_count(void)
{
	return link_count;
}

struct etw_link *etw_links_at(unsigned index)
{
	return &links[index];
}

void etw_links_abandon(void)
{
	for (unsigned i = 0; i < link_count; i++)
		etw_link_abandon(&links[i]);
}

bool etw_links_have_lost_socket(void)
{
	for (unsigned i = 0; i < link_count; i++) {
		if (links[i].socket.number >= 0 && !etw_own_fd_is_there(&links[i].socket))
			return true;
	}
	return false;
}

uint64_t etw_links_due_ms(bool has_connection, uint64_t now_ns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < link_count; i++) {
		const struct etw_link *link = &links[i];
		uint64_t ms = ETW_LINK_PAGE_CHECK_MS;

		if (link->state == ETW_LINK_CONNECTED)
			continue;
		if (link->socket.number >=
		    0) /* its end is told; that the host has left may not be */
			ms = CALL_CHECK_MS;
		else if (!link->page || link->seen_epoch & 1)
			ms = etw_ms_until(link->retry_ns, now_ns);
		else if (has_connection)
			ms = PAGE_BESIDE_FD_MS;
		if (ms < least)
			least = ms;
	}
	return least;
}

/* Until a word changes. False: the machine does not do that (before Linux 5.16; a filter of system calls). */
static bool wait_for_words(const struct futex_waitv *words, unsigned count, uint64_t deadline_ns)
{
	const struct timespec deadline = etw_timespec_of_ns(deadline_ns);

	return syscall(SYS_futex_waitv, words, count, 0, &deadline, CLOCK_MONOTONIC) >= 0 ||
	       errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
}

void etw_links_wait(int ms, uint32_t seen_pokes)
{
	struct futex_waitv words[ETW_PROVIDER_HOSTS + 1];
	unsigned count = 0;

	for (unsigned i = 0; i < link_count; i++) {
		if (!links[i].page)
			continue;
		words[count++] = (struct futex_waitv){
			.uaddr = (uintptr_t)&links[i].page->epoch,
			.val = links[i].seen_epoch,
			.flags = FUTEX_32,
		};
	}
	words[count++] = (struct futex_waitv){
		.uaddr = (uintptr_t)etw_poke_word(),
		.val = seen_pokes,
		.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
	};
	if (wait_for_words(words, count, etw_monotonic_ns() + (uint64_t)ms * ETW_NS_PER_MS))
		return;
	if (link_count == 1 && links[0].page)
		(void)etw_runtime_wait(links[0].page, links[0].seen_epoch, (uint32_t)ms);
	else
		etw_poke_wait(count == 1 || ms < PAGE_BESIDE_FD_MS ? ms : PAGE_BESIDE_FD_MS);
}
