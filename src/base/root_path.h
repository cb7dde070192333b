/* SPDX-License-Identifier: MIT */
/*
 * Opening a file with root's rights at a path that other users have a part in. A symbolic link in a folder that another
 * user may change can be turned at any time, so that root would write where only root may.
 */
#ifndef ETW_BASE_ROOT_PATH_H
#define ETW_BASE_ROOT_PATH_H

#include <sys/types.h>

/*
 * etw_root_path_open() - opens a file as open() does, but for symbolic links, wherever in the path they are: one is followed
 * only in a folder of root's or the caller's that nobody else may write to, or, where others may and the folder is
 * sticky as /tmp is, when the link itself is root's or the caller's. Those of /proc are never followed.
 *
 * @flags: of open(); O_CLOEXEC and O_NOFOLLOW are added
 *
 * Returns an owned descriptor; -ELOOP for a link that is not followed, or too many of them; -EISDIR when the path ends in a
 * slash; -ENAMETOOLONG; errno of open.
 */
int etw_root_path_open(const char *path, int flags, mode_t mode);

#endif
