/* SPDX-License-Identifier: MIT */
/*
 * The buffers of a trace that the program adds itself, one by one, as it got them from a pass of its own or of another
 * machine's (ProcessTraceAddBufferToBufferStream). They stay where they are; the program hears when each is done.
 *
 * Context: buffers are added by any thread, and taken by that of the pass.
 */
#ifndef ETW_CONSUMER_PUSHED_H
#define ETW_CONSUMER_PUSHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/block.h"
#include "etl/header.h"

struct etw_pushed;

/* Is called without a lock when nothing needs a buffer any more; by the pass's thread, or at the end. */
typedef void (*etw_pushed_done)(const void *buffer, void *context);

/* etw_pushed_create() - for a trace. Returns 0, -ENOMEM, or the errno of eventfd. */
int etw_pushed_create(etw_pushed_done done, void *context, struct etw_pushed **ret);

/* etw_pushed_free() - says of all buffers that they are done; takes NULL. */
void etw_pushed_free(struct etw_pushed *pushed);

/*
 * etw_pushed_add() - adds a buffer; the first one is a header buffer.
 *
 * @at, @bytes: borrowed until the program is told that it is done
 * @ret_header: owned; filled from the first one, and untouched by others
 *
 * Returns 0; -EBADMSG: it is no sound buffer of events, or the first one is no header buffer; -ERANGE: it begins before
 * the last event of the buffer before it, of the same processor; -ESHUTDOWN behind etw_pushed_end(); -ENOMEM. Of a
 * buffer that was not added the program is told nothing.
 */
int etw_pushed_add(struct etw_pushed *pushed, const uint8_t *at, size_t bytes,
		   struct etw_etl_header *ret_header);

/* etw_pushed_end() - no buffer is added any more. */
void etw_pushed_end(struct etw_pushed *pushed);

/*
 * etw_pushed_take() - the next buffer.
 *
 * @block:             zeroed, or loaded before; its bytes are the program's
 * @ret_watermark_raw: what comes later is not before it; INT64_MIN: nothing is known
 *
 * Returns 0; -EAGAIN: there is none now; ETW_END: nor will there be.
 */
int etw_pushed_take(struct etw_pushed *pushed, struct etw_etl_block *block,
		    int64_t *ret_watermark_raw);

/* etw_pushed_has_header() - whether the header buffer was added; then the header does not change any more. */
bool etw_pushed_has_header(struct etw_pushed *pushed);

/* etw_pushed_give_back() - of a buffer that was taken: tells the program that it is done. */
void etw_pushed_give_back(struct etw_pushed *pushed, const struct etw_etl_block *block);

/* etw_pushed_give_back_all() - the same of all that were taken. */
void etw_pushed_give_back_all(struct etw_pushed *pushed);

/* etw_pushed_fd() - is readable when something was added or it has ended; etw_pushed_take() makes it unreadable. */
int etw_pushed_fd(const struct etw_pushed *pushed);

#endif
