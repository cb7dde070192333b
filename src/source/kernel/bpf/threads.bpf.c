/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is kept of each thread for the programs of frequent events is made here, where memory may be asked for: when a
 * thread starts, and by a walk over all that are there when the programs are attached. A switch of threads asks for none.
 * The walk comes again when one process tree alone is wanted, and marks its first process; who starts inherits the mark.
 */
#include "priorities.h"

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
	thread->tree_pid = maker ? maker->tree_pid : 0;
	thread->priorities = join_priorities(task, task->prio);
	return 0;
}

SEC("iter/task")
int etw_walk_threads(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	const struct etw_kernel_control *control = find_control();
	struct thread *thread;

	if (!control || !task || !task->pid)
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count_drop(ETW_KERNEL_DROP_NO_THREAD);
		return 0;
	}
	thread->owner_pid = 0;
	if (control->only_pid && (__u32)task->tgid == control->only_pid)
		thread->tree_pid = control->only_pid;
	if (!(control->options & ETW_KERNEL_KEEP_PRIORITIES) || !thread->priorities)
		thread->priorities = join_priorities(task, task->prio);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
