/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Operations of files that are asked for through io_uring: they pass by the system calls. Told are reads, writes and flushes
 * of a descriptor; those of a registered file, whose table differs from kernel to kernel, are not.
 */
#include "file_work.h"

#define IS_REGISTERED 0x1 /* REQ_F_FIXED_FILE */
#define REQUESTS      16384
#define PIECES_MAX    64

/* IORING_OP_*. */
enum {
	OP_READV = 1,
	OP_WRITEV = 2,
	OP_FSYNC = 3,
	OP_READ_FIXED = 4,
	OP_WRITE_FIXED = 5,
	OP_READ = 22,
	OP_WRITE = 23,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct io_cqe {
	__s32 res;
	union {
		__u32 flags;
		int fd;
	};
};

struct io_kiocb {
	__u8 opcode;
	__u64 flags;
	struct io_cqe cqe;
};

struct kiocb {
	__s64 ki_pos;
};

/* It lies at the beginning of the request. */
struct io_rw {
	struct kiocb kiocb;
	__u64 addr;
	__u32 len;
};

#pragma clang attribute pop

/* An operation that was asked for, by its request. */
struct request {
	__u64 irp;
	__u32 type;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REQUESTS);
	__type(key, __u64);
	__type(value, struct request);
} etw_file_requests SEC(".maps");

static __always_inline __u32 type_of(__u32 operation)
{
	switch (operation) {
	case OP_READV:
	case OP_READ_FIXED:
	case OP_READ:
		return ETW_KERNEL_FILE_READ;
	case OP_WRITEV:
	case OP_WRITE_FIXED:
	case OP_WRITE:
		return ETW_KERNEL_FILE_WRITE;
	case OP_FSYNC:
		return ETW_KERNEL_FILE_FLUSH;
	default:
		return 0;
	}
}

/* Of pieces; a program looks at some of them. */
static __always_inline __u32 size_of_pieces(__u64 at, __u32 count)
{
	__u64 bytes = 0;

	for (__u32 i = 0; i < PIECES_MAX && i < count; i++) {
		__u64 piece[2] = {};

		if (bpf_probe_read_user(piece, sizeof(piece), (void *)(at + (__u64)i * 16)))
			break;
		bytes += piece[1];
	}
	return bytes;
}

static __always_inline int submit(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct io_kiocb *asked = (void *)context[0];
	struct task_struct *task = bpf_get_current_task_btf();
	struct etw_kernel_file_begin payload = {};
	struct request request = {};
	__u64 at = (__u64)asked;
	struct thread *thread;
	__u32 operation;
	struct file *file;

	if (!wants_files(control))
		return 0;
	operation = BPF_CORE_READ(asked, opcode);
	request.type = type_of(operation);
	if (!request.type || BPF_CORE_READ(asked, flags) & IS_REGISTERED)
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread))
		return 0;
	file = file_of(task, BPF_CORE_READ(asked, cqe.fd));
	if (!file || !is_named_kind(file))
		return 0;
	thread->file_work.count = operations_of(thread) + 1;
	request.irp = operation_number(task->pid, thread->file_work.count);
	payload.irp = request.irp;
	payload.key = name_file(file);
	payload.file = object_of(file, payload.key);
	payload.tid = task->pid;
	payload.type = request.type;
	payload.options = BPF_CORE_READ(file, f_flags);
	if (request.type != ETW_KERNEL_FILE_FLUSH) {
		const struct io_rw *transfer = (void *)asked;

		payload.offset = BPF_CORE_READ(transfer, kiocb.ki_pos);
		if (payload.offset == (__u64)-1)
			payload.offset = BPF_CORE_READ(file, f_pos);
		payload.byte_count = BPF_CORE_READ(transfer, len);
		if (operation == OP_READV || operation == OP_WRITEV)
			payload.byte_count = size_of_pieces(BPF_CORE_READ(transfer, addr),
							    payload.byte_count);
	}
	if (is_wanted(control, ETW_KERNEL_FILE_BEGIN))
		send_begin(&payload, take_file_stack(context, control, IN_REQUEST,
						     ETW_KERNEL_FILE_BEGIN, request.type));
	bpf_map_update_elem(&etw_file_requests, &at, &request, BPF_ANY);
	return 0;
}

SEC("tp_btf/io_uring_submit_req")
int etw_submit_file_request(__u64 *context)
{
	return submit(context);
}

/* As it was called from Linux 6.0 to 6.3. */
SEC("tp_btf/io_uring_submit_sqe")
int etw_submit_file_entry(__u64 *context)
{
	return submit(context);
}

/* Whoever runs here need not be who asked. */
SEC("tp_btf/io_uring_complete")
int etw_complete_file_request(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	const struct io_kiocb *asked = (void *)context[1];
	__u64 at = (__u64)asked;
	const struct request *request;

	if (!wants_files(control) || !asked)
		return 0;
	request = bpf_map_lookup_elem(&etw_file_requests, &at);
	if (!request)
		return 0;
	if (is_wanted(control, ETW_KERNEL_FILE_END))
		send_end(request->irp, BPF_CORE_READ(asked, cqe.res), request->type,
			 request->type == ETW_KERNEL_FILE_FLUSH ? 0 : ETW_KERNEL_CALL_COUNTS,
			 NO_STACK);
	bpf_map_delete_elem(&etw_file_requests, &at);
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
