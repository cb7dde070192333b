/* SPDX-License-Identifier: MIT */
#include "base/root_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"

#define LINKS_MAX 40 /* as the kernel's */

/* A path on its way: the folder that was reached, and what is still to be gone through. */
struct walk {
	int folder; /* owned */
	unsigned links;
	char rest[PATH_MAX];
};

static int enter(struct walk *walk, int folder)
{
	if (folder < 0)
		return -errno;
	if (walk->folder >= 0)
		(void)close(walk->folder);
	walk->folder = folder;
	return 0;
}

static int begin(struct walk *walk, const char *path)
{
	if (*path == '/' || walk->folder < 0)
		return enter(walk,
			     open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	return 0;
}

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Whether nobody else can have put the link there, or can put another one in its place. */
static bool is_trusted(const struct walk *walk, const char *name)
{
	struct stat folder, link;

	if (fstat(walk->folder, &folder) < 0 || !is_ours(folder.st_uid))
		return false;
	if (!(folder.st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	return folder.st_mode & S_ISVTX &&
	       fstatat(walk->folder, name, &link, AT_SYMLINK_NOFOLLOW) == 0 && is_ours(link.st_uid);
}

/* Links of /proc lead to what a process has open, and what they show need not be a name of it. */
static bool is_in_proc(const struct walk *walk)
{
	struct statfs system;

	return fstatfs(walk->folder, &system) < 0 || system.f_type == PROC_SUPER_MAGIC;
}

/* What the link shows comes in front of the rest of the path. */
static int follow(struct walk *walk, const char *name)
{
	char joined[2 * PATH_MAX];
	ssize_t bytes;
	int chars;

	if (++walk->links > LINKS_MAX || is_in_proc(walk) || !is_trusted(walk, name))
		return -ELOOP;
	bytes = readlinkat(walk->folder, name, joined, PATH_MAX);
	if (bytes < 0)
		return -errno;
	chars = snprintf(joined + bytes, sizeof(joined) - (size_t)bytes, "%s%s",
			 *walk->rest ? "/" : "", walk->rest);
	if (chars < 0 || (size_t)bytes + (size_t)chars >= sizeof(walk->rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, joined, (size_t)bytes + (size_t)chars + 1);
	return begin(walk, walk->rest);
}

/* Takes the next name out of the rest; an empty one is the end. */
static int take_name(struct walk *walk, char name[NAME_MAX + 1])
{
	const char *at = walk->rest + strspn(walk->rest, "/");
	size_t bytes = strcspn(at, "/");

	if (bytes > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, at, bytes);
	name[bytes] = '\0';
	at += bytes;
	memmove(walk->rest, at, strlen(at) + 1);
	return 0;
}

static int enter_folder(struct walk *walk, const char *name)
{
	int fd = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) == 0 && S_ISLNK(info.st_mode)) {
		(void)close(fd);
		return follow(walk, name);
	}
	return enter(walk, fd);
}

static int walk_to_file(struct walk *walk, int flags, mode_t mode)
{
	char name[NAME_MAX + 1];

	for (;;) {
		int fd;

		TRY(take_name(walk, name));
		if (!*name)
			return -EISDIR;
		if (*walk->rest) {
			TRY(enter_folder(walk, name));
			continue;
		}
		fd = openat(walk->folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0)
			return fd;
		if (errno != ELOOP)
			return -errno;
		TRY(follow(walk, name));
	}
}

int etw_root_path_open(const char *path, int flags, mode_t mode)
{
	struct walk walk = {.folder = -1};
	int result = begin(&walk, path);

	if (result == 0 && strlen(path) >= sizeof(walk.rest))
		result = -ENAMETOOLONG;
	if (result == 0) {
		memcpy(walk.rest, path, strlen(path) + 1);
		result = walk_to_file(&walk, flags, mode);
	}
	if (walk.folder >= 0)
		(void)close(walk.folder);
	return result;
}
