/* SPDX-License-Identifier: MIT */
/*
 * Property: whatever events a trace has, every event whose stack is wanted is told of exactly once, and its frames are
 * readable memory.
 *
 * Input: records of {u8 what, u8 thread, u8 time, u8 bytes} and so many bytes of payload.
 */
#include <stdlib.h>
#include <string.h>

#include "stack/attach.h"
#include "target.h"
#include "wire/class_guids.h"

#define WANTED_MAX 65536

struct account {
	uint8_t told[WANTED_MAX];
	uint64_t sum;
};

static int take(void *context, uint64_t token, enum etw_stack_fate fate,
		const struct etw_callstack *stack)
{
	struct account *account = context;

	if (account->told[token]++ || stack->kernel_count > stack->count ||
	    (fate == ETW_STACK_NONE && stack->count))
		abort();
	for (uint32_t i = 0; i < stack->count; i++)
		account->sum += stack->frames[i];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const GUID guids[] = {WIRE_CLASS_STACK_WALK, WIRE_CLASS_PERF_INFO, WIRE_CLASS_THREAD,
				     WIRE_CLASS_FILE_IO};
	struct account *account = calloc(1, sizeof(*account));
	struct etw_stacks *stacks = NULL;
	uint64_t wanted = 0;

	if (!account || etw_stacks_create(size & 1 ? 4 : 8, take, account, &stacks)) {
		free(account);
		return 0;
	}
	while (size >= 4) {
		const uint8_t what = data[0];
		const size_t bytes = data[3] < size - 4 ? data[3] : size - 4;
		uint8_t *payload = malloc(bytes + 1); /* so that a sanitizer sees its end */
		EVENT_HEADER_EXTENDED_DATA_ITEM item = {
			.ExtType = (USHORT)(what & 0x20 ? EVENT_HEADER_EXT_TYPE_STACK_TRACE64
							: EVENT_HEADER_EXT_TYPE_STACK_KEY64),
			.DataSize = (USHORT)bytes,
			.DataPtr = (uintptr_t)payload,
		};
		EVENT_RECORD record = {
			.EventHeader.ProviderId = guids[what & 3],
			.EventHeader.EventDescriptor.Opcode = (UCHAR)(32 + (what >> 2 & 7)),
			.EventHeader.Flags = (USHORT)(what & 0x80
							      ? EVENT_HEADER_FLAG_32_BIT_HEADER
							      : EVENT_HEADER_FLAG_64_BIT_HEADER),
			.EventHeader.ThreadId = data[1] == 0xFF ? UINT32_MAX : data[1],
			.EventHeader.ProcessId = data[1] & 7,
			.UserDataLength = (USHORT)bytes,
			.UserData = payload,
			.ExtendedDataCount = what & 0x40 ? 1 : 0,
			.ExtendedData = &item,
		};
		const bool is_wanted = wanted < WANTED_MAX;

		if (!payload)
			break;
		memcpy(payload, data + 4, bytes);
		if (etw_stacks_add(stacks, &record, data[2], is_wanted, wanted)) {
			free(payload);
			break;
		}
		free(payload);
		wanted += is_wanted;
		data += 4 + bytes;
		size -= 4 + bytes;
	}
	if (!etw_stacks_end(stacks)) {
		for (uint64_t i = 0; i < wanted; i++) {
			if (account->told[i] != 1)
				abort();
		}
	}
	etw_stacks_free(stacks);
	free(account);
	return 0;
}
