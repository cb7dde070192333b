/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How programs take stacks: addresses by the kernel's own unwinders, and copies of user code's registers and stack. */
#ifndef ETW_SOURCE_KERNEL_BPF_STACKS_H
#define ETW_SOURCE_KERNEL_BPF_STACKS_H

#include "ring.h"
#include "stack_records.h"

#define SKIPPED_FRAMES 2 /* the program itself, and what calls it from a tracepoint */

#define PAGE_BYTES 4096

/* What a stack takes at the end of a record. */
#define FRAMED_BYTES ((__u32)sizeof(struct etw_kernel_framed_stack))
#define COPIED_BYTES ((__u32)sizeof(struct etw_kernel_copied_stack))

static __always_inline struct etw_kernel_control *find_control(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&etw_control, &key);
}

static __always_inline __u32 frames_of(long bytes, __u32 most)
{
	__u32 count = bytes > 0 ? (__u64)bytes / sizeof(__u64) : 0;

	if (count > most)
		count = most;
	/* Linux 6.1 must see the bound where it is used: another copy of the number has none. */
	barrier_var(count);
	return count;
}

static __always_inline void copy_registers(struct etw_kernel_stack_copy *to,
					   struct task_struct *task)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

#if defined(__TARGET_ARCH_x86)
	to->pc = BPF_CORE_READ(regs, ip);
	to->stack = BPF_CORE_READ(regs, sp);
	to->frame = BPF_CORE_READ(regs, bp);
	to->link = 0;
#elif defined(__TARGET_ARCH_arm64)
	to->pc = BPF_CORE_READ(regs, pc);
	to->stack = BPF_CORE_READ(regs, sp);
	to->frame = BPF_CORE_READ(regs, regs[29]);
	to->link = BPF_CORE_READ(regs, regs[30]);
#endif
}

/*
 * Of the first page what is left of it, then whole ones. A page in the middle may never have been touched, as of a large
 * array: the kernel's function leaves zeros for it, as it does behind the stack's end, and a walk goes on or ends there.
 *
 * @room: a constant, whole pages
 */
static __always_inline __u32 copy_bytes(char *to, __u64 from, const __u32 room)
{
	__u32 count = PAGE_BYTES - (from & (PAGE_BYTES - 1));

	/* The verifier follows additions; the compiler would make others of them. */
	barrier_var(count);
	if (bpf_probe_read_user(to, count, (const void *)from))
		return 0;
#pragma unroll
	for (__u32 i = 1; i < room / PAGE_BYTES; i++) {
		bpf_probe_read_user(to + count, PAGE_BYTES, (const void *)(from + count));
		count += PAGE_BYTES;
	}
	return count;
}

/* @bytes: @room for the stack, directly behind @copy. */
static __always_inline void copy_user(struct etw_kernel_stack_copy *copy, char *bytes,
				      const __u32 room, struct task_struct *task, __u64 key_ns)
{
	copy->key_ns = key_ns;
	copy->tid = task->pid;
	copy->pid = task->tgid;
	copy->reserved = 0;
	copy_registers(copy, task);
	copy->byte_count = copy_bytes(bytes, copy->stack, room);
}

#define MAKERS_MAX 16

/*
 * Whether the thread that runs is of the process tree that is wanted alone. Parents are followed, at most 16 of them: a
 * process whose parents have ended is not recognised.
 */
static __always_inline int is_of_tree(__u32 only_pid)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	int is_found = 0;

	/* One path: the verifier would follow the rest of the program from each place where the loop is left. */
#pragma unroll
	for (int i = 0; i < MAKERS_MAX; i++) {
		is_found |= (__u32)BPF_CORE_READ(task, tgid) == only_pid;
		task = BPF_CORE_READ(task, real_parent);
	}
	return is_found;
}

/*
 * The stack at the end of a record of etw_ring: what is asked of @events, as the bytes that it needs. Events need their
 * room: a stack can be done without when half of the ring is full. Where one process tree alone is wanted, those of others
 * leave it theirs: they have a sixteenth.
 */
static __always_inline __u32 stack_bytes_of(const struct etw_kernel_control *control, __u32 events)
{
	__u64 used, room;

	if (!control || !(control->stack_events & events))
		return 0;
	used = bpf_ringbuf_query(&etw_ring, BPF_RB_AVAIL_DATA);
	room = bpf_ringbuf_query(&etw_ring, BPF_RB_RING_SIZE);
	if (used >= room / 2)
		return 0;
	if (used >= room / 16 && control->only_pid && !is_of_tree(control->only_pid))
		return 0;
	return control->options & ETW_KERNEL_COPY_STACKS ? COPIED_BYTES : FRAMED_BYTES;
}

/*
 * Takes the stack of the thread that runs, at a tracepoint.
 *
 * @at:          behind the record's own bytes
 * @stack_bytes: as stack_bytes_of() says; a constant
 */
static __always_inline void add_stack(void *context, struct etw_kernel_record *record, void *at,
				      const __u32 stack_bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct etw_kernel_task_stack *head = at;
	const int is_of_kernel = !!(BPF_CORE_READ(task, flags) & PF_KTHREAD);
	const int has_user = !is_of_kernel && BPF_CORE_READ(task, mm);

	record->stack_bytes = stack_bytes;
	record->has_user = has_user || is_of_kernel;
	if (!stack_bytes)
		return;
	head->kernel_frames = frames_of(
		bpf_get_stack(context, head->kernel, sizeof(head->kernel), SKIPPED_FRAMES),
		ETW_KERNEL_KERNEL_FRAMES);
	head->user_frames = 0;
	if (stack_bytes == FRAMED_BYTES) {
		struct etw_kernel_framed_stack *stack = at;

		if (has_user)
			head->user_frames = frames_of(bpf_get_stack(context, stack->user,
								    sizeof(stack->user),
								    BPF_F_USER_STACK),
						      ETW_KERNEL_USER_FRAMES);
	} else {
		struct etw_kernel_copied_stack *stack = at;

		stack->copy.key_ns = 0;
		if (has_user)
			copy_user(&stack->copy, (char *)stack->bytes, sizeof(stack->bytes), task,
				  record->time_ns);
	}
}

#endif
