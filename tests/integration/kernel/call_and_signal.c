/* SPDX-License-Identifier: MIT */
/*
 * As many system calls as are asked for, with a signal to another process in their midst.
 *
 *     call_and_signal COUNT FILE SIGNAL END_SIGNAL
 *
 * FILE: a runtime directory's discovery page, which has the host's id. SIGNAL goes there after half of the calls, and
 * END_SIGNAL after the others; 0: none. Which signals these are makes no difference to the number of calls.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "wire/discovery_page.h"

static void call(long count)
{
	for (long i = 0; i < count; i++)
		(void)syscall(SYS_getppid);
}

int main(int argument_count, char **arguments)
{
	struct wire_discovery_page page;
	long count;
	int fd;

	if (argument_count != 5)
		return 2;
	count = strtol(arguments[1], NULL, 10);
	fd = open(arguments[2], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &page, sizeof(page)) != (ssize_t)sizeof(page) || !page.host_pid)
		return 1;
	call(count / 2);
	if (kill((pid_t)page.host_pid, (int)strtol(arguments[3], NULL, 10)))
		return 1;
	call(count - count / 2);
	/* A host that was killed is not there any more. */
	(void)kill((pid_t)page.host_pid, (int)strtol(arguments[4], NULL, 10));
	return 0;
}
