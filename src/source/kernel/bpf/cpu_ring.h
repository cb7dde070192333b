/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of frequent events, one for each processor, so that no processor waits for another; what is known of each
 * thread; and how a record is sent with its stack.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_CPU_RING_H
#define ETW_SOURCE_KERNEL_BPF_CPU_RING_H

#include "cpu_records.h"
#include "stacks.h"

struct cpu_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the host makes the real ones */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* the host sets it: one for each possible processor */
	__type(key, __u32);
	__array(values, struct cpu_ring);
} etw_cpu_rings SEC(".maps");

struct stack {
	__u32 kernel_frames, user_frames;
	__u64 flags; /* enum etw_kernel_stack_flag: of the copy */
	__u64 frames[ETW_KERNEL_FRAMES];
};

/* A fault that a thread is in, or was in last: faults.bpf.c. */
struct fault {
	__u64 start_ns; /* 0: nothing is known of it */
	__u64 address;
	__u64 stack_pages;             /* of the process, when it began */
	__u64 read_cache, first_index; /* what was read for it: the file's cache, and where */
	__u32 read_pages;
	__u32 error; /* as the processor says it */
};

/* What a thread does with files: file_calls.bpf.c. */
struct file_work {
	__u64 irps[2];         /* of the operations that its system call is; 0: none */
	__u32 count;           /* of the last of its operations; 0: none yet */
	__u16 types[2], flags; /* enum etw_kernel_file_type, enum etw_kernel_file_call_flag */
	__u16 is_late;         /* the first has not been told: its path was not in memory */
};

/* What is known of a thread. Made when it starts, or by the walk over all threads when the programs are attached. */
struct thread {
	__u64 out_ns; /* when it was switched out; 0: not since the programs are there */
	__u32 tree_pid; /* the process tree that it is of, once that was wanted alone: its first process */
	__u32 owner_pid; /* of a kernel worker: the tree that asked for what it does now (owners.h); 0: none */
	__u32 has_stack;  /* @stack is where it was switched out */
	__u32 priorities; /* as they were looked at last: priorities.h */
	struct fault fault;
	__u64 old_break;     /* of the heap, before a call that may move it */
	__u64 network_sock;  /* whose datagrams the end of its call tells: network.bpf.c; 0: none */
	__u32 is_committing; /* a call gives memory its first rights */
	__u32 reserved;
	struct stack stack;
	struct file_work file_work;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} etw_threads SEC(".maps");

static __always_inline int is_wanted(const struct etw_kernel_control *control, __u32 kind)
{
	return control->cpu_kinds >> kind & 1;
}

static __always_inline int wants_stack(const struct etw_kernel_control *control, __u32 kind)
{
	return control->stack_kinds >> kind & 1;
}

/* @thread: NULL: nothing is known of it. */
static __always_inline int is_inside(const struct etw_kernel_control *control,
				     const struct thread *thread)
{
	return !control->only_pid || (thread && (thread->tree_pid == control->only_pid ||
						 thread->owner_pid == control->only_pid));
}

/* Returns the moment by which the copy is known; 0: there is none. */
static __always_inline __u64 send_copy(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&etw_cpu_rings, &cpu);
	struct etw_kernel_cpu_record *record = NULL;
	struct etw_kernel_stack_copy *copy;
	__u64 key_ns;

	/* Events need the rest of the room: a stack can be done without. */
	if (ring && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) <
			    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2)
		record = bpf_ringbuf_reserve(
			ring, sizeof(*record) + sizeof(*copy) + ETW_KERNEL_COPY_BYTES, 0);
	if (!record)
		return 0;
	key_ns = bpf_ktime_get_ns();
	*record = (struct etw_kernel_cpu_record){
		.time_ns = key_ns,
		.kind = ETW_KERNEL_STACK_COPY,
		.payload_bytes = sizeof(*copy),
	};
	copy = (void *)(record + 1);
	copy_user(copy, (char *)(copy + 1), ETW_KERNEL_COPY_BYTES, task, key_ns);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return key_ns;
}

/* The stack of the thread that runs, kernel and user. @skipped: innermost frames to leave out, a constant. */
static __always_inline void take_stack_from(void *context, struct stack *stack, int has_user,
					    const __u32 skipped)
{
	const struct etw_kernel_control *control = find_control();
	__u32 kernel_frames;

	kernel_frames = frames_of(bpf_get_stack(context, stack->frames,
						ETW_KERNEL_KERNEL_FRAMES * sizeof(__u64), skipped),
				  ETW_KERNEL_KERNEL_FRAMES);
	stack->kernel_frames = kernel_frames;
	stack->user_frames = 0;
	stack->flags = 0;
	if (has_user && control && control->options & ETW_KERNEL_COPY_STACKS) {
		stack->frames[kernel_frames] = send_copy();
		stack->user_frames = stack->frames[kernel_frames] != 0;
		stack->flags = stack->user_frames ? ETW_KERNEL_STACK_COPIED
						  : ETW_KERNEL_STACK_NO_COPY;
	} else if (has_user)
		stack->user_frames = frames_of(bpf_get_stack(context, &stack->frames[kernel_frames],
							     ETW_KERNEL_USER_FRAMES * sizeof(__u64),
							     BPF_F_USER_STACK),
					       ETW_KERNEL_USER_FRAMES);
}

/* @context: of a program at a tracepoint. */
static __always_inline void take_stack(void *context, struct stack *stack, int has_user)
{
	take_stack_from(context, stack, has_user, SKIPPED_FRAMES);
}

/* @room: for frames, in bytes; a constant in each use. */
static __always_inline void send_room(void *ring, const struct etw_kernel_cpu_record *head,
				      const void *payload, const __u32 payload_bytes,
				      const struct stack *stack, __u32 stack_bytes,
				      const __u32 room)
{
	struct etw_kernel_cpu_record *record;

	record = bpf_ringbuf_reserve(ring, sizeof(*record) + payload_bytes + room, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + head->kind);
		return;
	}
	*record = *head;
	record->payload_bytes = payload_bytes;
	record->time_ns = bpf_ktime_get_ns();
	__builtin_memcpy(record + 1, payload, payload_bytes);
	if (room) {
		/* Linux 6.1 must see the bound here: what the caller compared is another copy to it. */
		barrier_var(stack_bytes);
		if (stack_bytes > room)
			stack_bytes = room;
		bpf_probe_read_kernel((char *)(record + 1) + payload_bytes, stack_bytes,
				      stack->frames);
	}
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/*
 * Sends a record of the processor that runs.
 *
 * @head:    kind, and whose stack it is; the rest is filled in
 * @payload: @payload_bytes of them, a constant and a multiple of 8
 * @stack:   NULL: none
 */
static __always_inline void send(struct etw_kernel_cpu_record *head, const void *payload,
				 const __u32 payload_bytes, const struct stack *stack)
{
	__u32 cpu = bpf_get_smp_processor_id(), bytes = 0;
	void *ring = bpf_map_lookup_elem(&etw_cpu_rings, &cpu);

	if (!ring) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + head->kind);
		return;
	}
	if (stack) {
		head->kernel_frames = stack->kernel_frames;
		head->user_frames = stack->user_frames;
		head->stack_flags |= stack->flags;
		bytes = (stack->kernel_frames + stack->user_frames) * sizeof(__u64);
	}
	if (!bytes)
		send_room(ring, head, payload, payload_bytes, stack, 0, 0);
	else if (bytes <= 16 * sizeof(__u64))
		send_room(ring, head, payload, payload_bytes, stack, bytes, 16 * sizeof(__u64));
	else if (bytes <= 32 * sizeof(__u64))
		send_room(ring, head, payload, payload_bytes, stack, bytes, 32 * sizeof(__u64));
	else if (bytes <= 64 * sizeof(__u64))
		send_room(ring, head, payload, payload_bytes, stack, bytes, 64 * sizeof(__u64));
	else
		send_room(ring, head, payload, payload_bytes, stack, bytes,
			  ETW_KERNEL_FRAMES * sizeof(__u64));
}

#endif
