/* SPDX-License-Identifier: MIT */
/*
 * What processes read and write: bytes of disks, of files and of the network, from the kernel's classic events or from its
 * manifest providers. Where a trace has an area's events of both forms, the classic ones count.
 *
 * A file's read or write tells at its beginning how much was asked for, and at its end how much it was. The end is found by its
 * request (Irp) in a table of ETW_PROCESS_IO_OPEN places, in which a later request may take the place of one that is still
 * open. One without an end counts as asked for.
 *
 * Context: one owner thread.
 * Source: docs/design/process.md "Input and output".
 */
#ifndef ETW_PROCESS_IO_H
#define ETW_PROCESS_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/decode.h"

enum etw_process_io_kind {
	ETW_PROCESS_DISK_READ,
	ETW_PROCESS_DISK_WRITTEN,
	ETW_PROCESS_FILE_READ,
	ETW_PROCESS_FILE_WRITTEN,
	ETW_PROCESS_RECEIVED,
	ETW_PROCESS_SENT,
	ETW_PROCESS_IO_KINDS,
};

enum etw_process_io_area {
	ETW_PROCESS_DISKS,
	ETW_PROCESS_FILES,
	ETW_PROCESS_NETWORK,
	ETW_PROCESS_IO_AREAS,
};

/* The forms in which a trace may have the events. */
enum etw_process_io_form {
	ETW_PROCESS_IO_CLASSIC,
	ETW_PROCESS_IO_MANIFEST,
	ETW_PROCESS_IO_FORMS,
};

/* Of one process. */
struct etw_process_io {
	uint64_t bytes[ETW_PROCESS_IO_FORMS][ETW_PROCESS_IO_KINDS];
};

#define ETW_PROCESS_IO_OPEN 16384

/* A read or write of a file that was begun. */
struct etw_process_io_request {
	uint64_t irp;
	struct etw_process_io *io; /* borrowed; NULL: ended, or none */
	uint64_t asked;            /* bytes */
	uint8_t form, kind;
};

/* What is kept of a trace's events. */
struct etw_process_io_state {
	struct etw_process_io_request
		*requests; /* owned, ETW_PROCESS_IO_OPEN of them; NULL: none yet */
	bool has_area[ETW_PROCESS_IO_FORMS][ETW_PROCESS_IO_AREAS];
};

/* etw_process_io_done() - frees it; takes a zeroed one. */
void etw_process_io_done(struct etw_process_io_state *state);

/* etw_process_io_is() - whether the event tells of bytes that were read or written, or how a request for them ended. */
bool etw_process_io_is(const EVENT_RECORD *record);

/*
 * etw_process_io_add() - takes in one event.
 *
 * @io: of the process that it is about; the address stays valid as long as @state
 *
 * Returns 0 or -ENOMEM.
 */
int etw_process_io_add(struct etw_process_io_state *state, struct etw_process_io *io,
		       const struct etw_decoding *decoding);

/* etw_process_io_has() - whether the trace has events of the area. */
bool etw_process_io_has(const struct etw_process_io_state *state, enum etw_process_io_area area);

/* etw_process_io_area() - of a kind. */
static inline enum etw_process_io_area etw_process_io_area(enum etw_process_io_kind kind)
{
	return (enum etw_process_io_area)(kind / 2);
}

/* etw_process_io_bytes() - of the form that counts. */
uint64_t etw_process_io_bytes(const struct etw_process_io_state *state,
			      const struct etw_process_io *io, enum etw_process_io_kind kind);

#endif
