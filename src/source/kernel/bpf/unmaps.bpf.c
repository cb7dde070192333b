/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * munmap of ranges that may hold an image. Attached only while images are wanted, because every system
 * call of the machine passes here: the number decides first, then whether a file is mapped there.
 */
#include "calls.h"
#include "stacks.h"

#define PAGE_MASK 0xFFFull

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_MUNMAP        11
#define SYSCALL_MUNMAP_COMPAT 91
#elif defined(__TARGET_ARCH_arm64)
#define SYSCALL_MUNMAP 215
#endif

struct look {
	__u64 end;
	__u32 may_hold_image;
};

static long look_at(struct task_struct *task, struct vm_area_struct *vma, struct look *look)
{
	(void)task;
	/* Something unmapped across several areas is rare enough to be looked at by the host. */
	if (vma->vm_file || vma->vm_end < look->end)
		look->may_hold_image = 1;
	return 0;
}

static __always_inline int find_range(struct task_struct *task, __u64 *context, __u64 *start,
				      __u64 *byte_count)
{
	__u64 id = context[1], arguments[CALL_ARGUMENTS];
	__u32 of_compat = is_compat_call(task);

#if defined(__TARGET_ARCH_x86)
	if (id != (of_compat ? SYSCALL_MUNMAP_COMPAT : SYSCALL_MUNMAP))
		return 0;
#elif defined(__TARGET_ARCH_arm64)
	if (of_compat || id != SYSCALL_MUNMAP)
		return 0;
#endif
	read_arguments((void *)context[0], of_compat, arguments);
	*start = arguments[0];
	*byte_count = arguments[1];
	return 1;
}

static __always_inline void send_unmap(__u64 *context, __u64 start, __u64 byte_count,
				       const __u32 stack_bytes)
{
	struct etw_kernel_unmap *record;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + stack_bytes, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return;
	}
	begin_record(&record->head, ETW_KERNEL_UNMAP);
	record->start = start;
	record->byte_count = byte_count;
	add_stack(context, &record->head, record + 1, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sys_enter")
int etw_unmap(__u64 *context)
{
	__u64 id = context[1], start = 0, byte_count = 0;
	struct task_struct *task;
	struct look look = {};
	__u32 stack_bytes;

#if defined(__TARGET_ARCH_x86)
	if (id != SYSCALL_MUNMAP && id != SYSCALL_MUNMAP_COMPAT)
		return 0;
#else
	if (id != SYSCALL_MUNMAP)
		return 0;
#endif
	task = bpf_get_current_task_btf();
	if (!find_range(task, context, &start, &byte_count))
		return 0;
	/* What the call would refuse unmaps nothing. */
	if (!byte_count || (start & PAGE_MASK) || !is_collected(ETW_KERNEL_COLLECT_UNMAPS))
		return 0;
	look.end = start + byte_count;
	if (bpf_find_vma(task, start, look_at, &look, 0) == 0 && !look.may_hold_image)
		return 0;
	stack_bytes = stack_bytes_of(find_control(), ETW_KERNEL_STACK_IMAGE_UNLOAD);
	if (!stack_bytes)
		send_unmap(context, start, byte_count, 0);
	else if (stack_bytes == FRAMED_BYTES)
		send_unmap(context, start, byte_count, FRAMED_BYTES);
	else
		send_unmap(context, start, byte_count, COPIED_BYTES);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
