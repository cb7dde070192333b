/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What system calls do with files. Linux has no tracepoint there, so an operation begins where its call does, and ends
 * where that returns. Which calls are operations, and what their arguments mean, the host says in a map. Pipes, sockets and
 * what else has no name are left out.
 */
#include "calls.h"
#include "file_work.h"

#define AT_CWD         -100
#define APPENDS        02000 /* O_APPEND */
#define IS_WRITE(type) ((type) == ETW_KERNEL_FILE_WRITE)
#define PIECES_MAX     1024 /* IOV_MAX */
#define CLOSES_MAX \
	8192 /* that are told of one process or call: a ring has no room for many more at once */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct etw_kernel_file_calls);
} etw_file_calls SEC(".maps");

/* The call that runs, as far as every step wants it. */
struct call {
	__u32 tid;
	__u32 count; /* of the thread, as operations_of() says */
	__u32 stack; /* place of the call's; NO_STACK: none is wanted */
	__u32 is_compat;
	struct etw_kernel_file_call how;
	__u16 types[2]; /* as in struct file_work */
	__u64 irps[2];
	__u64 arguments[CALL_ARGUMENTS];
	struct etw_kernel_file_begin begin; /* an operation while it is sent */
};

/* One for each program, as etw_file_stacks: Linux 6.1 has little room on a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NO_STACK);
	__type(key, __u32);
	__type(value, struct call);
} etw_running_calls SEC(".maps");

/* @place: of the program that runs */
static __always_inline struct call *call_at(__u32 place)
{
	return bpf_map_lookup_elem(&etw_running_calls, &place);
}

static __always_inline __u64 argument(const struct call *call, __u32 place)
{
	__u32 at = place - 1;

	return at < CALL_ARGUMENTS ? call->arguments[at] : 0;
}

static __always_inline __u64 new_irp(struct call *call)
{
	return operation_number(call->tid, ++call->count);
}

/* Whether the call that closes it leaves nobody with it. */
static __always_inline int is_last_use(struct file *file)
{
	if (bpf_core_field_exists(file->f_ref))
		return !BPF_CORE_READ(file, f_ref.refcnt.counter);
	return BPF_CORE_READ((struct file___counted *)file, f_count.counter) == 1;
}

/* @room: for the path and the frames behind it; a constant */
static __always_inline void send_path_room(void *ring, const struct etw_kernel_cpu_record *head,
					   const struct etw_kernel_file_begin *payload,
					   const char *from, __u32 bytes, const __u32 room)
{
	struct etw_kernel_cpu_record *record;

	record = bpf_ringbuf_reserve(ring, sizeof(*record) + sizeof(*payload) + room, 0);
	if (!record) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_BEGIN);
		return;
	}
	*record = *head;
	record->time_ns = bpf_ktime_get_ns();
	record->payload_bytes = sizeof(*payload) + ((payload->path_bytes + 7) & ~7u);
	__builtin_memcpy(record + 1, payload, sizeof(*payload));
	/* Linux 6.1 must see the bound here: what the caller compared is another copy to it. */
	barrier_var(bytes);
	if (bytes > room)
		bytes = room;
	bpf_probe_read_kernel((char *)(record + 1) + sizeof(*payload), bytes, from);
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* An operation with the path in a room, of which payload->path_bytes are used. */
__noinline int send_begin_with_path(struct etw_kernel_file_begin *payload, __u32 room_number,
				    __u32 stack_number)
{
	struct etw_kernel_cpu_record head = {.kind = ETW_KERNEL_FILE_BEGIN};
	struct path_room *room = bpf_map_lookup_elem(&etw_path_rooms, &room_number);
	__u32 cpu = bpf_get_smp_processor_id(), frames = 0, bytes;
	void *ring = bpf_map_lookup_elem(&etw_cpu_rings, &cpu);
	const struct stack *stack = begin_head(&head, stack_number);

	if (!ring) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_BEGIN);
		return 0;
	}
	if (!room || !payload)
		return 0;
	bytes = (payload->path_bytes + 7) & ~7u;
	if (bytes > ETW_KERNEL_PATH_BYTES)
		return 0;
	if (stack) {
		head.kernel_frames = stack->kernel_frames;
		head.user_frames = stack->user_frames;
		head.stack_flags |= stack->flags;
		frames = (stack->kernel_frames + stack->user_frames) * sizeof(__u64);
		if (frames > ETW_KERNEL_FRAMES * sizeof(__u64))
			frames = ETW_KERNEL_FRAMES * sizeof(__u64);
		bpf_probe_read_kernel(&room->path[bytes], frames, stack->frames);
	}
	bytes += frames;
	if (bytes <= 64)
		send_path_room(ring, &head, payload, room->path, bytes, 64);
	else if (bytes <= 128)
		send_path_room(ring, &head, payload, room->path, bytes, 128);
	else if (bytes <= 256)
		send_path_room(ring, &head, payload, room->path, bytes, 256);
	else if (bytes <= 1024)
		send_path_room(ring, &head, payload, room->path, bytes, 1024);
	else
		send_path_room(ring, &head, payload, room->path, bytes, PATH_ROOM_BYTES);
	return 0;
}

/* Where the stack of an event is, if it is to have one. */
static __always_inline __u32 stack_of(const struct etw_kernel_control *control,
				      const struct call *call, __u32 type)
{
	return call->stack != NO_STACK && has_stack(control, type) ? call->stack : NO_STACK;
}

/* Reads a path of the call into @room. Returns its bytes with the NUL; 0: it is not in memory, or there is none. */
static __always_inline __u32 read_path(struct path_room *room, __u64 path)
{
	long bytes = bpf_probe_read_user_str(room->path, ETW_KERNEL_PATH_BYTES, (void *)path);

	return bytes > 0 && bytes <= ETW_KERNEL_PATH_BYTES ? bytes : 0;
}

/* The folder where a path begins that has no slash in front; it is named. */
static __always_inline __u64 folder_of(const struct path_room *room, __s32 fd, __u32 has_fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fs_struct *fs;

	if (room->path[0] == '/')
		return 0;
	if (has_fd && fd != AT_CWD)
		return name_file(file_of(task, fd));
	fs = BPF_CORE_READ(task, fs);
	return name_by((__u64)BPF_CORE_READ(fs, pwd.dentry, d_inode),
		       (__u64)fs + bpf_core_field_offset(fs->pwd), ETW_KERNEL_NAME_IS);
}

/* The file that a path leads to is known by it alone: a name for this one operation. */
static __always_inline void send_given_name(__u64 irp, __u64 folder, struct path_room *room,
					    __u32 bytes)
{
	room->name = (struct etw_kernel_file_name){
		.key = irp,
		.folder = folder,
		.flags = ETW_KERNEL_NAME_AS_GIVEN,
		.path_bytes = bytes,
	};
	room->path_bytes = bytes;
	if (!send_name(room))
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_NAME);
}

/* Fills in what every beginning has. */
static __always_inline void start_begin(struct call *call, __u64 irp, __u64 file, __u64 key,
					__u32 type)
{
	call->begin = (struct etw_kernel_file_begin){};
	call->begin.irp = irp;
	call->begin.file = file;
	call->begin.key = key;
	call->begin.tid = call->tid;
	call->begin.type = type;
	call->begin.info_class = call->how.info_class;
	call->begin.call_flags = call->how.flags;
}

static __always_inline int event_has_path(__u32 type)
{
	return type == ETW_KERNEL_FILE_CREATE || type >= ETW_KERNEL_FILE_DELETE_PATH;
}

/* Returns 0: a path was not in memory, nothing was sent. */
static __always_inline int send_path_parts(const struct etw_kernel_control *control,
					   struct call *call, __u64 irp, __u32 number,
					   struct path_room *room)
{
	const struct etw_kernel_file_call *how = &call->how;
	struct etw_kernel_file_begin *begin = &call->begin;
	__u32 bytes = read_path(room, argument(call, how->path));
	__u64 folder;

	if (!bytes)
		return 0;
	folder = folder_of(room, argument(call, how->file), how->file);
	if (how->type != ETW_KERNEL_FILE_CREATE && how->type != ETW_KERNEL_FILE_DELETE_PATH &&
	    is_wanted(control, ETW_KERNEL_FILE_NAME))
		send_given_name(irp, folder, room, bytes);
	start_begin(call, irp, irp, irp, how->type);
	if (how->type == ETW_KERNEL_FILE_CREATE) {
		begin->options = argument(call, how->size);
		begin->attributes = argument(call, how->offset);
		if (how->flags & ETW_KERNEL_CALL_HAS_HOW) {
			__u64 options[2] = {};

			bpf_probe_read_user(options, sizeof(options),
					    (void *)argument(call, how->size));
			begin->options = options[0];
			begin->attributes = options[1];
		}
	} else if (how->size) {
		begin->extra = argument(call, how->size);
		if (how->flags & ETW_KERNEL_CALL_SPLIT_OFFSET)
			begin->extra = (__u32)begin->extra | argument(call, how->size + 1) << 32;
	}
	if (how->other_path) {
		bytes = read_path(room, argument(call, how->other_path));
		if (!bytes)
			return 0;
		folder = folder_of(room, argument(call, how->other_file), how->other_file);
	}
	if (!is_wanted(control, ETW_KERNEL_FILE_BEGIN))
		return 1;
	if (!event_has_path(how->type)) {
		send_begin(begin, stack_of(control, call, how->type));
		return 1;
	}
	begin->folder = folder;
	begin->path_bytes = bytes;
	send_begin_with_path(begin, number, stack_of(control, call, how->type));
	return 1;
}

/* begin_by_path() - an operation on what a path leads to. Returns as send_path_parts(). Verified once. */
__noinline int begin_by_path(__u32 place, __u64 irp)
{
	const struct etw_kernel_control *control = find_control();
	__u32 number = take_path_room();
	struct path_room *room = bpf_map_lookup_elem(&etw_path_rooms, &number);
	struct call *call = call_at(place);
	int is_sent;

	if (!room) {
		count_drop(ETW_KERNEL_DROP_CPU_RING_FULL + ETW_KERNEL_FILE_BEGIN);
		return 1;
	}
	is_sent = !control || !call || send_path_parts(control, call, irp, number, room);
	__sync_lock_test_and_set(&room->is_used, 0);
	return is_sent;
}

struct pieces {
	__u64 at, byte_count;
	__u32 count, is_compat;
};

static long add_piece(__u32 number, struct pieces *pieces)
{
	__u64 piece[2] = {};

	if (number >= pieces->count)
		return 1;
	if (pieces->is_compat) {
		__u32 small[2] = {};

		if (bpf_probe_read_user(small, sizeof(small), (void *)(pieces->at + number * 8)))
			return 1;
		piece[1] = small[1];
	} else if (bpf_probe_read_user(piece, sizeof(piece), (void *)(pieces->at + number * 16))) {
		return 1;
	}
	pieces->byte_count += piece[1];
	return 0;
}

static __always_inline __u64 size_of_call(const struct call *call)
{
	struct pieces pieces = {.is_compat = call->is_compat};

	if (!(call->how.flags & ETW_KERNEL_CALL_VECTOR))
		return argument(call, call->how.size);
	pieces.at = argument(call, call->how.size - 1);
	pieces.count = argument(call, call->how.size);
	if (pieces.count)
		bpf_loop(PIECES_MAX, add_piece, &pieces, 0);
	return pieces.byte_count;
}

/* Where in a file a call reads or writes. @place: of the argument that says it; 0: none does */
static __always_inline __u64 offset_of(const struct call *call, struct file *file, __u32 place,
				       int is_write)
{
	__u64 offset = place ? argument(call, place) : 0;

	if (place && call->how.flags & ETW_KERNEL_CALL_OFFSET_IN_MEMORY) {
		__u64 at = offset;

		if (at && !bpf_probe_read_user(&offset, sizeof(offset), (void *)at))
			return offset;
		place = 0;
	} else if (place && call->how.flags & ETW_KERNEL_CALL_SPLIT_OFFSET) {
		offset = (__u32)offset | argument(call, place + 1) << 32;
	}
	if (place && offset != (__u64)-1)
		return offset;
	if (is_write && BPF_CORE_READ(file, f_flags) & APPENDS)
		return BPF_CORE_READ(file, f_inode, i_size);
	return BPF_CORE_READ(file, f_pos);
}

/* begin_on_file() - an operation on an open file. @slot: of the call's operations. Verified once. */
__noinline int begin_on_file(__u32 place, __u64 file_at, __u32 type, __u32 offset_place, __u32 slot)
{
	const struct etw_kernel_control *control = find_control();
	struct file *file = (void *)file_at;
	struct call *call = call_at(place);
	struct etw_kernel_file_begin *begin;
	__u64 key, irp;

	if (!control || !call)
		return 0;
	key = name_file(file);
	irp = new_irp(call);
	begin = &call->begin;
	start_begin(call, irp, object_of(file, key), key, type);
	begin->options = BPF_CORE_READ(file, f_flags);
	if (type == ETW_KERNEL_FILE_READ || type == ETW_KERNEL_FILE_WRITE) {
		begin->offset = offset_of(call, file, offset_place, IS_WRITE(type));
		begin->byte_count = size_of_call(call);
	} else if (type == ETW_KERNEL_FILE_DIR_ENUM) {
		begin->byte_count = argument(call, call->how.size);
	} else if (type == ETW_KERNEL_FILE_FS_CONTROL) {
		begin->info_class = argument(call, call->how.size);
	} else if (type == ETW_KERNEL_FILE_SET_INFO && call->how.size) {
		begin->extra = argument(call, call->how.size);
		if (call->how.flags & ETW_KERNEL_CALL_SPLIT_OFFSET)
			begin->extra = (__u32)begin->extra | argument(call, call->how.size + 1)
								     << 32;
	}
	if (is_wanted(control, ETW_KERNEL_FILE_BEGIN))
		send_begin(begin, stack_of(control, call, type));
	call->irps[slot & 1] = irp;
	call->types[slot & 1] = type;
	return 0;
}

/*
 * close_file() - a descriptor of a file is closed, and the file with the last of them. Verified once.
 *
 * @has_end: its call tells its end; else it is told at once
 */
__noinline int close_file(__u32 place, __u64 file_at, __u32 has_end)
{
	const struct etw_kernel_control *control = find_control();
	struct file *file = (void *)file_at;
	struct call *call = call_at(place);
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);

	if (!control || !call)
		return 0;
	begin_on_file(place, file_at, ETW_KERNEL_FILE_CLEANUP, 0, 0);
	if (is_last_use(file)) {
		begin_on_file(place, file_at, ETW_KERNEL_FILE_CLOSE, 0, 1);
		bpf_map_delete_elem(&etw_opened_files, &file_at);
		/* An empty file of some file systems has no other end that can be seen: file_ends.bpf.c. */
		if (!BPF_CORE_READ(inode, i_nlink) && BPF_CORE_READ(dentry, d_lockref.count) <= 1)
			tell_deleted((__u64)inode, path_of(file));
	}
	if (has_end)
		return 0;
	if (is_wanted(control, ETW_KERNEL_FILE_END)) {
		send_end(call->irps[0], 0, ETW_KERNEL_FILE_CLEANUP, 0, NO_STACK);
		if (call->irps[1])
			send_end(call->irps[1], 0, ETW_KERNEL_FILE_CLOSE, 0, NO_STACK);
	}
	call->irps[0] = call->irps[1] = 0;
	return 0;
}

/* leave_out() - counts what close_file() would have told: a Cleanup, and a Close, each with its end. Verified once. */
__noinline int leave_out(__u64 file_at)
{
	count_drops(ETW_KERNEL_DROP_CLOSES, is_last_use((void *)file_at) ? 4 : 2);
	return 0;
}

struct closing {
	__u32 place;
	__u32 first, last, told;
	const unsigned long *marks; /* bits of those that are closed; NULL: all */
};

static long close_one(__u32 number, struct closing *closing)
{
	__u32 fd = closing->first + number;
	unsigned long marks = ~0ul;
	struct file *file;

	if (fd > closing->last)
		return 1;
	if (closing->marks)
		bpf_probe_read_kernel(&marks, sizeof(marks), &closing->marks[fd / 64]);
	if (!(marks >> (fd & 63) & 1))
		return 0;
	file = file_of(bpf_get_current_task_btf(), fd);
	if (!file || !is_named_kind(file))
		return 0;
	if (closing->told++ < CLOSES_MAX) {
		close_file(closing->place, (__u64)file, 0);
	} else {
		leave_out((__u64)file);
	}
	return 0;
}

/* Every descriptor from @first to @last, or those of them that are marked. */
static __always_inline void close_all(__u32 place, __u32 first, __u32 last,
				      const unsigned long *marks)
{
	struct closing closing = {.place = place, .first = first, .marks = marks};
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 count = BPF_CORE_READ(task, files, fdt, max_fds);

	if (!count || first >= count || last < first)
		return;
	closing.last = last < count ? last : count - 1;
	bpf_loop(closing.last - first + 1, close_one, &closing, 0);
}

/* Whoever does it: a name that was told may be of a file below. */
static __always_inline void add_rename(void)
{
	__u64 *renames = find_renames();

	if (renames)
		__sync_fetch_and_add(renames, 1);
}

/* What the call is, by its number; NULL: it is no operation of files. */
static __always_inline const struct etw_kernel_file_call *find_how(__u32 is_compat, __u64 number)
{
	const struct etw_kernel_file_call *how;
	const struct etw_kernel_file_calls *calls;
	__u32 key = 0;

	calls = bpf_map_lookup_elem(&etw_file_calls, &key);
	if (!calls || number >= ETW_KERNEL_FILE_CALLS)
		return NULL;
	how = &calls->calls[is_compat & 1][number];
	return how->type ? how : NULL;
}

/* What runs in a program of @place; it has no arguments yet. NULL: never. */
static __always_inline struct call *begin_program(const __u32 place, struct task_struct *task,
						  struct thread *thread)
{
	struct call *call = call_at(place);

	if (!call)
		return NULL;
	call->tid = task->pid;
	call->count = operations_of(thread);
	call->how = (struct etw_kernel_file_call){};
	call->irps[0] = call->irps[1] = 0;
	call->stack = NO_STACK;
	return call;
}

/* An empty path stands for the descriptor in front of it. Returns whether there is a path. */
static __always_inline int has_path(const struct call *call)
{
	__u64 path = argument(call, call->how.path);
	char first = 1;

	if (!call->how.path || !path)
		return 0;
	if (!call->how.file || (__s32)argument(call, call->how.file) == AT_CWD)
		return 1;
	return bpf_probe_read_user(&first, sizeof(first), (void *)path) || first;
}

static __always_inline void begin_call(struct call *call, struct task_struct *task,
				       struct file_work *work)
{
	const struct etw_kernel_file_call *how = &call->how;
	struct file *file;

	if (how->flags & ETW_KERNEL_CALL_CLOSES_RANGE) {
		/* With CLOSE_RANGE_CLOEXEC nothing is closed. */
		if (!(argument(call, 3) & 4))
			close_all(IN_ENTER, argument(call, 1), argument(call, 2), NULL);
		return;
	}
	if (has_path(call)) {
		call->irps[0] = new_irp(call);
		call->types[0] = how->type;
		work->is_late = !begin_by_path(IN_ENTER, call->irps[0]);
		return;
	}
	/* Onto itself nothing is duplicated. */
	if (how->flags & ETW_KERNEL_CALL_REPLACES && argument(call, 1) == argument(call, 2))
		return;
	file = how->file ? file_of(task, argument(call, how->file)) : NULL;
	if (file && is_named_kind(file)) {
		if (how->flags & (ETW_KERNEL_CALL_CLOSES | ETW_KERNEL_CALL_REPLACES))
			close_file(IN_ENTER, (__u64)file, 1);
		else
			begin_on_file(IN_ENTER, (__u64)file, how->type, how->offset, 0);
	}
	if (how->type != ETW_KERNEL_FILE_READ || !how->other_file)
		return;
	/* It is written to another one. */
	file = file_of(task, argument(call, how->other_file));
	if (file && is_named_kind(file))
		begin_on_file(IN_ENTER, (__u64)file, ETW_KERNEL_FILE_WRITE, how->other_offset, 1);
}

SEC("tp_btf/sys_enter")
int etw_enter_file_call(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	const struct etw_kernel_file_call *how;
	struct file_work *work;
	struct thread *thread;
	struct call *call;
	__u32 is_compat;

	if (!wants_files(control))
		return 0;
	is_compat = is_compat_call(task);
	how = find_how(is_compat, context[1]);
	if (!how)
		return 0;
	if (how->type == ETW_KERNEL_FILE_RENAME_PATH)
		add_rename();
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread))
		return 0;
	call = begin_program(IN_ENTER, task, thread);
	if (!call)
		return 0;
	call->is_compat = is_compat;
	call->how = *how;
	read_arguments((void *)context[0], is_compat, call->arguments);
	work = &thread->file_work;
	work->is_late = 0;
	call->stack = take_file_stack(context, control, IN_ENTER, ETW_KERNEL_FILE_BEGIN,
				      call->how.type);
	begin_call(call, task, work);
	work->count = call->count;
	work->flags = call->how.flags;
	for (int i = 0; i < 2; i++) {
		work->irps[i] = call->irps[i];
		work->types[i] = call->types[i];
	}
	return 0;
}

/* The file that a call opened is known by the operation from here on. Returns whether it was made. */
static __always_inline __u32 note_opened(struct task_struct *task, __u64 irp, __s64 fd)
{
	struct file *file = file_of(task, fd);
	struct opened_file opened = {.irp = irp};
	__u64 address = (__u64)file, key;
	__u32 is_new;

	if (!file || !is_named_kind(file))
		return 0;
	is_new = !!(BPF_CORE_READ(file, f_mode) & FMODE_CREATED);
	/* On file systems without generations (overlayfs) it may look like a file that is gone. */
	key = key_of(BPF_CORE_READ(file, f_inode));
	if (is_new)
		bpf_map_delete_elem(&etw_named_files, &key);
	opened.key = name_file(file);
	bpf_map_update_elem(&etw_opened_files, &address, &opened, BPF_ANY);
	return is_new;
}

/* The path of what the call opens was not in memory when it began. */
static __always_inline void begin_late(__u64 *context, const struct etw_kernel_control *control,
				       struct task_struct *task, struct thread *thread)
{
	__u32 is_compat = is_compat_call(task);
	struct call *call = begin_program(IN_EXIT, task, thread);
	struct pt_regs *regs = (void *)context[0];
	const struct etw_kernel_file_call *how = find_how(is_compat, number_of(regs));

	if (!call || !how)
		return;
	call->is_compat = is_compat;
	call->how = *how;
	read_arguments(regs, is_compat, call->arguments);
	call->stack = take_file_stack(context, control, IN_EXIT, ETW_KERNEL_FILE_BEGIN,
				      call->how.type);
	if (!begin_by_path(IN_EXIT, thread->file_work.irps[0]))
		count_drop(ETW_KERNEL_DROP_INCOMPLETE);
}

SEC("tp_btf/sys_exit")
int etw_exit_file_call(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 is_new = 0, stack;
	__s64 result = context[1];
	struct file_work *work;
	struct thread *thread;

	if (!wants_files(control))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread)
		return 0;
	work = &thread->file_work;
	if (work->is_late) {
		work->is_late = 0;
		begin_late(context, control, task, thread);
	}
	if (!work->irps[0] && !work->irps[1])
		return 0;
	if (work->types[0] == ETW_KERNEL_FILE_RENAME_PATH && work->irps[0])
		add_rename();
	if (work->flags & ETW_KERNEL_CALL_OPENS && result >= 0)
		is_new = note_opened(task, work->irps[0], result);
	if (is_wanted(control, ETW_KERNEL_FILE_END)) {
		stack = take_file_stack(context, control, IN_EXIT, ETW_KERNEL_FILE_END, 0);
		if (work->irps[0])
			send_end(work->irps[0], result, work->types[0], work->flags | is_new << 16,
				 stack);
		if (work->irps[1])
			send_end(work->irps[1], result, work->types[1], work->flags, stack);
	}
	work->irps[0] = work->irps[1] = 0;
	return 0;
}

#define ENDED_PROCESSES 1024

struct ended_process {
	__u64 signal, start_ns; /* of the group */
};

/* Processes whose open files are told as closed: of threads that end at once each may see that no other is left. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ENDED_PROCESSES);
	__type(key, struct ended_process);
	__type(value, __u32);
} etw_ended_processes SEC(".maps");

static __always_inline int is_first_to_end(struct task_struct *task)
{
	const struct ended_process process = {
		.signal = (__u64)BPF_CORE_READ(task, signal),
		.start_ns = BPF_CORE_READ(task, group_leader, start_boottime),
	};
	const __u32 is_told = 1;

	return !bpf_map_update_elem(&etw_ended_processes, &process, &is_told, BPF_NOEXIST);
}

/*
 * The descriptors that are marked are closed once the process has its new program: it is the one thread that is left then. Who
 * shares the table otherwise keeps the files open.
 */
SEC("tp_btf/sched_prepare_exec")
int etw_close_at_exec(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;
	struct call *call;

	if (!wants_files(control))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread) ||
	    BPF_CORE_READ(task, files, count.counter) > BPF_CORE_READ(task, signal, nr_threads))
		return 0;
	call = begin_program(IN_EXEC, task, thread);
	if (!call)
		return 0;
	call->stack = take_file_stack(context, control, IN_EXEC, ETW_KERNEL_FILE_BEGIN,
				      ETW_KERNEL_FILE_CLEANUP);
	close_all(IN_EXEC, 0, ~0u, BPF_CORE_READ(task, files, fdt, close_on_exec));
	thread->file_work.count = call->count;
	return 0;
}

/*
 * What a process has open is closed behind the end of its last thread. Others of its threads that have ended may still be
 * about to give the table back; who shares it otherwise keeps the files open.
 */
SEC("tp_btf/sched_process_exit")
int etw_end_with_files(__u64 *context)
{
	const struct etw_kernel_control *control = find_control();
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;
	struct call *call;

	if (!wants_files(control))
		return 0;
	thread = bpf_task_storage_get(&etw_threads, task, 0, 0);
	if (!thread || !is_inside(control, thread) || BPF_CORE_READ(task, signal, live.counter) ||
	    BPF_CORE_READ(task, files, count.counter) > BPF_CORE_READ(task, signal, nr_threads) ||
	    !is_first_to_end(task))
		return 0;
	call = begin_program(IN_END, task, thread);
	if (!call)
		return 0;
	call->stack = take_file_stack(context, control, IN_END, ETW_KERNEL_FILE_BEGIN,
				      ETW_KERNEL_FILE_CLEANUP);
	close_all(IN_END, 0, ~0u, NULL);
	thread->file_work.count = call->count;
	return 0;
}

char etw_license[] SEC("license") = "Dual MIT/GPL";
