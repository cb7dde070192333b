/* SPDX-License-Identifier: MIT */
/*
 * load nothing|switches|calls|forks|transfers|faults COUNT - what the kernel is kept busy with, for run_kernel: COUNT bytes that
 * two processes send each other in turns, COUNT system calls that do nothing else, COUNT processes that end at once, COUNT
 * blocks of a disk, or COUNT pages that are touched for the first time, and given back 64 at a time.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int switch_often(long count)
{
	int there[2], back[2], status = 0;
	char byte = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		return 1;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		for (long i = 0; i < count; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (long i = 0; i < count; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	return waitpid(pid, &status, 0) != pid || status;
}

static int call_often(long count)
{
	for (long i = 0; i < count; i++)
		(void)syscall(SYS_getppid);
	return 0;
}

static int fork_often(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

#define BLOCK_BYTES 4096

/* Of the disk that the environment names, past every cache: one block after the other, read and written in turns. */
static int transfer_often(long count)
{
	static char block[BLOCK_BYTES] __attribute__((aligned(BLOCK_BYTES)));
	const char *path = getenv("ETW_BENCH_DISK");
	int fd = path ? open(path, O_RDWR | O_DIRECT) : -1;
	off_t bytes = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	uint64_t place = 1;

	if (bytes < BLOCK_BYTES)
		return 1;
	for (long i = 0; i < count; i++) {
		off_t at;

		place = place * UINT64_C(6364136223846793005) + 1;
		at = (off_t)((place >> 33) % (uint64_t)(bytes / BLOCK_BYTES)) * BLOCK_BYTES;
		if ((i & 1 ? pwrite(fd, block, BLOCK_BYTES, at)
			   : pread(fd, block, BLOCK_BYTES, at)) != BLOCK_BYTES)
			return 1;
	}
	return close(fd);
}

#define PAGE_BYTES    4096
#define PAGES_AT_ONCE 64 /* too few for a huge page */

static int fault_often(long count)
{
	for (long i = 0; i < count; i += PAGES_AT_ONCE) {
		char *at = mmap(NULL, (size_t)PAGES_AT_ONCE * PAGE_BYTES, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED)
			return 1;
		for (size_t j = 0; j < PAGES_AT_ONCE; j++)
			*(volatile char *)(at + j * PAGE_BYTES) = 1;
		if (munmap(at, (size_t)PAGES_AT_ONCE * PAGE_BYTES))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (count > 0 && strcmp(argv[1], "nothing") == 0)
		return 0;
	if (count > 0 && strcmp(argv[1], "switches") == 0)
		return switch_often(count);
	if (count > 0 && strcmp(argv[1], "calls") == 0)
		return call_often(count);
	if (count > 0 && strcmp(argv[1], "forks") == 0)
		return fork_often(count);
	if (count > 0 && strcmp(argv[1], "transfers") == 0)
		return transfer_often(count);
	if (count > 0 && strcmp(argv[1], "faults") == 0)
		return fault_often(count);
	(void)fprintf(stderr, "usage: load nothing|switches|calls|forks|transfers|faults COUNT\n");
	return 2;
}
