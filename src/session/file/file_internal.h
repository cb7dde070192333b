/* SPDX-License-Identifier: MIT */
/*
 * The parts of a session's file, from bottom to top,
 *
 *	write.c   bytes, with the rights of who named the file; what may pass is tried again
 *	make.c    the header buffer and the file: the first one, and those that follow it
 *	append.c  the first file behind what others have written
 *	put.c     sealed buffers: the place of each, and an end when one cannot be written
 *	file.c    its beginning, the last host's, and its end
 *	change.c  from one file to the next
 */
#ifndef ETW_SESSION_FILE_INTERNAL_H
#define ETW_SESSION_FILE_INTERNAL_H

#include "session/file/file.h"
#include "wire/etl_buffer.h"

/* What the keeper calls the file; %u: the low bit of `files_left`. */
#define ETW_SESSION_FILE_KEPT "file-%u"

static inline struct etw_state_file *etw_session_file_present(const struct etw_session_file *file)
{
	return etw_state_file(&file->context->state);
}

/* etw_session_file_limit() - of the whole file, in bytes; 0: none. */
uint64_t etw_session_file_limit(const struct etw_session_file *file);

/* etw_session_file_tell() - a note for whoever reads the trace. */
__attribute__((format(printf, 3, 4))) void etw_session_file_tell(struct etw_session_file *file,
								 const uint64_t *numbers,
								 const char *format, ...);

/* etw_session_file_write() - one whole buffer, once. Returns what etw_etl_file_writer_put() does. */
int etw_session_file_write(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer);

/* etw_session_file_write_patiently() - the same bytes to the same place until they are there, or patience ends. */
int etw_session_file_write_patiently(struct etw_session_file *file, uint64_t offset,
				     const uint8_t *buffer);

/* etw_session_file_patch() - a buffer's header at its place in the file, anew; an error is not told. */
void etw_session_file_patch(struct etw_session_file *file, uint64_t place,
			    const struct wire_buffer_header *header);

/* etw_session_file_finish() - the final header buffer, as patiently. Returns what etw_etl_file_writer_finish() does. */
int etw_session_file_finish(struct etw_session_file *file);

/* etw_session_file_make_header() - @ret: a buffer of room. Returns 0; -EMSGSIZE when names do not fit it; -ENOMEM. */
int etw_session_file_make_header(struct etw_session_file *file, const struct etw_state_file *of,
				 uint8_t *ret);

/*
 * etw_session_file_make() - makes a file with the rights of who named it, and writes its header buffer.
 *
 * @removes: a file that is made and cannot be written is removed; else it is left, empty
 *
 * Returns 0; -EFBIG when MaximumFileSize has no room for two buffers; the errno of making and writing the file.
 */
int etw_session_file_make(struct etw_session_file *file, const struct etw_state_file *of,
			  const uint8_t *header, bool removes, struct etw_etl_file_writer *ret);

/* etw_session_file_open_as_is() - opens or makes the file with the rights of who named it; what is in it stays. */
int etw_session_file_open_as_is(struct etw_session_file *file);

/* etw_session_file_put_header() - writes the header buffer as the state has it. */
int etw_session_file_put_header(struct etw_session_file *file);

/*
 * etw_session_file_append() - the first file of a session that appends: behind what others have written. When it was
 * closed before it is open from here on. The header buffer is the file's own, when it has one.
 *
 * Returns 0; what etw_etl_append_look() does, and what is refused is left as it was; the errno of opening and writing.
 */
int etw_session_file_append(struct etw_session_file *file, struct etw_state_file *first);

#endif
