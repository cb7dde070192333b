/* SPDX-License-Identifier: MIT */
/*
 * The write path of classic events and messages, into the one session that the caller names. As that of other events
 * (provider/event.h): no allocation, no lock, no system call after a thread's first; any thread, signal handlers
 * included.
 */
#ifndef ETW_PROVIDER_CLASSIC_EVENT_H
#define ETW_PROVIDER_CLASSIC_EVENT_H

#include <stdint.h>

/* Where an event is to lie, and what only the writer knows. */
struct etw_classic_place {
	uint8_t *at; /* 8-aligned */
	int64_t time_raw;
	uint32_t thread_id, process_id;
};

/* Fills all bytes of the place. Cannot fail. */
typedef void (*etw_classic_fill)(const struct etw_classic_place *place, void *context);

/*
 * etw_classic_write() - one event of @bytes.
 *
 * @logger_id: the session's, as far as handles hold it
 * @bytes:     at most 65535
 *
 * Returns 0; -EBADF: no classic provider of this process is enabled in such a session, or it is over; -EMSGSIZE: larger
 * than its buffers; -ENOBUFS: it has no free buffer, or other rings by now. Of these two the session's account has the
 * event as lost. Context: any thread, signal-safe.
 */
int etw_classic_write(uint32_t logger_id, uint32_t bytes, etw_classic_fill fill, void *context);

#endif
