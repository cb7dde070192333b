/* SPDX-License-Identifier: MIT */
/*
 * Page faults of every type at known pages, while another thread of the process maps and unmaps.
 *
 *     make_faults FILE
 *
 * FILE is written anew. Lines say what is to be seen between the two faults at the page "begin" and at the page "end":
 *
 *     expect TYPE TID BASE PAGES        one fault of this type at each of so many pages
 *     within TYPE TID BASE PAGES        faults of this type alone
 *     hard TID BASE PAGES INODE OFFSET  likewise, each with a read of the file
 *     copied TID BASE PAGES             faults of type 11 that the kernel's own code has
 *
 * TYPE is that of PageFault events. Numbers are hexadecimal but for TYPE, TID and PAGES. Exit status: 0; 1 where something
 * failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE  4096
#define PAGES 64
#define FEW   16

#define TRANSITION    10
#define DEMAND_ZERO   11
#define COPY_ON_WRITE 12
#define GUARD_PAGE    13
#define HARD          14
#define VIOLATION     15

static atomic_bool is_over;
static sigjmp_buf after_signal;

static void check(int condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

static char *map(int pages, int flags, int fd)
{
	char *at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	check(at != MAP_FAILED, "mmap");
	/* One page at a time; a kernel without huge pages does not know the advice. */
	check(!madvise(at, (size_t)pages * PAGE, MADV_NOHUGEPAGE) || errno == EINVAL, "madvise");
	return at;
}

static char *map_memory(int pages)
{
	return map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void expect(const char *how, int type, pid_t tid, const char *base, int pages)
{
	printf("%s %d %d %lx %d\n", how, type, (int)tid, (unsigned long)base, pages);
}

static void write_pages(char *at, int pages)
{
	for (int i = 0; i < pages; i++)
		*(volatile char *)(at + (size_t)i * PAGE) = 1;
}

static void read_pages(const char *at, int pages)
{
	for (int i = 0; i < pages; i++)
		(void)*(const volatile char *)(at + (size_t)i * PAGE);
}

static void touch_memory(void)
{
	char *at = map_memory(PAGES);
	pid_t child;
	int status;

	expect("expect", DEMAND_ZERO, getpid(), at, PAGES);
	write_pages(at, PAGES);
	(void)fflush(stdout);
	child = fork();
	check(child >= 0, "fork");
	if (!child) {
		write_pages(at, PAGES);
		_exit(0);
	}
	expect("expect", COPY_ON_WRITE, child, at, PAGES);
	check(waitpid(child, &status, 0) == child && !status, "the child");
}

static void touch_cold(int fd)
{
	unsigned char resident[PAGES];
	struct stat facts;
	char *at;

	check(!fsync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) && !fstat(fd, &facts),
	      "posix_fadvise");
	at = map(PAGES, MAP_SHARED, fd);
	/* No reading ahead. */
	check(!madvise(at, PAGES * PAGE, MADV_RANDOM), "madvise");
	check(!mincore(at, PAGES * PAGE, resident), "mincore");
	for (int i = 0; i < PAGES; i++)
		if (resident[i] & 1)
			return; /* the file system keeps it */
	printf("hard %d %lx %d %lx 0\n", (int)getpid(), (unsigned long)at, PAGES,
	       (unsigned long)facts.st_ino);
	for (int i = 0; i < PAGES; i++)
		read_pages(at + (size_t)i * PAGE, 1);
}

static void touch_warm(int fd)
{
	char *shared = map(PAGES, MAP_SHARED, fd), *own = map(PAGES, MAP_PRIVATE, fd);

	expect("within", TRANSITION, getpid(), shared, PAGES);
	read_pages(shared, PAGES);
	expect("expect", COPY_ON_WRITE, getpid(), own, FEW);
	write_pages(own, FEW);
}

/* The kernel's own code writes there first. */
static void read_into(int fd)
{
	char *at = map_memory(FEW);

	printf("copied %d %lx %d\n", (int)getpid(), (unsigned long)at, FEW);
	check(pread(fd, at, FEW * PAGE, 0) == FEW * PAGE, "pread");
}

static char *find_stack(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start = 0;
	char line[512];

	check(maps != NULL, "/proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[stack]"))
			start = strtoul(line, NULL, 16);
	(void)fclose(maps);
	return (char *)start; /* NOLINT(performance-no-int-to-ptr) */
}

static void grow_stack(void)
{
	char *low = find_stack();

	check(low != NULL, "no stack");
	expect("expect", GUARD_PAGE, getpid(), low - (size_t)FEW * PAGE, FEW);
	for (int i = 1; i <= FEW; i++)
		*(volatile char *)(low - (size_t)i * PAGE) = 1;
}

static void end_signal(int number)
{
	(void)number;
	siglongjmp(after_signal, 1);
}

static void violate(int fd)
{
	struct sigaction action = {.sa_handler = end_signal};
	char *nothing = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *behind = map(2 * PAGES, MAP_SHARED, fd) + (size_t)PAGES * PAGE;

	check(nothing != MAP_FAILED, "mmap");
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	expect("expect", VIOLATION, getpid(), nothing, 1);
	if (!sigsetjmp(after_signal, 1))
		read_pages(nothing, 1);
	/* The file ends before. */
	expect("expect", VIOLATION, getpid(), behind, 1);
	if (!sigsetjmp(after_signal, 1))
		read_pages(behind, 1);
}

/* Holds the lock of the process's mappings again and again. */
static void *churn(void *unused)
{
	(void)unused;
	while (!is_over) {
		char *at = map_memory(2);

		write_pages(at, 2);
		munmap(at, (size_t)2 * PAGE);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	char *marks = map_memory(2), bytes[PAGE] = {1};
	pthread_t thread;
	int fd;

	if (count != 2)
		return 1;
	fd = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0, arguments[1]);
	for (int i = 0; i < PAGES; i++)
		check(write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "write");
	printf("begin %d %lx\n", (int)getpid(), (unsigned long)marks);
	printf("end %d %lx\n", (int)getpid(), (unsigned long)(marks + PAGE));
	check(!pthread_create(&thread, NULL, churn, NULL), "pthread_create");
	write_pages(marks, 1);
	touch_cold(fd);
	touch_memory();
	touch_warm(fd);
	read_into(fd);
	grow_stack();
	violate(fd);
	is_over = 1;
	pthread_join(thread, NULL);
	write_pages(marks + PAGE, 1);
	return 0;
}
