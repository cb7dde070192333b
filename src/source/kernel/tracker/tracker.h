/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads of the machine, kept up to date by the records in the order of their time,
 * and turned into events as they change. A fork is a start; an exec is an end and a start with the same
 * pid; a thread group's end is its end.
 *
 * What a record does not say (the command line of a fork, the images of a process that ends) comes from
 * here. Rundown fills the table with what was there before.
 *
 * Context: the session's thread. Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_TRACKER_TRACKER_H
#define ETW_SOURCE_KERNEL_TRACKER_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/records.h"
#include "source/kernel/out/out.h"
#include "source/kernel/processes/cpu_time.h"
#include "source/kernel/processes/image_shares.h"
#include "source/kernel/processes/images.h"
#include "source/kernel/processes/tasks.h"

struct etw_kernel_tracker {
	struct etw_kernel_out *out; /* borrowed */
	uint32_t flags;             /* EVENT_TRACE_FLAG_*: which events go out */
	uint32_t only_pid; /* images of this process and its descendants alone go out; 0: of all */
	uint64_t ns_per_tick;
	struct etw_kernel_cpu_time cpu_time;
	uint32_t description; /* number of the last one: etw_kernel_tracker_begin_description() */
	uint64_t incomplete;  /* events with fields that nobody knew */
	uint64_t lost_images; /* beyond what a process, or its user, may have */
	struct etw_kernel_shares shares; /* of image events */
	struct etw_kernel_tasks tasks;
};

/* etw_kernel_tracker_new() - an empty tracker, owned; NULL without memory. @out is borrowed. */
struct etw_kernel_tracker *etw_kernel_tracker_new(struct etw_kernel_out *out);

/* etw_kernel_tracker_free() - takes NULL. */
void etw_kernel_tracker_free(struct etw_kernel_tracker *tracker);

/*
 * etw_kernel_tracker_apply() - one record of the BPF ring, after etw_kernel_out_begin().
 *
 * @record: of @byte_count bytes; what is too short or unknown is ignored
 */
void etw_kernel_tracker_apply(struct etw_kernel_tracker *tracker,
			      const struct etw_kernel_record *record, uint32_t byte_count);

/*
 * etw_kernel_tracker_map() - a process mapped a piece of a file.
 *
 * @tid, @pid: who did it
 */
void etw_kernel_tracker_map(struct etw_kernel_tracker *tracker, uint32_t tid, uint32_t pid,
			    const struct etw_kernel_mapping *mapping);

/*
 * etw_kernel_tracker_announced() - a process tells of code of its own. That of a process that is not known is nobody's.
 */
void etw_kernel_tracker_announced(struct etw_kernel_tracker *tracker,
				  const struct etw_announced_news *news);

/* etw_kernel_tracker_begin_exec() - a process threw its old program away. */
void etw_kernel_tracker_begin_exec(struct etw_kernel_tracker *tracker, uint32_t pid);

/* etw_kernel_tracker_begin_description() - names of announced code that are told from here on are told once. */
static inline void etw_kernel_tracker_begin_description(struct etw_kernel_tracker *tracker)
{
	tracker->description++;
}

/*
 * etw_kernel_tracker_describe() - DCStart or DCEnd of a process, its threads and images.
 *
 * @is_end: DCEnd
 */
void etw_kernel_tracker_describe(struct etw_kernel_tracker *tracker,
				 struct etw_kernel_process *process, bool is_end);

/* etw_kernel_tracker_describe_images() - DCStart of a process' images alone. */
void etw_kernel_tracker_describe_images(struct etw_kernel_tracker *tracker,
					const struct etw_kernel_process *process);

#endif
