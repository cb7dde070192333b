/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tasks that come, take another program, and go. task_newtask and not sched_process_fork: the kernel's
 * own helpers inside a process (io_uring workers) pass only there, and the task does not run yet.
 */
#include "ring.h"

/* One constant for the loader; see bpf_objects.c. */
const volatile __u32 etw_exit_tells_last = 0;

static __always_inline void describe_task(struct etw_kernel_task *to, struct task_struct *task)
{
	to->start_ns = task->start_boottime;
	to->process_start_ns = task->group_leader->start_boottime;
	to->runtime_ns = task->se.sum_exec_runtime;
	to->clock_ns = 0;
	to->user_ns = task->utime;
	to->system_ns = task->stime;
	to->tid = task->pid;
	to->pid = task->tgid;
	to->parent_pid = task->real_parent->tgid;
	to->uid = task->cred->euid.val;
	to->session_id = bpf_core_field_exists(task->sessionid) ? task->sessionid : ~0u;
	to->flags = task->flags & PF_KTHREAD ? ETW_KERNEL_TASK_KTHREAD : 0;
	bpf_probe_read_kernel_str(to->name, sizeof(to->name), task->comm);
}

/*
 * The scheduler looks at its clock when it has something to do, so the sum may lack what the task that runs
 * used since: up to a tick, all of the life of a short process. The tracker adds it.
 */
static __always_inline void read_clock(struct etw_kernel_task *to, struct task_struct *current)
{
	struct rq *rq;

	if (!bpf_core_field_exists(current->se.cfs_rq))
		return;
	rq = current->se.cfs_rq->rq;
	to->clock_ns = rq->clock;
	if (to->tid == (__u32)current->pid && rq->clock_task > current->se.exec_start)
		to->runtime_ns += rq->clock_task - current->se.exec_start;
}

SEC("tp_btf/task_newtask")
int etw_new_task(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct etw_kernel_new_task *record;

	/* pid 0: the idle task of a CPU that comes online. */
	if (!is_collected(ETW_KERNEL_COLLECT_TASKS) || !task->pid)
		return 0;
	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record), 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return 0;
	}
	begin_record(&record->head, ETW_KERNEL_NEW_TASK);
	describe_task(&record->task, task);
	read_clock(&record->task, bpf_get_current_task_btf());
	if (context[1] & CLONE_VM_FLAG)
		record->task.flags |= ETW_KERNEL_TASK_SHARES_MEMORY;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The status that waitpid() gives for the whole group. */
static __always_inline __u32 group_status(struct task_struct *task)
{
	if (task->signal->flags & SIGNAL_GROUP_EXIT)
		return task->signal->group_exit_code;
	return task->group_leader->exit_code;
}

SEC("tp_btf/sched_process_exit")
int etw_exit(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct etw_kernel_exit *record;

	if (!is_collected(ETW_KERNEL_COLLECT_TASKS))
		return 0;
	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record), 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return 0;
	}
	begin_record(&record->head, ETW_KERNEL_EXIT);
	describe_task(&record->task, task);
	read_clock(&record->task, task);
	if (etw_exit_tells_last)
		record->is_last = !!(context[1] & 0xFF);
	else
		record->is_last = task->signal->live.counter == 0;
	record->status = record->is_last ? group_status(task) : 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* @room is a constant in each of its uses, and a power of two: the ring takes no other sizes. */
static __always_inline void send_exec(__u64 *context, __u64 start, __u64 length, const __u32 room)
{
	struct task_struct *task = (void *)context[0];
	struct linux_binprm *binprm = (void *)context[2];
	struct etw_kernel_exec *record;
	long file_bytes;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + room, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return;
	}
	begin_record(&record->head, ETW_KERNEL_EXEC);
	describe_task(&record->task, task);
	read_clock(&record->task, task);
	record->old_tid = context[1];
	record->is_cut = length >= room;
	if (length >= room)
		length = room - 1;
	barrier_var(length); /* the verifier must see the mask */
	length &= room - 1;
	record->argument_bytes = length;
	if (bpf_probe_read_user(record->arguments, length, (const void *)start)) {
		record->argument_bytes = 0;
		count_drop(ETW_KERNEL_DROP_INCOMPLETE);
	}
	file_bytes = bpf_probe_read_kernel_str(record->file, sizeof(record->file),
					       binprm->filename);
	record->file_bytes = file_bytes > 0 ? file_bytes : 0;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_exec")
int etw_exec(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct mm_struct *mm = task->mm;
	__u64 start, length;

	if (!is_collected(ETW_KERNEL_COLLECT_TASKS) || !mm)
		return 0;
	start = mm->arg_start;
	length = mm->arg_end - start;
	if (length < 256)
		send_exec(context, start, length, 256);
	else if (length < 1024)
		send_exec(context, start, length, 1024);
	else
		send_exec(context, start, length, ETW_KERNEL_ARGUMENTS_BYTES);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
