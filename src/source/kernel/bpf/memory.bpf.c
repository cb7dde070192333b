/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What processes map, and take and give back of memory, by their system calls, and by what the kernel does for them when they
 * are made, take another program, and end. What a call takes away is told where it begins, because a moment later another
 * thread may get the same addresses; what it gives is told where it has succeeded.
 * Source: docs/kernel-events/memory.md.
 */
#include "files.h"
#include "memory_calls.h"
#include "memory_records.h"
#include "vmas.h"

/* For the loader: whether sched_process_exit tells that a process ends, which has its memory then (Linux 6.16). */
const volatile __u32 etw_exit_tells_memory = 0;

/*
 * Mappings, and gaps between them, that are told of one change: a ring has no room for many more, and the program cannot be
 * preempted. Those behind them are counted alone, which is cheaper. Twice sysctl vm.max_map_count as it is by default are counted.
 */
#define MAPPINGS_MAX 8192
#define COUNTED_MAX  131072

#define MAP_FIXED_PLACE   0x10
#define MOVE_FIXED_PLACE  0x2
#define MOVE_LEAVES_PLACE 0x4 /* MREMAP_DONTUNMAP */
#define ADVICE_NOT_NEEDED 4
#define ADVICE_FREE       8
#define ERRORS_FROM       (-4095ull)

#define KINDS (1u << ETW_KERNEL_MEMORY | 1u << ETW_KERNEL_VIEW)

/* A change of what a process has, and who does it. */
struct change {
	__u64 mm_at; /* of its memory */
	__u64 address, end;
	__u32 tid, pid, owner_pid; /* @owner_pid: whose memory it is */
	__u32 takes_away;
	__u32 flags; /* enum etw_kernel_memory_flag, of memory without a file; 0: what its rights say */
	__u32 has_stack;
	__u64 vma_at; /* the mapping that it is in; 0: not known */
	__u64 from;   /* where in that its first address is */
};

/* Who makes a change. */
enum {
	IN_CALL,
	BEHIND_CALL,
	IN_NEW_TASK,
	IN_OLD_PROGRAM,
	IN_NEW_PROGRAM,
	IN_END,
	CHANGE_PLACES
};

/* A change while it is told. */
struct change_room {
	struct change change;
	__u64 next, end;      /* what is left of a range */
	__u64 shift;          /* of a range: what is mapped there was so much below before */
	__u32 told, left_out; /* of a range: mappings */
	__u64 arguments[CALL_ARGUMENTS];
	struct stack stack;
};

/* One for each program, none of which is entered twice on a processor: Linux 6.1 has little room on a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CHANGE_PLACES);
	__type(key, __u32);
	__type(value, struct change_room);
} etw_changes SEC(".maps");

static __always_inline struct change_room *room_at(__u32 place)
{
	return bpf_map_lookup_elem(&etw_changes, &place);
}

static __always_inline __u64 break_of(struct mm_struct *mm)
{
	return BPF_CORE_READ(mm, brk);
}

/* Of what a program may map. */
static __always_inline __u64 size_of(struct mm_struct *mm)
{
	return BPF_CORE_READ(mm, task_size);
}

/* All mappings but those that were told. Others who share the memory may take some away meanwhile. */
static __always_inline __u32 count_all(__u64 mm_at, __u32 told)
{
	__u32 all = BPF_CORE_READ((struct mm_struct *)mm_at, map_count);

	return all > told ? all - told : 0;
}

static __always_inline __u64 to_pages(__u64 bytes)
{
	return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull);
}

/* @stack_bit: enum etw_kernel_memory_stack */
static __always_inline void send_change(struct etw_kernel_cpu_record *head,
					const struct etw_kernel_control *control,
					const struct change_room *room, const void *payload,
					const __u32 payload_bytes, __u32 stack_bit)
{
	const struct stack *stack = NULL;

	head->stack_tid = room->change.tid;
	head->stack_pid = room->change.pid;
	if (control->memory_stacks & stack_bit) {
		head->stack_flags = ETW_KERNEL_STACK_ASKED;
		if (room->change.has_stack)
			stack = &room->stack;
	}
	send(head, payload, payload_bytes, stack);
}

static __always_inline void send_memory(const struct etw_kernel_control *control,
					const struct change_room *room, __u64 rights)
{
	const struct change *change = &room->change;
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_MEMORY};
	struct etw_kernel_memory payload = {
		.base = change->address,
		.byte_count = change->end - change->address,
		.tid = change->tid,
		.pid = change->owner_pid,
		.flags = change->flags,
	};

	if (!is_wanted(control, ETW_KERNEL_MEMORY))
		return;
	if (change->takes_away && !payload.flags)
		payload.flags = ETW_KERNEL_MEMORY_RELEASE;
	else if (!payload.flags)
		payload.flags = ETW_KERNEL_MEMORY_RESERVE |
				(rights & VM_ACCESS ? ETW_KERNEL_MEMORY_COMMIT : 0);
	send_change(&head, control, room, &payload, sizeof(payload),
		    payload.flags & ETW_KERNEL_MEMORY_FREES ? ETW_KERNEL_STACK_FREE
							    : ETW_KERNEL_STACK_ALLOC);
}

static __always_inline void send_view(const struct etw_kernel_control *control,
				      const struct change_room *room, struct file *file,
				      __u64 page_offset, __u64 rights)
{
	const struct change *change = &room->change;
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_VIEW};
	struct etw_kernel_view payload = {
		.base = change->address,
		.byte_count = change->end - change->address,
		.page_offset = page_offset,
		.tid = change->tid,
		.pid = change->owner_pid,
		.rights = rights & (VM_ACCESS | VM_SHARED),
		.is_unmapped = change->takes_away,
	};

	if (!is_wanted(control, ETW_KERNEL_VIEW))
		return;
	payload.file_key = name_file(file);
	send_change(&head, control, room, &payload, sizeof(payload),
		    payload.is_unmapped ? ETW_KERNEL_STACK_UNMAP_VIEW : ETW_KERNEL_STACK_MAP_VIEW);
}

/*
 * tell() - the change at @place, all of which is in one mapping. A function of its own for the verifier, too, which looks at it
 * once: it would follow all ways through it from each place that calls it.
 */
__noinline int tell(__u32 place)
{
	const struct etw_kernel_control *control = find_control();
	const struct change_room *room = room_at(place);
	struct vm_area_struct *vma;
	struct file *file = NULL;
	__u64 rights = VM_ACCESS;

	if (!control || !room)
		return 0;
	vma = (void *)room->change.vma_at;
	if (vma) {
		rights = flags_of(vma);
		file = file_of(vma);
	}
	if (file)
		send_view(control, room, file, page_offset_of(vma, room->change.from), rights);
	else
		send_memory(control, room, rights);
	return 0;
}

/* What is mapped next, or a gap. */
static long tell_next(__u32 number, const __u32 *place)
{
	struct change_room *room = room_at(*place);
	struct mapped mapped = {};
	__u64 begin;

	(void)number;
	if (!room || room->next >= room->end)
		return 1;
	begin = room->next;
	find_mapped(room->change.mm_at, begin, &mapped);
	if (mapped.last >= room->end - 1)
		room->next = room->end;
	else
		room->next = mapped.last + 1;
	if (mapped.vma) {
		__u64 start = start_of(mapped.vma);

		if (begin < start)
			begin = start;
		room->change.vma_at = (__u64)mapped.vma;
		room->change.from = begin;
		room->change.address = begin - room->shift;
		room->change.end = room->next - room->shift;
		room->told++;
		tell(*place);
	}
	return room->next >= room->end;
}

/* As tell_next(), of what is counted alone. */
static long count_next(__u32 number, const __u32 *place)
{
	struct change_room *room = room_at(*place);
	struct mapped mapped = {};

	(void)number;
	if (!room || room->next >= room->end)
		return 1;
	room->left_out += find_mapped(room->change.mm_at, room->next, &mapped);
	if (mapped.last >= room->end - 1)
		room->next = room->end;
	else
		room->next = mapped.last + 1;
	return 0;
}

/* The change of @task, which has no address yet. */
static __always_inline void begin_change(struct change *change, struct task_struct *task)
{
	*change = (struct change){};
	change->mm_at = (__u64)BPF_CORE_READ(task, mm);
	change->tid = task->pid;
	change->pid = change->owner_pid = task->tgid;
}

static __always_inline void take_change_stack(void *context,
					      const struct etw_kernel_control *control,
					      struct change_room *room)
{
	if (!(control->stack_kinds & KINDS))
		return;
	take_stack(context, &room->stack, 1);
	room->change.has_stack = 1;
}

/*
 * tell_range() - all that is mapped from @address to @end, by the change at @place; as tell(), a function of its own.
 *
 * @shift: what is mapped there was so much below before
 */
__noinline int tell_range(__u32 place, __u64 address, __u64 end, __u64 shift)
{
	struct change_room *room = room_at(place);

	if (!room)
		return 0;
	room->next = address;
	room->end = end;
	room->shift = shift;
	room->told = room->left_out = 0;
	bpf_loop(MAPPINGS_MAX, tell_next, &place, 0);
	if (room->next >= room->end)
		return 0;
	if (address || end < size_of((struct mm_struct *)room->change.mm_at))
		bpf_loop(COUNTED_MAX, count_next, &place, 0);
	else /* all that there is */
		room->left_out = count_all(room->change.mm_at, room->told);
	count_drops(ETW_KERNEL_DROP_MAPPINGS, room->left_out);
	return 0;
}

static __always_inline int is_any_wanted(const struct etw_kernel_control *control)
{
	return control && control->cpu_kinds & KINDS;
}

SEC("tp_btf/sys_enter")
int etw_before_memory_call(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control;
	__u64 *arguments;
	struct change_room *room = room_at(IN_CALL);
	enum memory_call call = call_of(task, context[1]);
	__u64 tail = 0, tail_end = 0; /* of what becomes smaller */
	struct mapped mapped = {};
	struct mm_struct *mm;
	struct thread *thread;

	if (call == CALL_OTHER || call == CALL_ADVISE || call == CALL_ATTACH)
		return 0;
	control = find_control();
	if (!is_any_wanted(control))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread) || !room)
		return 0;
	arguments = room->arguments;
	read_arguments((void *)context[0], is_compat_call(task), arguments);
	mm = BPF_CORE_READ(task, mm);
	if (call == CALL_BREAK) {
		thread->old_break = break_of(mm);
		return 0;
	}
	if (call == CALL_PROTECT) {
		thread->is_committing = arguments[2] & VM_ACCESS &&
					find_mapped((__u64)mm, arguments[0], &mapped) &&
					!(flags_of(mapped.vma) & VM_ACCESS) && !file_of(mapped.vma);
		return 0;
	}
	if (call == CALL_OLD_MAP)
		read_old_map(arguments);
	if (call == CALL_MAP || call == CALL_OLD_MAP) {
		if (!(arguments[3] & MAP_FIXED_PLACE))
			return 0;
	} else if (call == CALL_MOVE) {
		tail = arguments[0] + to_pages(arguments[2]);
		tail_end = arguments[0] + to_pages(arguments[1]);
		arguments[0] = arguments[4];
		arguments[1] = arguments[3] & MOVE_FIXED_PLACE ? arguments[2] : 0;
	} else if (call == CALL_DETACH) {
		if (!find_mapped((__u64)mm, arguments[0], &mapped))
			return 0;
		arguments[1] = mapped.last + 1 - arguments[0];
	}
	/* What the call would refuse takes nothing away. */
	if (tail & (PAGE_BYTES - 1) || tail_end > size_of(mm))
		return 0;
	if (arguments[0] & (PAGE_BYTES - 1) || arguments[1] > size_of(mm))
		arguments[1] = 0;
	if (tail >= tail_end && !arguments[1])
		return 0;
	begin_change(&room->change, task);
	room->change.takes_away = 1;
	take_change_stack(context, control, room);
	if (tail < tail_end)
		tell_range(IN_CALL, tail, tail_end, 0);
	if (arguments[1])
		tell_range(IN_CALL, arguments[0], arguments[0] + to_pages(arguments[1]), 0);
	return 0;
}

/* What is at @address now has @byte_count, as the call said. */
static __always_inline void tell_given(struct change *change, __u64 address, __u64 byte_count)
{
	struct mapped mapped = {};

	if (!byte_count)
		return;
	find_mapped(change->mm_at, address, &mapped);
	change->vma_at = (__u64)mapped.vma;
	change->from = change->address = address;
	change->end = address + byte_count;
	tell(BEHIND_CALL);
}

static __always_inline void tell_break(struct change *change, __u64 old_break, __u64 new_break)
{
	old_break = to_pages(old_break);
	new_break = to_pages(new_break);
	if (old_break == new_break)
		return;
	change->takes_away = new_break < old_break;
	change->address = change->takes_away ? new_break : old_break;
	change->end = change->takes_away ? old_break : new_break;
	tell(BEHIND_CALL);
}

/* What became smaller was told before. What moves may be several mappings (Linux 6.17). */
static __always_inline void tell_move(struct change *change, const __u64 *arguments, __u64 result)
{
	__u64 old_bytes = to_pages(arguments[1]), new_bytes = to_pages(arguments[2]);
	__u64 old = arguments[0], address = result, end = result + new_bytes;

	if (old == result) {
		address += old_bytes;
	} else if (old_bytes && !(arguments[3] & MOVE_LEAVES_PLACE)) {
		change->takes_away = 1;
		tell_range(BEHIND_CALL, result,
			   result + (old_bytes < new_bytes ? old_bytes : new_bytes), result - old);
		change->takes_away = 0;
	}
	if (address < end)
		tell_range(BEHIND_CALL, address, end, 0);
}

SEC("tp_btf/sys_exit")
int etw_after_memory_call(__u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)context[0];
	const struct etw_kernel_control *control;
	__u64 *arguments;
	enum memory_call call = call_of(task, number_of(regs));
	struct change_room *room = room_at(BEHIND_CALL);
	__u64 result = context[1];
	struct mapped mapped = {};
	struct thread *thread;

	if (call == CALL_OTHER || call == CALL_UNMAP || call == CALL_DETACH ||
	    result >= ERRORS_FROM)
		return 0;
	control = find_control();
	if (!is_any_wanted(control))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread) || !room)
		return 0;
	arguments = room->arguments;
	read_arguments(regs, is_compat_call(task), arguments);
	begin_change(&room->change, task);
	if (call == CALL_PROTECT) {
		if (!thread->is_committing)
			return 0;
		thread->is_committing = 0;
		room->change.flags = ETW_KERNEL_MEMORY_COMMIT;
	} else if (call == CALL_ADVISE) {
		if (arguments[2] != ADVICE_NOT_NEEDED && arguments[2] != ADVICE_FREE)
			return 0;
		if (!find_mapped(room->change.mm_at, arguments[0], &mapped) || file_of(mapped.vma))
			return 0;
		room->change.takes_away = 1;
		room->change.flags = ETW_KERNEL_MEMORY_DECOMMIT;
	} else if (call == CALL_ATTACH) {
		if (!find_mapped(room->change.mm_at, result, &mapped))
			return 0;
		arguments[1] = mapped.last + 1 - result;
	} else if (call == CALL_OLD_MAP) {
		read_old_map(arguments);
	}
	take_change_stack(context, control, room);
	if (call == CALL_BREAK) {
		if (thread->old_break)
			tell_break(&room->change, thread->old_break, result);
		thread->old_break = 0;
		return 0;
	}
	if (call == CALL_MOVE) {
		tell_move(&room->change, arguments, result);
		return 0;
	}
	if (call == CALL_PROTECT || call == CALL_ADVISE)
		result = arguments[0];
	tell_given(&room->change, result, to_pages(arguments[1]));
	return 0;
}

/* Whether the memory of @task is its parent's, too, as that of a child of vfork: who leaves it takes nothing from it. */
static __always_inline int is_shared(struct task_struct *task, struct mm_struct *mm)
{
	return BPF_CORE_READ(task, real_parent, mm) == mm;
}

/* All that a process has. @place: of the program */
static __always_inline void tell_all(void *context, struct task_struct *owner, const __u32 place,
				     __u32 takes_away)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_control *control = find_control();
	struct change_room *room = room_at(place);
	struct mm_struct *mm = BPF_CORE_READ(owner, mm);

	if (!is_any_wanted(control) || !room || !mm ||
	    !is_inside(control, bpf_task_storage_get(&etw_threads, task, 0, 0)))
		return;
	begin_change(&room->change, task);
	room->change.mm_at = (__u64)mm;
	room->change.owner_pid = BPF_CORE_READ(owner, tgid);
	room->change.takes_away = takes_away;
	take_change_stack(context, control, room);
	tell_range(place, 0, size_of(mm), 0);
}

SEC("tp_btf/task_newtask")
int etw_inherit_memory(__u64 *context)
{
	struct task_struct *task = (void *)context[0];

	if (!(context[1] & CLONE_VM_FLAG) && !(BPF_CORE_READ(task, flags) & PF_KTHREAD))
		tell_all(context, task, IN_NEW_TASK, 0);
	return 0;
}

/* It takes another program, and has its own memory still. */
SEC("tp_btf/sched_prepare_exec")
int etw_leave_program(__u64 *context)
{
	struct task_struct *task = (void *)context[0];

	if (!is_shared(task, BPF_CORE_READ(task, mm)))
		tell_all(context, task, IN_OLD_PROGRAM, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int etw_take_program(__u64 *context)
{
	tell_all(context, (void *)context[0], IN_NEW_PROGRAM, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int etw_leave_memory(__u64 *context)
{
	struct task_struct *task = (void *)context[0];

	if (!etw_exit_tells_memory || !(context[1] & 1))
		return 0;
	if (!is_shared(task, BPF_CORE_READ(task, mm)))
		tell_all(context, task, IN_END, 1);
	return 0;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

#pragma clang attribute pop

/* For the host, which asks at the start and at the end. */
SEC("iter/task_vma")
int etw_walk_memory(struct bpf_iter__task_vma *context)
{
	const struct etw_kernel_control *control = find_control();
	struct seq_file *seq = context->meta->seq;
	struct task_struct *task = context->task;
	struct vm_area_struct *vma = context->vma;
	struct etw_kernel_mapped mapping = {};
	struct file *file;

	if (!control || !task || !vma || task->pid != task->tgid ||
	    !is_inside(control, bpf_task_storage_get(&etw_threads, task, 0, 0)))
		return 0;
	mapping.base = BPF_CORE_READ(vma, vm_start);
	mapping.byte_count = BPF_CORE_READ(vma, vm_end) - mapping.base;
	mapping.pid = task->tgid;
	mapping.rights = BPF_CORE_READ(vma, vm_flags) & (VM_ACCESS | VM_SHARED);
	file = BPF_CORE_READ(vma, vm_file);
	if (file) {
		mapping.page_offset = BPF_CORE_READ(vma, vm_pgoff);
		mapping.file_key = name_file(file);
	}
	bpf_seq_write(seq, &mapping, sizeof(mapping));
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
