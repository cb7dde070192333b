/* SPDX-License-Identifier: MIT */
/*
 * The runtime directory from within. Everything in it is opened without following symbolic links, and believed only
 * when its owner is root or this user: the directory of a user without XDG_RUNTIME_DIR lies in /tmp, where anybody
 * can be first.
 */
#ifndef ETW_IPC_RUNTIME_INTERNAL_H
#define ETW_IPC_RUNTIME_INTERNAL_H

#include <sys/stat.h>

#include "ipc/runtime.h"

#define ETW_RUNTIME_OTHERS_WRITE (S_IWGRP | S_IWOTH)

/*
 * etw_runtime_open_directory() - for names in it.
 *
 * Returns 0 with an owned descriptor and what the directory is; -EPERM for a symbolic link or a file; errno of open.
 */
int etw_runtime_open_directory(const char *directory, int *ret_fd, struct stat *ret);

/* etw_runtime_make_directory() - as etw_runtime_prepare() says. Returns 0, also when it is there; errno of mkdir. */
int etw_runtime_make_directory(const char *directory);

#endif
