/* SPDX-License-Identifier: MIT */
/* The side that gives orders. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "recording/points.h"
#include "recording/support.h"

#define TAKEN_US 500

struct points_order *points_make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	void *memory;

	/* Writers of other users come by points too. */
	if (fd < 0 || fchmod(fd, 0666) || ftruncate(fd, sizeof(struct points_order)))
		fail("%s: %s", path, strerror(errno));
	memory = mmap(NULL, sizeof(struct points_order), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED || setenv(POINTS_VARIABLE, path, 1))
		fail("%s: %s", path, strerror(errno));
	return memory;
}

void points_arm(struct points_order *order, const char *name, uint32_t visits,
		const pid_t others[POINTS_OTHERS])
{
	memset(order->name, 0, sizeof(order->name));
	memcpy(order->name, name, strlen(name));
	memcpy(order->others, others, sizeof(order->others));
	store_relaxed(&order->fired_by, 0u);
	store_relaxed(&order->visits_left, visits);
	store_release(&order->is_armed, 1u);
}

pid_t points_disarm(struct points_order *order)
{
	uint32_t pid;

	if (exchange_acq_rel(&order->is_armed, 0u))
		return 0;
	/* Taken: by a process that says so before it dies. */
	while ((pid = load_acquire(&order->fired_by)) == 0)
		usleep(TAKEN_US);
	return (pid_t)pid;
}
