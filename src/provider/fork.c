/* SPDX-License-Identifier: MIT */
#include "provider/fork.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/table.h"
#include "ring/clock.h"

#define PAGE_BYTES 4096

ETW_HIDDEN struct etw_fork_page *etw_fork_page;

/*
 * What hosts call the process that was connected last, where that is not what it calls itself: it is in a namespace of
 * process numbers. A forked child cannot know its own number out there; 0: numbers are the same. Not wiped.
 */
static uint32_t foreign_ids[ETW_PROVIDER_LINKS];

int etw_fork_prepare(void)
{
	void *page;

	if (etw_fork_page)
		return 0;
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (page == MAP_FAILED)
		return -ENOMEM;
	/* A kernel that cannot (before 4.14) leaves it to the handler of pthread_atfork(). */
	(void)madvise(page, PAGE_BYTES, MADV_WIPEONFORK);
	etw_fork_page = page;
	(void)etw_fork_fill();
	return 0;
}

uint64_t etw_fork_fill(void)
{
	struct etw_fork_page *page = etw_fork_page;
	uint64_t origin = 0;
	uint64_t stamp = 0;
	uint32_t process_id;

	if (LIKELY(load_acquire(&page->stamp) != 0))
		return load_relaxed(&page->origin);
	process_id = (uint32_t)getpid();
	/* Only where nothing is: a listener may have learnt a better one meanwhile. */
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
		const uint32_t foreign = load_relaxed(&foreign_ids[i]);
		uint32_t wiped = 0;

		/* Where its own number is another's, it signs as the last one that was known there. */
		(void)cas_relaxed(&page->process_ids[i], &wiped, foreign ? foreign : process_id);
	}
	store_relaxed(&page->own_id, process_id);
	if (cas_acq_rel(&page->origin, &origin,
			etw_cpu_counter() << 2 | 1)) /* not 1, which is nobody's */
		origin = load_relaxed(&page->origin);
	/* Last: whoever sees the stamp sees all of the page. */
	(void)cas_acq_rel(&page->stamp, &stamp, origin);
	return origin;
}

void etw_fork_wipe(void)
{
	store_relaxed(&etw_fork_page->stamp, UINT64_C(0));
	store_relaxed(&etw_fork_page->origin, UINT64_C(0));
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++)
		store_relaxed(&etw_fork_page->process_ids[i], 0u);
}

void etw_fork_renew_stamp(void)
{
	(void)etw_fork_fill();
	store_release(&etw_fork_page->stamp, load_relaxed(&etw_fork_page->stamp) + 2);
}

void etw_fork_set_process_id(unsigned link, uint32_t process_id)
{
	(void)etw_fork_fill(); /* so that nobody fills the page later */
	store_relaxed(&foreign_ids[link], process_id == (uint32_t)getpid() ? 0 : process_id);
	store_relaxed(&etw_fork_page->process_ids[link], process_id);
}

uint64_t etw_fork_next_key(void)
{
	struct etw_fork_page *page = etw_fork_page;

	/* No two processes began in the same cycle of one processor and with one number. */
	return etw_hash_mix(load_relaxed(&page->origin), load_relaxed(&page->own_id)) +
	       add_relaxed(&page->event_count, UINT64_C(1));
}
