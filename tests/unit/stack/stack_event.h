/* SPDX-License-Identifier: MIT */
/* Events with stacks for the tests of src/stack, and what became of them. */
#ifndef ETW_TESTS_STACK_STACK_EVENT_H
#define ETW_TESTS_STACK_STACK_EVENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack/attach.h"
#include "wire/class_guids.h"

#define UNUSED_STATE void **state __attribute__((unused))
#define NO_ID        UINT32_MAX
#define TOLD_MAX     64
#define FRAMES_MAX   16
#define KERNEL(n)    (UINT64_C(0xFFFFF80000000000) + (n))
#define USER(n)      (UINT64_C(0x7FF600000000) + (n))

static const GUID made_perf_info = WIRE_CLASS_PERF_INFO;
static const GUID made_thread = WIRE_CLASS_THREAD;
static const GUID made_file_io = WIRE_CLASS_FILE_IO;
static const GUID made_stack_walk = WIRE_CLASS_STACK_WALK;
static const GUID made_image_id = WIRE_CLASS_IMAGE_ID;

/* An event under construction. */
struct made {
	EVENT_RECORD record;
	EVENT_HEADER_EXTENDED_DATA_ITEM item;
	uint8_t payload[4096], item_data[1024];
};

static inline void made_number(struct made *made, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		made->payload[made->record.UserDataLength++] = (uint8_t)(value >> 8 * i);
}

static inline void made_begin(struct made *made, const GUID *provider, unsigned opcode,
			      uint32_t tid, unsigned processor)
{
	memset(made, 0, sizeof(*made));
	made->record.EventHeader.ProviderId = *provider;
	made->record.EventHeader.EventDescriptor.Opcode = (uint8_t)opcode;
	made->record.EventHeader.EventDescriptor.Version = 2;
	made->record.EventHeader.Flags = EVENT_HEADER_FLAG_64_BIT_HEADER |
					 EVENT_HEADER_FLAG_PROCESSOR_INDEX;
	made->record.EventHeader.ProcessId = made->record.EventHeader.ThreadId = tid;
	made->record.BufferContext.ProcessorIndex = (uint16_t)processor;
	made->record.UserData = made->payload;
}

/* Frames until the first 0. */
static inline void made_frames(struct made *made, const uint64_t *frames)
{
	for (; *frames; frames++)
		made_number(made, *frames, 8);
}

struct told {
	uint64_t token;
	enum etw_stack_fate fate;
	uint32_t pid, tid, count, kernel_count;
	uint64_t frames[FRAMES_MAX];
};

struct fixture {
	struct etw_stacks *stacks;
	struct told told[TOLD_MAX];
	size_t count;
	int result; /* of the callback */
};

static inline int fixture_take(void *context, uint64_t token, enum etw_stack_fate fate,
			       const struct etw_callstack *stack)
{
	struct fixture *fixture = context;
	struct told *told = &fixture->told[fixture->count++ % TOLD_MAX];

	*told = (struct told){.token = token,
			      .fate = fate,
			      .pid = stack->pid,
			      .tid = stack->tid,
			      .count = stack->count,
			      .kernel_count = stack->kernel_count};
	for (uint32_t i = 0; i < stack->count && i < FRAMES_MAX; i++)
		told->frames[i] = stack->frames[i];
	return fixture->result;
}

static inline void fixture_init(struct fixture *fixture, unsigned pointer_bytes)
{
	memset(fixture, 0, sizeof(*fixture));
	assert_int_equal(etw_stacks_create(pointer_bytes, fixture_take, fixture, &fixture->stacks),
			 0);
}

static inline void fixture_end(struct fixture *fixture)
{
	assert_int_equal(etw_stacks_end(fixture->stacks), 0);
}

static inline void fixture_done(struct fixture *fixture)
{
	etw_stacks_free(fixture->stacks);
}

/* @token: 0: nobody wants its stack */
static inline void fixture_add(struct fixture *fixture, const struct made *made, int64_t time,
			       uint64_t token)
{
	assert_int_equal(etw_stacks_add(fixture->stacks, &made->record, time, token != 0, token),
			 0);
}

/* An event whose header has its thread. */
static inline void fixture_event(struct fixture *fixture, int64_t time, uint32_t tid,
				 unsigned processor, uint64_t token)
{
	struct made made;

	made_begin(&made, &made_file_io, 67, tid, processor);
	fixture_add(fixture, &made, time, token);
}

static inline void made_reference(struct made *made, unsigned opcode, int64_t of_time, uint32_t pid,
				  uint32_t tid)
{
	made_begin(made, &made_stack_walk, opcode, NO_ID, 0);
	made_number(made, (uint64_t)of_time, 8);
	made_number(made, pid, 4);
	made_number(made, tid, 4);
}

/* A StackWalk event about that of @of_time. */
static inline void fixture_walk(struct fixture *fixture, int64_t time, int64_t of_time,
				uint32_t pid, uint32_t tid, const uint64_t *frames)
{
	struct made made;

	made_reference(&made, 32, of_time, pid, tid);
	made_frames(&made, frames);
	fixture_add(fixture, &made, time, 0);
}

/* Opcode 37: kernel; 38: user. */
static inline void fixture_key(struct fixture *fixture, int64_t of_time, unsigned opcode,
			       uint32_t pid, uint32_t tid, uint64_t key)
{
	struct made made;

	made_reference(&made, opcode, of_time, pid, tid);
	made_number(&made, key, 8);
	fixture_add(fixture, &made, of_time + 1, 0);
}

static inline void fixture_define(struct fixture *fixture, int64_t time, uint64_t key,
				  const uint64_t *frames)
{
	struct made made;

	made_begin(&made, &made_stack_walk, 36, NO_ID, 0);
	made_number(&made, key, 8);
	made_frames(&made, frames);
	fixture_add(fixture, &made, time, 0);
}

/* @frames: until the first 0 */
static inline void assert_told(const struct fixture *fixture, size_t index, uint64_t token,
			       enum etw_stack_fate fate, const uint64_t *frames)
{
	const struct told *told = &fixture->told[index];
	uint32_t count = 0;

	assert_true(index < fixture->count);
	assert_int_equal(told->token, token);
	assert_int_equal(told->fate, fate);
	for (; frames[count]; count++)
		assert_int_equal(told->frames[count], frames[count]);
	assert_int_equal(told->count, count);
}

#endif
