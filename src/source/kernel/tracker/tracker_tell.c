/* SPDX-License-Identifier: MIT */
/* What is told of processes, threads and images: which events go out, and with whose stack. See tracker_internal.h. */
#include <errno.h>

#include <evntrace.h>

#include "source/kernel/events/events.h"
#include "source/kernel/events/symbol_events.h"
#include "source/kernel/events/task_stacks.h"
#include "source/kernel/tracker/tracker_internal.h"

#define ANCESTORS_MAX 64

bool etw_kernel_tracker_wants(struct etw_kernel_tracker *tracker, uint32_t pid)
{
	if (!tracker->only_pid)
		return true;
	for (int i = 0; i < ANCESTORS_MAX && pid; i++) {
		const struct etw_kernel_process *process = etw_kernel_tasks_find(&tracker->tasks,
										 pid);

		if (pid == tracker->only_pid || (process && process->is_inside))
			return true;
		pid = process ? process->parent_pid : 0;
	}
	return false;
}

/* The stack of the event that was written last, unless it is of a rundown. @start, @end: its enum etw_kernel_stack_event, by opcode */
static void tell_stack(struct etw_kernel_tracker *tracker, enum etw_kernel_opcode opcode,
		       struct etw_kernel_actor actor, uint32_t start, uint32_t end)
{
	tracker->out->is_of_others = !tracker->out->stack &&
				     !etw_kernel_tracker_wants(tracker, actor.pid);
	if (opcode == ETW_KERNEL_OPCODE_START || opcode == ETW_KERNEL_OPCODE_LOAD)
		etw_kernel_task_stack_write(tracker->out, start, actor.tid, actor.pid);
	else if (opcode == ETW_KERNEL_OPCODE_END)
		etw_kernel_task_stack_write(tracker->out, end, actor.tid, actor.pid);
}

void etw_kernel_tracker_tell_process(struct etw_kernel_tracker *tracker,
				     enum etw_kernel_opcode opcode, struct etw_kernel_actor actor,
				     const struct etw_kernel_process *process, uint32_t status)
{
	if (!(tracker->flags & EVENT_TRACE_FLAG_PROCESS))
		return;
	etw_kernel_write_process(tracker->out, opcode, actor, process, status);
	tell_stack(tracker, opcode, actor, ETW_KERNEL_STACK_PROCESS_START,
		   ETW_KERNEL_STACK_PROCESS_END);
}

void etw_kernel_tracker_tell_thread(struct etw_kernel_tracker *tracker,
				    enum etw_kernel_opcode opcode, struct etw_kernel_actor actor,
				    uint32_t pid, const struct etw_kernel_thread *thread)
{
	if (!(tracker->flags & EVENT_TRACE_FLAG_THREAD))
		return;
	etw_kernel_write_thread(tracker->out, opcode, actor, pid, thread);
	tell_stack(tracker, opcode, actor, ETW_KERNEL_STACK_THREAD_START,
		   ETW_KERNEL_STACK_THREAD_END);
}

/* Of an event, beside the image's name. */
#define IMAGE_EVENT_BYTES 256

/* Names are told once: whoever else has the same ones only says whose they are. */
static void tell_names(const struct etw_kernel_image_context *at,
		       const struct etw_kernel_image *image)
{
	struct etw_kernel_names *names = image->names;
	uint32_t of_pid = at->of_pid;

	if (!names || !names->symbol_bytes)
		return;
	if (at->is_description && names->description == at->tracker->description) {
		of_pid = names->described_pid;
	} else if (at->is_description) {
		names->description = at->tracker->description;
		names->described_pid = at->pid;
	}
	if (of_pid)
		etw_kernel_write_heir(at->tracker->out, at->pid, image->base, of_pid);
	else
		etw_kernel_write_names(names, at->tracker->out, at->pid);
}

void etw_kernel_tracker_tell_image(void *context, const struct etw_kernel_image *image,
				   bool is_loaded)
{
	const struct etw_kernel_image_context *at = context;
	const enum etw_kernel_opcode opcode = is_loaded ? at->load : at->unload;

	if (!(at->tracker->flags & EVENT_TRACE_FLAG_IMAGE_LOAD) ||
	    !etw_kernel_tracker_wants(at->tracker, at->pid))
		return;
	if (!etw_kernel_shares_take(&at->tracker->shares, at->uid, at->tracker->out->time_ns,
				    IMAGE_EVENT_BYTES + image->wide->byte_count)) {
		at->tracker->lost_images++;
		return;
	}
	etw_kernel_write_image(at->tracker->out, opcode, at->actor, at->pid, image);
	tell_stack(at->tracker, opcode, at->actor, ETW_KERNEL_STACK_IMAGE_LOAD,
		   ETW_KERNEL_STACK_IMAGE_UNLOAD);
	if (is_loaded)
		tell_names(at, image);
}

struct etw_kernel_image_context etw_kernel_tracker_image_context(
	struct etw_kernel_tracker *tracker, struct etw_kernel_actor actor,
	const struct etw_kernel_process *process)
{
	return (struct etw_kernel_image_context){.tracker = tracker,
						 .actor = actor,
						 .pid = process ? process->pid : 0,
						 .uid = process ? process->uid : 0,
						 .load = ETW_KERNEL_OPCODE_LOAD,
						 .unload = ETW_KERNEL_OPCODE_END};
}

void etw_kernel_tracker_count_images(struct etw_kernel_tracker *tracker, int result)
{
	if (result == -E2BIG)
		tracker->lost_images++;
	else if (result)
		tracker->out->no_memory++;
}

void etw_kernel_tracker_tell_images(struct etw_kernel_tracker *tracker,
				    struct etw_kernel_actor actor,
				    const struct etw_kernel_process *process, bool is_loaded)
{
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(tracker, actor,
										   process);

	if (is_loaded)
		etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_LOADS);
	else
		etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_UNLOADS);
	etw_kernel_images_tell(process->images, is_loaded, etw_kernel_tracker_tell_image, &context);
}

void etw_kernel_tracker_tell_inherited(struct etw_kernel_tracker *tracker,
				       const struct etw_kernel_record *head,
				       const struct etw_kernel_process *process)
{
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(
		tracker, (struct etw_kernel_actor){.tid = head->tid, .pid = head->pid}, process);

	if (etw_kernel_tracker_wants(tracker, head->pid))
		context.of_pid = head->pid;
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_LOADS);
	etw_kernel_images_tell(process->images, true, etw_kernel_tracker_tell_image, &context);
}

void etw_kernel_tracker_describe(struct etw_kernel_tracker *tracker,
				 struct etw_kernel_process *process, bool is_end)
{
	enum etw_kernel_opcode opcode = is_end ? ETW_KERNEL_OPCODE_DC_END
					       : ETW_KERNEL_OPCODE_DC_START;
	struct etw_kernel_actor actor = {.tid = process->pid, .pid = process->pid};
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(tracker, actor,
										   process);

	if (process->is_ended)
		return;
	context.load = context.unload = opcode;
	context.is_description = true;
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_tracker_tell_process(tracker, opcode, actor, process, 0);
	for (struct etw_kernel_thread *thread = process->threads; thread; thread = thread->next) {
		actor.tid = thread->tid;
		if (!thread->is_ended)
			etw_kernel_tracker_tell_thread(tracker, opcode, actor, process->pid,
						       thread);
	}
	etw_kernel_images_tell(process->images, true, etw_kernel_tracker_tell_image, &context);
}

void etw_kernel_tracker_describe_images(struct etw_kernel_tracker *tracker,
					const struct etw_kernel_process *process)
{
	struct etw_kernel_actor actor = {.tid = process->pid, .pid = process->pid};
	struct etw_kernel_image_context context = etw_kernel_tracker_image_context(tracker, actor,
										   process);

	context.load = context.unload = ETW_KERNEL_OPCODE_DC_START;
	context.is_description = true;
	etw_kernel_out_slot(tracker->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_images_tell(process->images, true, etw_kernel_tracker_tell_image, &context);
}
