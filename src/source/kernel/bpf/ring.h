/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The maps that all programs share, and how a record begins. The object of tasks makes these maps; the host gives them to
 * each further object, by name, when it loads that (etw_kernel_reuse_maps()).
 */
#ifndef ETW_SOURCE_KERNEL_BPF_RING_H
#define ETW_SOURCE_KERNEL_BPF_RING_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "drops.h"
#include "kernel_types.h"
#include "records.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20); /* the host sets it */
} etw_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct etw_kernel_drops);
} etw_drops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct etw_kernel_control);
} etw_control SEC(".maps");

static __always_inline int is_collected(__u32 what)
{
	__u32 key = 0;
	struct etw_kernel_control *control = bpf_map_lookup_elem(&etw_control, &key);

	return control && (control->collected & what);
}

static __always_inline void count_drops(__u32 cause, __u64 count)
{
	__u32 key = 0;
	struct etw_kernel_drops *drops = bpf_map_lookup_elem(&etw_drops, &key);

	/* An interrupt may count between the load and the store of another program. */
	if (drops && cause < ETW_KERNEL_DROPS)
		__sync_fetch_and_add(&drops->counts[cause], count);
}

static __always_inline void count_drop(__u32 cause)
{
	count_drops(cause, 1);
}

/* After the reservation, never before: the order of times against the producer's position. */
static __always_inline void begin_record(struct etw_kernel_record *record, __u32 kind)
{
	__u64 id = bpf_get_current_pid_tgid();

	record->time_ns = bpf_ktime_get_ns();
	record->cpu = bpf_get_smp_processor_id();
	record->kind = kind;
	record->tid = (__u32)id;
	record->pid = id >> 32;
	record->stack_bytes = 0;
	record->has_user = 1;
}

#endif
