/* SPDX-License-Identifier: MIT */
/*
 * References that programs take to the buffers which their callbacks are shown. A reference pins the buffer where it
 * is; nothing is copied. ProcessTrace waits until all references to its buffers are given back.
 */
#ifndef ETW_API_CONSUMER_BUFFER_REFERENCE_H
#define ETW_API_CONSUMER_BUFFER_REFERENCE_H

#include "api/consumer/trace_handle.h"

/* etw_buffer_show(), etw_buffer_hide() - around the callback that is shown @buffer; the pass's thread. */
void etw_buffer_show(struct etw_open_trace *open, const void *buffer);
void etw_buffer_hide(struct etw_open_trace *open);

/*
 * etw_buffer_reference_add() - one more reference to a buffer.
 *
 * Returns 0; -EINVAL: the trace does not show it, and nobody has a reference to it, or the bytes are the program's own;
 * -ENOMEM. Context: any thread; in the callback, or while there is another reference.
 */
int etw_buffer_reference_add(struct etw_open_trace *open, const void *buffer);

/* etw_buffer_reference_drop() - one less. Returns 0, or -EINVAL: there is none. Context: any thread. */
int etw_buffer_reference_drop(const void *buffer);

/* etw_buffer_references_wait() - until there is no reference to a buffer of the trace. */
void etw_buffer_references_wait(struct etw_open_trace *open);

#endif
