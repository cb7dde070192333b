/* SPDX-License-Identifier: MIT */
/*
 * The container of PDB files (MSF 7.00): a file of blocks, and streams made of blocks in any order. The file
 * is in memory once, mapped or read; a stream whose blocks follow each other is borrowed from it, any other
 * is copied together. No block may belong to two streams, so that no stream can be longer than the file and
 * no chain can lead back.
 *
 * Source: docs/format/wpp.md "PDB files".
 */
#ifndef ETW_SCHEMA_MSF_H
#define ETW_SCHEMA_MSF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

#define ETW_MSF_BYTES_MAX   ((uint64_t)4 << 30)
#define ETW_MSF_STREAMS_MAX 65536 /* their numbers have 16 bits */

struct etw_msf {
	struct etw_bytes file; /* borrowed */
	uint32_t block_bytes;  /* a power of two */
	uint32_t block_count;  /* that are in the file in full */
	uint32_t stream_count;
	uint32_t *stream_bytes; /* owned; of each stream; none for one that was deleted */
	uint32_t *first;        /* owned; where its blocks begin in `blocks` */
	uint32_t *blocks;       /* owned */
};

/* A stream's bytes in one piece. */
struct etw_msf_stream {
	struct etw_bytes bytes;
	uint8_t *copy; /* owned; NULL: the bytes are the file's */
};

/* etw_msf_is() - whether the bytes begin as an MSF file does. */
bool etw_msf_is(struct etw_bytes file);

/*
 * etw_msf_open() - reads the superblock and the directory of streams.
 *
 * @file: borrowed until etw_msf_close()
 *
 * Returns 0; -EBADMSG with @reterr (offset in the file) or -ENOMEM, with @ret unusable.
 */
int etw_msf_open(struct etw_bytes file, struct etw_msf *ret, struct etw_fault *reterr);
void etw_msf_close(struct etw_msf *msf);

/*
 * etw_msf_stream() - the bytes of a stream, for etw_msf_stream_done().
 *
 * Returns 0; -ENOENT when there is no such stream; -ENOMEM.
 */
int etw_msf_stream(const struct etw_msf *msf, uint32_t index, struct etw_msf_stream *ret);
void etw_msf_stream_done(struct etw_msf_stream *stream);

#endif
