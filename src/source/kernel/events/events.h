/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the NT Kernel Logger's classes, in their current versions, for 64-bit readers.
 * Each function adds one event of the moment that etw_kernel_out_begin() set.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_EVENTS_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_EVENTS_H

#include <stdint.h>

#include "source/kernel/machine/config.h"
#include "source/kernel/out/out.h"
#include "source/kernel/processes/tasks.h"

/* Opcodes of Process, Thread and Image. */
enum etw_kernel_opcode {
	ETW_KERNEL_OPCODE_START = 1,
	ETW_KERNEL_OPCODE_END = 2, /* also Image's unload */
	ETW_KERNEL_OPCODE_DC_START = 3,
	ETW_KERNEL_OPCODE_DC_END = 4,
	ETW_KERNEL_OPCODE_LOAD = 10, /* Image only */
};

/* Who stands in the header of the events that have room for it, and its CPU time where that is known. */
struct etw_kernel_actor {
	uint32_t tid, pid;
	uint32_t kernel_ticks, user_ticks; /* of TimerResolution */
};

/*
 * etw_kernel_write_masks() - which kinds of events a session collects.
 *
 * @hook: WIRE_HOOK_GROUP_MASKS_OLD or WIRE_HOOK_GROUP_MASKS_NEW; a change is one of each, in this order
 * @words: WIRE_GROUP_MASKS_WORDS of them
 */
void etw_kernel_write_masks(struct etw_kernel_out *out, uint16_t hook, const uint32_t *words);

/* What is told of the interval between samples: types of PerfInfo events. */
enum etw_kernel_interval {
	ETW_KERNEL_INTERVAL_SET = 72,
	ETW_KERNEL_INTERVAL_START = 73,
	ETW_KERNEL_INTERVAL_END = 74,
};

/* etw_kernel_write_interval() - of the samples by a source, in its units. @place: base/profile_source.h */
void etw_kernel_write_interval(struct etw_kernel_out *out, enum etw_kernel_interval type,
			       uint32_t place, uint32_t new_interval, uint32_t old_interval);

/* etw_kernel_write_rundown_complete() - behind each rundown. */
void etw_kernel_write_rundown_complete(struct etw_kernel_out *out);

/* etw_kernel_write_config() - SystemConfig CPU, version 3. */
void etw_kernel_write_config(struct etw_kernel_out *out, struct etw_kernel_actor actor,
			     const struct etw_kernel_config *config);

/* etw_kernel_write_process() - Process, version 4. @status: ExitStatus. */
void etw_kernel_write_process(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			      struct etw_kernel_actor actor,
			      const struct etw_kernel_process *process, uint32_t status);

/* etw_kernel_write_thread() - Thread, version 3 with the name. @pid: of its process */
void etw_kernel_write_thread(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			     struct etw_kernel_actor actor, uint32_t pid,
			     const struct etw_kernel_thread *thread);

/* etw_kernel_write_name() - Thread SetName, version 2. @name: UTF-8, NUL-terminated. */
void etw_kernel_write_name(struct etw_kernel_out *out, struct etw_kernel_actor actor, uint32_t pid,
			   uint32_t tid, const char *name);

/* etw_kernel_write_counters() - Process PerfCtr or, with @is_rundown, PerfCtrRundown; version 2. */
void etw_kernel_write_counters(struct etw_kernel_out *out, bool is_rundown, uint32_t pid,
			       const struct etw_kernel_counters *counters);

/* etw_kernel_write_image() - Image, version 3, and where it has a build id, its DbgID_RSDS. */
void etw_kernel_write_image(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			    struct etw_kernel_actor actor, uint32_t pid,
			    const struct etw_kernel_image *image);

#endif
