/* SPDX-License-Identifier: MIT */
/* The bytes of these events; see wire/kernel_account.h. Source: docs/format/tracelogging.md. */
#include "wire/kernel_account.h"

#include <string.h>

#include <evntrace.h>

#include "wire/own_event.h"

/* Types of fields, as docs/format/tracelogging.md has them. */
#define AS_U32  "\x08"
#define AS_U64  "\x0A"
#define AS_X32  "\x14"
#define AS_BOOL "\x0D"

/* clang-format off */
#define TIME_SCHEMA                   \
	"\0"                          \
	"ProcessorTime\0"             \
	"AtEnd\0" AS_BOOL             \
	"Processors\0" AS_U32         \
	"UserMs\0" AS_U64             \
	"NiceMs\0" AS_U64             \
	"SystemMs\0" AS_U64           \
	"IdleMs\0" AS_U64             \
	"IoWaitMs\0" AS_U64           \
	"InterruptMs\0" AS_U64        \
	"SoftInterruptMs\0" AS_U64    \
	"StealMs\0" AS_U64

#define STACK_SCHEMA                  \
	"\0"                          \
	"StackAccount\0"              \
	"Hook\0" AS_X32               \
	"Stacks\0" AS_U64             \
	"NotSwitchedOut\0" AS_U64     \
	"IdleThread\0" AS_U64         \
	"OtherProcesses\0" AS_U64     \
	"NothingKept\0" AS_U64        \
	"NoFrames\0" AS_U64           \
	"NotCopied\0" AS_U64          \
	"NotUnwound\0" AS_U64         \
	"WithoutUserHalf\0" AS_U64
/* clang-format on */

#define TIME_BYTES  (4 + 4 + 8 * WIRE_PROCESSOR_USES)
#define STACK_BYTES (4 + 8 * (WIRE_STACK_FATES + 1))

static uint8_t *begin(const char *schema, uint32_t schema_bytes, uint8_t *room)
{
	static const GUID provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	const struct wire_own_event event = {
		.provider = &provider,
		.provider_name = WIRE_KERNEL_ACCOUNT_PROVIDER_NAME,
		.schema = schema,
		.schema_bytes = schema_bytes,
		.level = TRACE_LEVEL_INFORMATION,
		.process_id = WIRE_OWN_NOBODY,
		.thread_id = WIRE_OWN_NOBODY,
	};

	memset(room, 0, WIRE_KERNEL_ACCOUNT_BYTES_MAX);
	return wire_own_event_begin(&event, room);
}

static uint8_t *put_numbers(uint8_t *at, const uint64_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++, at += 8)
		etw_store64(at, numbers[i]);
	return at;
}

static void take_numbers(const uint8_t *at, uint64_t *ret, unsigned count)
{
	for (unsigned i = 0; i < count; i++, at += 8)
		ret[i] = etw_load64(at);
}

uint32_t wire_processor_time_encode(const struct wire_processor_time *time, uint8_t *room)
{
	uint8_t *at = begin(TIME_SCHEMA, sizeof(TIME_SCHEMA) - 1, room);

	etw_store32(at, time->is_end);
	etw_store32(at + 4, time->processors);
	return wire_own_event_end(room, put_numbers(at + 8, time->ms, WIRE_PROCESSOR_USES));
}

uint32_t wire_stack_account_encode(const struct wire_stack_account *account, uint8_t *room)
{
	uint8_t *at = begin(STACK_SCHEMA, sizeof(STACK_SCHEMA) - 1, room);

	etw_store32(at, account->hook);
	at = put_numbers(at + 4, account->fates, WIRE_STACK_FATES);
	return wire_own_event_end(room, put_numbers(at, &account->without_user, 1));
}

bool wire_processor_time_decode(struct etw_bytes schema, struct etw_bytes payload,
				struct wire_processor_time *ret)
{
	if (!wire_own_event_is(schema, TIME_SCHEMA, sizeof(TIME_SCHEMA) - 1) ||
	    payload.left < TIME_BYTES)
		return false;
	ret->is_end = etw_load32(payload.at) != 0;
	ret->processors = etw_load32(payload.at + 4);
	take_numbers(payload.at + 8, ret->ms, WIRE_PROCESSOR_USES);
	return true;
}

bool wire_stack_account_decode(struct etw_bytes schema, struct etw_bytes payload,
			       struct wire_stack_account *ret)
{
	if (!wire_own_event_is(schema, STACK_SCHEMA, sizeof(STACK_SCHEMA) - 1) ||
	    payload.left < STACK_BYTES || etw_load32(payload.at) > UINT16_MAX)
		return false;
	ret->hook = (uint16_t)etw_load32(payload.at);
	take_numbers(payload.at + 4, ret->fates, WIRE_STACK_FATES);
	take_numbers(payload.at + 4 + 8 * WIRE_STACK_FATES, &ret->without_user, 1);
	return true;
}
