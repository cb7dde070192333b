/* SPDX-License-Identifier: MIT */
#include "provider/ring_sets.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "provider/thread.h"

/* A mapped clock page. */
struct clock_mapping {
	struct clock_mapping *next;
	dev_t device;
	ino_t inode;
	struct etw_clock_page clock;
	struct etw_retired retired;
};

/* Under the lock. */
static struct etw_ring_mapping *all_rings;
static struct clock_mapping *all_clocks;
static const struct wire_clock_page *link_clocks[ETW_PROVIDER_LINKS];

static void free_ring(struct etw_retired *retired)
{
	struct etw_ring_mapping *ring =
		(void *)((uint8_t *)retired - offsetof(struct etw_ring_mapping, retired));

	etw_ring_set_unmap(&ring->set);
	free(ring);
}

static void free_clock(struct etw_retired *retired)
{
	struct clock_mapping *clock =
		(void *)((uint8_t *)retired - offsetof(struct clock_mapping, retired));

	etw_clock_page_unmap(&clock->clock);
	free(clock);
}

static bool is_in_use(const struct wire_clock_page *clock)
{
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
		if (link_clocks[i] == clock)
			return true;
	}
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (load_relaxed(&i->clock) == clock)
			return true;
	}
	return false;
}

/* Hosts come and go, each with a page of its own. */
static void drop_unused_clocks(void)
{
	struct clock_mapping **at = &all_clocks;

	while (*at) {
		struct clock_mapping *clock = *at;

		if (is_in_use(clock->clock.page)) {
			at = &clock->next;
			continue;
		}
		*at = clock->next;
		clock->retired = (struct etw_retired){.epoch = etw_thread_begin_epoch(),
						      .free = free_clock};
		if (etw_reclaim_is_over(clock->retired.epoch))
			free_clock(&clock->retired);
		else
			etw_reclaim_later(&clock->retired);
	}
}

static int map_clock(int fd, const struct wire_clock_page **ret)
{
	CLEANUP(freep) struct clock_mapping *made = NULL;
	struct stat info;

	if (fstat(fd, &info) < 0)
		return -errno;
	for (struct clock_mapping *i = all_clocks; i; i = i->next) {
		if (i->device == info.st_dev && i->inode == info.st_ino) {
			*ret = i->clock.page;
			return 0;
		}
	}
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	TRY(etw_clock_page_map(fd, &made->clock));
	made->device = info.st_dev;
	made->inode = info.st_ino;
	made->next = all_clocks;
	all_clocks = made;
	*ret = made->clock.page;
	made = NULL;
	return 0;
}

int etw_provider_ring_sets_clock(unsigned link, int fd, const struct wire_clock_page **ret)
{
	TRY(map_clock(fd, &link_clocks[link]));
	drop_unused_clocks();
	*ret = link_clocks[link];
	return 0;
}

static struct etw_ring_mapping *find_by_inode(unsigned link, const struct stat *info)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->link == link && i->device == info->st_dev && i->inode == info->st_ino)
			return i;
	}
	return NULL;
}

static int map_ring(unsigned link, const struct etw_ring_set_fds *fds, const struct stat *info,
		    struct etw_ring_mapping **ret)
{
	CLEANUP(freep) struct etw_ring_mapping *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	TRY(etw_ring_set_map(fds, &made->set));
	made->link = link;
	made->device = info->st_dev;
	made->inode = info->st_ino;
	made->next = all_rings;
	all_rings = made;
	*ret = TAKE(made);
	return 0;
}

int etw_provider_ring_sets_add(unsigned link, uint32_t number, const struct etw_ring_set_fds *fds,
			       const struct wire_clock_page *clock)
{
	struct etw_ring_mapping *ring;
	struct stat info;

	if (number == 0 || etw_provider_ring_sets_find(link, number))
		return -EPROTO;
	if (fstat(fds->page, &info) < 0)
		return -errno;
	ring = find_by_inode(link, &info);
	if (!ring)
		TRY(map_ring(link, fds, &info, &ring));
	store_release(&ring->clock, clock);
	ring->number = number;
	ring->is_announced = true;
	drop_unused_clocks();
	return 0;
}

bool etw_provider_ring_sets_has(unsigned link)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->link == link)
			return true;
	}
	return false;
}

struct etw_ring_mapping *etw_provider_ring_sets_find(unsigned link, uint32_t number)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->is_announced && i->link == link && i->number == number)
			return i;
	}
	return NULL;
}

void etw_provider_ring_sets_forget_numbers(unsigned link)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->link == link)
			i->is_announced = false;
	}
}

struct etw_ring_mapping *etw_provider_ring_sets_unannounced(unsigned link,
							    const struct etw_ring_mapping *after)
{
	for (struct etw_ring_mapping *i = after ? after->next : all_rings; i; i = i->next) {
		if (i->link == link && !i->is_announced)
			return i;
	}
	return NULL;
}

static void unlink_ring(const struct etw_ring_mapping *ring)
{
	struct etw_ring_mapping **at = &all_rings;

	while (*at != ring)
		at = &(*at)->next;
	*at = ring->next;
}

int etw_provider_ring_sets_retire(struct etw_ring_mapping *ring)
{
	bool is_over;

	ring->retired = (struct etw_retired){.epoch = etw_thread_begin_epoch(), .free = free_ring};
	is_over = etw_reclaim_is_over(ring->retired.epoch);
	if (!is_over)
		TRY(etw_ring_set_retire_mapping(&ring->set));
	unlink_ring(ring);
	if (is_over)
		free_ring(&ring->retired);
	else
		etw_reclaim_later(&ring->retired);
	drop_unused_clocks();
	return 0;
}
