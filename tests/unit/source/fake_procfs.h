/* SPDX-License-Identifier: MIT */
/* A folder that looks like /proc, with what a test puts there. */
#ifndef ETW_TESTS_UNIT_SOURCE_FAKE_PROCFS_H
#define ETW_TESTS_UNIT_SOURCE_FAKE_PROCFS_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAKE_PATH_BYTES 512

static inline void fake_path(char *to, const char *root, const char *path)
{
	snprintf(to, FAKE_PATH_BYTES, "%s/%s", root, path);
}

/* A file with @bytes bytes, and the folders above it. */
static inline void fake_file(const char *root, const char *path, const void *bytes, size_t count)
{
	char full[FAKE_PATH_BYTES];
	int fd;

	fake_path(full, root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(full, 0700);
		*at = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
		abort();
	close(fd);
}

static inline void fake_text(const char *root, const char *path, const char *text)
{
	fake_file(root, path, text, strlen(text));
}

static inline void fake_link(const char *root, const char *path, const char *target)
{
	char full[FAKE_PATH_BYTES];

	fake_path(full, root, path);
	if (symlink(target, full))
		abort();
}

static inline int fake_remove_one(const char *path, const struct stat *status, int flag,
				  struct FTW *place)
{
	(void)status;
	(void)flag;
	(void)place;
	return remove(path);
}

/* A new folder into @root, a template of mkdtemp(). */
static inline void fake_begin(char *root)
{
	if (!mkdtemp(root))
		abort();
}

static inline void fake_end(const char *root)
{
	(void)nftw(root, fake_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
