/* SPDX-License-Identifier: MIT */
/*
 * Where the runtime directory is. A user who finds another one's in /tmp has it at home. What is in it:
 * runtime_page.c and runtime_socket.c.
 */
#include "ipc/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "ipc/runtime_internal.h"

#define SYSTEM_DIRECTORY    "/run/etw"
#define LOGIN_DIRECTORY     "/run/user/"
#define TEMPORARY_DIRECTORY "/tmp/etw-"
#define HOME_DIRECTORY      "/.cache/etw/run-"

/* A variable that is set and not empty; a program with more rights than its caller takes none. */
static const char *environment(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

bool etw_runtime_is_one(void)
{
	return geteuid() == 0 || environment("ETW_RUNTIME_DIR");
}

/* Whether a folder is this user's, and nobody else can put anything there. */
static bool is_own_folder(const char *path, int (*look)(const char *, struct stat *))
{
	struct stat info;

	return look(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
	       !(info.st_mode & ETW_RUNTIME_OTHERS_WRITE);
}

/*
 * $XDG_RUNTIME_DIR, if it is this user's: sudo and su may pass on that of another one, where nothing can be
 * made, and who has it is not to be told of this user's sessions.
 */
static const char *session_directory(void)
{
	const char *path = environment("XDG_RUNTIME_DIR");
	struct stat info;

	return path && *path == '/' && stat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
			       info.st_uid == geteuid()
		       ? path
		       : NULL;
}

static int put_path(char ret[PATH_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int put_path(char ret[PATH_MAX], const char *format, ...)
{
	va_list list;
	int chars;

	va_start(list, format);
	chars = vsnprintf(ret, PATH_MAX, format, list);
	va_end(list);
	return chars < 0 || chars >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Machines may share a home; they share no host. */
static void find_home_place(char ret[PATH_MAX])
{
	const char *home = environment("HOME");
	struct utsname machine;

	*ret = '\0';
	if (home && *home == '/' && is_own_folder(home, stat) && uname(&machine) == 0 &&
	    !strchr(machine.nodename, '/') &&
	    put_path(ret, "%s" HOME_DIRECTORY "%s", home, machine.nodename) < 0)
		*ret = '\0';
}

int etw_runtime_find_places(enum etw_instance instance, struct etw_runtime_places *ret)
{
	const char *own = environment("ETW_RUNTIME_DIR");
	const char *session = session_directory();
	char login[sizeof(LOGIN_DIRECTORY) + 16];

	ret->second[0] = '\0';
	if (own)
		return put_path(ret->first, "%s", own);
	if (instance == ETW_INSTANCE_SYSTEM || geteuid() == 0)
		return put_path(ret->first, SYSTEM_DIRECTORY);
	if (session)
		return put_path(ret->first, "%s/etw", session);
	(void)snprintf(login, sizeof(login), LOGIN_DIRECTORY "%u", geteuid());
	if (is_own_folder(login, lstat))
		return put_path(ret->first, "%s/etw", login);
	find_home_place(ret->second);
	return put_path(ret->first, TEMPORARY_DIRECTORY "%u", geteuid());
}

const char *etw_runtime_place(const struct etw_runtime_places *places)
{
	struct stat info;

	if (!places->second[0] || is_own_folder(places->first, lstat))
		return places->first;
	if (is_own_folder(places->second, lstat))
		return places->second;
	return lstat(places->first, &info) < 0 && errno == ENOENT ? places->first : places->second;
}

int etw_runtime_directory(enum etw_instance instance, char *ret)
{
	CLEANUP(freep) struct etw_runtime_places *places = malloc(sizeof(*places));
	const char *place;

	if (!places)
		return -ENOMEM;
	TRY(etw_runtime_find_places(instance, places));
	place = etw_runtime_place(places);
	memcpy(ret, place, strlen(place) + 1);
	return 0;
}

int etw_runtime_open_directory(const char *directory, int *ret_fd, struct stat *ret)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	if (fstat(fd, ret) < 0) {
		int r = -errno;

		(void)close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* /run may be missing in a container. Every other parent is somebody else's to make. */
static bool is_parent_ours(const char *directory)
{
	return strcmp(directory, SYSTEM_DIRECTORY) == 0 ||
	       strncmp(directory, TEMPORARY_DIRECTORY, strlen(TEMPORARY_DIRECTORY)) == 0;
}

/* The folders above the one in the user's home, which are the user's too. */
static int make_home_folders(const char *directory)
{
	CLEANUP(freep) char *parent = strdup(directory);
	char *last = parent ? strrchr(parent, '/') : NULL;

	if (!last)
		return -ENOMEM;
	*last = '\0';
	return etw_file_make_folders(parent, 0700);
}

int etw_runtime_make_directory(const char *directory)
{
	mode_t mode = geteuid() == 0 ? 0755 : 0700;
	char home[PATH_MAX];
	int r;

	find_home_place(home); /* changes errno */
	r = mkdir(directory, mode);
	if (r < 0 && errno == ENOENT && strcmp(directory, home) == 0) {
		TRY(make_home_folders(directory));
		r = mkdir(directory, mode);
	}
	if (r < 0 && errno == ENOENT && is_parent_ours(directory)) {
		(void)mkdir(strncmp(directory, "/run/", 5) == 0 ? "/run" : "/tmp", 0755);
		r = mkdir(directory, mode);
	}
	if (r < 0)
		return errno == EEXIST ? 0 : -errno;
	/* The mask of the caller must not lock users out of the system's directory. */
	return chmod(directory, mode) < 0 ? -errno : 0;
}

bool etw_runtime_is_own(enum etw_instance instance)
{
	char directory[PATH_MAX];

	return etw_runtime_directory(instance, directory) == 0 && is_own_folder(directory, stat);
}
