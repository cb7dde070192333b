/* SPDX-License-Identifier: MIT */
/* Kernel events of 64-bit Windows for the tests of src/process, as records that a decoder reads. */
#ifndef ETW_TESTS_PROCESS_TOLD_H
#define ETW_TESTS_PROCESS_TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "decode/decode.h"
#include "process/kernel_class.h"
#include "process/processes.h"

#define UNUSED_STATE void **state __attribute__((unused))

/* One event under construction. */
struct told {
	EVENT_RECORD record;
	uint8_t payload[4096];
};

static inline void told_begin(struct told *told, const GUID *provider, unsigned opcode,
			      unsigned version)
{
	memset(told, 0, sizeof(*told));
	told->record.EventHeader.ProviderId = *provider;
	told->record.EventHeader.EventDescriptor.Opcode = (uint8_t)opcode;
	told->record.EventHeader.EventDescriptor.Version = (uint8_t)version;
	told->record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER |
					 EVENT_HEADER_FLAG_64_BIT_HEADER;
	told->record.EventHeader.ProcessId = told->record.EventHeader.ThreadId = ETW_PROCESS_NONE;
	told->record.UserData = told->payload;
}

static inline void told_number(struct told *told, uint64_t value, size_t bytes)
{
	assert_true(told->record.UserDataLength + bytes <= sizeof(told->payload));
	for (size_t i = 0; i < bytes; i++)
		told->payload[told->record.UserDataLength++] = (uint8_t)(value >> 8 * i);
}

static inline void told_text(struct told *told, const char *text, size_t unit_bytes)
{
	for (size_t i = 0; i <= strlen(text); i++)
		told_number(told, (uint8_t)text[i], unit_bytes);
}

/* Process, version 4. */
struct told_process {
	uint32_t pid, parent, status;
	uint64_t key;
	const char *name, *command_line;
};

static inline void told_process(struct told *told, unsigned opcode,
				const struct told_process *process)
{
	static const uint8_t sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};

	told_begin(told, &etw_class_process, opcode, 4);
	told_number(told, process->key, 8);
	told_number(told, process->pid, 4);
	told_number(told, process->parent, 4);
	told_number(told, 7, 4);
	told_number(told, process->status, 4);
	told_number(told, 0, 8);
	told_number(told, 0, 4);
	told_number(told, 1, 8);
	told_number(told, 0, 8);
	for (size_t i = 0; i < sizeof(sid); i++)
		told_number(told, sid[i], 1);
	told_text(told, process->name, 1);
	told_text(told, process->command_line, 2);
	told_text(told, "", 2);
	told_text(told, "", 2);
}

/* Thread, version 4. */
static inline void told_thread(struct told *told, unsigned opcode, uint32_t pid, uint32_t tid,
			       const char *name)
{
	told_begin(told, &etw_class_thread, opcode, 4);
	told_number(told, pid, 4);
	told_number(told, tid, 4);
	for (int i = 0; i < 7; i++)
		told_number(told, 0, 8);
	told_number(told, 0, 4);
	told_number(told, 0, 4);
	told_text(told, name, 2);
}

/* Everything that an event is read with. */
struct listener {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_processes *processes;
};

static inline void listener_init(struct listener *listener)
{
	assert_int_equal(etw_schema_store_create(&listener->store), 0);
	assert_int_equal(etw_decoder_create(listener->store, &listener->decoder), 0);
	assert_int_equal(etw_processes_create(&listener->processes), 0);
}

static inline void listener_done(struct listener *listener)
{
	etw_processes_free(listener->processes);
	etw_decoder_free(listener->decoder);
	etw_schema_store_free(listener->store);
}

static inline struct etw_decoding listener_decode(struct listener *listener, struct told *told)
{
	struct etw_decoding decoding;

	assert_int_equal(etw_decoder_run(listener->decoder, &told->record, &decoding), 0);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	return decoding;
}

static inline void listener_take(struct listener *listener, struct told *told, int64_t time_ft)
{
	const struct etw_decoding decoding = listener_decode(listener, told);

	assert_int_equal(etw_processes_add(listener->processes, &decoding, time_ft), 0);
}

static inline void listener_process(struct listener *listener, int64_t time_ft, unsigned opcode,
				    const struct told_process *process)
{
	struct told told;

	told_process(&told, opcode, process);
	listener_take(listener, &told, time_ft);
}

static inline void listener_thread(struct listener *listener, int64_t time_ft, unsigned opcode,
				   uint32_t pid, uint32_t tid, const char *name)
{
	struct told told;

	told_thread(&told, opcode, pid, tid, name);
	listener_take(listener, &told, time_ft);
}

#endif
