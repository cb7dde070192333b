/* SPDX-License-Identifier: MIT */
/*
 * Where the index is: relative to this program, or to the library that this code is in, so that an installation may
 * be moved; else where it was configured to be installed. A build tree has the same folders as an installation.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "schema/known/known_internal.h"

#if !defined(ETW_DATA_FOLDER) || !defined(ETW_DATA_BY_BIN) || !defined(ETW_DATA_BY_LIB)
#error "CMakeLists.txt says where the index is installed"
#endif

#define NAME "known-providers.index"

static bool try_path(const char *folder, size_t folder_chars, const char *rest, char *ret)
{
	char path[PATH_MAX];
	struct stat info;
	int chars = snprintf(path, sizeof(path), "%.*s%s/" NAME, (int)folder_chars, folder, rest);

	if (chars < 0 || (size_t)chars >= sizeof(path) || stat(path, &info) < 0 ||
	    !S_ISREG(info.st_mode))
		return false;
	memcpy(ret, path, (size_t)chars + 1);
	return true;
}

/* `../share/etw` is that of a build tree, where programs are in bin and libraries in lib. */
static bool try_beside(const char *file, const char *installed, char *ret)
{
	const char *slash = strrchr(file, '/');

	return slash && (try_path(file, (size_t)(slash - file) + 1, installed, ret) ||
			 try_path(file, (size_t)(slash - file) + 1, "../share/etw", ret));
}

static bool try_executable(char *ret)
{
	char path[PATH_MAX];
	ssize_t chars = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (chars < 0)
		return false;
	path[chars] = '\0';
	return try_beside(path, ETW_DATA_BY_BIN, ret);
}

/* The loader may know a library by a path of the folder that was current then, and by a link. */
static bool try_library(char *ret)
{
	CLEANUP(freep) char *path = NULL;
	Dl_info info;

	if (!dladdr(__extension__(void *) try_library, &info) || !info.dli_fname ||
	    !strchr(info.dli_fname, '/'))
		return false;
	path = realpath(info.dli_fname, NULL);
	return path && try_beside(path, ETW_DATA_BY_LIB, ret);
}

/* The library first: a program of somebody else's in /usr/bin may use a libetw of another prefix. */
bool etw_known_find_index(char ret[PATH_MAX])
{
	return try_library(ret) || try_executable(ret) ||
	       try_path(ETW_DATA_FOLDER, strlen(ETW_DATA_FOLDER), "", ret);
}
