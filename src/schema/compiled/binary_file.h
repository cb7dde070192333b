/* SPDX-License-Identifier: MIT */
/* Files with compiled schemas (schema/compiled/binary.h), opened as the parsers want them: see binary_file.c. */
#ifndef ETW_SCHEMA_BINARY_FILE_H
#define ETW_SCHEMA_BINARY_FILE_H

#include "schema/compiled/binary.h"

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
