/* SPDX-License-Identifier: MIT */
/*
 * Microsoft-Windows-Kernel-File: FileIo's events, whose current payloads are the same, field by field.
 * Source: docs/kernel-events/named.md "File, Network, Disk".
 */
#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/named/named.h"
#include "wire/well_known.h"

#define GROUP_FILE   0x04
#define FILE_VERSION 3 /* of the events whose thread is a number of 32 bits */

#define ID_OPERATION_END 24

#define KEYWORD_NAME        0x10
#define KEYWORD_IO          0x20
#define KEYWORD_END         0x40
#define KEYWORD_CREATE      0x80
#define KEYWORD_READ        0x100
#define KEYWORD_WRITE       0x200
#define KEYWORD_DELETE_PATH 0x400
#define KEYWORD_RENAME_PATH 0x800
#define KEYWORD_CREATE_NEW  0x1000

/* Irp, FileObject, FileKey, and what stands behind them up to the thread. */
#define SIMPLE_THREAD_AT 24
#define INFO_THREAD_AT   32
#define NO_THREAD        0xFF

static const struct form {
	uint8_t type, version;
	uint16_t id, task;
	uint32_t keyword;
	uint8_t fixed_bytes; /* in front of a text, or all */
	uint8_t thread_at;   /* of IssuingThreadId */
	uint8_t added_bytes; /* fields behind the last, of which the classic event has none */
} forms[] = {
	{0, 0, 10, 10, KEYWORD_NAME, 8, NO_THREAD, 0},  /* Name */
	{32, 0, 10, 10, KEYWORD_NAME, 8, NO_THREAD, 0}, /* FileCreate */
	{35, 0, 11, 11, KEYWORD_NAME, 8, NO_THREAD, 0}, /* FileDelete */
	{64, 1, 12, 12, KEYWORD_IO | KEYWORD_CREATE, 32, 16, 0},
	{65, 1, 13, 13, KEYWORD_IO, 28, SIMPLE_THREAD_AT, 0}, /* Cleanup */
	{66, 1, 14, 14, KEYWORD_IO, 28, SIMPLE_THREAD_AT, 0}, /* Close */
	{67, 1, 15, 15, KEYWORD_IO | KEYWORD_READ, 44, 32, 4},
	{68, 1, 16, 16, KEYWORD_IO | KEYWORD_WRITE, 44, 32, 4},
	{69, 1, 17, 17, KEYWORD_IO, 40, INFO_THREAD_AT, 0},   /* SetInformation */
	{70, 1, 18, 18, KEYWORD_IO, 40, INFO_THREAD_AT, 0},   /* Delete */
	{71, 1, 19, 19, KEYWORD_IO, 40, INFO_THREAD_AT, 0},   /* Rename */
	{72, 1, 20, 20, KEYWORD_IO, 40, SIMPLE_THREAD_AT, 0}, /* DirEnum */
	{73, 1, 21, 21, KEYWORD_IO, 28, SIMPLE_THREAD_AT, 0}, /* Flush */
	{74, 1, 22, 22, KEYWORD_IO, 40, INFO_THREAD_AT, 0},   /* QueryInformation */
	{75, 1, 23, 23, KEYWORD_IO, 40, INFO_THREAD_AT, 0},   /* FSControl */
	{76, 0, 24, 24, KEYWORD_IO | KEYWORD_END, 20, NO_THREAD, 0},
	{77, 1, 25, 25, KEYWORD_IO, 40, SIMPLE_THREAD_AT, 0}, /* DirNotify */
	{78, 1, 30, 30, KEYWORD_CREATE_NEW, 32, 16, 0},
	{79, 1, 26, 26, KEYWORD_DELETE_PATH, 40, INFO_THREAD_AT, 0},
	{80, 1, 27, 27, KEYWORD_RENAME_PATH, 40, INFO_THREAD_AT, 0},
	{81, 1, 28, 28, KEYWORD_RENAME_PATH, 40, INFO_THREAD_AT, 0},
	{82, 1, 29, 19, KEYWORD_IO, 40, INFO_THREAD_AT, 0}, /* SetLink */
};

static const struct form *find(uint8_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].type == type)
			return &forms[i];
	}
	return NULL;
}

static bool make(struct etw_kernel_named_maker *maker, const struct etw_kernel_named_classic *from,
		 struct etw_kernel_named_event *ret)
{
	const struct form *form = from->group == GROUP_FILE ? find(from->type) : NULL;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);
	uint32_t added;

	if (!form || from->byte_count < form->fixed_bytes ||
	    (form->thread_at != NO_THREAD && from->version < FILE_VERSION))
		return false;
	ret->descriptor = etw_kernel_named_describe(form->id, form->version, 0, form->task,
						    form->keyword);
	if (form->thread_at != NO_THREAD) {
		ret->tid = etw_load32(from->payload + form->thread_at);
		ret->pid = etw_kernel_named_process_of(maker, ret->tid);
	}
	/* The upper half of an Irp is the thread that asks: docs/kernel-events/file.md. */
	if (form->id == ID_OPERATION_END) {
		ret->tid = (uint32_t)(etw_load64(from->payload) >> 32);
		ret->pid = etw_kernel_named_process_of(maker, ret->tid);
	}
	etw_kernel_named_put(&writer, from->payload, from->byte_count);
	added = form->fixed_bytes + form->added_bytes;
	while (form->added_bytes && writer.used < added && !writer.is_full)
		etw_kernel_named_put32(&writer, 0);
	return etw_kernel_named_end(&writer, ret);
}

#define NAMES       0x200     /* EVENT_TRACE_FLAG_DISK_FILE_IO */
#define ENDS        0x2000000 /* EVENT_TRACE_FLAG_FILE_IO */
#define CALLS       0x4000000 /* EVENT_TRACE_FLAG_FILE_IO_INIT */
#define IN(keyword) ((keyword) | ETW_KERNEL_NAMED_CHANNEL_KEYWORD)

static const struct etw_kernel_named_need needs[] = {
	{IN(KEYWORD_NAME), 0, NAMES},
	{IN(KEYWORD_IO), 0, CALLS},
	{IN(KEYWORD_IO | KEYWORD_END), 0, ENDS},
	{IN(KEYWORD_IO | KEYWORD_CREATE), 0, CALLS},
	{IN(KEYWORD_IO | KEYWORD_READ), 0, CALLS},
	{IN(KEYWORD_IO | KEYWORD_WRITE), 0, CALLS},
	{IN(KEYWORD_DELETE_PATH), 0, CALLS},
	{IN(KEYWORD_RENAME_PATH), 0, CALLS},
	{IN(KEYWORD_CREATE_NEW), 0, CALLS},
};

/* Stacks of what is asked for: FileIo's calls. */
static const uint16_t stack_hooks[] = {0x0440, 0x0441, 0x0442, 0x0443, 0x0444, 0x0445,
				       0x0446, 0x0447, 0x0448, 0x0449, 0x044A, 0x044B,
				       0x044D, 0x044E, 0x044F, 0x0450, 0x0451, 0x0452};

const struct etw_kernel_named_provider etw_kernel_named_file = {
	.guid = WIRE_PROVIDER_KERNEL_FILE,
	.name = "Microsoft-Windows-Kernel-File",
	.needs = needs,
	.need_count = ARRAY_SIZE(needs),
	.stack_hooks = stack_hooks,
	.stack_hook_count = ARRAY_SIZE(stack_hooks),
	.make = make,
};
