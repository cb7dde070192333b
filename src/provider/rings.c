/* SPDX-License-Identifier: MIT */
#include "provider/rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/macros.h"

/* A mapped clock page. */
struct clock_mapping {
	struct clock_mapping *next;
	dev_t device;
	ino_t inode;
	struct etw_clock_page clock;
};

static struct etw_ring_mapping *all_rings; /* the registry's lock */
static struct clock_mapping *all_clocks;   /* the same */

int etw_rings_clock(int fd, const struct wire_clock_page **ret)
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

static struct etw_ring_mapping *find_by_inode(unsigned link, const struct stat *info)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->is_live && i->link == link && i->device == info->st_dev &&
		    i->inode == info->st_ino)
			return i;
	}
	return NULL;
}

/* A retired set keeps its place: the loop below stays short, a process sees few sessions. */
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
	made->is_live = true;
	made->next = all_rings;
	all_rings = made;
	*ret = TAKE(made);
	return 0;
}

int etw_rings_add(unsigned link, uint32_t number, const struct etw_ring_set_fds *fds,
		  const struct wire_clock_page *clock)
{
	struct etw_ring_mapping *ring;
	struct stat info;

	if (number == 0 || etw_rings_find(link, number))
		return -EPROTO;
	if (fstat(fds->page, &info) < 0)
		return -errno;
	ring = find_by_inode(link, &info);
	if (!ring)
		TRY(map_ring(link, fds, &info, &ring));
	store_release(&ring->clock, clock);
	ring->number = number;
	ring->is_announced = true;
	return 0;
}

bool etw_rings_has(unsigned link)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->is_live && i->link == link)
			return true;
	}
	return false;
}

struct etw_ring_mapping *etw_rings_find(unsigned link, uint32_t number)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->is_live && i->is_announced && i->link == link && i->number == number)
			return i;
	}
	return NULL;
}

void etw_rings_forget_numbers(unsigned link)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->link == link)
			i->is_announced = false;
	}
}

int etw_rings_retire(struct etw_ring_mapping *ring)
{
	TRY(etw_ring_set_retire_mapping(&ring->set));
	ring->is_live = false;
	return 0;
}

void etw_rings_retire_unannounced(unsigned link)
{
	for (struct etw_ring_mapping *i = all_rings; i; i = i->next) {
		if (i->link == link && i->is_live && !i->is_announced)
			(void)etw_rings_retire(i);
	}
}
