/* SPDX-License-Identifier: MIT */
/*
 * The events that describe what is there: at the start and at the end of a collection. What is there is found by a
 * scan of procfs, and by what the tracker knows.
 *
 * Context: the session's thread.
 */
#ifndef ETW_SOURCE_KERNEL_COLLECTOR_RUNDOWN_H
#define ETW_SOURCE_KERNEL_COLLECTOR_RUNDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/profile_source.h"
#include "source/kernel/collector/collector.h"
#include "source/kernel/out/items.h"
#include "source/kernel/tracker/own.h"
#include "wire/group_masks.h"

struct etw_kernel_cpu_bpf; /* source/kernel/programs/cpu_programs.h */

struct etw_kernel_rundown {
	const char *root;             /* "/proc"; borrowed */
	const char *config_root;      /* in front of /sys and others; borrowed */
	struct etw_kernel_item *item; /* owned; outstanding: its events that are not safe */
	uint32_t told_masks[WIRE_GROUP_MASKS_WORDS];  /* what the group masks in the trace say */
	uint32_t told_intervals[ETW_PROFILE_SOURCES]; /* of samples; 0: none are taken */
	bool is_filled;                               /* the tracker knows what was there before */
	const struct etw_kernel_cpu_bpf *cpu_bpf;     /* borrowed; NULL: mappings are not told */
	struct etw_kernel_own own; /* the kernel's own code; told where its root is set */
};

/* What etw_kernel_rundown_start() is to do. */
struct etw_kernel_rundown_start {
	uint32_t masks
		[WIRE_GROUP_MASKS_WORDS]; /* what is collected; who is there by the first word */
	uint32_t intervals[ETW_PROFILE_SOURCES]; /* of samples; 0: none are taken */
	bool describe;                           /* else the tracker alone is filled */
	bool is_other;                           /* another host collected before */
	uint64_t enabled_ns;                     /* before the first record */
	uint64_t
		until_ns; /* CLOCK_BOOTTIME: who started later was not there; of another host's rundown */
};

/* What etw_kernel_rundown_end() is to do. */
struct etw_kernel_rundown_end {
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];
	uint32_t config_groups; /* enum etw_kernel_config_group */
	bool has_loss;          /* records were lost: the tracker may be wrong */
	uint64_t read_ns;       /* every record before was read: etw_kernel_collector_read_all() */
};

/* etw_kernel_rundown_init() - Returns 0 or -ENOMEM. @root: borrowed */
int etw_kernel_rundown_init(struct etw_kernel_rundown *rundown, const char *root);
/* etw_kernel_rundown_done() - frees everything; takes what was zeroed. */
void etw_kernel_rundown_done(struct etw_kernel_rundown *rundown);

/* etw_kernel_rundown_is_safe() - every event of the start's rundown was popped. */
bool etw_kernel_rundown_is_safe(const struct etw_kernel_rundown *rundown);

/*
 * etw_kernel_rundown_start() - who is there.
 *
 * When a host dies before the events of its rundown are safe the next one does it again, for what was there at the
 * time of the first: rather twice than never. Returns 0; -ENOMEM; what opening the root said.
 */
int etw_kernel_rundown_start(struct etw_kernel_rundown *rundown,
			     struct etw_kernel_collector *collector,
			     const struct etw_kernel_rundown_start *start);

/*
 * etw_kernel_rundown_change() - what is wanted changes: what came before goes out as it was wanted then, then the group
 * masks, then who is there, as far as the first word in @start and not in @flags_before tells it. Returns as above.
 */
int etw_kernel_rundown_change(struct etw_kernel_rundown *rundown,
			      struct etw_kernel_collector *collector,
			      const struct etw_kernel_rundown_start *start, uint32_t flags_before);

/*
 * etw_kernel_rundown_end() - who is still there. Without loss the tracker knows that, to the record; after a loss
 * procfs corrects it. Returns as etw_kernel_rundown_start().
 */
int etw_kernel_rundown_end(struct etw_kernel_rundown *rundown,
			   struct etw_kernel_collector *collector,
			   const struct etw_kernel_rundown_end *end);

/*
 * etw_kernel_rundown_describe() - the same, handed to @put, all with the time @time_raw; nothing is queued. Group masks are
 * left out: what is wanted goes on being wanted. Returns as etw_kernel_rundown_start().
 */
int etw_kernel_rundown_describe(struct etw_kernel_rundown *rundown,
				struct etw_kernel_collector *collector,
				const struct etw_kernel_rundown_end *end, int64_t time_raw,
				etw_source_put_fn *put, void *context);

#endif
