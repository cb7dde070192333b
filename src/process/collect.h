/* SPDX-License-Identifier: MIT */
/*
 * Events that tell of processes, kept from a pass in the order of the file, and taken in afterwards in order of time,
 * when all schemas are known. This is how names are known before the first event is shown, though a trace may have
 * its rundown at the end, and without a pass of its own: the one that looks for schemas sees every event anyway.
 *
 * Context: one owner thread.
 */
#ifndef ETW_PROCESS_COLLECT_H
#define ETW_PROCESS_COLLECT_H

#include <stdint.h>

#include "decode/decode.h"
#include "process/processes.h"

/* What is kept at most; events beyond are counted and left out. */
#define ETW_PROCESS_COLLECT_BYTES_MAX ((size_t)256 << 20)

struct etw_process_collector;

/* etw_process_collector_create() - an empty one. Returns 0 or -ENOMEM. */
int etw_process_collector_create(struct etw_process_collector **ret);

/* etw_process_collector_free() - takes NULL. */
void etw_process_collector_free(struct etw_process_collector *collector);

/*
 * etw_process_collector_keep() - keeps a copy of an event that tells of a process; ignores others.
 *
 * @record: borrowed for the call; TimeStamp may be raw
 * @file:   that it is of, as etw_decoder_set_file() is told
 *
 * Returns 0 or -ENOMEM.
 */
int etw_process_collector_keep(struct etw_process_collector *collector, const EVENT_RECORD *record,
			       uint32_t file, int64_t time_ft);

/*
 * etw_process_collector_teach() - decodes what was kept, in order of time; equal times in the order of the calls.
 *
 * Empties the collector. Returns 0 or -ENOMEM.
 */
int etw_process_collector_teach(struct etw_process_collector *collector,
				struct etw_decoder *decoder, struct etw_processes *processes);

/* etw_process_collector_left_out() - events beyond the limit. */
uint64_t etw_process_collector_left_out(const struct etw_process_collector *collector);

#endif
