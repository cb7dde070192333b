/* SPDX-License-Identifier: MIT */
/* The kernel's own code as it comes and goes. See own_live.h. */
#include "source/kernel/tracker/own_live.h"

#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/events/symbol_events.h"
#include "source/kernel/events/task_stacks.h"

#define KERNEL_PID 0

/* Where the kernel hides its addresses nothing of its code is told. */
static bool is_shown(const struct etw_kernel_own *own)
{
	return own->root && own->images.count;
}

static void tell(struct etw_kernel_own *own, struct etw_kernel_out *out,
		 struct etw_kernel_actor actor, const struct etw_kernel_image *image,
		 bool is_loaded)
{
	if (!image) {
		out->no_memory++;
		return;
	}
	etw_kernel_out_slot(out, is_loaded ? ETW_KERNEL_SLOT_LOADS : ETW_KERNEL_SLOT_UNLOADS);
	etw_kernel_write_image(out, is_loaded ? ETW_KERNEL_OPCODE_LOAD : ETW_KERNEL_OPCODE_END,
			       actor, KERNEL_PID, image);
	etw_kernel_task_stack_write(
		out, is_loaded ? ETW_KERNEL_STACK_IMAGE_LOAD : ETW_KERNEL_STACK_IMAGE_UNLOAD,
		actor.tid, actor.pid);
	if (!is_loaded)
		etw_kernel_own_images_remove(&own->images, image);
}

void etw_kernel_own_module(struct etw_kernel_own *own, struct etw_kernel_out *out,
			   const struct etw_kernel_module *record)
{
	const struct etw_kernel_actor actor = {.tid = record->head.tid, .pid = record->head.pid};
	const struct etw_kernel_image *image;
	char name[ETW_KERNEL_MODULE_BYTES + 1];

	if (!is_shown(own))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", ETW_KERNEL_MODULE_BYTES, record->name);
	image = etw_kernel_own_images_at(&own->images, record->base, 0);
	/* One that is there already was read when the session began, right behind the record. */
	if (image && !record->is_loaded)
		tell(own, out, actor, image, false);
	else if (!image && record->is_loaded)
		tell(own, out, actor,
		     etw_kernel_own_images_of_module(&own->images, own->root, name, record->base,
						     record->byte_count),
		     true);
}

/* Whose code it is, as the kernel's list of functions has it in brackets. */
static const char *owner_of(const struct etw_kernel_made *made)
{
	if (made->is_bpf)
		return "[bpf]";
	return strncmp(made->name, "kprobe", 6) == 0 ? "[__builtin__kprobes]"
						     : "[__builtin__ftrace]";
}

static void tell_name(struct etw_kernel_out *out, const struct etw_kernel_image *image,
		      const struct etw_kernel_made *made)
{
	const struct etw_image_symbol symbol = {
		.offset = made->base - image->base,
		.byte_count = made->byte_count,
		.name = made->name,
		.name_bytes = (uint32_t)strlen(made->name),
	};

	if (etw_image_symbol_is_sound(image->base, &symbol))
		etw_kernel_write_symbols(out, KERNEL_PID, image->base, &symbol, 1);
}

void etw_kernel_own_made(struct etw_kernel_own *own, struct etw_kernel_out *out,
			 struct etw_kernel_actor actor, const struct etw_kernel_made *made)
{
	const struct etw_kernel_image *image;

	if (!is_shown(own))
		return;
	/* By its size: an image that a rundown made of several functions stays as long as one of them may. */
	image = etw_kernel_own_images_at(&own->images, made->base, made->byte_count);
	if (!made->is_loaded) {
		if (image)
			tell(own, out, actor, image, false);
		return;
	}
	if (!image) {
		image = etw_kernel_own_images_add(&own->images, made->base, made->byte_count,
						  owner_of(made));
		tell(own, out, actor, image, true);
	}
	if (image)
		tell_name(out, image, made);
}
