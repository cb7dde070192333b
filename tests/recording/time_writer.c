/* SPDX-License-Identifier: MIT */
/*
 * time_writer SECONDS - a process that has been enabled makes a time namespace for its children whose clock is ahead by so
 * much, and has one there. Events in their order: 1 before, 2 from the process behind it, 3 from the child, 4 from the
 * process. Exit status 77: there are no time namespaces here.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>

#include "recording/enabled.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static const GUID provider_guid = {
	0x7d2f6a10, 0x8e41, 0x4b0b, {0x95, 0x1c, 0x30, 0x6e, 0x02, 0x5d, 0x8a, 0x44}};
static REGHANDLE handle;

static bool put(USHORT id)
{
	EVENT_DESCRIPTOR descriptor = {.Id = id, .Level = 4};

	return EventWrite(handle, &descriptor, 0, NULL) == 0;
}

static bool unshare_time(const char *seconds)
{
	int fd;
	bool is_done;

	if (unshare(CLONE_NEWTIME) < 0)
		return false;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	is_done = fd >= 0 && dprintf(fd, "monotonic %s 0\n", seconds) > 0;
	close(fd);
	return is_done;
}

int main(int argument_count, char **arguments)
{
	int status;
	pid_t child;

	if (argument_count != 2 || EventRegister(&provider_guid, NULL, NULL, &handle) ||
	    !becomes_enabled(handle) || !put(1))
		return 1;
	if (!unshare_time(arguments[1]))
		return 77;
	if (!put(2))
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0)
		_exit(put(3) ? 0 : 1);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
		return 1;
	if (!put(4))
		return 1;
	EventUnregister(handle);
	return 0;
}
