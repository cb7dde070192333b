/* SPDX-License-Identifier: MIT */
/* See only_pid.h. */
#include "daemon/only_pid.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

#define GENERATIONS_MAX 256 /* a tree that is deeper is nobody's honest command */
#define STAT_BYTES      512

/* Its parent's number, which is behind the name in parentheses; names may have any letters. 0: none. */
static uint32_t parent_of(uint32_t pid)
{
	char path[64], line[STAT_BYTES] = "";
	const char *name_end;
	unsigned parent = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	line[fread(line, 1, sizeof(line) - 1, file)] = '\0';
	(void)fclose(file);
	name_end = strrchr(line, ')');
	if (!name_end || sscanf(name_end + 1, " %*c %u", &parent) != 1)
		return 0;
	return parent;
}

static bool descends(uint32_t pid, uint32_t from)
{
	for (int i = 0; i < GENERATIONS_MAX && pid; i++) {
		if (pid == from)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

/* The host's own namespace; a process that has ended is in none. */
static int check_namespace(uint32_t pid)
{
	struct stat own, other;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/ns/pid", (unsigned)pid);
	if (stat("/proc/self/ns/pid", &own) || stat(path, &other))
		return errno == ENOENT ? -ESRCH : -EACCES;
	return own.st_dev == other.st_dev && own.st_ino == other.st_ino ? 0 : -EXDEV;
}

int etwd_only_pid_check(const struct etwd_peer *peer, const struct wire_kernel_request *request)
{
	char path[64];

	if (!(request->parts & WIRE_KERNEL_ONLY_PID) || !request->only_pid)
		return 0;
	if (request->only_pid > INT_MAX)
		return -ESRCH;
	TRY(check_namespace((uint32_t)peer->who.pid));
	(void)snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)request->only_pid);
	if (access(path, F_OK))
		return -ESRCH;
	if (peer->is_trusted)
		return 0;
	return descends(request->only_pid, (uint32_t)peer->who.pid) ? 0 : -EACCES;
}
