/* SPDX-License-Identifier: MIT */
/* Files that are read as a whole. */
#ifndef ETW_BASE_FILE_H
#define ETW_BASE_FILE_H

#include <stddef.h>

/*
 * etw_file_read() - a regular file's bytes.
 *
 * @ret: owned memory, with a NUL behind the bytes
 *
 * What might block, such as a FIFO, is refused before it does. Of a file that becomes shorter meanwhile, what is
 * left is given. Returns 0; -EFBIG beyond @bytes_max; -EISDIR; -EINVAL for what else is no regular file; -ENOMEM;
 * what opening and reading fail with.
 */
int etw_file_read(const char *path, size_t bytes_max, char **ret, size_t *ret_bytes);

#endif
