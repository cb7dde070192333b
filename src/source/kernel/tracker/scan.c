/* SPDX-License-Identifier: MIT */
/* What is there before the records tell anything. See scan.h. */
#include "source/kernel/tracker/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/perf/mappings.h"
#include "source/kernel/processes/command_line.h"
#include "source/kernel/processes/priority.h"
#include "source/kernel/procfs/build_id.h"
#include "source/kernel/procfs/procfs.h"
#include "source/kernel/procfs/vdso.h"

#define EXIT_LOOK_US 1000
#define EXIT_TRIES   200

struct scanned_thread {
	uint64_t start_ticks;
	uint32_t tid;
	struct etw_kernel_thread_facts facts;
	char name[ETW_KERNEL_NAME_BYTES];
};

struct scanned_process {
	uint64_t start_ticks;
	uint32_t pid, parent_pid, uid, session_id;
	bool is_kernel, is_32_bit;
	uint32_t lost_images;                 /* beyond what a process may have */
	struct etw_kernel_text *name;         /* owned */
	struct etw_kernel_text *command_line; /* owned; NULL: none */
	struct etw_kernel_images *images;     /* owned */
	struct scanned_thread *threads;       /* owned */
	size_t thread_count, thread_room;
};

struct etw_kernel_scan {
	struct scanned_process *at; /* owned; in the order of pids */
	size_t count, room;
	bool want_images;
	bool is_live; /* of this machine: the kernel knows the ids */
	unsigned exit_tries;
	int root_fd; /* during the walk */
	int process_fd;
	struct etw_kernel_build_ids build_ids;
	/* Room of one process; too much for a stack of unknown size. */
	struct etw_kernel_proc_process read;
};

/* A task that a pending record starts. */
struct started {
	uint64_t start_ticks;
	uint32_t tid;
};

static void done_process(struct scanned_process *process)
{
	etw_kernel_text_unref(process->name);
	etw_kernel_text_unref(process->command_line);
	etw_kernel_images_unref(process->images);
	free(process->threads);
}

void etw_kernel_scan_free(struct etw_kernel_scan *scan)
{
	if (!scan)
		return;
	for (size_t i = 0; i < scan->count; i++)
		done_process(&scan->at[i]);
	etw_kernel_build_ids_done(&scan->build_ids);
	free(scan->at);
	free(scan);
}

static struct etw_kernel_thread_facts facts_of(const struct etw_kernel_scan *scan,
					       const struct scanned_process *process,
					       const struct etw_kernel_proc_task *task)
{
	struct etw_kernel_thread_facts facts = {
		.priority = etw_kernel_priority_of_stat(task->nice, task->realtime_priority,
							task->policy),
	};

	/* stat tells the program's stack for every thread. */
	if (task->tid == process->pid) {
		facts.user_stack = task->user_stack;
		facts.entry = scan->read.entry;
	}
	if (scan->is_live)
		etw_kernel_thread_facts_ask(task->tid, task->nice, &facts);
	return facts;
}

/*
 * A task tells its end before procfs calls it a zombie: while it closes its files it would be described, and never end. All
 * of a walk that stand there are waited for, for EXIT_TRIES in all.
 */
static int read_task(struct etw_kernel_scan *scan, int task_fd, struct etw_kernel_proc_task *ret)
{
	int r;

	while (!(r = etw_kernel_proc_read_task(task_fd, ret)) && ret->is_exiting && !ret->is_dead &&
	       scan->is_live && scan->exit_tries++ < EXIT_TRIES)
		usleep(EXIT_LOOK_US);
	return r;
}

static int add_thread(void *context, uint32_t tid)
{
	struct etw_kernel_scan *scan = context;
	struct scanned_process *process = &scan->at[scan->count];
	struct etw_kernel_proc_task task;
	char path[32];
	int fd, r;

	snprintf(path, sizeof(path), "task/%u", tid);
	fd = openat(scan->process_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	r = read_task(scan, fd, &task);
	close(fd);
	if (r || task.is_dead)
		return 0;
	if (process->thread_count == process->thread_room) {
		size_t room = process->thread_room ? process->thread_room * 2 : 4;
		void *more = reallocarray(process->threads, room, sizeof(process->threads[0]));

		if (!more)
			return -ENOMEM;
		process->threads = more;
		process->thread_room = room;
	}
	process->threads[process->thread_count] = (struct scanned_thread){
		.start_ticks = task.start_ticks,
		.tid = tid,
		.facts = facts_of(scan, process, &task),
	};
	memcpy(process->threads[process->thread_count].name, task.name, ETW_KERNEL_NAME_BYTES - 1);
	process->thread_count++;
	return 0;
}

static int add_mapping(void *context, const struct etw_kernel_proc_mapping *from)
{
	struct etw_kernel_scan *scan = context;
	struct scanned_process *process = &scan->at[scan->count];
	const struct etw_kernel_build_id *id = NULL;
	struct etw_kernel_mapping mapping = {
		.start = from->start,
		.byte_count = from->end - from->start,
		.file_offset = from->file_offset,
		.path = from->path,
		.is_executable = from->is_executable,
	};
	int r;

	if (from->inode && from->is_executable)
		id = etw_kernel_build_ids_find(&scan->build_ids, scan->process_fd, from);
	if (id) {
		mapping.build_id_bytes = id->byte_count;
		memcpy(mapping.build_id, id->bytes, sizeof(mapping.build_id));
	}
	etw_kernel_vdso_complete(&mapping);
	r = etw_kernel_images_map(&process->images, &mapping, NULL, NULL);
	process->lost_images += r == -E2BIG;
	return r == -E2BIG ? 0 : r;
}

/* The thread's name is cut at 15 bytes; where the file's name goes on from there it says the rest. */
static struct etw_kernel_text *make_name(const struct etw_kernel_proc_process *read)
{
	const char *name = read->task.name, *base = strrchr(read->file, '/');
	size_t bytes = strlen(name);

	base = base ? base + 1 : read->file;
	if (bytes == ETW_KERNEL_NAME_BYTES - 1 && strncmp(base, name, bytes) == 0) {
		name = base;
		bytes = strlen(base);
	}
	return etw_kernel_text_new(name, bytes);
}

static int fill_process(struct etw_kernel_scan *scan, struct scanned_process *process, uint32_t pid)
{
	const struct etw_kernel_proc_process *read = &scan->read;
	struct etw_text line;

	*process = (struct scanned_process){
		.start_ticks = read->task.start_ticks,
		.pid = pid,
		.parent_pid = read->task.parent_pid,
		.uid = read->uid,
		.session_id = read->session_id,
		.is_kernel = read->task.is_kernel,
		.is_32_bit = read->is_32_bit,
		.name = make_name(read),
	};
	if (!process->name)
		return -ENOMEM;
	if (!read->argument_bytes)
		return 0;
	etw_text_init(&line);
	etw_kernel_command_line(&line, read->arguments, read->argument_bytes);
	process->command_line = etw_kernel_text_new_wide(etw_text_string(&line));
	etw_text_done(&line);
	return process->command_line ? 0 : -ENOMEM;
}

static int read_process(struct etw_kernel_scan *scan, uint32_t pid)
{
	struct scanned_process *process = &scan->at[scan->count];
	int r;

	if (etw_kernel_proc_read(scan->process_fd, &scan->read))
		return 0;
	TRY(fill_process(scan, process, pid));
	r = etw_kernel_proc_list(scan->process_fd, "task", add_thread, scan);
	if (r == -ENOMEM)
		return r;
	/* A main thread that ended leaves a process with others; without others it has ended. */
	if (!process->thread_count) {
		done_process(process);
		return 0;
	}
	if (scan->want_images && !process->is_kernel) {
		r = etw_kernel_proc_read_maps(scan->process_fd, add_mapping, scan);
		if (r == -ENOMEM)
			return r;
	}
	scan->count++;
	return 0;
}

static int add_process(void *context, uint32_t pid)
{
	struct etw_kernel_scan *scan = context;
	int r;

	if (scan->count == scan->room) {
		size_t room = scan->room ? scan->room * 2 : 256;
		void *more = reallocarray(scan->at, room, sizeof(scan->at[0]));

		if (!more)
			return -ENOMEM;
		scan->at = more;
		scan->room = room;
	}
	scan->process_fd = etw_kernel_proc_open(scan->root_fd, pid);
	if (scan->process_fd < 0)
		return 0; /* gone */
	r = read_process(scan, pid);
	close(scan->process_fd);
	if (r)
		done_process(&scan->at[scan->count]);
	return r;
}

int etw_kernel_scan_take(const char *root, bool want_images, struct etw_kernel_scan **ret)
{
	struct etw_kernel_scan *scan = calloc(1, sizeof(*scan));
	int r;

	if (!scan)
		return -ENOMEM;
	scan->want_images = want_images;
	scan->is_live = strcmp(root, "/proc") == 0;
	if (want_images)
		etw_kernel_build_ids_init(&scan->build_ids, "/proc/self/mountinfo");
	scan->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (scan->root_fd < 0) {
		r = -errno;
		etw_kernel_scan_free(scan);
		return r;
	}
	r = etw_kernel_proc_list(scan->root_fd, ".", add_process, scan);
	close(scan->root_fd);
	if (r) {
		etw_kernel_scan_free(scan);
		return r;
	}
	*ret = scan;
	return 0;
}

static int compare_started(const void *left, const void *right)
{
	const struct started *a = left, *b = right;

	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Every task that a pending record starts, by id. Owned by the caller. */
static struct started *list_started(const struct etw_kernel_tracker *tracker,
				    const struct etw_kernel_heap *heap, size_t *ret_count)
{
	struct started *list = calloc(heap->count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; list && i < heap->count; i++) {
		const struct etw_kernel_item *item = heap->at[i].item;
		const struct etw_kernel_new_task *record = item->record;

		if (item->is_mapping || item->is_stack || item->byte_count < sizeof(*record) ||
		    record->head.kind != ETW_KERNEL_NEW_TASK)
			continue;
		list[count++] = (struct started){
			.start_ticks = record->task.start_ns / tracker->ns_per_tick,
			.tid = record->task.tid,
		};
	}
	if (list)
		qsort(list, count, sizeof(*list), compare_started);
	*ret_count = count;
	return list;
}

/* The same id may have been started twice meanwhile: the start time says which one was seen. */
static bool is_started(const struct started *list, size_t count, uint32_t tid, uint64_t start_ticks)
{
	struct started key = {.tid = tid};
	const struct started *at = bsearch(&key, list, count, sizeof(*list), compare_started);

	if (!at)
		return false;
	while (at > list && at[-1].tid == tid)
		at--;
	for (; at < list + count && at->tid == tid; at++)
		if (at->start_ticks == start_ticks)
			return true;
	return false;
}

/*
 * After another host: what a pending record will map is not there yet, or its load would go unsaid.
 */
static int forget_pending(struct etw_kernel_scan *scan, const struct etw_kernel_heap *heap)
{
	for (size_t i = 0; i < heap->count; i++) {
		const struct etw_kernel_item *item = heap->at[i].item;
		struct etw_kernel_perf_record record;

		if (!item->is_mapping || !item->byte_count ||
		    etw_kernel_perf_parse(item->record, item->byte_count, &record) ||
		    record.kind != ETW_KERNEL_PERF_MAP)
			continue;
		for (size_t k = 0; k < scan->count; k++)
			if (scan->at[k].pid == record.pid)
				TRY(etw_kernel_images_unmap(&scan->at[k].images,
							    record.mapping.start,
							    record.mapping.byte_count, NULL, NULL));
	}
	return 0;
}

static struct etw_kernel_process *move_process(struct scanned_process *from,
					       struct etw_kernel_tracker *tracker)
{
	struct etw_kernel_process *process = etw_kernel_tasks_add(&tracker->tasks, from->pid);

	if (!process)
		return NULL;
	process->start_ticks = from->start_ticks;
	process->parent_pid = from->parent_pid;
	process->uid = from->uid;
	process->session_id = from->session_id == UINT32_MAX ? 0 : from->session_id;
	process->is_kernel = from->is_kernel;
	process->is_32_bit = from->is_32_bit;
	process->name = TAKE(from->name);
	process->command_line = TAKE(from->command_line);
	process->images = TAKE(from->images);
	tracker->lost_images += from->lost_images;
	return process;
}

static int apply_process(struct scanned_process *from, struct etw_kernel_tracker *tracker,
			 const struct started *started, size_t started_count, bool describe)
{
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks, from->pid);

	if (is_started(started, started_count, from->pid, from->start_ticks))
		return 0;
	if (process && process->start_ticks == from->start_ticks && !process->is_guessed) {
		/* Its start was a record; its images are new when they are wanted only now. */
		if (!process->images && from->images) {
			process->images = TAKE(from->images);
			tracker->lost_images += from->lost_images;
			if (describe)
				etw_kernel_tracker_describe_images(tracker, process);
		}
		return 0;
	}
	if (process)
		etw_kernel_tasks_remove(&tracker->tasks, process);
	process = move_process(from, tracker);
	if (!process)
		return -ENOMEM;
	for (size_t i = 0; i < from->thread_count; i++) {
		const struct scanned_thread *thread = &from->threads[i];
		struct etw_kernel_thread *added;

		if (is_started(started, started_count, thread->tid, thread->start_ticks) ||
		    etw_kernel_tasks_find_thread(&tracker->tasks, thread->tid))
			continue;
		added = etw_kernel_tasks_add_thread(&tracker->tasks, process, thread->tid,
						    thread->name);
		if (!added)
			return -ENOMEM;
		added->start_ticks = thread->start_ticks;
		added->facts = thread->facts;
	}
	if (describe)
		etw_kernel_tracker_describe(tracker, process, false);
	return 0;
}

int etw_kernel_scan_apply(struct etw_kernel_scan *scan, struct etw_kernel_tracker *tracker,
			  const struct etw_kernel_heap *heap,
			  const struct etw_kernel_scan_wish *wish)
{
	size_t started_count;
	CLEANUP(freep) struct started *started = list_started(tracker, heap, &started_count);

	if (!started)
		return -ENOMEM;
	etw_kernel_tracker_begin_description(tracker);
	if (wish->is_other)
		TRY(forget_pending(scan, heap));
	for (size_t i = 0; i < scan->count; i++)
		TRY(apply_process(&scan->at[i], tracker, started, started_count,
				  wish->describe && scan->at[i].start_ticks <=
							    wish->until_ns / tracker->ns_per_tick));
	return 0;
}

void etw_kernel_scan_correct(const struct etw_kernel_scan *scan, struct etw_kernel_tracker *tracker)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks,
									   scan->at[i].pid);

		if (process && process->start_ticks == scan->at[i].start_ticks)
			process->is_there = true;
	}
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++) {
		struct etw_kernel_process *process = tracker->tasks.processes[i], *next;

		for (; process; process = next) {
			next = process->next_in_bucket;
			if (!process->is_there)
				etw_kernel_tasks_remove(&tracker->tasks, process);
			else
				process->is_there = false;
		}
	}
}
