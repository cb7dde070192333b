/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a processor is doing beside its thread. The kernel's own count (preempt_count) has an address for programs only
 * where it was built with CONFIG_KALLSYMS_ALL, so it is followed by tracepoints.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_CONTEXTS_H
#define ETW_SOURCE_KERNEL_BPF_CONTEXTS_H

#include "cpu_records.h"
#include "ring.h"

/* A beginning or an end that is missed is put right by the next of its kind. */
struct context {
	/* The thread in which a soft interrupt is served, its id + 1: on a real-time kernel another may run meanwhile. */
	__u32 soft_tid;
	__u32 is_in_handler; /* of a device's interrupt */
	__u32 is_in_timer;   /* what a high-resolution timer calls */
	__u32 is_in_vector; /* what another processor asked for, on x86; followed for owners.h alone */
	/* Of owners.h: which soft interrupt is served, and for whom the last of each kind was asked for, and the next. */
	__u32 soft_number;
	__u32 soft_owner[ETW_KERNEL_SOFT_NUMBERS], raised_by[ETW_KERNEL_SOFT_NUMBERS];
	__u32 is_raised; /* the tree that is wanted alone asked for a soft interrupt last, and none was served since */
	__u32 idle_state; /* that it was in last, since it began to be idle; 0: in none */
	/* When what is served now began; 0: not known. */
	__u64 handler_ns, vector_ns, soft_ns[ETW_KERNEL_SOFT_NUMBERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct context);
} etw_contexts SEC(".maps");

static __always_inline struct context *find_context(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&etw_contexts, &key);
}

static __always_inline int is_in_soft_interrupt(const struct context *context)
{
	return context && context->soft_tid == (__u32)bpf_get_current_pid_tgid() + 1;
}

static __always_inline int is_in_interrupt(const struct context *context)
{
	return is_in_soft_interrupt(context) ||
	       (context && (context->is_in_handler || context->is_in_timer));
}

#endif
