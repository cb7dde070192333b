/* SPDX-License-Identifier: MIT */
#include "provider/fork.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/clock.h"

#define PAGE_BYTES 4096

ETW_HIDDEN struct etw_fork_page *etw_fork_page;
ETW_HIDDEN _Thread_local struct etw_thread_identity etw_thread_identity
	__attribute__((tls_model("initial-exec"))) = {.stamp = 1};

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
	(void)etw_fork_refresh();
	return 0;
}

uint32_t etw_fork_refresh(void)
{
	const uint32_t process_id = (uint32_t)getpid();
	const uint32_t thread_id = (uint32_t)gettid();
	uint64_t stamp = load_acquire(&etw_fork_page->stamp);

	if (stamp == 0) {
		const uint64_t fresh = (etw_cpu_counter() | 1) << 1;

		/* Only where nothing is: a listener may have learnt a better one meanwhile. */
		for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
			uint32_t wiped = 0;

			(void)cas_relaxed(&etw_fork_page->process_ids[i], &wiped, process_id);
		}
		if (cas_acq_rel(&etw_fork_page->stamp, &stamp, fresh))
			stamp = fresh;
	}
	/* A signal handler in between finds the old stamp and does the same. */
	etw_thread_identity.thread_id = thread_id;
	fence_signal();
	etw_thread_identity.stamp = stamp;
	return thread_id;
}

void etw_fork_set_process_id(unsigned link, uint32_t process_id)
{
	(void)etw_thread_id(); /* so that nobody fills the page later */
	store_relaxed(&etw_fork_page->process_ids[link], process_id);
}
