/* SPDX-License-Identifier: MIT */
/*
 * A session's file: made with the rights of who named it, written by sealed buffers, ended by the session's stop, by
 * its size limit or by an error; the session goes on then, and says so by a complaint and a note. Only the size limit of
 * a file that is all the session has ends the session too: by the host, which is told. Owner thread, but for the start.
 *
 * What may pass is waited for: an EIO for ETW_FILE_PATIENCE_NS, in which the session's thread does nothing else, so
 * that events stay in the rings as long as these have room. A file that ended for lack of space goes on when there
 * is some. What was lost between is counted as lost to the file.
 */
#ifndef ETW_SESSION_FILE_H
#define ETW_SESSION_FILE_H

#include "etl/file_writer.h"
#include "session/common/context.h"
#include "session/common/notes.h"
#include "session/common/set_table.h"

#define ETW_FILE_PATIENCE_NS UINT64_C(5000000000)
#define ETW_FILE_AGAIN_NS    UINT64_C(1000000000) /* between two tries to go on */
#define ETW_FILE_LOOK_NS     UINT64_C(1000000000)

struct etw_session_file {
	struct etw_session_context *context;
	struct etw_session_notes *notes; /* what readers are told */
	struct etw_session_sets *sets;   /* what was lost: for the header */
	struct etw_etl_file_writer writer;
	struct etw_etl_packer *packer; /* owned; NULL: the file is not compressed */
	uint64_t trouble_ns;           /* since when its writes have failed; 0: they have not */
	uint64_t again_ns;             /* when one that ended for lack of space is tried again */
	uint64_t looked_ns;            /* when it was last made sure that it is still there */
};

/* etw_session_file_init() - without a file. etw_session_file_close() leaves it as it is. */
void etw_session_file_init(struct etw_session_context *context, struct etw_session_notes *notes,
			   struct etw_session_sets *sets, struct etw_session_file *ret);
void etw_session_file_close(struct etw_session_file *file);

/*
 * etw_session_file_create() - makes the header buffer, and the file if the session has one.
 *
 * Returns 0; -EMSGSIZE when names do not fit a buffer; -EFBIG when MaximumFileSize has no room for two
 * buffers; the errno of making and writing the file.
 */
int etw_session_file_create(struct etw_session_file *file);

/* etw_session_file_adopt() - goes on with the last host's file; without it the file is ended. */
void etw_session_file_adopt(struct etw_session_file *file);

/* etw_session_file_is_in_series() - whether the file is one of a series (new-file mode). */
bool etw_session_file_is_in_series(const struct etw_session_file *file);

/*
 * etw_session_file_wants_next() - whether the next buffer belongs into the next file of a series: the present one is
 * full, or has ended, and the next was not tried just now.
 */
bool etw_session_file_wants_next(const struct etw_session_file *file);

/* etw_session_file_next_of_series() - what the next file of a series is called. */
void etw_session_file_next_of_series(const struct etw_session_file *file,
				     struct etw_state_file *ret);

/*
 * etw_session_file_replace() - ends the file properly and goes on in another one.
 *
 * @next: its names and number
 *
 * Returns 0; what etw_session_file_create() does, and -ETXTBSY when it is the present one: then that goes on.
 */
int etw_session_file_replace(struct etw_session_file *file, const struct etw_state_file *next);

/* etw_session_file_tell_next() - the present one is there after the one before it had ended early; @status: of that. */
void etw_session_file_tell_next(struct etw_session_file *file, int status);

/* etw_session_file_has_no_next() - the next one could not be made: the file ends, and the next is tried in a while. */
void etw_session_file_has_no_next(struct etw_session_file *file, int result);

/* etw_session_file_claim() - the place of the next buffer; 0 when there is no file, or no longer one. */
uint64_t etw_session_file_claim(struct etw_session_file *file);

/* etw_session_file_reclaim() - a place that the last host had claimed. */
void etw_session_file_reclaim(struct etw_session_file *file, uint64_t offset);

/* etw_session_file_place() - what is noted of a claimed place of a circular file; NULL: it is none. */
struct etw_state_place *etw_session_file_place(const struct etw_session_file *file,
					       uint64_t offset);

/*
 * etw_session_file_put() - writes a sealed buffer. An error that does not pass ends the file.
 *
 * @place: how many buffers are before it in the file, the header buffer included
 *
 * Returns 0, or that error's negative errno.
 */
int etw_session_file_put(struct etw_session_file *file, uint64_t offset, uint32_t place,
			 const uint8_t *buffer);

/* etw_session_file_is_gone() - whether somebody has deleted the file. */
bool etw_session_file_is_gone(struct etw_session_file *file);

/*
 * etw_session_file_abandon() - of a file that is gone: its space is given back, and the status is -ENOENT. To be called
 * when all that was in the file is counted as lost (session/outputs.h).
 */
void etw_session_file_abandon(struct etw_session_file *file);

/*
 * etw_session_file_end() - the final header, and nothing behind the last buffer.
 *
 * @status: why the file ends before the session: its header is brought up to date once more at the stop; 0
 * at the stop
 */
void etw_session_file_end(struct etw_session_file *file, int status);

/* etw_session_file_leave() - of a file that is ended, when the plan has none any more: the session forgets it. */
void etw_session_file_leave(struct etw_session_file *file);

/* etw_session_file_refresh() - brings the header buffer in memory up to date. */
void etw_session_file_refresh(struct etw_session_file *file, bool is_end);

#endif
