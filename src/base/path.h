/* SPDX-License-Identifier: MIT */
/* Windows paths on Linux, by the rule of the design ("Paths"). */
#ifndef ETW_BASE_PATH_H
#define ETW_BASE_PATH_H

#include <stdbool.h>

/*
 * etw_path_resolve() - the Linux path that a program means.
 *
 * @path: UTF-8, as the program gave it
 *
 * A path that exists as given is taken as given. Otherwise backslashes become slashes, and "X:\..."
 * becomes a path in the folder that ETW_DRIVE_X names, by default drive_x under the user's data folder
 * (etw/), which is made on first use. A path without backslash and drive stays as it is.
 *
 * Returns 0 with an owned string in @ret; -ENOMEM; -ENOENT when a drive is meant and neither its
 * variable nor a home folder is known; or what making the default folder failed with.
 */
int etw_path_resolve(const char *path, char **ret);

/* etw_path_ends_with() - whether a path has this ending, such as ".man", in either case. */
bool etw_path_ends_with(const char *path, const char *end);

#endif
