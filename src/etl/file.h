/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes of a trace come from: a file, read piecewise so that memory does not grow with it and
 * a file that shrinks meanwhile does no harm, or memory.
 */
#ifndef ETW_ETL_FILE_H
#define ETW_ETL_FILE_H

#include <stddef.h>
#include <stdint.h>

struct etw_etl_file {
	int fd;                /* owned; -1 for memory */
	const uint8_t *memory; /* borrowed; NULL for a file */
	uint64_t bytes;        /* size when opened */
};

/*
 * etw_etl_file_open() - opens a file for reading.
 *
 * Returns 0 or the negative errno of open(2) and fstat(2); -EISDIR for a folder, -ESPIPE for what
 * cannot be read at an offset.
 */
int etw_etl_file_open(const char *path, struct etw_etl_file *ret);

/* etw_etl_file_memory() - the same over @bytes of memory, which must outlive the result. */
void etw_etl_file_memory(const uint8_t *memory, uint64_t bytes, struct etw_etl_file *ret);

/* etw_etl_file_close() - closes the file; harmless on one that is closed already. */
void etw_etl_file_close(struct etw_etl_file *file);

/*
 * etw_etl_file_read() - reads up to @bytes bytes at @offset.
 *
 * @ret_count: bytes read; fewer than asked for only at the end of the file
 *
 * Returns 0, or the negative errno of pread(2).
 */
int etw_etl_file_read(const struct etw_etl_file *file, uint64_t offset, uint8_t *to, size_t bytes,
		      size_t *ret_count);

#endif
