/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Transfers of disks while they are under way, by the address of their request, or of their bio where a disk has no requests:
 * who asked for them, when, and for which file.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_DISKS_H
#define ETW_SOURCE_KERNEL_BPF_DISKS_H

#include "disk_records.h"
#include "disk_types.h"
#include "files.h"
#include "owners.h"
#include "readable.h"

#define TRANSFERS_MAX 8192
#define ASKERS_MAX    256
#define PARTS_MAX     1024

enum transfer_state {
	TRANSFER_QUEUED = 1,
	TRANSFER_ISSUED = 2, /* its driver has it */
	TRANSFER_AGAIN = 3,  /* its driver gave it back */
};

struct transfer {
	struct etw_kernel_disk_end end; /* as far as it is known */
	__u32 pid;
	__u8 state;     /* enum transfer_state */
	__u8 has_stack; /* in etw_transfer_stacks */
	__u8 reserved[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRANSFERS_MAX);
	__type(key, __u64);
	__type(value, struct transfer);
} etw_transfers SEC(".maps");

/*
 * Who asked for a flush of the disk's cache, by the address of its queue, and who asked for what waits for such a flush, by the
 * address of its bio: a kernel worker hands these to the driver.
 */
struct asker {
	__u32 tid, pid;
	__u32 is_inside;
	__u8 is_for_later; /* of a flush behind a write: the disk may do it by itself */
	__u8 is_for_two;   /* flushes, before a write and behind it */
	__u8 reserved[2];
	__u32 stack_flags; /* enum etw_kernel_stack_flag */
	__u32 reserved_2;
	struct stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ASKERS_MAX);
	__type(key, __u64);
	__type(value, struct asker);
} etw_disk_askers SEC(".maps");

/* Stacks of who asked, where the events of the ends are to have them: of each transfer that is under way, by the same address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TRANSFERS_MAX);
	__type(key, __u64);
	__type(value, struct asker);
} etw_transfer_stacks SEC(".maps");

/* Bios that were split, and their parts: the address of the whole. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PARTS_MAX);
	__type(key, __u64);
	__type(value, __u64);
} etw_disk_parts SEC(".maps");

/* Stacks while a record is made, of each program its own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct asker);
} etw_queue_scratch SEC(".maps"), etw_issue_scratch SEC(".maps"), etw_ask_scratch SEC(".maps"),
	etw_bio_scratch SEC(".maps");

#define DISK_KINDS \
	(1u << ETW_KERNEL_DISK_BEGIN | 1u << ETW_KERNEL_DISK_END | 1u << ETW_KERNEL_SPLIT)

static __always_inline const struct etw_kernel_control *find_disk_control(void)
{
	const struct etw_kernel_control *control = find_control();

	return control && control->cpu_kinds & DISK_KINDS ? control : NULL;
}

/* Returns enum etw_kernel_disk_operation, whose numbers are Linux' own; ETW_KERNEL_DISK_OPERATIONS: what is told of no disk. */
static __always_inline __u32 operation_of(__u32 flags)
{
	__u32 operation = flags & REQUEST_OPERATION_MASK;

	if (operation == OPERATION_APPEND)
		return ETW_KERNEL_DISK_WRITE;
	return operation < ETW_KERNEL_DISK_OPERATIONS ? operation : ETW_KERNEL_DISK_OPERATIONS;
}

static __always_inline __u32 device_of(struct gendisk *disk)
{
	return (__u32)disk->major << ETW_KERNEL_DISK_MINOR_BITS | (__u32)disk->first_minor;
}

static __always_inline struct page *first_page(struct bio *bio)
{
	/* Read as a number: Linux 6.1 lets nobody reckon with a pointer that it knows. */
	struct bio_vec *vec = BPF_CORE_READ(bio, bi_io_vec);
	struct page *page;
	unsigned long head;

	if (!vec)
		return NULL;
	/* The verifier lets nobody read through what was reckoned. */
	vec = (void *)((__u64)vec +
		       (__u64)bio->bi_iter.bi_idx * bpf_core_type_size(struct bio_vec));
	page = BPF_CORE_READ(vec, bv_page);
	if (!page)
		return NULL;
	head = BPF_CORE_READ(page, compound_head);
	return head & 1 ? (void *)(head - 1) : page;
}

/*
 * The file whose cache the data are from or to. A buffer that a program gave may be a file's page, too, but not one that is
 * locked for being read into, or marked as being written.
 */
static __always_inline void find_file(struct etw_kernel_disk_end *to, struct bio *bio)
{
	struct address_space *mapping;
	struct inode *inode;
	unsigned long flags = 0, busy = PAGE_IS_LOCKED;
	struct page *page = NULL;

	if (!bpf_core_field_exists(page->mapping) || !bio)
		return;
	page = first_page(bio);
	/* A page begins with its flags, whatever their type is. */
	if (!page || bpf_probe_read_kernel(&flags, sizeof(flags), page))
		return;
	if (to->operation == ETW_KERNEL_DISK_WRITE)
		busy = 1ul << bpf_core_enum_value(enum pageflags, PG_writeback);
	mapping = (void *)BPF_CORE_READ(page, mapping);
	if (!mapping || !(flags & busy))
		return;
	if ((unsigned long)mapping & MAPPING_IS_NO_FILE) {
		to->flags |= ETW_KERNEL_DISK_PAGED;
		return;
	}
	to->flags |= ETW_KERNEL_DISK_CACHED;
	inode = BPF_CORE_READ(mapping, host);
	if (inode && BPF_CORE_READ(inode, i_sb, s_magic) != BLOCK_DEVICE_FILES)
		to->file_key = key_of(inode);
}

/* What a bio says of the transfer that begins with it. */
static __always_inline void describe_bio(struct etw_kernel_disk_end *to, struct bio *bio,
					 __u32 flags)
{
	if (flags & REQUEST_SYNC || to->operation == ETW_KERNEL_DISK_READ)
		to->flags |= ETW_KERNEL_DISK_SYNC;
	if (flags & REQUEST_AHEAD)
		to->flags |= ETW_KERNEL_DISK_AHEAD;
	if (!bio)
		return;
	to->io_priority = bio->bi_ioprio;
	find_file(to, bio);
}

static __always_inline int wants_begin_stack(const struct etw_kernel_control *control,
					     __u32 operation)
{
	return is_wanted(control, ETW_KERNEL_DISK_BEGIN) &&
	       control->stack_events & etw_kernel_disk_stack_event(operation);
}

static __always_inline int wants_end_stack(const struct etw_kernel_control *control,
					   __u32 operation)
{
	return is_wanted(control, ETW_KERNEL_DISK_END) &&
	       control->stack_events & etw_kernel_disk_end_stack_event(operation);
}

static __always_inline int wants_any_stack(const struct etw_kernel_control *control,
					   __u32 operation)
{
	return wants_begin_stack(control, operation) || wants_end_stack(control, operation);
}

/* The thread that runs, as who asks. @to: in a scratch. @takes_stack: something that comes of it is to have one */
static __always_inline void ask_now(void *context, const struct etw_kernel_control *control,
				    struct asker *to, int takes_stack)
{
	struct task_struct *task = bpf_get_current_task_btf();

	to->tid = task->pid;
	to->pid = task->tgid;
	to->is_inside = is_thread_inside(control, task);
	to->is_for_later = to->is_for_two = 0;
	to->stack_flags = 0;
	to->stack.kernel_frames = to->stack.user_frames = 0;
	to->stack.flags = 0;
	if (to->is_inside && takes_stack) {
		to->stack_flags = ETW_KERNEL_STACK_ASKED;
		take_stack(context, &to->stack, !(task->flags & PF_KTHREAD));
	}
}

static __always_inline void send_begin(const struct etw_kernel_control *control,
				       const struct transfer *transfer, const struct asker *asker)
{
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_disk_begin payload = {};
	const struct stack *stack = NULL;

	if (!is_wanted(control, ETW_KERNEL_DISK_BEGIN))
		return;
	head.kind = ETW_KERNEL_DISK_BEGIN;
	payload.transfer = transfer->end.transfer;
	payload.tid = asker->tid;
	payload.pid = asker->pid;
	payload.operation = transfer->end.operation;
	head.stack_tid = asker->tid;
	head.stack_pid = asker->pid;
	if (wants_begin_stack(control, payload.operation)) {
		head.stack_flags = asker->stack_flags;
		stack = asker->stack_flags ? &asker->stack : NULL;
	}
	send(&head, &payload, sizeof(payload), stack);
}

static __always_inline void forget_transfer(__u64 key)
{
	bpf_map_delete_elem(&etw_transfers, &key);
	bpf_map_delete_elem(&etw_transfer_stacks, &key);
}

/* @transfer: described, but for who asked and when */
static __always_inline void begin_transfer(const struct etw_kernel_control *control,
					   struct transfer *transfer, const struct asker *asker)
{
	__u64 key = transfer->end.transfer;

	if (!asker->is_inside) {
		/* What was at this address before has ended unseen. */
		forget_transfer(key);
		return;
	}
	if (transfer->end.file_key)
		(void)name_inode((struct inode *)transfer->end.file_key);
	transfer->end.tid = asker->tid;
	transfer->pid = asker->pid;
	transfer->end.begin_ns = bpf_ktime_get_ns();
	transfer->has_stack = asker->stack_flags &&
			      wants_end_stack(control, transfer->end.operation);
	if (bpf_map_update_elem(&etw_transfers, &key, transfer, BPF_ANY))
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_DISK_END);
	else if (transfer->has_stack &&
		 bpf_map_update_elem(&etw_transfer_stacks, &key, asker, BPF_ANY))
		bpf_map_delete_elem(&etw_transfer_stacks, &key); /* what ended unseen there */
	send_begin(control, transfer, asker);
}

static __always_inline void end_transfer(const struct etw_kernel_control *control,
					 const struct transfer *transfer)
{
	struct etw_kernel_cpu_record head = {};
	struct etw_kernel_disk_end payload = transfer->end;
	const struct stack *stack = NULL;
	const struct asker *asker;
	__u64 key = payload.transfer;
	__u8 has_stack = transfer->has_stack;

	head.kind = ETW_KERNEL_DISK_END;
	if (wants_end_stack(control, payload.operation)) {
		head.stack_flags = ETW_KERNEL_STACK_ASKED;
		head.stack_tid = payload.tid;
		head.stack_pid = transfer->pid;
		asker = has_stack ? bpf_map_lookup_elem(&etw_transfer_stacks, &key) : NULL;
		if (asker)
			stack = &asker->stack;
	}
	if (is_wanted(control, ETW_KERNEL_DISK_END))
		send(&head, &payload, sizeof(payload), stack);
	bpf_map_delete_elem(&etw_transfers, &key);
	if (has_stack)
		bpf_map_delete_elem(&etw_transfer_stacks, &key);
}

#endif
