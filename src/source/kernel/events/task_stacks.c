/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/task_stacks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/unwind/unwind_walk.h"
#include "wire/etl_event.h"

#define GROUP_STACKWALK   0x18
#define STACK_TYPE        32
#define STACK_VERSION     2
#define STACK_FIXED_BYTES 16

uint32_t etw_kernel_stack_skip_tracers(const struct etw_kernel_routines *routines,
				       const uint64_t *frames, uint32_t kernel_frames)
{
	uint32_t count = 0;

	while (routines && count < kernel_frames &&
	       etw_kernel_routines_is_tracer(routines, frames[count]))
		count++;
	return count;
}

/* Returns whether the record's end holds what it says. */
static bool is_framed(const struct etw_kernel_task_stack *stack, uint32_t stack_bytes)
{
	return stack_bytes == sizeof(struct etw_kernel_framed_stack) &&
	       stack->user_frames <= ETW_KERNEL_USER_FRAMES;
}

static bool is_copied(const struct etw_kernel_task_stack *stack, uint32_t stack_bytes)
{
	const struct etw_kernel_copied_stack *copied = (const void *)stack;

	return stack_bytes == sizeof(*copied) && !stack->user_frames &&
	       (!copied->copy.key_ns || copied->copy.byte_count <= sizeof(copied->bytes));
}

static void add_frames(struct etw_kernel_moment_stack *to, const uint64_t *frames, uint32_t count)
{
	count = MIN(count, (uint32_t)ETW_KERNEL_FRAMES - to->count);
	memcpy(&to->frames[to->count], frames, count * sizeof(frames[0]));
	to->count += count;
}

/* Returns false where a copy is there and nothing can unwind it. A thread without user code has none, and lacks nothing. */
static bool unwind(const struct etw_kernel_stack_reader *reader,
		   const struct etw_kernel_copied_stack *copied, struct etw_kernel_moment_stack *to)
{
	if (!copied->copy.key_ns)
		return true;
	if (!reader->tables)
		return false;
	to->count += etw_kernel_unwind_walk(
		reader->tables, &reader->owner, reader->images, &copied->copy,
		&to->frames[to->count],
		MIN((uint32_t)ETW_KERNEL_USER_FRAMES, (uint32_t)ETW_KERNEL_FRAMES - to->count));
	return true;
}

bool etw_kernel_task_stack_read(const struct etw_kernel_stack_reader *reader,
				const struct etw_kernel_record *record, uint32_t byte_count,
				struct etw_kernel_moment_stack *ret)
{
	const struct etw_kernel_task_stack *stack;
	const uint64_t *kernel;
	uint32_t tracers;

	if (!record->stack_bytes || record->stack_bytes > byte_count - sizeof(*record))
		return false;
	stack = (const void *)((const uint8_t *)record + byte_count - record->stack_bytes);
	if (record->stack_bytes < sizeof(*stack) || stack->kernel_frames > ETW_KERNEL_KERNEL_FRAMES)
		return false;
	ret->count = 0;
	ret->is_whole = record->has_user;
	kernel = (const void *)stack->kernel;
	tracers = etw_kernel_stack_skip_tracers(reader->routines, kernel, stack->kernel_frames);
	add_frames(ret, kernel + tracers, stack->kernel_frames - tracers);
	for (uint32_t i = 0; reader->seen && i < ret->count; i++)
		etw_kernel_seen_add(reader->seen, ret->frames[i]);
	if (is_framed(stack, record->stack_bytes))
		add_frames(ret, (const void *)(stack + 1), stack->user_frames);
	else if (is_copied(stack, record->stack_bytes))
		ret->is_whole &= unwind(reader, (const void *)stack, ret);
	else
		return false;
	return ret->count != 0;
}

static void write_stack(struct etw_kernel_out *out, const struct etw_kernel_moment_stack *stack,
			uint32_t tid, uint32_t pid)
{
	const uint32_t bytes = (uint32_t)sizeof(struct wire_perfinfo_header) + STACK_FIXED_BYTES +
			       stack->count * 8;
	const struct wire_perfinfo_header header = {
		.version = le16_of(STACK_VERSION),
		.header_type = WIRE_HEADER_PERFINFO64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)bytes),
		.type = STACK_TYPE,
		.group = GROUP_STACKWALK,
	};
	uint8_t *at = etw_kernel_out_add(out, bytes,
					 offsetof(struct wire_perfinfo_header, time_raw));

	if (!at)
		return;
	/* EventTimeStamp: the event's own time, which is known when it is looked at. */
	etw_kernel_out_repeat_time(out, sizeof(header));
	memcpy(at, &header, sizeof(header));
	at += sizeof(header) + 8;
	etw_store32(at, pid);
	etw_store32(at + 4, tid);
	memcpy(at + 8, stack->frames, stack->count * sizeof(stack->frames[0]));
}

void etw_kernel_task_stack_write(struct etw_kernel_out *out, uint32_t event, uint32_t tid,
				 uint32_t pid)
{
	const struct etw_kernel_moment_stack *stack = out->stack;
	enum wire_stack_fate fate = WIRE_STACK_IS_THERE;

	if (!(out->stack_events & event))
		return;
	if (!stack)
		fate = out->is_of_others ? WIRE_STACK_OF_OTHERS : WIRE_STACK_NO_FRAMES;
	etw_kernel_out_account(out, event, fate, stack && !stack->is_whole);
	if (stack)
		write_stack(out, stack, tid, pid);
	else
		etw_kernel_out_skip(out);
}

void etw_kernel_map_stack_set(struct etw_kernel_map_stack **at, const struct etw_kernel_map *record,
			      const struct etw_kernel_moment_stack *stack)
{
	size_t bytes = offsetof(struct etw_kernel_map_stack, stack.frames) +
		       stack->count * sizeof(stack->frames[0]);
	struct etw_kernel_map_stack *kept;

	free(*at);
	*at = kept = malloc(bytes);
	if (!kept)
		return;
	kept->time_ns = record->head.time_ns;
	kept->start = record->start;
	kept->byte_count = record->byte_count;
	kept->file_offset = record->file_offset;
	memcpy(&kept->stack, stack, bytes - offsetof(struct etw_kernel_map_stack, stack));
}

const struct etw_kernel_moment_stack *etw_kernel_map_stack_of(
	const struct etw_kernel_map_stack *at, const struct etw_kernel_mapping *mapping,
	uint64_t time_ns)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	if (!at || at->time_ns > time_ns || !mapping->is_executable)
		return NULL;
	if (at->start)
		return at->start < mapping->start + mapping->byte_count &&
				       mapping->start < at->start + at->byte_count
			       ? &at->stack
			       : NULL;
	return at->file_offset == mapping->file_offset &&
			       ALIGN_UP(at->byte_count, page_bytes) == mapping->byte_count
		       ? &at->stack
		       : NULL;
}
