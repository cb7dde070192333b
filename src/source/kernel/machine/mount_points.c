/* SPDX-License-Identifier: MIT */
#include "source/kernel/machine/mount_points.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/machine/facts.h"
#include "source/kernel/machine/mounts.h"

#define MINOR_BITS 20

static void forget(struct etw_kernel_mount_points *points)
{
	for (size_t i = 0; i < points->count; i++) {
		free(points->at[i].within);
		free(points->at[i].point);
	}
	free(points->at);
	points->at = NULL;
	points->count = 0;
}

void etw_kernel_mount_points_done(struct etw_kernel_mount_points *points)
{
	forget(points);
	if (points->fd > 0)
		close(points->fd);
	points->fd = 0;
}

static void fclosep(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/* "id parent major:minor within point ...": nothing is owned unless true. */
static bool parse(char *line, struct etw_kernel_mount_point *ret)
{
	char *words[5], *save = NULL;
	unsigned major, minor;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!words[i])
			return false;
	}
	if (sscanf(words[2], "%u:%u", &major, &minor) != 2)
		return false;
	/* In place: what is unescaped is no longer than what was escaped. */
	etw_kernel_mount_unescape(words[3], words[3], strlen(words[3]) + 1);
	etw_kernel_mount_unescape(words[4], words[4], strlen(words[4]) + 1);
	ret->device = major << MINOR_BITS | minor;
	ret->within = strdup(strcmp(words[3], "/") ? words[3] : "");
	ret->point = strdup(strcmp(words[4], "/") ? words[4] : "");
	if (ret->within && ret->point)
		return true;
	free(ret->within);
	free(ret->point);
	return false;
}

static void read_all(struct etw_kernel_mount_points *points)
{
	CLEANUP(freep) char *line = NULL;
	CLEANUP(fclosep) FILE *file = NULL;
	size_t room = 0;
	int fd = dup(points->fd);

	forget(points);
	if (fd < 0)
		return;
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return;
	}
	rewind(file);
	points->at = calloc(ETW_KERNEL_MOUNT_POINTS_MAX, sizeof(points->at[0]));
	while (points->at && points->count < ETW_KERNEL_MOUNT_POINTS_MAX &&
	       getline(&line, &room, file) > 0)
		points->count += parse(line, &points->at[points->count]);
}

/* The kernel marks the file when a mount comes or goes; asking takes the mark away. */
static bool has_changed(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLPRI};

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & (POLLPRI | POLLERR);
}

static void refresh(struct etw_kernel_mount_points *points)
{
	char path[ETW_KERNEL_FACT_PATH_BYTES];

	if (points->fd > 0) {
		if (has_changed(points->fd))
			read_all(points);
		return;
	}
	if (points->fd < 0 || !points->root)
		return;
	(void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", points->root);
	points->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (points->fd > 0)
		read_all(points);
}

const struct etw_kernel_mount_point *etw_kernel_mount_points_find(
	struct etw_kernel_mount_points *points, uint32_t device, const char *path, size_t bytes)
{
	const struct etw_kernel_mount_point *best = NULL;
	size_t best_bytes = 0;

	refresh(points);
	for (size_t i = 0; i < points->count; i++) {
		const struct etw_kernel_mount_point *point = &points->at[i];
		size_t within = strlen(point->within);

		if (point->device != device || within > bytes ||
		    memcmp(point->within, path, within) != 0 ||
		    (within < bytes && path[within] != '/'))
			continue;
		if (!best || within < best_bytes) {
			best = point;
			best_bytes = within;
		}
	}
	return best;
}
