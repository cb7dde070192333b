/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls that map code of a file, for the stacks of image loads: perf, which tells of the mappings, has no stacks for
 * them. Attached only while these are wanted. What the kernel maps by itself for a program has the stack of its exec.
 */
#include "calls.h"
#include "stacks.h"

#define PROT_EXECUTE 0x4
#define MAP_NO_FILE  0x20 /* MAP_ANONYMOUS */
#define COMPAT_PAGES 4096 /* of mmap2's offset */

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_MMAP                 9
#define SYSCALL_MPROTECT             10
#define SYSCALL_PKEY_MPROTECT        329
#define SYSCALL_MMAP2_COMPAT         192
#define SYSCALL_MPROTECT_COMPAT      125
#define SYSCALL_PKEY_MPROTECT_COMPAT 380
#elif defined(__TARGET_ARCH_arm64)
#define SYSCALL_MMAP          222
#define SYSCALL_MPROTECT      226
#define SYSCALL_PKEY_MPROTECT 288
#endif

struct look {
	__u32 has_file;
};

static long look_at(struct task_struct *task, struct vm_area_struct *vma, struct look *look)
{
	(void)task;
	look->has_file = vma->vm_file != NULL;
	return 0;
}

struct call {
	__u64 start, byte_count, rights, flags, file_offset;
	__u32 is_mapping;
};

/* Whether it is one of these calls. */
static __always_inline int read_call(struct task_struct *task, __u64 *context, struct call *ret)
{
	__u64 id = context[1], arguments[CALL_ARGUMENTS];
	__u32 of_compat = is_compat_call(task);

#if defined(__TARGET_ARCH_x86)
	if (of_compat) {
		ret->is_mapping = id == SYSCALL_MMAP2_COMPAT;
		if (!ret->is_mapping && id != SYSCALL_MPROTECT_COMPAT &&
		    id != SYSCALL_PKEY_MPROTECT_COMPAT)
			return 0;
	}
#endif
	if (!of_compat) {
		ret->is_mapping = id == SYSCALL_MMAP;
		if (!ret->is_mapping && id != SYSCALL_MPROTECT && id != SYSCALL_PKEY_MPROTECT)
			return 0;
	}
	read_arguments((void *)context[0], of_compat, arguments);
	ret->start = arguments[0];
	ret->byte_count = arguments[1];
	ret->rights = arguments[2];
	ret->flags = arguments[3];
	ret->file_offset = of_compat ? arguments[5] * COMPAT_PAGES : arguments[5];
	return 1;
}

static __always_inline void send_map(__u64 *context, const struct call *call,
				     const __u32 stack_bytes)
{
	struct etw_kernel_map *record;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + stack_bytes, 0);
	if (!record) {
		/* The image load comes all the same, and is counted as one without its stack. */
		return;
	}
	begin_record(&record->head, ETW_KERNEL_MAP);
	record->start = call->is_mapping ? 0 : call->start;
	record->byte_count = call->byte_count;
	record->file_offset = call->file_offset;
	add_stack(context, &record->head, record + 1, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sys_enter")
int etw_map(__u64 *context)
{
	struct task_struct *task;
	struct call call = {};
	struct look look = {};
	__u64 id = context[1];
	__u32 stack_bytes;

	/* Every system call of the machine passes here. */
#if defined(__TARGET_ARCH_x86)
	if (id != SYSCALL_MMAP && id != SYSCALL_MPROTECT && id != SYSCALL_PKEY_MPROTECT &&
	    id != SYSCALL_MMAP2_COMPAT && id != SYSCALL_MPROTECT_COMPAT &&
	    id != SYSCALL_PKEY_MPROTECT_COMPAT)
		return 0;
#else
	if (id != SYSCALL_MMAP && id != SYSCALL_MPROTECT && id != SYSCALL_PKEY_MPROTECT)
		return 0;
#endif
	task = bpf_get_current_task_btf();
	if (!read_call(task, context, &call) || !(call.rights & PROT_EXECUTE))
		return 0;
	if (call.is_mapping
		    ? call.flags & MAP_NO_FILE
		    : bpf_find_vma(task, call.start, look_at, &look, 0) == 0 && !look.has_file)
		return 0;
	stack_bytes = stack_bytes_of(find_control(), ETW_KERNEL_STACK_IMAGE_LOAD);
	if (stack_bytes == FRAMED_BYTES)
		send_map(context, &call, FRAMED_BYTES);
	else if (stack_bytes)
		send_map(context, &call, COPIED_BYTES);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
