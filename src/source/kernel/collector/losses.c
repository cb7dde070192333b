/* SPDX-License-Identifier: MIT */
#include "source/kernel/collector/losses.h"

#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "source/kernel/bpf/drops.h"
#include "source/kernel/probe/classes.h"

static void add_drops(const struct etw_kernel_drops *drops, struct etw_source_loss *ret)
{
	ret->events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_TASKS] +=
		drops->counts[ETW_KERNEL_DROP_RING_FULL];
	ret->events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_TASKS] +=
		drops->counts[ETW_KERNEL_DROP_INCOMPLETE];
	ret->events[ETW_LOSS_NOT_FOLLOWED][ETW_LOSS_OF_ANY] +=
		drops->counts[ETW_KERNEL_DROP_NO_THREAD];
	ret->events[ETW_LOSS_TOO_MANY][ETW_LOSS_OF_FILES] += drops->counts[ETW_KERNEL_DROP_CLOSES];
	ret->events[ETW_LOSS_TOO_MANY][ETW_LOSS_OF_MEMORY] +=
		drops->counts[ETW_KERNEL_DROP_MAPPINGS];
	for (uint32_t kind = 0; kind < ETW_KERNEL_CPU_KINDS; kind++)
		ret->events[ETW_LOSS_RING_FULL][etw_kernel_loss_class(kind)] +=
			drops->counts[ETW_KERNEL_DROP_CPU_RING_FULL + kind];
}

static void read_drops(const struct etw_kernel_losses_of *from, struct etw_source_loss *ret)
{
	CLEANUP(freep)
	struct etw_kernel_drops *drops = calloc(from->cpu_count, sizeof(*drops));

	if (!drops)
		return; /* what was counted is read the next time */
	etw_kernel_bpf_drops(from->bpf, from->cpu_count, drops);
	for (uint32_t i = 0; i < from->cpu_count; i++)
		add_drops(&drops[i], &ret[i]);
}

/* The kernel counts for a program, and not for a processor. */
static void read_missed(const struct etw_kernel_losses_of *from, struct etw_source_loss *ret)
{
	struct etw_kernel_missed missed;

	etw_kernel_cpu_bpf_missed(from->cpu_bpf, &missed);
	for (uint32_t kind = 0; kind < ETW_KERNEL_CPU_KINDS; kind++)
		ret->events[ETW_LOSS_INTERRUPTED][etw_kernel_loss_class(kind)] +=
			missed.events[kind];
	ret->events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_ANY] += missed.contexts;
	ret->events[ETW_LOSS_NOT_FOLLOWED][ETW_LOSS_OF_ANY] += missed.threads;
}

static void read_streams(const struct etw_kernel_streams *streams, uint32_t cpu_count,
			 struct etw_source_loss *ret)
{
	const struct etw_kernel_cpu_rings *rings = &streams->cpu_rings;

	for (uint32_t i = 0; i < MIN(cpu_count, streams->cpu_count); i++) {
		ret[i].events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_IMAGES] = streams->lost_mappings[i];
		/* Images are there without them. */
		ret[i].events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_IMAGES] = streams->lost_pieces[i];
	}
	for (uint32_t i = 0; i < MIN(cpu_count, rings->count); i++)
		ret[i].events[ETW_LOSS_UNREADABLE][ETW_LOSS_OF_ANY] = rings->at[i].malformed +
								      rings->at[i].is_broken;
	ret[cpu_count].events[ETW_LOSS_UNREADABLE][ETW_LOSS_OF_TASKS] = streams->is_broken;
}

void etw_kernel_losses_read(const struct etw_kernel_losses_of *from, struct etw_source_loss *ret)
{
	const struct etw_kernel_collector *collector = from->collector;
	struct etw_source_loss *nowhere = &ret[from->cpu_count];

	memset(ret, 0, (from->cpu_count + UINT64_C(1)) * sizeof(*ret));
	read_drops(from, ret);
	read_missed(from, nowhere);
	read_streams(&collector->streams, from->cpu_count, ret);
	etw_kernel_samplers_look(from->samplers);
	for (uint32_t i = 0; i < from->cpu_count; i++)
		ret[i].events[ETW_LOSS_THROTTLED][ETW_LOSS_OF_SAMPLES] =
			etw_kernel_samplers_throttled(from->samplers, i);
	nowhere->events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_ANY] = collector->out.no_memory;
	nowhere->events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_IMAGES] = collector->tracker->lost_images;
	nowhere->events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_TASKS] = collector->tracker->incomplete;
	/* Their events are there; the rundown has them no more. */
	if (collector->cpu_out.maker.file_names)
		nowhere->events[ETW_LOSS_FORGOTTEN][ETW_LOSS_OF_NAMES] =
			collector->cpu_out.maker.file_names->forgotten;
	nowhere->events[ETW_LOSS_NO_STACK][ETW_LOSS_OF_ANY] =
		etw_kernel_stack_account_missing(&collector->cpu_out.account);
}

bool etw_kernel_losses_any(const struct etw_source_loss *losses, uint32_t cpu_count)
{
	for (uint64_t i = 0; i < cpu_count + UINT64_C(1); i++)
		if (etw_source_loss_sum(&losses[i]))
			return true;
	return false;
}
