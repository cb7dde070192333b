/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Page faults. That one was served is perf's to tell (its software events, which programs hang at): there alone it is known
 * whether something had to be read. What the processor wanted, and when, is told where the fault begins, on x86 alone.
 * Source: docs/kernel-events/memory.md.
 */
#include "files.h"
#include "folios.h"
#include "memory_records.h"
#include "readable.h"
#include "vmas.h"

/* The program's context begins with the registers, in the order that user space knows; see samples.bpf.c. */
#if defined(__TARGET_ARCH_x86)
#define REGISTERS 21
#define PC_PLACE  16 /* rip */
#elif defined(__TARGET_ARCH_arm64)
#define REGISTERS 34
#define PC_PLACE  32 /* pc */
#endif

/* struct bpf_perf_event_data, of a software event. */
struct faulted {
	__u64 registers[REGISTERS];
	__u64 period;
	__u64 address;
};

#define IS_PRESENT 0x1 /* of x86: there is a page, whose rights are not enough */
#define IS_WRITE   0x2

#define SIGNAL_BUS          7
#define SIGNAL_SEGMENTATION 11
#define CODES_OF_KERNEL     0x80 /* SI_KERNEL, and above: no address is known */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernel_siginfo {
	int si_signo, si_errno, si_code;
};

#pragma clang attribute pop

/* A fault may come while another program runs, but none is accounted then: one room is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} etw_fault_stack SEC(".maps");

static __always_inline int is_any_wanted(const struct etw_kernel_control *control)
{
	return control &&
	       (is_wanted(control, ETW_KERNEL_FAULT) || is_wanted(control, ETW_KERNEL_HARD_FAULT));
}

static __always_inline int begin_fault(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;

	/* One that must not wait is not served: somebody looks at memory that may not be there. BPF_CORE_READ() does, too. */
	if (!is_any_wanted(control) || task->pagefault_disabled)
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread))
		return 0;
	thread->fault.start_ns = bpf_ktime_get_ns();
	thread->fault.address = context[0];
	thread->fault.error = context[2];
	thread->fault.stack_pages = READABLE(struct task_struct, task)->mm->stack_vm;
	thread->fault.read_pages = 0;
	return 0;
}

SEC("tp_btf/page_fault_user")
int etw_user_fault(__u64 *context)
{
	return begin_fault(context);
}

SEC("tp_btf/page_fault_kernel")
int etw_kernel_fault(__u64 *context)
{
	return begin_fault(context);
}

/* What the thread that has a fault reads into the cache: of the file that it is about, and what the file system reads of its own. */
SEC("tp_btf/mm_filemap_add_to_page_cache")
int etw_read_page(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct folio *folio = (void *)context[0];
	struct thread *thread;
	__u64 index;

	if (!control || !is_wanted(control, ETW_KERNEL_HARD_FAULT))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, bpf_get_current_task_btf(), 0, 0);
	if (!thread || !thread->fault.start_ns)
		return 0;
	index = BPF_CORE_READ(folio, index);
	if (!thread->fault.read_pages) {
		thread->fault.read_cache = (__u64)BPF_CORE_READ(folio, mapping);
		thread->fault.first_index = index;
	} else if (thread->fault.read_cache != (__u64)BPF_CORE_READ(folio, mapping)) {
		return 0;
	}
	if (index < thread->fault.first_index)
		thread->fault.first_index = index;
	thread->fault.read_pages += pages_of(folio);
	return 0;
}

/* @fault: how it began; NULL: not known. @vma: where it was; NULL: not known. */
static __always_inline __u32 type_of(struct task_struct *task, const struct fault *fault,
				     struct vm_area_struct *vma, int is_hard)
{
	__u64 flags = vma ? flags_of(vma) : 0;
	int is_file = vma && file_of(vma);
	__u32 error = fault ? fault->error : 0;

	if (is_hard)
		return ETW_KERNEL_FAULT_HARD;
	if (fault && flags & VM_GROWSDOWN && BPF_CORE_READ(task, mm, stack_vm) > fault->stack_pages)
		return ETW_KERNEL_FAULT_GUARD_PAGE;
	if (error & IS_WRITE && !(flags & VM_SHARED) && (is_file || error & IS_PRESENT))
		return ETW_KERNEL_FAULT_COPY_ON_WRITE;
	return is_file || error & IS_PRESENT ? ETW_KERNEL_FAULT_TRANSITION
					     : ETW_KERNEL_FAULT_DEMAND_ZERO;
}

static __always_inline int wants_fault_stack(const struct etw_kernel_control *control, __u32 type)
{
	return !!(control->memory_stacks & etw_kernel_fault_stack_bit(type));
}

static __always_inline void begin_head(struct etw_kernel_cpu_record *head, __u32 kind,
				       struct task_struct *task, int has_stack)
{
	head->kind = kind;
	head->stack_tid = task->pid;
	head->stack_pid = task->tgid;
	head->stack_flags = has_stack ? ETW_KERNEL_STACK_ASKED : 0;
}

static __always_inline void send_hard(struct etw_kernel_cpu_record *head, const struct fault *fault,
				      struct vm_area_struct *vma, __u64 address,
				      const struct stack *stack)
{
	struct file *file = vma ? file_of(vma) : NULL;
	struct address_space *cache = NULL;
	struct etw_kernel_hard_fault payload = {
		.address = address,
		.byte_count = PAGE_BYTES,
	};

	if (fault) {
		payload.start_ns = fault->start_ns;
		if (fault->read_pages)
			cache = (void *)fault->read_cache;
	}
	if (file) {
		payload.offset = page_offset_of(vma, address) * PAGE_BYTES;
		if (cache && BPF_CORE_READ(cache, host) == BPF_CORE_READ(file, f_inode)) {
			payload.offset = fault->first_index * PAGE_BYTES;
			payload.byte_count = fault->read_pages * PAGE_BYTES;
		}
		payload.file_key = name_file(file);
	}
	send(head, &payload, sizeof(payload), stack);
}

static __always_inline int end_fault(struct faulted *context, const int is_hard)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control = find_control();
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_fault payload = {};
	struct mapped mapped = {};
	struct thread *thread;
	const struct fault *fault = NULL;
	struct stack *stack = NULL;
	__u32 key = 0;
	int has_stack;

	if (!control || !(is_wanted(control, ETW_KERNEL_FAULT) ||
			  (is_hard && is_wanted(control, ETW_KERNEL_HARD_FAULT))))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!is_inside(control, thread))
		return 0;
	payload.address = context->address;
	if (thread && thread->fault.start_ns &&
	    !((thread->fault.address ^ payload.address) & ~(PAGE_BYTES - 1ull)))
		fault = &thread->fault;
	find_mapped((__u64)BPF_CORE_READ(task, mm), payload.address, &mapped);
	payload.type = type_of(task, fault, mapped.vma, is_hard);
	has_stack = wants_fault_stack(control, payload.type);
	if (has_stack || (is_hard && wants_stack(control, ETW_KERNEL_HARD_FAULT))) {
		stack = bpf_map_lookup_elem(&etw_fault_stack, &key);
		if (stack)
			take_stack_from(context, stack, 1, 0);
	}
	if (is_wanted(control, ETW_KERNEL_FAULT)) {
		begin_head(&head, ETW_KERNEL_FAULT, task, has_stack);
		payload.pc = context->registers[PC_PLACE];
		send(&head, &payload, sizeof(payload), head.stack_flags ? stack : NULL);
	}
	if (is_hard && is_wanted(control, ETW_KERNEL_HARD_FAULT)) {
		head = (struct etw_kernel_cpu_record){};
		begin_head(&head, ETW_KERNEL_HARD_FAULT, task,
			   wants_stack(control, ETW_KERNEL_HARD_FAULT));
		send_hard(&head, fault, mapped.vma, payload.address,
			  head.stack_flags ? stack : NULL);
	}
	if (thread)
		thread->fault.start_ns = 0;
	return 0;
}

SEC("perf_event")
int etw_minor_fault(struct faulted *context)
{
	return end_fault(context, 0);
}

SEC("perf_event")
int etw_major_fault(struct faulted *context)
{
	return end_fault(context, 1);
}

/* A fault that nothing could serve: the thread gets a signal for it, of which the kernel says where. */
SEC("tp_btf/signal_generate")
int etw_signal(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_siginfo *info = (void *)context[1];
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_fault payload = {};
	struct stack *stack = NULL;
	const struct pt_regs *regs;
	__u32 key = 0;
	int code;

	if (context[0] != SIGNAL_SEGMENTATION && context[0] != SIGNAL_BUS)
		return 0;
	if (!control || !is_wanted(control, ETW_KERNEL_FAULT) || context[2] != (__u64)task)
		return 0;
	/* Small numbers stand for senders who say nothing. */
	if ((__u64)info < ENTRIES_FROM)
		return 0;
	code = BPF_CORE_READ(info, si_code);
	if (code <= 0 || code >= CODES_OF_KERNEL)
		return 0;
	if (!is_inside(control, bpf_task_storage_get(&etw_threads, task, 0, 0)))
		return 0;
	begin_head(&head, ETW_KERNEL_FAULT, task,
		   wants_fault_stack(control, ETW_KERNEL_FAULT_ACCESS_VIOLATION));
	regs = (const void *)bpf_task_pt_regs(task);
#if defined(__TARGET_ARCH_x86)
	payload.pc = BPF_CORE_READ(regs, ip);
#elif defined(__TARGET_ARCH_arm64)
	payload.pc = BPF_CORE_READ(regs, pc);
#endif
	payload.type = ETW_KERNEL_FAULT_ACCESS_VIOLATION;
	/* Behind three numbers, at the next place of a pointer. */
	bpf_probe_read_kernel(&payload.address, sizeof(payload.address), (char *)info + 16);
	if (head.stack_flags) {
		stack = bpf_map_lookup_elem(&etw_fault_stack, &key);
		if (stack)
			take_stack(context, stack, 1);
	}
	send(&head, &payload, sizeof(payload), stack);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
