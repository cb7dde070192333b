/* SPDX-License-Identifier: MIT */
#include "source/kernel/collector/rundown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <evntrace.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/config/config_events.h"
#include "source/kernel/events/account_events.h"
#include "source/kernel/events/events.h"
#include "source/kernel/events/file_events.h"
#include "source/kernel/events/memory_rundown.h"
#include "source/kernel/events/power_events.h"
#include "source/kernel/procfs/counters.h"
#include "source/kernel/programs/cpu_programs.h"
#include "source/kernel/tracker/scan.h"
#include "wire/group_masks.h"

int etw_kernel_rundown_init(struct etw_kernel_rundown *rundown, const char *root)
{
	*rundown = (struct etw_kernel_rundown){.root = root, .config_root = ""};
	rundown->item = calloc(1, sizeof(*rundown->item));
	return rundown->item ? 0 : -ENOMEM;
}

void etw_kernel_rundown_done(struct etw_kernel_rundown *rundown)
{
	etw_kernel_own_done(&rundown->own);
	free(rundown->item);
}

bool etw_kernel_rundown_is_safe(const struct etw_kernel_rundown *rundown)
{
	return !rundown->item->outstanding;
}

static int scan(const struct etw_kernel_rundown *rundown, uint32_t flags,
		struct etw_kernel_scan **ret)
{
	return etw_kernel_scan_take(rundown->root, flags & EVENT_TRACE_FLAG_IMAGE_LOAD, ret);
}

/* Group masks as they were and as they are, now. */
static void tell_masks(struct etw_kernel_rundown *rundown, struct etw_kernel_collector *collector,
		       const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	struct etw_kernel_out *out = &collector->out;

	etw_kernel_collector_begin(collector, rundown->item);
	etw_kernel_out_slot(out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_write_masks(out, WIRE_HOOK_GROUP_MASKS_OLD, rundown->told_masks);
	memcpy(rundown->told_masks, masks, sizeof(rundown->told_masks));
	etw_kernel_write_masks(out, WIRE_HOOK_GROUP_MASKS_NEW, rundown->told_masks);
}

static void tell_interval(struct etw_kernel_rundown *rundown,
			  struct etw_kernel_collector *collector, uint32_t place, uint32_t now)
{
	uint32_t before = rundown->told_intervals[place];
	enum etw_kernel_interval type = ETW_KERNEL_INTERVAL_SET;

	rundown->told_intervals[place] = now;
	if (now == before)
		return;
	etw_kernel_collector_begin(collector, rundown->item);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	if (!before)
		type = ETW_KERNEL_INTERVAL_START;
	else if (!now)
		type = ETW_KERNEL_INTERVAL_END;
	etw_kernel_write_interval(&collector->out, type, place, now ? now : before,
				  before ? before : now);
}

/* The intervals of samples as they are now, where they are new. */
static void tell_intervals(struct etw_kernel_rundown *rundown,
			   struct etw_kernel_collector *collector,
			   const uint32_t now[ETW_PROFILE_SOURCES])
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		tell_interval(rundown, collector, i, now[i]);
}

/* The last word on them. */
static void tell_last_intervals(const struct etw_kernel_rundown *rundown,
				struct etw_kernel_collector *collector)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++)
		if (rundown->told_intervals[i])
			etw_kernel_write_interval(&collector->out, ETW_KERNEL_INTERVAL_END, i,
						  rundown->told_intervals[i],
						  rundown->told_intervals[i]);
}

/* The kernel's own images, as process 0's. */
static int tell_own(struct etw_kernel_rundown *rundown, struct etw_kernel_collector *collector,
		    uint32_t flags, enum etw_kernel_own_kind kind)
{
	if (!(flags & EVENT_TRACE_FLAG_IMAGE_LOAD))
		return 0;
	return etw_kernel_own_describe(&rundown->own, &collector->out, kind);
}

/* What comes in front of the description. */
static void begin_description(struct etw_kernel_rundown *rundown,
			      struct etw_kernel_collector *collector,
			      const struct etw_kernel_rundown_start *start, uint64_t moment_ns)
{
	/* In front of every record, unless those of another host's time come first. */
	if (!start->is_other) {
		collector->applied_ns = MAX(collector->applied_ns, start->enabled_ns);
		tell_masks(rundown, collector, start->masks);
		tell_intervals(rundown, collector, start->intervals);
	}
	etw_kernel_collector_apply(collector, moment_ns);
	if (start->is_other) {
		tell_masks(rundown, collector, start->masks);
		tell_intervals(rundown, collector, start->intervals);
	}
	etw_kernel_collector_begin(collector, rundown->item);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_write_processor_time(&collector->out, rundown->root);
	etw_kernel_write_power(&collector->out, rundown->config_root, start->masks);
}

#define MAPPINGS_MAX (UINT32_C(1) << 18) /* of all processes that one rundown tells */

struct told_mappings {
	struct etw_kernel_out *out;
	bool is_end, wants_memory, wants_views;
	uint32_t count;
};

static void tell_mapping(void *context, const struct etw_kernel_mapped *mapping)
{
	struct told_mappings *told = context;

	if (!(mapping->file_key ? told->wants_views : told->wants_memory))
		return;
	if (told->count++ < MAPPINGS_MAX)
		etw_kernel_write_mapping(told->out, told->is_end, mapping);
	else
		told->out->no_memory++;
}

/* What is mapped, by the masks. */
static void tell_mappings(const struct etw_kernel_rundown *rundown,
			  struct etw_kernel_collector *collector,
			  const uint32_t masks[WIRE_GROUP_MASKS_WORDS], bool is_end)
{
	struct told_mappings told = {
		.out = &collector->out,
		.is_end = is_end,
		.wants_memory = etw_group_masks_to_flags(masks) & EVENT_TRACE_FLAG_VIRTUAL_ALLOC,
		.wants_views = masks[0] & EVENT_TRACE_FLAG_VAMAP,
	};

	if (rundown->cpu_bpf && (told.wants_memory || told.wants_views))
		(void)etw_kernel_cpu_bpf_mappings(rundown->cpu_bpf, tell_mapping, &told);
}

int etw_kernel_rundown_start(struct etw_kernel_rundown *rundown,
			     struct etw_kernel_collector *collector,
			     const struct etw_kernel_rundown_start *start)
{
	const struct etw_kernel_scan_wish wish = {
		.describe = start->describe,
		.is_other = start->is_other,
		.until_ns = start->until_ns,
	};
	uint64_t moment_ns = etw_monotonic_ns();
	struct etw_kernel_scan *found;
	int r;

	TRY(scan(rundown, start->masks[0], &found));
	etw_kernel_collector_read_all(collector);
	if (start->describe)
		begin_description(rundown, collector, start, moment_ns);
	memcpy(rundown->told_intervals, start->intervals, sizeof(rundown->told_intervals));
	r = tell_own(rundown, collector, start->masks[0],
		     start->describe ? ETW_KERNEL_OWN_START : ETW_KERNEL_OWN_LEARN);
	if (!r)
		r = etw_kernel_scan_apply(found, collector->tracker, &collector->streams.heap,
					  &wish);
	etw_kernel_scan_free(found);
	rundown->is_filled = true;
	if (start->describe && !r) {
		etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
		tell_mappings(rundown, collector, start->masks, /* is_end= */ false);
		etw_kernel_write_rundown_complete(&collector->out);
	}
	return r;
}

static int correct(const struct etw_kernel_rundown *rundown, struct etw_kernel_collector *collector,
		   const struct etw_kernel_rundown_end *end)
{
	const struct etw_kernel_scan_wish wish = {0};
	struct etw_kernel_scan *found;

	TRY(scan(rundown, end->masks[0], &found));
	etw_kernel_collector_read_all(collector);
	etw_kernel_collector_apply(collector, end->read_ns);
	etw_kernel_scan_correct(found, collector->tracker);
	(void)etw_kernel_scan_apply(found, collector->tracker, &collector->streams.heap, &wish);
	etw_kernel_scan_free(found);
	return 0;
}

/*
 * What each process uses that has not ended. One that ends while the table is gone through tells its own end, later: it has
 * none of these events.
 */
static void tell_counters(const struct etw_kernel_rundown *rundown,
			  struct etw_kernel_collector *collector)
{
	const struct etw_kernel_tasks *tasks = &collector->tracker->tasks;
	CLEANUP(etw_file_closep) int fd = open(rundown->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct etw_kernel_counters counters;

	if (!(collector->tracker->flags & EVENT_TRACE_FLAG_PROCESS_COUNTERS) || fd < 0)
		return;
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++)
		for (const struct etw_kernel_process *process = tasks->processes[i]; process;
		     process = process->next_in_bucket)
			if (!process->is_ended &&
			    etw_kernel_counters_read(fd, process->pid, process->start_ticks,
						     &counters) == 0)
				etw_kernel_write_counters(&collector->out, /* is_rundown= */ true,
							  process->pid, &counters);
}

/* The names of files that events had. */
static void tell_names(struct etw_kernel_collector *collector)
{
	if (collector->cpu_out.maker.file_names)
		etw_kernel_write_file_names(&collector->out, collector->cpu_out.maker.file_names);
}

static void describe_all(struct etw_kernel_tracker *tracker, bool is_end)
{
	etw_kernel_tracker_begin_description(tracker);
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++)
		for (struct etw_kernel_process *process = tracker->tasks.processes[i]; process;
		     process = process->next_in_bucket)
			etw_kernel_tracker_describe(tracker, process, is_end);
}

/* Who the tracker does not know, and images that were not read before, come by the walk. */
static int describe_added(struct etw_kernel_rundown *rundown,
			  struct etw_kernel_collector *collector, struct etw_kernel_scan *found,
			  uint32_t added)
{
	const struct etw_kernel_scan_wish wish = {.describe = true, .until_ns = UINT64_MAX};
	int r;

	etw_kernel_collector_begin(collector, rundown->item);
	TRY(tell_own(rundown, collector, added, ETW_KERNEL_OWN_START));
	describe_all(collector->tracker, /* is_end= */ false);
	r = etw_kernel_scan_apply(found, collector->tracker, &collector->streams.heap, &wish);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_write_rundown_complete(&collector->out);
	return r;
}

int etw_kernel_rundown_change(struct etw_kernel_rundown *rundown,
			      struct etw_kernel_collector *collector,
			      const struct etw_kernel_rundown_start *start, uint32_t flags_before)
{
	bool had_power = etw_kernel_power_is_wanted(rundown->told_masks);
	uint32_t more[WIRE_GROUP_MASKS_WORDS];
	uint32_t added = start->masks[0] & ~flags_before;
	uint64_t moment_ns = etw_monotonic_ns();
	struct etw_kernel_scan *found = NULL;
	int r = 0;

	collector->tracker->flags = flags_before;
	if (added)
		TRY(scan(rundown, added, &found));
	etw_kernel_collector_read_all(collector);
	etw_kernel_collector_apply(collector, moment_ns);
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		more[i] = start->masks[i] & ~rundown->told_masks[i];
	if (memcmp(start->masks, rundown->told_masks, sizeof(start->masks)) != 0)
		tell_masks(rundown, collector, start->masks);
	tell_intervals(rundown, collector, start->intervals);
	if (!had_power && etw_kernel_power_is_wanted(start->masks)) {
		etw_kernel_collector_begin(collector, rundown->item);
		etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
		etw_kernel_write_power(&collector->out, rundown->config_root, start->masks);
	}
	etw_kernel_collector_begin(collector, rundown->item);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	tell_mappings(rundown, collector, more, /* is_end= */ false);
	collector->tracker->flags = added;
	if (added)
		r = describe_added(rundown, collector, found, added);
	etw_kernel_scan_free(found);
	return r;
}

int etw_kernel_rundown_end(struct etw_kernel_rundown *rundown,
			   struct etw_kernel_collector *collector,
			   const struct etw_kernel_rundown_end *end)
{
	const uint32_t nothing[WIRE_GROUP_MASKS_WORDS] = {0};
	struct etw_kernel_out *out = &collector->out;
	int r;

	if (end->has_loss || !rundown->is_filled)
		TRY(correct(rundown, collector, end));
	etw_kernel_collector_apply(collector, end->read_ns);
	etw_kernel_cpu_out_look_ahead(&collector->cpu_out);
	etw_kernel_collector_begin(collector, NULL);
	etw_kernel_out_slot(out, ETW_KERNEL_SLOT_RUNDOWN);
	if (end->config_groups)
		etw_kernel_write_machine(out, rundown->config_root, end->config_groups);
	etw_kernel_write_power(out, rundown->config_root, end->masks);
	tell_last_intervals(rundown, collector);
	etw_kernel_write_masks(out, WIRE_HOOK_GROUP_MASKS_OLD, end->masks);
	r = tell_own(rundown, collector, end->masks[0], ETW_KERNEL_OWN_END);
	tell_counters(rundown, collector);
	tell_names(collector);
	describe_all(collector->tracker, /* is_end= */ true);
	etw_kernel_out_slot(out, ETW_KERNEL_SLOT_RUNDOWN);
	tell_mappings(rundown, collector, end->masks, /* is_end= */ true);
	etw_kernel_write_masks(out, WIRE_HOOK_GROUP_MASKS_NEW, nothing);
	etw_kernel_write_rundown_complete(out);
	return r;
}

/* For events that are handed out at once: their time is known. */
static int tell_time(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	(void)monotonic_ns;
	*ret = *(const int64_t *)context;
	return 0;
}

static void hand_out(struct etw_kernel_out *out, etw_source_put_fn *put, void *context)
{
	struct etw_source_event event;
	struct etw_source_mark mark;

	for (uint32_t cpu = 0; cpu < out->host->cpu_count; cpu++) {
		while (etw_kernel_out_peek(out, cpu, &event)) {
			put(context, cpu, &event);
			etw_kernel_out_pop(out, cpu, &mark);
		}
	}
}

int etw_kernel_rundown_describe(struct etw_kernel_rundown *rundown,
				struct etw_kernel_collector *collector,
				const struct etw_kernel_rundown_end *end, int64_t time_raw,
				etw_source_put_fn *put, void *context)
{
	const struct etw_source_host host = {
		.context = &time_raw,
		.cpu_count = collector->host->cpu_count,
		.to_raw = tell_time,
	};
	struct etw_kernel_out queued, own;
	int r;

	TRY(etw_kernel_out_init(&own, &host, NULL));
	if (end->has_loss || !rundown->is_filled) {
		r = correct(rundown, collector, end);
		if (r) {
			etw_kernel_out_done(&own);
			return r;
		}
	}
	etw_kernel_cpu_out_look_ahead(&collector->cpu_out);
	/* Whoever describes writes into the collector's queues: it has others meanwhile. */
	queued = collector->out;
	collector->out = own;
	etw_kernel_collector_begin(collector, NULL);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	if (end->config_groups)
		etw_kernel_write_machine(&collector->out, rundown->config_root, end->config_groups);
	etw_kernel_write_power(&collector->out, rundown->config_root, end->masks);
	tell_last_intervals(rundown, collector);
	r = tell_own(rundown, collector, end->masks[0], ETW_KERNEL_OWN_COPY);
	tell_counters(rundown, collector);
	tell_names(collector);
	describe_all(collector->tracker, /* is_end= */ true);
	tell_mappings(rundown, collector, end->masks, /* is_end= */ true);
	etw_kernel_write_rundown_complete(&collector->out);
	own = collector->out;
	collector->out = queued;
	collector->out.no_memory += own.no_memory;
	hand_out(&own, put, context);
	etw_kernel_out_done(&own);
	return r;
}
