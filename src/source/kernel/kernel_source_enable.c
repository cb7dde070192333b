/* SPDX-License-Identifier: MIT */
/* The kernel's source is switched: what is wanted of it is held against what this machine has. See kernel_source.h. */
#include "source/kernel/kernel_source_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <evntrace.h>

#include "base/kallsyms.h"
#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/config/config_events.h"
#include "source/kernel/probe/classes.h"
#include "source/kernel/probe/probe_class.h"

#define CONFIG_WORD 6 /* of the group masks: what is told of the machine, which needs no programs */

/* The rings of frequent events share this; each has from 1 to 8 MiB. */
#define CPU_RINGS_BYTES    (UINT32_C(128) << 20)
#define CPU_RING_BYTES_MIN (UINT32_C(1) << 20)
#define CPU_RING_BYTES_MAX (UINT32_C(8) << 20)

/* Images are one part of what is wanted: when they cannot be had, the fault says so, and the rest goes on. */
static int enable_images(struct etw_source *source, bool is_on, uint32_t stack_events,
			 struct etw_fault *reterr)
{
	struct etw_kernel_streams *streams = &source->collector.streams;
	int r = 0;

	if (is_on) {
		r = etw_kernel_probe_class(ETW_KERNEL_CLASS_IMAGES, reterr);
		if (!r)
			r = etw_kernel_streams_open_mappings(streams, &source->host, reterr);
		if (!r)
			r = etw_kernel_bpf_attach_unmaps(&source->bpf, &source->host, reterr);
		if (!r && stack_events & ETW_KERNEL_STACK_IMAGE_LOAD)
			r = etw_kernel_bpf_attach_maps(&source->bpf, &source->host, reterr);
	}
	etw_kernel_streams_enable_mappings(streams, is_on && !r);
	/* Without them modules that come and go are noticed by the rundown at the end. */
	if (is_on && !r)
		(void)etw_kernel_bpf_attach_modules(&source->bpf, &source->host, NULL);
	return r;
}

/* What cannot be had on this machine is collected no more. */
static void miss(struct etw_source *source, size_t word, uint32_t bits)
{
	source->missing[word] |= source->masks[word] & bits;
	source->masks[word] &= ~bits;
}

static uint32_t cpu_ring_bytes(const struct etw_source *source)
{
	uint32_t bytes = CPU_RING_BYTES_MAX;

	while (bytes > CPU_RING_BYTES_MIN && bytes > CPU_RINGS_BYTES / source->host.cpu_count)
		bytes /= 2;
	return bytes;
}

static void miss_all(struct etw_source *source, const uint32_t lacking[WIRE_GROUP_MASKS_WORDS])
{
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		miss(source, i, lacking[i]);
}

/* @kinds: what is wanted; loses the samples where they cannot be had. Returns why. */
static int enable_samples(struct etw_source *source, const struct etw_source_request *request,
			  uint32_t *kinds, struct etw_fault *reterr)
{
	const struct etw_kernel_sample_programs programs = {
		.sample = source->cpu_bpf.link_fds[ETW_KERNEL_PROGRAM_SAMPLE],
		.counter_sample = source->cpu_bpf.link_fds[ETW_KERNEL_PROGRAM_COUNTER_SAMPLE],
	};
	uint32_t lacking[WIRE_GROUP_MASKS_WORDS], wanted = *kinds;
	int r = etw_kernel_samplers_start(&source->samplers, &source->host, &programs, request,
					  kinds, reterr);

	etw_kernel_class_masks(wanted & ~*kinds, lacking);
	miss_all(source, lacking);
	return r;
}

/* As enable_samples(), of page faults. */
static int enable_faults(struct etw_source *source, uint32_t *kinds, struct etw_fault *reterr)
{
	const uint32_t fault = UINT32_C(1) << ETW_KERNEL_FAULT, hard = UINT32_C(1)
								       << ETW_KERNEL_HARD_FAULT;
	const int *fds = source->cpu_bpf.link_fds;
	const int programs[ETW_KERNEL_FAULT_EVENTS] = {
		[ETW_KERNEL_MINOR_FAULTS] = *kinds & fault ? fds[ETW_KERNEL_PROGRAM_MINOR_FAULT]
							   : -1,
		[ETW_KERNEL_MAJOR_FAULTS] =
			*kinds & (fault | hard) ? fds[ETW_KERNEL_PROGRAM_MAJOR_FAULT] : -1,
	};
	uint32_t lacking[WIRE_GROUP_MASKS_WORDS];
	int r;

	if (!(*kinds & (fault | hard))) {
		etw_kernel_faults_stop(&source->faults);
		return 0;
	}
	r = etw_kernel_faults_start(&source->faults, &source->host, programs, reterr);
	if (!r)
		return 0;
	etw_kernel_class_masks(*kinds & (fault | hard), lacking);
	miss_all(source, lacking);
	*kinds &= ~(fault | hard);
	return r;
}

/*
 * Of events that name the function which serves them; without its address they have its number. And those that stacks are
 * to leave out.
 */
static void find_routines(struct etw_source *source, uint32_t kinds, uint32_t stack_kinds)
{
	if (kinds & ETW_KERNEL_ROUTINE_KINDS || stack_kinds)
		(void)etw_kernel_routines_read(&source->routines, ETW_KALLSYMS_PATH);
}

/* Anew for each session, as PhyDisk is told anew. */
static int find_disks(struct etw_source *source)
{
	etw_kernel_disks_done(&source->disks);
	return etw_kernel_disks_read(source->rundown.config_root, &source->disks);
}

/* Before the kinds that were wanted are forgotten: priorities that were seen are of use while the changes go on being told. */
static uint32_t frequent_options(const struct etw_source *source,
				 const struct etw_source_request *request, uint32_t kinds)
{
	uint32_t options = request->options & ETW_SOURCE_UNWIND ? ETW_KERNEL_COPY_STACKS : 0;

	if (kinds & source->control.cpu_kinds & UINT32_C(1) << ETW_KERNEL_PRIORITY)
		options |= ETW_KERNEL_KEEP_PRIORITIES;
	return options;
}

/* @kinds: loses those whose programs the kernel does not take. Returns why. */
static int open_programs(struct etw_source *source, uint32_t *kinds, struct etw_fault *reterr)
{
	uint32_t lacking[WIRE_GROUP_MASKS_WORDS];
	uint32_t left = *kinds | (source->control.only_pid ? ETW_KERNEL_OWNED_ALONE : 0);
	int r = etw_kernel_cpu_bpf_open(&source->cpu_bpf, &source->bpf, &source->host,
					cpu_ring_bytes(source), &left, reterr);

	etw_kernel_class_masks(*kinds & ~left, lacking);
	miss_all(source, lacking);
	/* A class with two kinds loses both. */
	*kinds = left & etw_kernel_class_kinds(source->masks);
	return r;
}

/* Frequent events, too, are a part: without them, or without one of their classes, the rest goes on. */
static int enable_frequent(struct etw_source *source, const struct etw_source_request *request,
			   struct etw_fault *reterr)
{
	uint32_t kinds, lacking[ARRAY_SIZE(source->masks)];
	int r, refused = etw_kernel_class_lacking(source->masks, lacking, reterr);

	miss_all(source, lacking);
	kinds = etw_kernel_class_given(etw_kernel_class_kinds(source->masks));
	source->control.options = frequent_options(source, request, kinds);
	/* What was wanted before, too, goes on meanwhile. */
	source->control.cpu_kinds &= kinds;
	source->control.stack_kinds &= etw_kernel_class_stack_kinds(request);
	source->control.only_pid = request->only_pid;
	/* A former host's trace may end before this one's begins. */
	if (!(source->control.cpu_kinds & UINT32_C(1) << ETW_KERNEL_FILE_NAME) ||
	    !source->rundown.is_filled)
		source->control.names_ns = source->enabled_ns;
	if (!kinds) {
		etw_kernel_samplers_stop(&source->samplers);
		etw_kernel_faults_stop(&source->faults);
		return refused;
	}
	/* Threads that start from here on are known; those that are there are walked over. */
	source->control.collected |= ETW_KERNEL_COLLECT_THREADS;
	etw_kernel_messages_forget(&source->messages);
	find_routines(source, kinds, etw_kernel_class_stack_kinds(request));
	r = etw_kernel_bpf_set_control(&source->bpf, &source->control);
	if (!r) {
		int lost = open_programs(source, &kinds, refused ? NULL : reterr);

		refused = refused ? refused : lost;
		if (!kinds) {
			etw_kernel_samplers_stop(&source->samplers);
			etw_kernel_faults_stop(&source->faults);
			return refused;
		}
	}
	if (!r && kinds & UINT32_C(1) << ETW_KERNEL_DISK_END)
		r = find_disks(source);
	if (!r)
		r = etw_kernel_cpu_bpf_walk(&source->cpu_bpf, reterr);
	if (!r)
		r = etw_kernel_source_map_cpu_rings(source, reterr);
	if (!r && source->control.options & ETW_KERNEL_COPY_STACKS)
		r = etw_kernel_collector_unwind(&source->collector);
	if (r) {
		miss(source, 0, ~(uint32_t)ETW_KERNEL_TASK_FLAGS);
		for (size_t i = 1; i < CONFIG_WORD; i++)
			miss(source, i, UINT32_MAX);
		return r;
	}
	if (!refused)
		refused = etw_kernel_class_less(etw_kernel_class_kinds(source->masks), reterr);
	r = enable_samples(source, request, &kinds, refused ? NULL : reterr);
	refused = refused ? refused : r;
	r = enable_faults(source, &kinds, refused ? NULL : reterr);
	source->control.cpu_kinds = kinds;
	source->control.stack_kinds = etw_kernel_class_stack_kinds(request);
	source->control.network_stacks = etw_kernel_class_network_stacks(request);
	source->control.file_stacks = etw_kernel_class_file_stacks(request);
	source->control.memory_stacks = etw_kernel_class_memory_stacks(request);
	return refused ? refused : r;
}

/* Of what tasks do, and of soft interrupts. Of frequent events the kinds say which. */
static int enable_task_stacks(struct etw_source *source, uint32_t stack_events)
{
	source->control.stack_events = stack_events;
	find_routines(source, 0, stack_events);
	if (stack_events && source->control.options & ETW_KERNEL_COPY_STACKS)
		return etw_kernel_collector_unwind(&source->collector);
	return 0;
}

/*
 * With the first record the next host knows that nobody was described yet. It describes who started before the
 * switch was on: nobody may start after the moment that is noted and before the first record. Until the moment is
 * known it is any time.
 */
static int switch_on(struct etw_source *source)
{
	bool is_first = etw_kernel_source_wants_any(source) && !source->rundown.is_filled &&
			!source->goes_on;

	if (is_first) {
		source->control.rundown_ns = UINT64_MAX;
		TRY(etw_kernel_bpf_set_control(&source->bpf, &source->control));
		source->control.rundown_ns = etw_time_read_ns(CLOCK_BOOTTIME);
	}
	return etw_kernel_bpf_set_control(&source->bpf, &source->control);
}

static void collect_more(struct etw_source *source)
{
	if (etw_kernel_source_wants_any(source))
		source->control.collected |= ETW_KERNEL_COLLECT_TASKS;
	if (source->masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD)
		source->control.collected |= ETW_KERNEL_COLLECT_UNMAPS | ETW_KERNEL_COLLECT_MODULES;
	if (source->masks[0] & EVENT_TRACE_FLAG_PROCESS_COUNTERS)
		source->control.collected |= ETW_KERNEL_COLLECT_COUNTERS;
	if (source->masks[0] & EVENT_TRACE_FLAG_THREAD)
		source->control.collected |= ETW_KERNEL_COLLECT_NAMES;
}

/* Returns 0, or what is to be told of images of the kernel without names. */
static int tell_hidden(const struct etw_source *source, struct etw_fault *reterr)
{
	if (!(source->masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD) ||
	    !etw_kernel_own_is_hidden(&source->rundown.own))
		return 0;
	return etw_fault_set(reterr, -EACCES, 0, "kernel source", "kptr_restrict",
			     "the kernel hides its addresses (kptr_restrict), so that its own "
			     "code has no names: `sudo sysctl kernel.kptr_restrict=1`, and an "
			     "etwd with CAP_SYSLOG, as root's has it");
}

/*
 * What was collected once goes on being collected when it is not wanted any more: it keeps the tracker true, and
 * nothing of it goes out.
 */
int etw_kernel_source_enable(struct etw_source *source, const struct etw_source_request *request,
			     struct etw_fault *reterr)
{
	const uint32_t stack_events = etw_kernel_class_stack_events(request);
	uint32_t collected, flags_before = source->masks[0];
	int r, result = 0;

	source->enabled_ns = etw_monotonic_ns();
	if (source->bpf.is_adopted && !source->rundown.is_filled) {
		(void)etw_kernel_bpf_control(&source->bpf, &source->control);
		source->goes_on = source->control.collected &
				  (ETW_KERNEL_COLLECT_TASKS | ETW_KERNEL_COLLECT_UNMAPS);
	}
	collected = source->control.collected;
	for (size_t i = 0; i < ARRAY_SIZE(source->masks); i++) {
		source->masks[i] = request->group_masks[i] & etw_kernel_source.masks[i];
		source->missing[i] = 0;
	}
	source->config_groups = etw_kernel_config_groups(request->group_masks[0],
							 request->group_masks[CONFIG_WORD]);
	source->collector.tracker->only_pid = request->only_pid;
	if (source->masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD && !source->rundown.is_filled)
		etw_kernel_own_prepare(&source->rundown.own);
	r = enable_images(source,
			  (source->masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD) ||
				  (collected & ETW_KERNEL_COLLECT_UNMAPS),
			  stack_events, reterr);
	if (r) {
		result = source->masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD ? r : 0;
		miss(source, 0, EVENT_TRACE_FLAG_IMAGE_LOAD);
	}
	r = enable_frequent(source, request, result ? NULL : reterr);
	if (r && !result)
		result = r;
	r = enable_task_stacks(source, stack_events);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "stacks", "out of memory");
	collect_more(source);
	/* A change writes what was collected before it by the flags of before. */
	if (source->rundown.is_filled)
		r = etw_kernel_source_run_down_change(source, flags_before);
	else
		r = switch_on(source);
	source->collector.tracker->flags = source->masks[0];
	source->collector.out.stack_events = stack_events;
	if (!r)
		r = etw_kernel_bpf_set_control(&source->bpf, &source->control);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "BPF",
				     "the BPF programs cannot be switched");
	if (!result)
		result = tell_hidden(source, reterr);
	if (etw_kernel_class_names_code(request)) {
		struct etw_kernel_seen *seen = &source->rundown.own.seen;

		/* What a former host saw is not known any more. */
		seen->is_all |= source->goes_on;
		seen->is_used |= source->goes_on;
	}
	if (etw_kernel_source_wants_any(source) && source->goes_on && !source->rundown.is_filled)
		TRY(etw_kernel_source_run_down_start(source, source->control.rundown_ns != 0,
						     true));
	return result;
}
