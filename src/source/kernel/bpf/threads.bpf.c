/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is kept of each thread for the programs of frequent events is made here, where memory may be asked for: when a
 * thread starts, and for all that are there when the programs are attached. A switch of threads asks for none.
 */
#include "cpu_ring.h"

SEC("tp_btf/task_newtask")
int etw_new_thread(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	const struct etw_kernel_control *control = find_control();
	struct thread *thread, *maker;

	if (!control || !(control->collected & ETW_KERNEL_COLLECT_THREADS) || !task->pid)
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count_drop(ETW_KERNEL_DROP_NO_THREAD);
		return 0;
	}
	maker = bpf_task_storage_get(&etw_threads, bpf_get_current_task_btf(), 0, 0);
	thread->is_inside = maker && maker->is_inside;
	return 0;
}

SEC("iter/task")
int etw_walk_threads(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task || !task->pid)
		return 0;
	if (!bpf_task_storage_get(&etw_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE))
		count_drop(ETW_KERNEL_DROP_NO_THREAD);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
