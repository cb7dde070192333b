/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tasks that come, take another program, and go. task_newtask and not sched_process_fork: the kernel's
 * own helpers inside a process (io_uring workers) pass only there, and the task does not run yet.
 *
 * Fields are read by BPF_CORE_READ(), not as a->b: for each of those the verifier looks through all types of the kernel by
 * name, once for each path that leads there, which made loading these programs last half a second. The reads cost some
 * 100 ns for a task.
 */
#include "counters.h"
#include "stacks.h"

/* One constant for the loader; see bpf_objects.c. */
const volatile __u32 etw_exit_tells_last = 0;

/* A thread's stack begins where its maker said; all others share what the kernel made for the program. */
static __always_inline void describe_memory(struct etw_kernel_task *to, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	to->user_stack = 0;
	to->entry = 0;
	if (!mm || (to->flags & ETW_KERNEL_TASK_KTHREAD))
		return;
	to->flags |= ETW_KERNEL_TASK_HAS_MEMORY;
	if (BPF_CORE_READ(mm, task_size) <= SIZE_OF_32_BITS)
		to->flags |= ETW_KERNEL_TASK_IS_32_BIT;
	if (to->tid == to->pid) {
		to->user_stack = BPF_CORE_READ(mm, start_stack);
		to->entry = to->flags & ETW_KERNEL_TASK_IS_32_BIT ? 0 : find_entry(mm);
	}
}

static __always_inline void describe_schedule(struct etw_kernel_task *to, struct task_struct *task)
{
	struct io_context *io = 0;

	if (bpf_core_field_exists(task->io_context))
		io = BPF_CORE_READ(task, io_context);
	to->affinity = BPF_CORE_READ(task, cpus_ptr, bits[0]);
	to->priority = BPF_CORE_READ(task, normal_prio);
	to->policy = BPF_CORE_READ(task, policy);
	to->io_priority = io ? BPF_CORE_READ(io, ioprio) : 0;
}

static __always_inline void describe_task(struct etw_kernel_task *to, struct task_struct *task)
{
	to->start_ns = BPF_CORE_READ(task, start_boottime);
	to->process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	to->runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	to->clock_ns = 0;
	to->user_ns = BPF_CORE_READ(task, utime);
	to->system_ns = BPF_CORE_READ(task, stime);
	to->tid = BPF_CORE_READ(task, pid);
	to->pid = BPF_CORE_READ(task, tgid);
	to->parent_pid = BPF_CORE_READ(task, real_parent, tgid);
	to->uid = BPF_CORE_READ(task, cred, euid.val);
	to->session_id = bpf_core_field_exists(task->sessionid) ? BPF_CORE_READ(task, sessionid)
								: ~0u;
	to->flags = BPF_CORE_READ(task, flags) & PF_KTHREAD ? ETW_KERNEL_TASK_KTHREAD : 0;
	bpf_probe_read_kernel_str(to->name, sizeof(to->name), task->comm);
	describe_memory(to, task);
	describe_schedule(to, task);
}

/*
 * The scheduler looks at its clock when it has something to do, so the sum may lack what the task that runs
 * used since: up to a tick, all of the life of a short process. The tracker adds it.
 */
static __always_inline void read_clock(struct etw_kernel_task *to, struct task_struct *current)
{
	__u64 task_ns, start_ns;
	struct rq *rq;

	if (!bpf_core_field_exists(current->se.cfs_rq))
		return;
	rq = BPF_CORE_READ(current, se.cfs_rq, rq);
	to->clock_ns = BPF_CORE_READ(rq, clock);
	if (to->tid != (__u32)BPF_CORE_READ(current, pid))
		return;
	task_ns = BPF_CORE_READ(rq, clock_task);
	start_ns = BPF_CORE_READ(current, se.exec_start);
	if (task_ns > start_ns)
		to->runtime_ns += task_ns - start_ns;
}

/* @stack_bytes: a constant in each use, as of all functions here: the ring takes no other sizes. */
static __always_inline void send_new_task(__u64 *context, const __u32 stack_bytes)
{
	struct task_struct *task = (void *)context[0];
	struct etw_kernel_new_task *record;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + stack_bytes, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return;
	}
	begin_record(&record->head, ETW_KERNEL_NEW_TASK);
	describe_task(&record->task, task);
	read_clock(&record->task, bpf_get_current_task_btf());
	if (context[1] & CLONE_VM_FLAG)
		record->task.flags |= ETW_KERNEL_TASK_SHARES_MEMORY;
	if (record->task.tid != record->task.pid &&
	    (record->task.flags & ETW_KERNEL_TASK_HAS_MEMORY)) {
		const struct pt_regs *regs = (const void *)bpf_task_pt_regs(task);

		record->task.user_stack = BPF_CORE_READ(regs, sp);
	}
	add_stack(context, &record->head, record + 1, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/task_newtask")
int etw_new_task(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__u32 events = ETW_KERNEL_STACK_THREAD_START, stack_bytes;

	/* pid 0: the idle task of a CPU that comes online. */
	if (!is_collected(ETW_KERNEL_COLLECT_TASKS) || !task->pid)
		return 0;
	if (task->pid == task->tgid)
		events |= ETW_KERNEL_STACK_PROCESS_START | ETW_KERNEL_STACK_IMAGE_LOAD;
	stack_bytes = stack_bytes_of(find_control(), events);
	if (!stack_bytes)
		send_new_task(context, 0);
	else if (stack_bytes == FRAMED_BYTES)
		send_new_task(context, FRAMED_BYTES);
	else
		send_new_task(context, COPIED_BYTES);
	return 0;
}

/* The status that waitpid() gives for the whole group. */
static __always_inline __u32 group_status(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

static __always_inline int ends_group(__u64 *context)
{
	struct task_struct *task = (void *)context[0];

	if (etw_exit_tells_last)
		return !!(context[1] & 0xFF);
	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

static __always_inline void send_exit(__u64 *context, int is_last, const __u32 stack_bytes)
{
	struct task_struct *task = (void *)context[0];
	struct etw_kernel_exit *record;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + stack_bytes, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return;
	}
	begin_record(&record->head, ETW_KERNEL_EXIT);
	describe_task(&record->task, task);
	read_clock(&record->task, task);
	record->is_last = is_last;
	record->status = is_last ? group_status(task) : 0;
	if (is_last && is_collected(ETW_KERNEL_COLLECT_COUNTERS))
		count_process(&record->counters, task);
	else
		record->counters.is_known = 0;
	add_stack(context, &record->head, record + 1, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_exit")
int etw_exit(__u64 *context)
{
	__u32 events = ETW_KERNEL_STACK_THREAD_END, stack_bytes;
	int is_last;

	if (!is_collected(ETW_KERNEL_COLLECT_TASKS))
		return 0;
	is_last = ends_group(context);
	if (is_last)
		events |= ETW_KERNEL_STACK_PROCESS_END | ETW_KERNEL_STACK_IMAGE_UNLOAD;
	stack_bytes = stack_bytes_of(find_control(), events);
	if (!stack_bytes)
		send_exit(context, is_last, 0);
	else if (stack_bytes == FRAMED_BYTES)
		send_exit(context, is_last, FRAMED_BYTES);
	else
		send_exit(context, is_last, COPIED_BYTES);
	return 0;
}

/* @room: a constant, too, and a power of two */
static __always_inline void send_exec(__u64 *context, __u64 start, __u64 length, const __u32 room,
				      const __u32 stack_bytes)
{
	struct task_struct *task = (void *)context[0];
	struct linux_binprm *binprm = (void *)context[2];
	struct etw_kernel_exec *record;
	long file_bytes;

	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record) + room + stack_bytes, 0);
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
	add_stack(context, &record->head, record->arguments + room, stack_bytes);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* A program ends, another begins. */
#define EXEC_EVENTS                                                      \
	(ETW_KERNEL_STACK_PROCESS_START | ETW_KERNEL_STACK_PROCESS_END | \
	 ETW_KERNEL_STACK_THREAD_START | ETW_KERNEL_STACK_THREAD_END |   \
	 ETW_KERNEL_STACK_IMAGE_LOAD | ETW_KERNEL_STACK_IMAGE_UNLOAD)

SEC("tp_btf/sched_process_exec")
int etw_exec(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct mm_struct *mm = task->mm;
	__u64 start, length;
	__u32 stack_bytes;

	if (!is_collected(ETW_KERNEL_COLLECT_TASKS) || !mm)
		return 0;
	start = mm->arg_start;
	length = mm->arg_end - start;
	stack_bytes = stack_bytes_of(find_control(), EXEC_EVENTS);
	if (stack_bytes == FRAMED_BYTES)
		send_exec(context, start, length, ETW_KERNEL_ARGUMENTS_BYTES, FRAMED_BYTES);
	else if (stack_bytes)
		send_exec(context, start, length, ETW_KERNEL_ARGUMENTS_BYTES, COPIED_BYTES);
	else if (length < 256)
		send_exec(context, start, length, 256, 0);
	else if (length < 1024)
		send_exec(context, start, length, 1024, 0);
	else
		send_exec(context, start, length, ETW_KERNEL_ARGUMENTS_BYTES, 0);
	return 0;
}

/* With the new name as an argument, before it is written. */
SEC("tp_btf/task_rename")
int etw_rename(__u64 *context)
{
	struct task_struct *task = (void *)context[0];
	struct etw_kernel_rename *record;

	if (!is_collected(ETW_KERNEL_COLLECT_NAMES))
		return 0;
	/* A program's name is told with its start. */
	if (bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve))
		return 0;
	record = bpf_ringbuf_reserve(&etw_ring, sizeof(*record), 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_RING_FULL);
		return 0;
	}
	begin_record(&record->head, ETW_KERNEL_RENAME);
	record->tid = task->pid;
	record->pid = task->tgid;
	bpf_probe_read_kernel_str(record->name, sizeof(record->name), (const void *)context[1]);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
