/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Follows who asks for work that the kernel does later: items of workqueues and soft interrupts. Only while one process
 * tree alone is wanted; else each program returns at once.
 */
#include "owners.h"

/* Items that were queued for a tree and are not begun. One that is cancelled stays until newer ones need its room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* address of the item */
	__type(value, __u32);
} etw_works SEC(".maps");

static __always_inline const struct etw_kernel_control *find_only(void)
{
	const struct etw_kernel_control *control = find_control();

	return control && control->only_pid ? control : NULL;
}

SEC("tp_btf/workqueue_queue_work")
int etw_queue_work(__u64 *arguments)
{
	const struct etw_kernel_control *control = find_only();
	__u64 work = arguments[2];
	__u32 owner;

	if (!control)
		return 0;
	owner = owner_now(control);
	if (owner == control->only_pid)
		bpf_map_update_elem(&etw_works, &work, &owner, BPF_ANY);
	else if (bpf_map_lookup_elem(&etw_works, &work))
		bpf_map_delete_elem(&etw_works, &work);
	return 0;
}

/* The thread of the worker that runs; NULL: a soft interrupt does the work, on top of any thread. */
static __always_inline struct thread *find_worker(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!(task->flags & PF_WQ_WORKER) || is_in_soft_interrupt(find_context()))
		return NULL;
	return bpf_task_storage_get(&etw_threads, task, 0, 0);
}

SEC("tp_btf/workqueue_execute_start")
int etw_begin_work(__u64 *arguments)
{
	const struct etw_kernel_control *control = find_only();
	__u64 work = arguments[0];
	struct thread *worker;
	__u32 *owner, pid = 0;

	if (!control)
		return 0;
	owner = bpf_map_lookup_elem(&etw_works, &work);
	if (owner) {
		pid = *owner;
		bpf_map_delete_elem(&etw_works, &work);
	}
	worker = find_worker();
	if (worker)
		worker->owner_pid = pid;
	return 0;
}

SEC("tp_btf/workqueue_execute_end")
int etw_end_work(__u64 *arguments)
{
	struct thread *worker = find_only() ? find_worker() : NULL;

	(void)arguments;
	if (worker)
		worker->owner_pid = 0;
	return 0;
}

/* Those that threads ask for: high tasklets, sending, receiving, block devices, tasklets. The others come from the clock. */
#define ASKED_FOR 0x5Du

SEC("tp_btf/softirq_raise")
int etw_raise(__u64 *arguments)
{
	const struct etw_kernel_control *control;
	__u64 number = arguments[0];
	struct context *context;
	__u32 owner;

	if (number >= ETW_KERNEL_SOFT_NUMBERS)
		return 0;
	control = find_only();
	context = find_context();
	if (!control || !context)
		return 0;
	owner = owner_now(control);
	context->is_raised = owner == control->only_pid;
	/* One serves all who asked since the last: the tree's part in it is not lost. */
	if ((ASKED_FOR >> number & 1) && owner != OWNER_UNKNOWN &&
	    context->raised_by[number] != control->only_pid)
		context->raised_by[number] = owner;
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
