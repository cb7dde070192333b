/* SPDX-License-Identifier: MIT */
/* Files and folders: read and written as a whole, and made with all above them. */
#ifndef ETW_BASE_FILE_H
#define ETW_BASE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* etw_file_closep() - for CLEANUP on a descriptor; takes a negative one. */
void etw_file_closep(const int *fd);

/*
 * etw_file_read_all() - reads until @room is full or the file ends.
 *
 * @ret_bytes: how much that was
 *
 * Returns 0 or what reading fails with.
 */
int etw_file_read_all(int fd, void *to, size_t room, size_t *ret_bytes);

/* etw_file_write_all() - writes all of it. Returns 0 or what writing fails with. */
int etw_file_write_all(int fd, const void *at, size_t bytes);

/*
 * etw_file_make_folders() - makes a folder and those above it that are not there.
 *
 * @mode: of those that are made, whatever the umask
 *
 * Returns 0, also when it is there; -ENOMEM; what making one fails with.
 */
int etw_file_make_folders(const char *path, mode_t mode);

/*
 * etw_file_replace() - writes a file as a whole: from then on it has these bytes, or what it had, whenever the machine
 * stops.
 *
 * @folder: of the file; made where it is not there, with those above it, as @folder_mode
 * @mode:   of the file, whatever the umask
 *
 * Meanwhile there is a file ".NAME.new" beside it, which is none of the caller's.
 *
 * Returns 0; -ENOMEM; what making, writing or renaming fails with: the old file stands then.
 */
int etw_file_replace(const char *folder, mode_t folder_mode, const char *name, mode_t mode,
		     const void *at, size_t bytes);

/* etw_file_is_private() - whether root or this process' user has the open file, and nobody else may write to it. */
bool etw_file_is_private(int fd);

/*
 * etw_file_mode() - the permissions that an ordinary new file of this thread gets: 0666 less its umask.
 *
 * Read, not set and set back, which another thread could see. 0600 where /proc does not say it.
 */
mode_t etw_file_mode(void);

/*
 * etw_is_shortage() - whether something failed only for want of memory or descriptors, and may succeed later: such
 * an answer is not one to remember.
 */
static inline bool etw_is_shortage(int result)
{
	return result == -ENOMEM || result == -EMFILE || result == -ENFILE;
}

/*
 * etw_file_open_place() - opens for reading what a descriptor of a place (O_PATH) stands for.
 *
 * Only a regular file is opened: to open a device is an act of its own, and to open a FIFO may wait.
 * Returns an owned descriptor; -EISDIR; -ELOOP for a symbolic link; -EINVAL for what else is no regular file; what opening
 * fails with.
 */
int etw_file_open_place(int place_fd);

/*
 * etw_file_open_regular() - opens a regular file for reading.
 *
 * @ret:       owned descriptor
 * @ret_bytes: the file's size
 *
 * What might block, such as a FIFO, is refused before it does.
 * Returns 0; -EFBIG beyond @bytes_max; -EISDIR; -EINVAL for what else is no regular file; what opening fails with.
 */
int etw_file_open_regular(const char *path, size_t bytes_max, int *ret, size_t *ret_bytes);

/*
 * etw_file_read() - a regular file's bytes.
 *
 * @ret: owned memory, with a NUL behind the bytes
 *
 * Of a file that becomes shorter meanwhile, what is left is given. Returns as etw_file_open_regular(); -ENOMEM; what
 * reading fails with.
 */
int etw_file_read(const char *path, size_t bytes_max, char **ret, size_t *ret_bytes);

#endif
