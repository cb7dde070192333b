/* SPDX-License-Identifier: MIT */
/* Preloaded into a program: writes the paths below /proc that it opens into the file $OPENS_LOG, one a line. */
#undef _FILE_OFFSET_BITS /* each of the C library's names is meant, and not its 64-bit twin */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int call(const char *name, int at, const char *path, int flags, mode_t mode)
{
	int (*next)(int, const char *, int, ...);

	*(void **)&next = dlsym(RTLD_NEXT, name);
	return next(at, path, flags, mode);
}

static void note(const char *path)
{
	const char *log = getenv("OPENS_LOG");
	char line[300];
	int fd, bytes;

	if (!log || strncmp(path, "/proc/", 6) != 0)
		return;
	fd = call("openat", AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	bytes = snprintf(line, sizeof(line), "%s\n", path);
	if (write(fd, line, (size_t)bytes) != bytes)
		abort();
	close(fd);
}

static int open_at(int at, const char *path, int flags, va_list rest)
{
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;

	note(path);
	return call("openat", at, path, flags, mode);
}

#define OPEN(name, parameters, at)                   \
	int name parameters;                         \
	int name parameters                          \
	{                                            \
		va_list rest;                        \
		int fd;                              \
                                                     \
		va_start(rest, flags);               \
		fd = open_at(at, path, flags, rest); \
		va_end(rest);                        \
		return fd;                           \
	}

OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int folder, const char *path, int flags, ...), folder)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder)

#define FOPEN(name)                                        \
	FILE *name(const char *path, const char *mode);    \
	FILE *name(const char *path, const char *mode)     \
	{                                                  \
		FILE *(*next)(const char *, const char *); \
                                                           \
		note(path);                                \
		*(void **)&next = dlsym(RTLD_NEXT, #name); \
		return next(path, mode);                   \
	}

FOPEN(fopen)
FOPEN(fopen64)
