/* SPDX-License-Identifier: MIT */
/*
 * What a recording of the kernel tells of itself: how the processors' time was spent while it went on, steal above all, and
 * what became of the stacks that were asked for. They are TraceLogging events "ProcessorTime" and "StackAccount" of the
 * provider "Libetw-Kernel", which describe themselves, so that every decoder of such events shows them.
 *
 * The host alone writes them: the provider's events never come from a ring (session/common/check.h).
 * Source: docs/kernel-events/account.md.
 */
#ifndef ETW_WIRE_KERNEL_ACCOUNT_H
#define ETW_WIRE_KERNEL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"

/* "Libetw-Kernel" by the rule of names; tests/unit/schema/test_provider_id.c holds the two together. */
#define WIRE_KERNEL_ACCOUNT_PROVIDER_NAME "Libetw-Kernel"
#define WIRE_KERNEL_ACCOUNT_PROVIDER                                   \
	{                                                              \
		0xe0dcaad1, 0x76b7, 0x52b2,                            \
		{                                                      \
			0x1d, 0x7b, 0x71, 0xbd, 0x16, 0x48, 0xb1, 0x70 \
		}                                                      \
	}

#define WIRE_KERNEL_ACCOUNT_BYTES_MAX 512 /* of one event */

/* What processors spend their time on, in the order in which Linux tells it. */
enum wire_processor_use {
	WIRE_PROCESSOR_USER,
	WIRE_PROCESSOR_NICE,
	WIRE_PROCESSOR_SYSTEM,
	WIRE_PROCESSOR_IDLE,
	WIRE_PROCESSOR_IO_WAIT,
	WIRE_PROCESSOR_INTERRUPT,
	WIRE_PROCESSOR_SOFT_INTERRUPT,
	WIRE_PROCESSOR_STEAL, /* the hypervisor gave it to others */
	WIRE_PROCESSOR_USES,
};

/* Since the machine was started, of all processors together. */
struct wire_processor_time {
	bool is_end; /* of the recording; else its start */
	uint32_t processors;
	uint64_t ms[WIRE_PROCESSOR_USES];
};

/* What became of a stack that was asked for. */
enum wire_stack_fate {
	WIRE_STACK_IS_THERE,
	WIRE_STACK_NOT_SWITCHED_OUT, /* the thread was not, since the recording began */
	WIRE_STACK_OF_IDLE_THREAD,   /* which has none */
	WIRE_STACK_OF_OTHERS, /* one process tree alone is recorded, and the thread is not of it */
	WIRE_STACK_NOTHING_KEPT, /* of the thread: no memory, or nobody found it when the recording began */
	WIRE_STACK_NO_FRAMES, /* neither the kernel nor user code gave an address */
	/* Of user code alone, which is to be walked by tables: */
	WIRE_STACK_NOT_COPIED,  /* the ring of the processor had no room for a copy */
	WIRE_STACK_NOT_UNWOUND, /* the walk of the copy found nothing */
	WIRE_STACK_FATES,
};

/* The events of a kind that are in the trace, by what became of their stacks: the fates are all of them. */
struct wire_stack_account {
	uint16_t hook; /* (group << 8) | type */
	uint64_t fates[WIRE_STACK_FATES];
	uint64_t
		without_user; /* of those that are there: the process's half was asked for, and is missing */
};

/*
 * wire_processor_time_encode(), wire_stack_account_encode() - the whole event, header included, but for the time.
 *
 * @room: WIRE_KERNEL_ACCOUNT_BYTES_MAX bytes, all zeroed or written
 *
 * Return its exact bytes, not padded.
 */
uint32_t wire_processor_time_encode(const struct wire_processor_time *time, uint8_t *room);
uint32_t wire_stack_account_encode(const struct wire_stack_account *account, uint8_t *room);

/*
 * wire_processor_time_decode(), wire_stack_account_decode() - read it back from an event of the provider.
 *
 * @schema:  the data of its item EVENT_SCHEMA_TL
 * @payload: its user data
 *
 * Return false for an event that is none, in a form that this version knows.
 */
bool wire_processor_time_decode(struct etw_bytes schema, struct etw_bytes payload,
				struct wire_processor_time *ret);
bool wire_stack_account_decode(struct etw_bytes schema, struct etw_bytes payload,
			       struct wire_stack_account *ret);

#endif
