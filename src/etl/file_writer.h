/* SPDX-License-Identifier: MIT */
/*
 * Puts buffers on disk: the header buffer at 0, data buffers at the multiples of the buffer size behind it, or packed
 * one behind the other, which each tell their own size then. Of a circular file the places go on for ever as if it
 * had no end: behind its last one comes the first one behind the header buffer again.
 * Claiming a place and writing to it are two steps, so that a session can record the place first, and write
 * the same buffer to it once more when its host died in between.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_ETL_FILE_WRITER_H
#define ETW_ETL_FILE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "etl/packer.h"

struct etw_etl_file_writer {
	int fd; /* owned; -1 when closed */
	uint32_t buffer_bytes;
	uint32_t header_bytes; /* of a header buffer that is shorter than the others; 0: none is */
	uint64_t next_offset;  /* where the next claimed buffer goes */
	uint64_t limit_offset; /* no buffer may end behind it; UINT64_MAX for no limit */
	bool is_circular;      /* its limit is where it begins anew */
	struct etw_etl_packer *packer; /* borrowed; NULL: buffers are written as they are */
};

/*
 * etw_etl_file_limit() - MaximumFileSize in bytes: MB, or KB with the KBYTES bit of @log_file_mode; 0 for
 * none.
 */
uint64_t etw_etl_file_limit(uint32_t maximum_file_size, uint32_t log_file_mode);

/*
 * etw_etl_file_writer_open() - makes the file, or empties one that is there.
 *
 * @mode:        of a file that is made, less the umask
 * @limit_bytes: of the whole file, the header buffer included; whole buffers of it count; 0 for none
 *
 * Returns 0; -EFBIG when the limit has no room for the header buffer and one more; -EINVAL for a
 * buffer size of 0, and for what is no ordinary file, or has no name; -ELOOP for a way through a process' descriptors
 * (/proc/self/fd); -ETXTBSY when another writer has the file open, here
 * or in another process; the errno of open(2), ftruncate(2). What is refused is left as it was.
 */
int etw_etl_file_writer_open(const char *path, mode_t mode, uint32_t buffer_bytes,
			     uint64_t limit_bytes, struct etw_etl_file_writer *ret);

/* etw_etl_file_writer_open_as_is() - the same, but a file that is there is left as it is (etl/append.h). */
int etw_etl_file_writer_open_as_is(const char *path, mode_t mode, uint32_t buffer_bytes,
				   uint64_t limit_bytes, struct etw_etl_file_writer *ret);

/*
 * etw_etl_file_writer_adopt() - goes on with a file that is open already.
 *
 * @fd:          taken; not opened with O_APPEND, which would take the places' meaning away
 * @next_offset: where the next buffer goes; what the file has behind it is overwritten in time
 */
void etw_etl_file_writer_adopt(int fd, uint32_t buffer_bytes, uint64_t limit_bytes,
			       uint64_t next_offset, struct etw_etl_file_writer *ret);

/*
 * etw_etl_file_writer_preallocate() - gives the file all the space that its limit allows; what it did not need is cut
 * off when it is finished. Returns 0; -EFBIG when RLIMIT_FSIZE forbids it; the errno of posix_fallocate(3).
 */
int etw_etl_file_writer_preallocate(const struct etw_etl_file_writer *writer);

/* etw_etl_file_writer_place() - where in the file a claimed buffer is. */
uint64_t etw_etl_file_writer_place(const struct etw_etl_file_writer *writer, uint64_t offset);

/*
 * etw_etl_file_writer_claim() - takes the place of the next data buffer.
 *
 * Returns 0, or -EFBIG when the limit leaves no room for it.
 */
int etw_etl_file_writer_claim(struct etw_etl_file_writer *writer, uint64_t *ret_offset);

/* etw_etl_file_writer_has_room() - whether it would. */
bool etw_etl_file_writer_has_room(const struct etw_etl_file_writer *writer);

/*
 * etw_etl_file_writer_unclaim() - gives the place claimed last back, when it could not be written.
 *
 * Else a file that ends there would count a buffer that is not whole.
 */
void etw_etl_file_writer_unclaim(struct etw_etl_file_writer *writer);

/*
 * etw_etl_file_writer_put() - writes one whole buffer.
 *
 * @offset: 0 for the header buffer, else claimed; the same place may be written again, with the same buffer
 *
 * With a packer the place turns out to be shorter than it was when it was claimed: the next one begins behind what was
 * written.
 *
 * Returns 0; -EFBIG, and nothing is written, when RLIMIT_FSIZE forbids it; -ENOSPC, -EDQUOT, -EIO or another
 * errno of pwrite(2): then part of the buffer may be there, and the same call may be tried again.
 */
int etw_etl_file_writer_put(struct etw_etl_file_writer *writer, uint64_t offset,
			    const uint8_t *buffer);

/*
 * etw_etl_file_writer_finish() - writes the final header buffer; with @is_synced waits for the disk.
 *
 * Cuts off what lies behind the last claimed buffer. The file stays open. Returns 0, or the errno of
 * ftruncate(2), pwrite(2) or fsync(2); everything is tried, and the first error told.
 */
int etw_etl_file_writer_finish(struct etw_etl_file_writer *writer, const uint8_t *header_buffer,
			       bool is_synced);

/* etw_etl_file_writer_close() - harmless on one that is closed already. */
void etw_etl_file_writer_close(struct etw_etl_file_writer *writer);

#endif
