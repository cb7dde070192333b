/* SPDX-License-Identifier: MIT */
/* How a session's file is made: for the first one (file.c) and for those that follow it (file_change.c). */
#ifndef ETW_SESSION_FILE_INTERNAL_H
#define ETW_SESSION_FILE_INTERNAL_H

#include "session/file/file.h"

/* What the keeper calls the file; %u: the low bit of `files_left`. */
#define ETW_SESSION_FILE_KEPT "file-%u"

/* etw_session_file_make_header() - @ret: a buffer of room. Returns 0; -EMSGSIZE when names do not fit it; -ENOMEM. */
int etw_session_file_make_header(struct etw_session_file *file, const struct etw_state_file *of,
				 uint8_t *ret);

/*
 * etw_session_file_make() - makes a file with its owner's rights, and writes its header buffer.
 *
 * Returns 0; -EFBIG when MaximumFileSize has no room for two buffers; the errno of making and writing the file. Then none
 * is left that was not there before.
 */
int etw_session_file_make(struct etw_session_file *file, const struct etw_state_file *of,
			  const uint8_t *header, struct etw_etl_file_writer *ret);

/* etw_session_file_open_kept() - opens or makes the file with its owner's rights; what is in it stays. */
int etw_session_file_open_kept(struct etw_session_file *file);

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
