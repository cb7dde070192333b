/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * System calls. Every call of the machine passes here, so what is not wanted is left at once, and storage that is kept of
 * the thread is asked for only where one process tree alone is recorded.
 */
#include "calls.h"
#include "priorities.h"

#if defined(__TARGET_ARCH_x86)
#define X32_CALL 0x40000000u
#endif

/* A stack while its record is made: one for each program, none of which is entered twice on a processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} etw_call_stack SEC(".maps");

static __always_inline void send_call(void *context, const struct etw_kernel_control *control,
				      struct task_struct *task, __u32 kind, const void *payload,
				      const __u32 payload_bytes)
{
	struct etw_kernel_cpu_record head = {.kind = kind};
	struct stack *stack = NULL;
	__u32 key = 0;

	head.stack_tid = task->pid;
	head.stack_pid = task->tgid;
	if (wants_stack(control, kind)) {
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
		stack = bpf_map_lookup_elem(&etw_call_stack, &key);
	}
	if (stack) {
		/* The caller's own; the kernel's part is that of every call. */
		stack->kernel_frames = 0;
		stack->flags = 0;
		stack->user_frames = frames_of(bpf_get_stack(context, stack->frames,
							     ETW_KERNEL_USER_FRAMES * sizeof(__u64),
							     BPF_F_USER_STACK),
					       ETW_KERNEL_USER_FRAMES);
	}
	send(&head, payload, payload_bytes, stack);
}

static __always_inline int is_outside(const struct etw_kernel_control *control,
				      struct task_struct *task)
{
	return control->only_pid &&
	       !is_inside(control, bpf_task_storage_get(&etw_threads, task, 0, 0));
}

SEC("tp_btf/sys_enter")
int etw_enter_syscall(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_syscall_enter payload = {};
	struct task_struct *task;

	if (!control || !is_wanted(control, ETW_KERNEL_SYSCALL_ENTER))
		return 0;
	task = bpf_get_current_task_btf();
	if (is_outside(control, task))
		return 0;
	payload.number = context[1];
	payload.flags = is_compat_call(task) ? ETW_KERNEL_SYSCALL_COMPAT : 0;
#if defined(__TARGET_ARCH_x86)
	if ((__s32)payload.number >= 0)
		payload.number &= ~X32_CALL;
#endif
	send_call(context, control, task, ETW_KERNEL_SYSCALL_ENTER, &payload, sizeof(payload));
	return 0;
}

SEC("tp_btf/sys_exit")
int etw_exit_syscall(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_syscall_exit payload = {};
	struct task_struct *task;

	if (!control || !is_wanted(control, ETW_KERNEL_SYSCALL_EXIT))
		return 0;
	task = bpf_get_current_task_btf();
	/* Behind the call that changed it, where it was the thread's own. */
	if (is_wanted(control, ETW_KERNEL_PRIORITY))
		look_at_priorities(control, task);
	if (is_outside(control, task))
		return 0;
	payload.result = context[1];
	send_call(context, control, task, ETW_KERNEL_SYSCALL_EXIT, &payload, sizeof(payload));
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
