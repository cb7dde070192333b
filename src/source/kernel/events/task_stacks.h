/* SPDX-License-Identifier: MIT */
/*
 * Stacks of what tasks do: read from the records that carry them, written behind each event that is to have one. Those of
 * image loads come before the mapping, from the system call that asks for it, and wait with the thread.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/stacks.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_TASK_STACKS_H
#define ETW_SOURCE_KERNEL_EVENTS_TASK_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/bpf/stack_records.h"
#include "source/kernel/code/routines.h"
#include "source/kernel/code/seen.h"
#include "source/kernel/out/out.h"
#include "source/kernel/processes/images.h"
#include "source/kernel/unwind/unwind_tables.h"

/* A stack of one moment; out.h says which events of the moment are to have it. */
struct etw_kernel_moment_stack {
	uint32_t count;
	bool is_whole; /* nothing of it is known to be missing */
	uint64_t frames[ETW_KERNEL_FRAMES];
};

/* What a stack is read with. */
struct etw_kernel_stack_reader {
	const struct etw_kernel_routines *routines; /* borrowed; NULL: no frame is left out */
	struct etw_kernel_seen *seen;               /* borrowed; NULL: nobody asks */
	struct etw_kernel_tables *tables;       /* borrowed; NULL: copied stacks are not unwound */
	struct etw_kernel_stack_owner owner;    /* the process */
	const struct etw_kernel_images *images; /* of the process; may be NULL */
};

/*
 * etw_kernel_task_stack_read() - the stack at the end of a record.
 *
 * @byte_count: of the record, all of it
 *
 * Returns whether there is one; what is too short for what it says is none.
 */
bool etw_kernel_task_stack_read(const struct etw_kernel_stack_reader *reader,
				const struct etw_kernel_record *record, uint32_t byte_count,
				struct etw_kernel_moment_stack *ret);

/*
 * etw_kernel_stack_skip_tracers() - how many of the innermost frames of the kernel call the tracing program, and are of no
 * use.
 */
uint32_t etw_kernel_stack_skip_tracers(const struct etw_kernel_routines *routines,
				       const uint64_t *frames, uint32_t kernel_frames);

/*
 * etw_kernel_task_stack_write() - a StackWalk event behind the event that was written last, where it is to have one. What is
 * asked for and cannot be had is counted when the event is taken.
 *
 * @event: enum etw_kernel_stack_event
 * @tid, @pid: as the event's header has them
 */
void etw_kernel_task_stack_write(struct etw_kernel_out *out, uint32_t event, uint32_t tid,
				 uint32_t pid);

/* The stack of a call that maps code, until perf's record of the mapping comes. */
struct etw_kernel_map_stack {
	uint64_t time_ns, start, byte_count, file_offset; /* as of struct etw_kernel_map */
	struct etw_kernel_moment_stack stack;
};

/*
 * etw_kernel_map_stack_set() - a thread is about to map code.
 *
 * @at: of the thread; replaced, owned memory of malloc(). Without memory it is NULL.
 */
void etw_kernel_map_stack_set(struct etw_kernel_map_stack **at, const struct etw_kernel_map *record,
			      const struct etw_kernel_moment_stack *stack);

/*
 * etw_kernel_map_stack_of() - the stack of a mapping; NULL: the last call of its thread did not make it.
 *
 * @at:      of the thread; may be NULL
 * @time_ns: as perf's record of the mapping says it
 */
const struct etw_kernel_moment_stack *etw_kernel_map_stack_of(
	const struct etw_kernel_map_stack *at, const struct etw_kernel_mapping *mapping,
	uint64_t time_ns);

#endif
