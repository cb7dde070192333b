/* SPDX-License-Identifier: MIT */
/*
 * Has the kernel work for it: workers that carry what is written to a terminal, soft interrupts that carry packets, a
 * worker that clears network namespaces away, one that writes a file system back. Half of it is done by a child. Waits for a
 * byte on standard input first.
 *
 *     ask_kernel ROUNDS MASTER SOCKET FILE
 *
 * MASTER: the descriptor of a terminal's master; SOCKET: that of a connected one; who has their other ends answers each byte.
 * Exit status: 0; 1 when something cannot be done; 77 when namespaces cannot be had.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED    77
#define FILE_BYTES (1 << 20)

static int talk(int fd, int rounds)
{
	char byte = 'x';

	for (int i = 0; i < rounds; i++)
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			return -1;
	return 0;
}

static int write_back(const char *path)
{
	static char bytes[FILE_BYTES];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return -1;
	memset(bytes, 'x', sizeof(bytes));
	r = write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && syncfs(fd) == 0 ? 0 : -1;
	close(fd);
	return r;
}

/* Each one lets go of that before. */
static int change_namespaces(int rounds)
{
	for (int i = 0; i < rounds; i++)
		if (unshare(CLONE_NEWNET))
			return errno == EPERM || errno == EINVAL ? SKIPPED : 1;
	return 0;
}

static int work(char **argv, int rounds)
{
	if (talk(atoi(argv[2]), rounds) || talk(atoi(argv[3]), rounds) || write_back(argv[4])) {
		perror("ask_kernel");
		return 1;
	}
	return change_namespaces(rounds / 10);
}

int main(int argc, char **argv)
{
	int rounds, status = 0, r;
	pid_t child;
	char byte;

	if (argc != 5 || (rounds = atoi(argv[1])) < 10)
		return 1;
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (!child)
		_exit(work(argv, rounds));
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 1;
	r = work(argv, rounds);
	return r ? r : WEXITSTATUS(status);
}
