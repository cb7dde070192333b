/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of tracepoints are closed by a thread of their own: the last one of a tracepoint has the kernel wait until no
 * processor is in it any more, which takes tens of milliseconds, one after the other. Nobody is to wait for hundreds of them.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_CLOSER_H
#define ETW_SOURCE_TRACEPOINTS_CLOSER_H

/* etw_tracepoint_close_later() - takes a descriptor. Where there is no memory or no thread, it is closed at once. Any thread. */
void etw_tracepoint_close_later(int fd);

#endif
