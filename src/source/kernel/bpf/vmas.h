/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is mapped at an address. bpf_find_vma() wants a lock that a thread of the process may hold for writing, and says
 * nothing of what comes behind a gap; so the tree of mappings (a maple tree, since Linux 6.1) is walked here as the kernel
 * walks it under RCU, in which every program runs. Whatever changes meanwhile is seen as it was or as it becomes: a node that
 * was replaced says so, and what was read of it counts for nothing, because the kernel writes over its pivots at once.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_VMAS_H
#define ETW_SOURCE_KERNEL_BPF_VMAS_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"

#define VM_READ      0x1
#define VM_WRITE     0x2
#define VM_EXEC      0x4
#define VM_SHARED    0x8
#define VM_GROWSDOWN 0x100
#define VM_ACCESS    (VM_READ | VM_WRITE | VM_EXEC)

/* A node's address is the upper part of an entry, its kind is in the lower. */
#define NODE_BYTES     256
#define NODE_KIND(at)  ((at) >> 3 & 15)
#define KIND_RANGE     2    /* and those below are leaves */
#define KIND_ALLOCATED 3    /* with gaps */
#define STEPS_MAX      64   /* a tree has 10 levels at most; the rest is for beginning anew */
#define ENTRIES_FROM   4096 /* below are marks */

#define RANGE_PIVOTS     15
#define ALLOCATED_PIVOTS 9

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct maple_metadata {
	unsigned char end;
};

struct maple_range_64 {
	void *parent; /* its own address in one that was replaced */
	unsigned long pivot[RANGE_PIVOTS];
	void *slot[RANGE_PIVOTS + 1];
	struct maple_metadata meta;
};

struct maple_arange_64 {
	unsigned long pivot[ALLOCATED_PIVOTS];
	void *slot[ALLOCATED_PIVOTS + 1];
	struct maple_metadata meta;
};

#pragma clang attribute pop

/* What is at an address: a mapping, or a gap, up to @last. */
struct mapped {
	struct vm_area_struct *vma; /* NULL: a gap, or not known */
	__u64 last;
};

/* How many of a node's pivots are below an address; they rise. No branches: the verifier would follow each. */
static __always_inline __u32 count_below(const __u64 *pivots, const __u32 count, __u32 end,
					 __u64 address)
{
	__u32 below = 0;

#pragma unroll
	for (__u32 i = 0; i < count; i++) {
		__u32 before_end = i - end;

		/* The compiler would make a branch of it. */
		barrier_var(before_end);
		below += (before_end >> 31) & (__u32)(((pivots[i] - address) & ~pivots[i]) >> 63);
	}
	return below;
}

/* One step down. @entry: of a node. Returns the entry for @address, and its last address in @last, which is the node's at first. */
static __always_inline __u64 step_down(__u64 entry, __u64 address, __u64 *last)
{
	__u64 node = entry & ~(__u64)(NODE_BYTES - 1), pivots[RANGE_PIVOTS] = {}, found = 0;
	__u64 pivot_at, slot_at;
	__u32 below;
	__u8 end = 0;

	if (NODE_KIND(entry) == KIND_ALLOCATED) {
		struct maple_arange_64 *at = (void *)node;

		bpf_core_read(pivots, sizeof(at->pivot), &at->pivot);
		bpf_core_read(&end, sizeof(end), &at->meta.end);
		below = count_below(pivots, ALLOCATED_PIVOTS, end, address);
		pivot_at = node + bpf_core_field_offset(at->pivot);
		slot_at = node + bpf_core_field_offset(at->slot);
	} else {
		struct maple_range_64 *at = (void *)node;

		bpf_core_read(pivots, sizeof(at->pivot), &at->pivot);
		/* A full node has a slot where others say how many they have. */
		if (!pivots[RANGE_PIVOTS - 1])
			bpf_core_read(&end, sizeof(end), &at->meta.end);
		else
			end = RANGE_PIVOTS - (pivots[RANGE_PIVOTS - 1] == *last);
		below = count_below(pivots, RANGE_PIVOTS, end, address);
		pivot_at = node + bpf_core_field_offset(at->pivot);
		slot_at = node + bpf_core_field_offset(at->slot);
	}
	if (below < end)
		bpf_probe_read_kernel(last, sizeof(*last), (void *)(pivot_at + below * 8));
	bpf_probe_read_kernel(&found, sizeof(found), (void *)(slot_at + below * 8));
	return found;
}

/* Whether a node was replaced by now. Its parent has the same place in nodes of all kinds. */
static __always_inline int is_replaced(__u64 entry)
{
	struct maple_range_64 *node = (void *)(entry & ~(__u64)(NODE_BYTES - 1));
	__u64 parent = 0;

	bpf_core_read(&parent, sizeof(parent), &node->parent);
	return (parent & ~(__u64)(NODE_BYTES - 1)) == (__u64)node;
}

struct descent {
	__u64 mm_at, entry, address, last;
	__u32 is_found;
};

static __always_inline void begin_descent(struct descent *descent)
{
	struct mm_struct *mm = (void *)descent->mm_at;

	descent->entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	descent->last = ~0ull;
}

static long descend(__u32 number, struct descent *descent)
{
	__u64 entry = descent->entry;

	(void)number;
	if (entry < ENTRIES_FROM)
		return 1;
	descent->entry = step_down(entry, descent->address, &descent->last);
	if (is_replaced(entry)) {
		begin_descent(descent);
		return 0;
	}
	descent->is_found = NODE_KIND(entry) < KIND_RANGE;
	return descent->is_found;
}

/*
 * find_mapped() - what is at an address of the memory at @mm_at. Returns whether it is a mapping. The kernel verifies it once,
 * because it takes numbers, and memory that may be missing.
 */
__noinline int find_mapped(__u64 mm_at, __u64 address, struct mapped *ret)
{
	struct descent descent = {.mm_at = mm_at, .address = address};

	if (!ret)
		return 0;
	begin_descent(&descent);
	bpf_loop(STEPS_MAX, descend, &descent, 0);
	ret->last = descent.last;
	ret->vma = descent.is_found && descent.entry >= ENTRIES_FROM ? (void *)descent.entry : NULL;
	return ret->vma != NULL;
}

static __always_inline __u64 flags_of(struct vm_area_struct *vma)
{
	return BPF_CORE_READ(vma, vm_flags);
}

static __always_inline struct file *file_of(struct vm_area_struct *vma)
{
	return BPF_CORE_READ(vma, vm_file);
}

static __always_inline __u64 start_of(struct vm_area_struct *vma)
{
	return BPF_CORE_READ(vma, vm_start);
}

/* Of an address in it, in the file; in pages. */
static __always_inline __u64 page_offset_of(struct vm_area_struct *vma, __u64 address)
{
	return BPF_CORE_READ(vma, vm_pgoff) + (address - start_of(vma)) / 4096;
}

#endif
