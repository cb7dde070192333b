/* SPDX-License-Identifier: MIT */
/* What the two halves of the tracker share: tracker.c applies records, tracker_tell.c tells what comes of them. */
#ifndef ETW_SOURCE_KERNEL_TRACKER_TRACKER_INTERNAL_H
#define ETW_SOURCE_KERNEL_TRACKER_TRACKER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/events/events.h"
#include "source/kernel/tracker/tracker.h"

/* Whose images are told, and by which events. */
struct etw_kernel_image_context {
	struct etw_kernel_tracker *tracker;
	struct etw_kernel_actor actor;
	uint32_t pid, uid;
	enum etw_kernel_opcode load, unload;
	uint32_t
		of_pid; /* who has the same images, with their names; 0: nobody that the trace knows */
	bool is_description;
};

/*
 * etw_kernel_tracker_wants() - whether a process is the one whose tree alone is wanted, or descends from it. Its ancestors are
 * asked; is_inside answers for those whose ancestors have ended.
 */
bool etw_kernel_tracker_wants(struct etw_kernel_tracker *tracker, uint32_t pid);

/* etw_kernel_tracker_tell_process() - an event of a process, if such are wanted. @status: of an end */
void etw_kernel_tracker_tell_process(struct etw_kernel_tracker *tracker,
				     enum etw_kernel_opcode opcode, struct etw_kernel_actor actor,
				     const struct etw_kernel_process *process, uint32_t status);

/* etw_kernel_tracker_tell_thread() - likewise of a thread of process @pid. */
void etw_kernel_tracker_tell_thread(struct etw_kernel_tracker *tracker,
				    enum etw_kernel_opcode opcode, struct etw_kernel_actor actor,
				    uint32_t pid, const struct etw_kernel_thread *thread);

/* etw_kernel_tracker_image_context() - for loads and unloads. @process: NULL: it is not known, and has no images */
struct etw_kernel_image_context etw_kernel_tracker_image_context(
	struct etw_kernel_tracker *tracker, struct etw_kernel_actor actor,
	const struct etw_kernel_process *process);

/* etw_kernel_tracker_tell_image() - an image came or went. @context: struct etw_kernel_image_context */
void etw_kernel_tracker_tell_image(void *context, const struct etw_kernel_image *image,
				   bool is_loaded);

/* etw_kernel_tracker_tell_images() - all images of a process came or went with its program. */
void etw_kernel_tracker_tell_images(struct etw_kernel_tracker *tracker,
				    struct etw_kernel_actor actor,
				    const struct etw_kernel_process *process, bool is_loaded);

/* etw_kernel_tracker_tell_inherited() - what a child has of the process that made it, which @head names. */
void etw_kernel_tracker_tell_inherited(struct etw_kernel_tracker *tracker,
				       const struct etw_kernel_record *head,
				       const struct etw_kernel_process *process);

/*
 * etw_kernel_tracker_count_images() - what a change of images came to: those beyond what a process may have are lost, and
 * what there was no memory for.
 *
 * @result: of etw_kernel_images_map() and its like
 */
void etw_kernel_tracker_count_images(struct etw_kernel_tracker *tracker, int result);

#endif
