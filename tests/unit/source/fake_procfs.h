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

static inline void fake_stat(const char *root, const char *folder, unsigned id, const char *state,
			     unsigned start_ticks)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "%s/stat", folder);
	snprintf(text, sizeof(text),
		 "%u (task-%u) %s 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 %u 1 1 1\n", id, id, state,
		 start_ticks);
	fake_text(root, path, text);
}

static inline void fake_thread(const char *root, unsigned pid, unsigned tid, const char *state,
			       unsigned start_ticks)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "%u/task/%u", pid, tid);
	fake_stat(root, folder, tid, state, start_ticks);
}

/* A process of one thread, with arguments and a mapped program. @state: as in its stat file */
static inline void fake_process(const char *root, unsigned pid, const char *state,
				unsigned start_ticks)
{
	char path[64];

	snprintf(path, sizeof(path), "%u", pid);
	fake_stat(root, path, pid, state, start_ticks);
	snprintf(path, sizeof(path), "%u/status", pid);
	fake_text(root, path, "Name:\tx\nUid:\t1\t2\t3\t4\n");
	snprintf(path, sizeof(path), "%u/cmdline", pid);
	fake_file(root, path, "a\0b", 4);
	snprintf(path, sizeof(path), "%u/maps", pid);
	fake_text(
		root, path,
		"1000-2000 r--p 00000000 08:02 5 /bin/x\n2000-3000 r-xp 00001000 08:02 5 /bin/x\n");
	fake_thread(root, pid, pid, state, start_ticks);
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
