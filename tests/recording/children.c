/* SPDX-License-Identifier: MIT */
/* See children.h. */
#include "recording/children.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"

static void *map(size_t bytes, int flags, int fd)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

	if (memory == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	return memory;
}

void *share_with_forks(size_t bytes)
{
	return map(bytes, MAP_ANONYMOUS, -1);
}

void *share_with_programs(size_t bytes, int *ret_fd)
{
	int fd = memfd_create("etw-test", 0);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		fail("memfd_create: %s", strerror(errno));
	*ret_fd = fd;
	return map(bytes, 0, fd);
}

void *map_shared(const char *fd, size_t bytes)
{
	return map(bytes, 0, atoi(fd));
}

pid_t start_program(const char *program, const char *role, int fd, uint32_t place)
{
	char fd_text[16], place_text[16];
	const char *path = program ? program : "/proc/self/exe";
	pid_t child;

	snprintf(fd_text, sizeof(fd_text), "%d", fd);
	snprintf(place_text, sizeof(place_text), "%u", place);
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0) {
		if (role)
			execl(path, path, role, fd_text, place_text, (char *)NULL);
		else
			execl(path, path, fd_text, place_text, (char *)NULL);
		_exit(127);
	}
	return child;
}

void await_end(pid_t child, const char *what)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		fail("waitpid: %s", strerror(errno));
	if (status)
		fail("%s ended with status %#x", what, (unsigned)status);
}

void await_flag(const uint32_t *flag, uint32_t value, const char *what)
{
	const struct wait wait = wait_for(what);

	while (load_acquire(flag) != value)
		wait_on(&wait);
}

void await_more(const uint64_t *count, uint64_t than, const char *what)
{
	const struct wait wait = wait_for(what);

	while (load_acquire(count) <= than)
		wait_on(&wait);
}
