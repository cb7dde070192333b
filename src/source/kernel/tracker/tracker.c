/* SPDX-License-Identifier: MIT */
#include "source/kernel/tracker/tracker.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/events/events.h"
#include "source/kernel/events/symbol_events.h"
#include "source/kernel/events/task_stacks.h"
#include "source/kernel/processes/command_line.h"
#include "source/kernel/tracker/tracker_internal.h"

#define NO_LOGIN_SESSION UINT32_MAX

struct etw_kernel_tracker *etw_kernel_tracker_new(struct etw_kernel_out *out)
{
	struct etw_kernel_tracker *tracker = calloc(1, sizeof(*tracker));
	long ticks = sysconf(_SC_CLK_TCK);

	if (!tracker)
		return NULL;
	tracker->out = out;
	etw_kernel_cpu_time_init(&tracker->cpu_time);
	etw_kernel_shares_init(&tracker->shares);
	tracker->ns_per_tick = ETW_NS_PER_S / (ticks > 0 ? (uint64_t)ticks : 100);
	return tracker;
}

void etw_kernel_tracker_free(struct etw_kernel_tracker *tracker)
{
	if (!tracker)
		return;
	etw_kernel_tasks_clear(&tracker->tasks);
	free(tracker);
}

static struct etw_kernel_actor actor_of(const struct etw_kernel_record *record)
{
	return (struct etw_kernel_actor){.tid = record->tid, .pid = record->pid};
}

/* With the CPU time of the thread that ends, or whose program does. */
static struct etw_kernel_actor ending_actor_of(const struct etw_kernel_tracker *tracker,
					       const struct etw_kernel_record *head,
					       const struct etw_kernel_task *task,
					       const struct etw_kernel_thread *thread)
{
	struct etw_kernel_actor actor = actor_of(head);

	etw_kernel_cpu_time_ticks(&tracker->cpu_time, head, task, thread ? thread->spent_ns : 0,
				  &actor.kernel_ticks, &actor.user_ticks);
	return actor;
}

/* What a thread is called, and whatever else its records repeat. */
static void take_thread_facts(struct etw_kernel_thread *thread, const struct etw_kernel_task *task)
{
	struct etw_kernel_thread_facts before = thread->facts;

	memcpy(thread->name, task->name, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
	thread->facts = etw_kernel_thread_facts_of(task);
	/* An end has them no more, or the main thread's alone. */
	if (!thread->facts.user_stack)
		thread->facts.user_stack = before.user_stack;
	if (!thread->facts.entry)
		thread->facts.entry = before.entry;
}

/* The facts that every record about a task repeats. */
static void take_facts(struct etw_kernel_tracker *tracker, struct etw_kernel_process *process,
		       const struct etw_kernel_task *task)
{
	process->parent_pid = task->parent_pid;
	process->uid = task->uid;
	process->session_id = task->session_id == NO_LOGIN_SESSION ? 0 : task->session_id;
	process->is_kernel = task->flags & ETW_KERNEL_TASK_KTHREAD;
	if (task->flags & ETW_KERNEL_TASK_HAS_MEMORY)
		process->is_32_bit = task->flags & ETW_KERNEL_TASK_IS_32_BIT;
	process->start_ticks = task->process_start_ns / tracker->ns_per_tick;
}

static void set_name(struct etw_kernel_process *process, const char *at, size_t bytes)
{
	struct etw_kernel_text *name = etw_kernel_text_new(at, bytes);

	if (!name)
		return;
	etw_kernel_text_unref(process->name);
	process->name = name;
}

static void set_task_name(struct etw_kernel_process *process, const struct etw_kernel_task *task)
{
	set_name(process, task->name, strnlen(task->name, sizeof(task->name)));
}

/*
 * A process that a record speaks of and nobody announced: its start was lost, or it was too quick for
 * rundown. What is not in the record stays unknown.
 */
static struct etw_kernel_process *find_or_add(struct etw_kernel_tracker *tracker,
					      const struct etw_kernel_task *task)
{
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks, task->pid);

	if (process)
		return process;
	process = etw_kernel_tasks_add(&tracker->tasks, task->pid);
	if (!process) {
		tracker->out->no_memory++;
		return NULL;
	}
	tracker->incomplete++;
	process->is_guessed = true;
	take_facts(tracker, process, task);
	/* The thread's name is the program's in the main thread alone. */
	if (task->tid == task->pid)
		set_task_name(process, task);
	return process;
}

static void start_process(struct etw_kernel_tracker *tracker,
			  const struct etw_kernel_new_task *record)
{
	const struct etw_kernel_task *task = &record->task;
	struct etw_kernel_process *maker,
		*process = etw_kernel_tasks_find(&tracker->tasks, task->pid);

	/* The pid was somebody else's, and his end is lost; or a former host had this start. */
	if (process)
		etw_kernel_tasks_remove(&tracker->tasks, process);
	process = etw_kernel_tasks_add(&tracker->tasks, task->pid);
	if (!process) {
		tracker->out->no_memory++;
		return;
	}
	take_facts(tracker, process, task);
	maker = etw_kernel_tasks_find(&tracker->tasks, record->head.pid);
	if (maker && maker->name && !process->is_kernel) {
		process->name = etw_kernel_text_ref(maker->name);
		process->command_line = etw_kernel_text_ref(maker->command_line);
	} else {
		set_task_name(process, task);
	}
	/* A child in its parent's memory maps nothing of its own: it is about to exec. */
	if (maker && !(task->flags & ETW_KERNEL_TASK_SHARES_MEMORY))
		process->images = etw_kernel_images_ref(maker->images);
	process->is_inside = tracker->only_pid &&
			     etw_kernel_tracker_wants(tracker, record->head.pid);
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_START);
	etw_kernel_tracker_tell_process(tracker, ETW_KERNEL_OPCODE_START, actor_of(&record->head),
					process, 0);
}

static void start_thread(struct etw_kernel_tracker *tracker, struct etw_kernel_process *process,
			 const struct etw_kernel_record *head, const struct etw_kernel_task *task)
{
	struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(&tracker->tasks, task->tid);

	if (thread)
		etw_kernel_tasks_remove_thread(&tracker->tasks, thread);
	thread = etw_kernel_tasks_add_thread(&tracker->tasks, process, task->tid, task->name);
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_THREAD_START);
	if (!thread) {
		struct etw_kernel_thread alone = {.tid = task->tid};

		tracker->out->no_memory++;
		take_thread_facts(&alone, task);
		etw_kernel_tracker_tell_thread(tracker, ETW_KERNEL_OPCODE_START, actor_of(head),
					       task->pid, &alone);
		return;
	}
	thread->start_ticks = task->start_ns / tracker->ns_per_tick;
	thread->spent_ns = etw_kernel_cpu_time_used(&tracker->cpu_time, head, task);
	take_thread_facts(thread, task);
	etw_kernel_tracker_tell_thread(tracker, ETW_KERNEL_OPCODE_START, actor_of(head), task->pid,
				       thread);
}

static void apply_new_task(struct etw_kernel_tracker *tracker,
			   const struct etw_kernel_new_task *record)
{
	struct etw_kernel_process *process;

	etw_kernel_cpu_time_note(&tracker->cpu_time, &record->head, &record->task);
	if (record->task.tid == record->task.pid)
		start_process(tracker, record);
	process = find_or_add(tracker, &record->task);
	if (!process)
		return;
	start_thread(tracker, process, &record->head, &record->task);
	if (record->task.tid == record->task.pid)
		etw_kernel_tracker_tell_inherited(tracker, &record->head, process);
}

/*
 * Everything that ends with a program: images, threads, the process. A thread that has not told its own
 * end yet, though it is past it, ends here too; then its record finds it ended.
 */
static void end_program(struct etw_kernel_tracker *tracker, struct etw_kernel_process *process,
			struct etw_kernel_actor actor, uint32_t status)
{
	struct etw_kernel_images *images = process->images;

	etw_kernel_tracker_tell_images(tracker, actor, process, false);
	process->images = NULL;
	etw_kernel_images_unref(images);
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_THREAD_ENDS);
	for (struct etw_kernel_thread *thread = process->threads; thread; thread = thread->next) {
		if (thread->is_ended)
			continue;
		thread->is_ended = true;
		etw_kernel_tracker_tell_thread(tracker, ETW_KERNEL_OPCODE_END, actor, process->pid,
					       thread);
	}
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_END);
	etw_kernel_tracker_tell_process(tracker, ETW_KERNEL_OPCODE_END, actor, process, status);
}

/* In front of all that ends with the process: it had these while it was there. */
static void tell_counters(struct etw_kernel_tracker *tracker, uint32_t pid,
			  const struct etw_kernel_counters *counters)
{
	if (!(tracker->flags & EVENT_TRACE_FLAG_PROCESS_COUNTERS) || !counters->is_known)
		return;
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_COUNTERS);
	etw_kernel_write_counters(tracker->out, /* is_rundown= */ false, pid, counters);
}

static void apply_exit(struct etw_kernel_tracker *tracker, const struct etw_kernel_exit *record)
{
	const struct etw_kernel_task *task = &record->task;
	struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(&tracker->tasks, task->tid);
	struct etw_kernel_process *process = find_or_add(tracker, task);
	struct etw_kernel_actor actor;

	etw_kernel_cpu_time_note(&tracker->cpu_time, &record->head, task);
	if (!process)
		return;
	actor = ending_actor_of(tracker, &record->head, task, thread);
	if (thread && !thread->is_ended) {
		/* A thread names itself after it was started. */
		take_thread_facts(thread, task);
	} else if (!thread && !process->is_ended) {
		thread = etw_kernel_tasks_add_thread(&tracker->tasks, process, task->tid,
						     task->name);
		if (thread)
			take_thread_facts(thread, task);
	}
	if (record->is_last && !process->is_ended) {
		take_facts(tracker, process, task);
		if (process->is_kernel)
			set_task_name(process, task);
		tell_counters(tracker, process->pid, &record->counters);
		end_program(tracker, process, actor, record->status);
		process->is_ended = true;
	} else if (thread && !thread->is_ended) {
		etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_THREAD_ENDS);
		etw_kernel_tracker_tell_thread(tracker, ETW_KERNEL_OPCODE_END, actor, task->pid,
					       thread);
	}
	if (thread)
		etw_kernel_tasks_remove_thread(&tracker->tasks, thread);
	if (process->is_ended && !process->threads)
		etw_kernel_tasks_remove(&tracker->tasks, process);
}

/* The program's base name: the kernel keeps its first 15 bytes, the file's name has the rest. */
static void name_program(struct etw_kernel_process *process, const struct etw_kernel_exec *record)
{
	size_t bytes = strnlen(record->task.name, sizeof(record->task.name));
	const char *file = record->file, *base;
	size_t file_bytes = strnlen(file, MIN(record->file_bytes, sizeof(record->file)));

	base = memrchr(file, '/', file_bytes);
	base = base ? base + 1 : file;
	file_bytes -= (size_t)(base - file);
	if (bytes == sizeof(record->task.name) - 1 && file_bytes > bytes &&
	    memcmp(base, record->task.name, bytes) == 0)
		set_name(process, base, file_bytes);
	else
		set_task_name(process, &record->task);
}

static void take_arguments(struct etw_kernel_tracker *tracker, struct etw_kernel_process *process,
			   const struct etw_kernel_exec *record, uint32_t room)
{
	struct etw_text text;

	etw_text_init(&text);
	etw_kernel_command_line(&text, record->arguments, MIN(record->argument_bytes, room));
	etw_kernel_text_unref(process->command_line);
	process->command_line = etw_kernel_text_new_wide(etw_text_string(&text));
	if (etw_text_error(&text) || !process->command_line || !record->argument_bytes)
		tracker->incomplete++;
	etw_text_done(&text);
}

static void apply_exec(struct etw_kernel_tracker *tracker, const struct etw_kernel_exec *record,
		       uint32_t byte_count)
{
	const struct etw_kernel_task *task = &record->task;
	struct etw_kernel_actor actor = actor_of(&record->head);
	struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(&tracker->tasks,
									record->old_tid);
	struct etw_kernel_process *process = find_or_add(tracker, task);

	etw_kernel_cpu_time_note(&tracker->cpu_time, &record->head, task);
	if (!process)
		return;
	if (!process->threads)
		(void)etw_kernel_tasks_add_thread(&tracker->tasks, process, record->old_tid,
						  task->name);
	end_program(tracker, process, ending_actor_of(tracker, &record->head, task, thread), 0);
	while (process->threads)
		etw_kernel_tasks_remove_thread(&tracker->tasks, process->threads);
	take_facts(tracker, process, task);
	process->is_ended = false;
	process->is_in_exec = false;
	process->is_guessed = false;
	process->images = TAKE(process->next_images);
	name_program(process, record);
	take_arguments(tracker, process, record,
		       byte_count - (uint32_t)offsetof(struct etw_kernel_exec, arguments));
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_START);
	etw_kernel_tracker_tell_process(tracker, ETW_KERNEL_OPCODE_START, actor, process, 0);
	start_thread(tracker, process, &record->head, task);
	etw_kernel_tracker_tell_images(tracker, actor, process, true);
}

static void apply_rename(struct etw_kernel_tracker *tracker, const struct etw_kernel_rename *record)
{
	struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(&tracker->tasks,
									record->tid);
	char name[ETW_KERNEL_NAME_BYTES];

	memcpy(name, record->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	if (thread)
		memcpy(thread->name, name, sizeof(name));
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_START);
	if (tracker->flags & EVENT_TRACE_FLAG_THREAD)
		etw_kernel_write_name(tracker->out, actor_of(&record->head), record->pid,
				      record->tid, name);
}

static void apply_unmap(struct etw_kernel_tracker *tracker, const struct etw_kernel_unmap *record)
{
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks,
								   record->head.pid);
	struct etw_kernel_image_context context =
		etw_kernel_tracker_image_context(tracker, actor_of(&record->head), process);

	if (!process || !process->images)
		return;
	if (etw_kernel_images_unmap(&process->images, record->start, record->byte_count,
				    etw_kernel_tracker_tell_image, &context))
		tracker->out->no_memory++;
}

/* The next mapping of this thread is to have it. */
static void keep_map_stack(struct etw_kernel_tracker *tracker, const struct etw_kernel_map *record)
{
	struct etw_kernel_thread *thread = etw_kernel_tasks_find_thread(&tracker->tasks,
									record->head.tid);

	if (thread && tracker->out->stack)
		etw_kernel_map_stack_set(&thread->map_stack, record, tracker->out->stack);
}

void etw_kernel_tracker_apply(struct etw_kernel_tracker *tracker,
			      const struct etw_kernel_record *record, uint32_t byte_count)
{
	if (byte_count < sizeof(*record))
		return;
	switch (record->kind) {
	case ETW_KERNEL_NEW_TASK:
		if (byte_count >= sizeof(struct etw_kernel_new_task))
			apply_new_task(tracker, (const void *)record);
		break;
	case ETW_KERNEL_EXEC:
		if (byte_count >= sizeof(struct etw_kernel_exec))
			apply_exec(tracker, (const void *)record, byte_count);
		break;
	case ETW_KERNEL_EXIT:
		if (byte_count >= sizeof(struct etw_kernel_exit))
			apply_exit(tracker, (const void *)record);
		break;
	case ETW_KERNEL_UNMAP:
		if (byte_count >= sizeof(struct etw_kernel_unmap))
			apply_unmap(tracker, (const void *)record);
		break;
	case ETW_KERNEL_RENAME:
		if (byte_count >= sizeof(struct etw_kernel_rename))
			apply_rename(tracker, (const void *)record);
		break;
	case ETW_KERNEL_MAP:
		if (byte_count >= sizeof(struct etw_kernel_map))
			keep_map_stack(tracker, (const void *)record);
		break;
	default:
		break;
	}
}

void etw_kernel_tracker_begin_exec(struct etw_kernel_tracker *tracker, uint32_t pid)
{
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks, pid);

	if (!process)
		return;
	etw_kernel_images_unref(process->next_images);
	process->next_images = NULL;
	process->is_in_exec = true;
}

void etw_kernel_tracker_map(struct etw_kernel_tracker *tracker, uint32_t tid, uint32_t pid,
			    const struct etw_kernel_mapping *mapping)
{
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks, pid);
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(
		tracker, (struct etw_kernel_actor){.tid = tid, .pid = pid}, process);
	int r;

	if (!process || process->is_ended)
		return;
	/* Pieces of the coming program are told when it starts. */
	if (process->is_in_exec)
		r = etw_kernel_images_map(&process->next_images, mapping, NULL, NULL);
	else
		r = etw_kernel_images_map(&process->images, mapping, etw_kernel_tracker_tell_image,
					  &context);
	etw_kernel_tracker_count_images(tracker, r);
}

/* More names of code that was announced before. */
static int add_names(struct etw_kernel_tracker *tracker, struct etw_kernel_process *process,
		     struct etw_announced_image *image)
{
	int r = etw_kernel_images_add_names(process->images, image);

	if (!r && tracker->flags & EVENT_TRACE_FLAG_IMAGE_LOAD &&
	    etw_kernel_tracker_wants(tracker, process->pid))
		etw_kernel_write_announced(image, tracker->out, process->pid);
	return r == -ENOENT ? 0 : r;
}

void etw_kernel_tracker_announced(struct etw_kernel_tracker *tracker,
				  const struct etw_announced_news *news)
{
	struct etw_announced_image *image = news->image;
	struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks, image->pid);
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(
		tracker, (struct etw_kernel_actor){.tid = image->pid, .pid = image->pid}, process);
	int r = 0;

	if (!process || process->is_ended || process->is_in_exec)
		return;
	if (news->act == ETW_ANNOUNCED_IS_THERE)
		context.load = ETW_KERNEL_OPCODE_DC_START;
	if (news->act == ETW_ANNOUNCED_UNLOADED)
		r = etw_kernel_images_withdraw(&process->images, image,
					       etw_kernel_tracker_tell_image, &context);
	else if (news->act == ETW_ANNOUNCED_MORE)
		r = add_names(tracker, process, image);
	else
		r = etw_kernel_images_announce(&process->images, image, news->act,
					       etw_kernel_tracker_tell_image, &context);
	etw_kernel_tracker_count_images(tracker, r);
}
