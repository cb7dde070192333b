/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What programs that tell of operations of files have in common: which files these are of, what an open file is called,
 * and how beginnings and ends are sent.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_FILE_WORK_H
#define ETW_SOURCE_KERNEL_BPF_FILE_WORK_H

#include "files.h"

#define FILE_KIND   0170000
#define FIFO_KIND   0010000
#define SOCKET_KIND 0140000
#define OPEN_FILES  65536

/* By which operation a file was opened. */
struct opened_file {
	__u64 irp;
	__u64 key; /* of its inode: an address comes again with another file */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPEN_FILES);
	__type(key, __u64);
	__type(value, struct opened_file);
} etw_opened_files SEC(".maps");

/* Whose stack it is. */
enum {
	IN_ENTER,
	IN_EXIT,
	IN_END,
	IN_REQUEST,
	IN_REQUEST_END,
	IN_MAPPED_WRITE,
	IN_EXEC,
	NO_STACK
};

/* A stack while its record is made: one for each program, none of which is entered twice on a processor. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NO_STACK);
	__type(key, __u32);
	__type(value, struct stack);
} etw_file_stacks SEC(".maps");

static __always_inline int wants_files(const struct etw_kernel_control *control)
{
	return control && (is_wanted(control, ETW_KERNEL_FILE_BEGIN) ||
			   is_wanted(control, ETW_KERNEL_FILE_END));
}

/*
 * A number of its own for an operation. The id of a thread comes again with another one, so that a thread counts on from the
 * moment of its first operation, in about microseconds.
 */
static __always_inline __u64 operation_number(__u32 tid, __u32 count)
{
	return (__u64)tid << 32 | count;
}

/* How far the thread has counted. */
static __always_inline __u32 operations_of(const struct thread *thread)
{
	return thread->file_work.count ? thread->file_work.count : bpf_ktime_get_ns() >> 10;
}

static __always_inline struct file *file_of(struct task_struct *task, __u32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *file = NULL;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return file;
}

/* Whether operations on it are events: pipes, sockets, and inodes without a kind, such as an eventfd's, are left out. */
static __always_inline int is_named_kind(struct file *file)
{
	__u32 kind = BPF_CORE_READ(file, f_inode, i_mode) & FILE_KIND;

	return kind && kind != FIFO_KIND && kind != SOCKET_KIND;
}

/* What events call the open file. */
static __always_inline __u64 object_of(struct file *file, __u64 key)
{
	__u64 address = (__u64)file;
	const struct opened_file *opened = bpf_map_lookup_elem(&etw_opened_files, &address);

	return opened && opened->key == key ? opened->irp : address;
}

static __always_inline int has_stack(const struct etw_kernel_control *control, __u32 type)
{
	return control->file_stacks >> ((type - ETW_KERNEL_FILE_TYPES_FIRST) & 31) & 1;
}

/*
 * take_file_stack() - the stack of the thread that runs, for those events that are to have it.
 *
 * @place: where it is put: one for each program
 * @kind:  of the events' records
 * @type:  of the first event; the next may be of the next type: Cleanup and Close, Read and Write
 *
 * Returns @place; NO_STACK: none is wanted.
 */
static __always_inline __u32 take_file_stack(void *context,
					     const struct etw_kernel_control *control, __u32 place,
					     __u32 kind, __u32 type)
{
	struct stack *stack;

	if (!wants_stack(control, kind) ||
	    (kind == ETW_KERNEL_FILE_BEGIN && !has_stack(control, type) &&
	     !has_stack(control, type + 1)))
		return NO_STACK;
	stack = bpf_map_lookup_elem(&etw_file_stacks, &place);
	if (stack)
		take_stack(context, stack, /* has_user= */ 1);
	return place;
}

/* @stack: its place; NO_STACK: none is wanted */
static __always_inline struct stack *begin_head(struct etw_kernel_cpu_record *head, __u32 stack)
{
	__u64 id = bpf_get_current_pid_tgid();

	head->stack_tid = (__u32)id;
	head->stack_pid = id >> 32;
	if (stack == NO_STACK)
		return NULL;
	head->stack_flags = ETW_KERNEL_STACK_ASKED;
	return bpf_map_lookup_elem(&etw_file_stacks, &stack);
}

static __always_inline void send_end_record(__u64 irp, __s64 result, __u32 type, __u32 flags,
					    __u32 stack)
{
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_FILE_END};
	struct etw_kernel_file_end payload = {
		.irp = irp,
		.result = result,
		.type = type,
		.call_flags = flags,
		.is_new = flags >> 16,
	};

	send(&head, &payload, sizeof(payload), begin_head(&head, stack));
}

/* send_end() - the end of an operation. @flags: of its call, and from bit 16 on whether it made the file. Verified once. */
__noinline int send_end(__u64 irp, __s64 result, __u32 type, __u32 flags, __u32 stack)
{
	send_end_record(irp, result, type, flags, stack);
	return 0;
}

static __always_inline void send_begin_record(struct etw_kernel_file_begin *payload, __u32 stack)
{
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_FILE_BEGIN};

	if (payload)
		send(&head, payload, sizeof(*payload), begin_head(&head, stack));
}

/* send_begin() - an operation without a path begins. Verified once. */
__noinline int send_begin(struct etw_kernel_file_begin *payload, __u32 stack)
{
	send_begin_record(payload, stack);
	return 0;
}

#endif
