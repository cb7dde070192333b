/* SPDX-License-Identifier: MIT */
/*
 * load nothing|switches|calls|forks|transfers|files|faults|connections|bulk COUNT - what the kernel is kept busy with, for
 * run_kernel: COUNT bytes that two processes send each other in turns, COUNT system calls that do nothing else, COUNT processes
 * that end at once, COUNT blocks of a disk, COUNT small files that are made, read and removed, COUNT pages that are touched for
 * the first time, and given back 64 at a time, COUNT connections of TCP that carry a byte each way, or COUNT pieces of 16 KiB
 * through one.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

#define FILE_BYTES  1024
#define FILES_THERE 64 /* at a time */

static int make_file(const char *name, const char *bytes)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

	return fd < 0 || write(fd, bytes, FILE_BYTES) != FILE_BYTES || close(fd);
}

static int read_file(const char *name, char *bytes)
{
	int fd = open(name, O_RDONLY);
	struct stat status;

	return fd < 0 || fstat(fd, &status) || read(fd, bytes, FILE_BYTES) != FILE_BYTES ||
	       close(fd);
}

/* In the folder that the environment names. Of each file nine system calls: two opens, two closes, and one of each other. */
static int file_often(long count)
{
	static char bytes[FILE_BYTES];
	const char *folder = getenv("ETW_BENCH_FOLDER");
	char name[32];

	if (!folder || chdir(folder))
		return 1;
	for (long i = 0; i < count + FILES_THERE; i++) {
		(void)snprintf(name, sizeof(name), "file-%ld", i);
		if (i < count && make_file(name, bytes))
			return 1;
		(void)snprintf(name, sizeof(name), "file-%ld", i - FILES_THERE);
		if (i >= FILES_THERE && (read_file(name, bytes) || unlink(name)))
			return 1;
	}
	return 0;
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

#define PIECE_BYTES 16384

/* A socket that listens on the loopback address, and where. */
static int listen_somewhere(struct sockaddr_in *ret)
{
	socklen_t bytes = sizeof(*ret);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*ret = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (const void *)ret, bytes) || listen(fd, 16) ||
	    getsockname(fd, (void *)ret, &bytes))
		return -1;
	return fd;
}

static int connect_to(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const void *)to, sizeof(*to)))
		return -1;
	return fd;
}

/* Starts a process that ends as @serve does. Returns its pid, and where it listens; negative: there is none. */
static pid_t start_server(int (*serve)(int listener, long count), long count,
			  struct sockaddr_in *ret)
{
	int listener = listen_somewhere(ret);
	pid_t pid = listener < 0 ? -1 : fork();

	if (!pid)
		_exit(serve(listener, count));
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) != pid || status;
}

static int answer_often(int listener, long count)
{
	char byte;

	for (long i = 0; i < count; i++) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0 || recv(fd, &byte, 1, 0) != 1 || send(fd, &byte, 1, 0) != 1)
			return 1;
		close(fd);
	}
	return 0;
}

static int connect_often(long count)
{
	struct sockaddr_in to;
	pid_t pid = start_server(answer_often, count, &to);
	char byte = 0;

	if (pid < 0)
		return 1;
	for (long i = 0; i < count; i++) {
		/* The port comes back at once: the reset leaves no TIME_WAIT. */
		const struct linger at_once = {.l_onoff = 1};
		int fd = connect_to(&to);

		if (fd < 0 || send(fd, &byte, 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1 ||
		    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)))
			return 1;
		close(fd);
	}
	return wait_for(pid);
}

static int take_all(int listener, long count)
{
	static char piece[PIECE_BYTES];
	int fd = accept(listener, NULL, NULL);

	for (long long left = (long long)count * PIECE_BYTES; left > 0;) {
		ssize_t got = recv(fd, piece, sizeof(piece), 0);

		if (got <= 0)
			return 1;
		left -= got;
	}
	return 0;
}

static int send_much(long count)
{
	static char piece[PIECE_BYTES];
	struct sockaddr_in to;
	pid_t pid = start_server(take_all, count, &to);
	int fd = pid < 0 ? -1 : connect_to(&to);

	for (long i = 0; i < count; i++)
		if (fd < 0 || send(fd, piece, sizeof(piece), 0) != PIECE_BYTES)
			return 1;
	return wait_for(pid);
}

static const struct {
	const char *name;
	int (*run)(long count);
} loads[] = {
	{"switches", switch_often},     {"calls", call_often}, {"forks", fork_often},
	{"transfers", transfer_often},  {"files", file_often}, {"faults", fault_often},
	{"connections", connect_often}, {"bulk", send_much},
};

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (count > 0 && strcmp(argv[1], "nothing") == 0)
		return 0;
	for (size_t i = 0; count > 0 && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(argv[1], loads[i].name) == 0)
			return loads[i].run(count);
	(void)fprintf(stderr, "usage: load nothing|switches|calls|forks|transfers|files|faults|"
			      "connections|bulk COUNT\n");
	return 2;
}
