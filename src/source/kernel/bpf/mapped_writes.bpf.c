/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Writes to files through memory: no system call tells of them. What is seen is that a piece of a file that agreed with the
 * disk comes to differ from it, while the thread has a page fault, or reads something into such memory. Later stores into the same
 * piece are not seen before it was written to the disk.
 */
#include "file_work.h"
#include "folios.h"

#define REGULAR_KIND 0100000

/* Whether the thread came into the kernel by an exception, and not by a call. */
static __always_inline int is_exception(struct task_struct *task)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

#if defined(__TARGET_ARCH_x86)
	return (__s64)BPF_CORE_READ(regs, orig_ax) == -1;
#elif defined(__TARGET_ARCH_arm64)
	return (__s32)BPF_CORE_READ(regs, syscallno) == -1;
#endif
}

static __always_inline int is_through_memory(struct task_struct *task, const struct thread *thread)
{
	const struct file_work *work = &thread->file_work;

	return is_exception(task) ||
	       (work->irps[0] && work->types[0] == ETW_KERNEL_FILE_READ && !work->irps[1]);
}

SEC("tp_btf/writeback_dirty_folio")
int etw_write_mapped(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	struct etw_kernel_file_begin payload = {};
	struct address_space *cache = (void *)given_address(&context[1]);
	struct folio *folio = (void *)given_address(&context[0]);
	struct thread *thread;
	struct inode *inode;

	if (!wants_files(control) || task->flags & (PF_KTHREAD | PF_IO_WORKER))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread) || !is_through_memory(task, thread))
		return 0;
	inode = BPF_CORE_READ(cache, host);
	if (!inode || (BPF_CORE_READ(inode, i_mode) & FILE_KIND) != REGULAR_KIND)
		return 0;
	thread->file_work.count = operations_of(thread) + 1;
	payload.irp = operation_number(task->pid, thread->file_work.count);
	payload.key = name_by((__u64)inode, 0, ETW_KERNEL_NAME_IS);
	payload.file = payload.key;
	payload.tid = task->pid;
	payload.type = ETW_KERNEL_FILE_WRITE;
	payload.offset = BPF_CORE_READ(folio, index) * PAGE_BYTES;
	payload.byte_count = pages_of(folio) * PAGE_BYTES;
	payload.call_flags = ETW_KERNEL_CALL_MAPPED;
	if (is_wanted(control, ETW_KERNEL_FILE_BEGIN))
		send_begin(&payload, take_file_stack(context, control, IN_MAPPED_WRITE,
						     ETW_KERNEL_FILE_BEGIN, ETW_KERNEL_FILE_WRITE));
	if (is_wanted(control, ETW_KERNEL_FILE_END))
		send_end(payload.irp, payload.byte_count, ETW_KERNEL_FILE_WRITE,
			 ETW_KERNEL_CALL_COUNTS, NO_STACK);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
