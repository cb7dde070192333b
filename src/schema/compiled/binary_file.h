/* SPDX-License-Identifier: MIT */
/* Files with compiled schemas, read (schema/compiled/binary.h parses) or only opened as the parsers want them. */
#ifndef ETW_SCHEMA_BINARY_FILE_H
#define ETW_SCHEMA_BINARY_FILE_H

#include "schema/compiled/binary.h"

/*
 * etw_binary_read() - etw_binary_parse() for a file on disk.
 *
 * @message_path: the file that holds the messages; NULL: @path itself
 *
 * A file that should hold messages and does not, has them in "<language>/<name>.mui" beside it. Of large
 * files only the resources are read.
 * Returns the same; also what opening and reading fail with; -EFBIG beyond ETW_BINARY_BYTES_MAX.
 */
int etw_binary_read(struct etw_arena *arena, const char *path, const char *message_path,
		    const char *const *languages, struct etw_definition **ret,
		    struct etw_fault *reterr);

/* A private copy; what the parsers never look at is not read. */
struct etw_binary_file {
	uint8_t *at; /* mapping; NULL: none */
	size_t bytes;
};

/* etw_binary_file_open() - returns as etw_binary_read(), but for what parsing fails with. */
int etw_binary_file_open(const char *path, struct etw_binary_file *ret);

/* etw_binary_file_close() - takes a zeroed file. */
void etw_binary_file_close(struct etw_binary_file *file);

/*
 * etw_binary_file_open_messages() - the best language file beside one that holds no messages.
 *
 * @file: what is at @path
 * @ret:  untouched when @file has messages itself, or nothing lies beside it
 *
 * Returns as etw_binary_file_open().
 */
int etw_binary_file_open_messages(const char *path, const struct etw_binary_file *file,
				  const char *const *languages, struct etw_binary_file *ret);

#endif
