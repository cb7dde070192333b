/* SPDX-License-Identifier: MIT */
/*
 * Makes, writes, renames, links and deletes files without end, in many folders, some of them with long names.
 *
 *     churn_files FOLDER SECONDS RATE
 *
 * RATE: files in a second. At the end it prints its thread's id and what it did: a line for each kind of event and what is
 * added up of it, with the count behind.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDERS    512
#define LONG_NAME  240 /* of every LONG_EVERY-th file */
#define LONG_EVERY 7
#define KEPT       4096 /* files that are there at once */
#define NS         1000000000LL

enum did {
	CREATED,
	WRITTEN,
	BYTES,
	READ,
	CLOSED,
	RENAMED,
	LINKED,
	DELETED,
	DIDS
};

static const char *const names[DIDS] = {
	"Create", "Write", "bytes", "Read", "Cleanup", "RenamePath", "SetLinkPath", "DeletePath",
};

static long long counts[DIDS];

static void did(enum did what, int is_done)
{
	if (!is_done) {
		perror(names[what]);
		exit(1);
	}
	counts[what]++;
}

static long long now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS + now.tv_nsec;
}

/* @form: 0: as it is made; 1: as it is called then; 2: its other name */
static void name_of(long long number, int form, char ret[512])
{
	static char tail[LONG_NAME + 1];

	if (!tail[0])
		memset(tail, 'l', LONG_NAME);
	(void)snprintf(ret, 512, "d%lld/%c%lld%s", number % FOLDERS, "ofs"[form], number,
		       number % LONG_EVERY ? "" : tail + 20);
}

static void make(long long number)
{
	char bytes[4096] = "churn", path[512], other[512];
	size_t size = 1 + (size_t)(number * 997 % (long long)sizeof(bytes));
	int fd;

	name_of(number, 0, path);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	did(CREATED, fd >= 0);
	did(WRITTEN, write(fd, bytes, size) == (ssize_t)size);
	counts[BYTES] += (long long)size;
	did(READ, pread(fd, bytes, size, 0) == (ssize_t)size);
	did(CLOSED, close(fd) == 0);
	name_of(number, 1, other);
	did(RENAMED, rename(path, other) == 0);
	if (number % 3 == 0) {
		name_of(number, 2, path);
		did(LINKED, link(other, path) == 0);
	}
	/* Its key has another name now. */
	fd = open(other, O_RDONLY);
	did(CREATED, fd >= 0);
	did(CLOSED, close(fd) == 0);
}

static void delete (long long number)
{
	char path[512];

	name_of(number, 1, path);
	did(DELETED, unlink(path) == 0);
	if (number % 3 == 0) {
		name_of(number, 2, path);
		did(DELETED, unlink(path) == 0);
	}
}

int main(int argc, char **argv)
{
	long long seconds = argc == 4 ? atoll(argv[2]) : 0, rate = argc == 4 ? atoll(argv[3]) : 0;
	long long begin, number = 0;

	if (seconds <= 0 || rate <= 0 || chdir(argv[1]))
		return 2;
	for (int i = 0; i < FOLDERS; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "d%d", i);
		did(CREATED, mkdir(path, 0700) == 0);
	}
	for (begin = now_ns(); now_ns() - begin < seconds * NS; number++) {
		long long due = begin + number * NS / rate, wait = due - now_ns();

		if (wait > 0)
			(void)nanosleep(&(struct timespec){wait / NS, wait % NS}, NULL);
		make(number);
		if (number >= KEPT)
			delete (number - KEPT);
	}
	for (long long i = number > KEPT ? number - KEPT : 0; i < number; i++)
		delete (i);
	for (int i = 0; i < DIDS; i++)
		printf("%s\t%lld\n", names[i], counts[i]);
	printf("tid\t%d\nfiles\t%lld\n", getpid(), number);
	return 0;
}
