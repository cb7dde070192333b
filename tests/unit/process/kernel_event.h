/* SPDX-License-Identifier: MIT */
/* Kernel events of 64-bit Windows for the tests of src/process, as records that a decoder reads. */
#ifndef ETW_TESTS_PROCESS_KERNEL_EVENT_H
#define ETW_TESTS_PROCESS_KERNEL_EVENT_H

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

/* A kernel event under construction. */
struct made_event {
	EVENT_RECORD record;
	uint8_t payload[4096];
};

static inline void made_begin(struct made_event *made, const GUID *provider, unsigned opcode,
			      unsigned version)
{
	memset(made, 0, sizeof(*made));
	made->record.EventHeader.ProviderId = *provider;
	made->record.EventHeader.EventDescriptor.Opcode = (uint8_t)opcode;
	made->record.EventHeader.EventDescriptor.Version = (uint8_t)version;
	made->record.EventHeader.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER |
					 EVENT_HEADER_FLAG_64_BIT_HEADER;
	made->record.EventHeader.ProcessId = made->record.EventHeader.ThreadId = ETW_PROCESS_NONE;
	made->record.UserData = made->payload;
}

static inline void made_number(struct made_event *made, uint64_t value, size_t bytes)
{
	assert_true(made->record.UserDataLength + bytes <= sizeof(made->payload));
	for (size_t i = 0; i < bytes; i++)
		made->payload[made->record.UserDataLength++] = (uint8_t)(value >> 8 * i);
}

static inline void made_text(struct made_event *made, const char *text, size_t unit_bytes)
{
	for (size_t i = 0; i <= strlen(text); i++)
		made_number(made, (uint8_t)text[i], unit_bytes);
}

/* Process, version 4. */
struct made_process {
	uint32_t pid, parent, status;
	uint64_t key;
	const char *name, *command_line;
};

static inline void made_process(struct made_event *made, unsigned opcode,
				const struct made_process *process)
{
	static const uint8_t sid[] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0};

	made_begin(made, &etw_class_process, opcode, 4);
	made_number(made, process->key, 8);
	made_number(made, process->pid, 4);
	made_number(made, process->parent, 4);
	made_number(made, 7, 4);
	made_number(made, process->status, 4);
	made_number(made, 0, 8);
	made_number(made, 0, 4);
	made_number(made, 1, 8);
	made_number(made, 0, 8);
	for (size_t i = 0; i < sizeof(sid); i++)
		made_number(made, sid[i], 1);
	made_text(made, process->name, 1);
	made_text(made, process->command_line, 2);
	made_text(made, "", 2);
	made_text(made, "", 2);
}

/* Thread, version 4. */
static inline void made_thread(struct made_event *made, unsigned opcode, uint32_t pid, uint32_t tid,
			       const char *name)
{
	made_begin(made, &etw_class_thread, opcode, 4);
	made_number(made, pid, 4);
	made_number(made, tid, 4);
	for (int i = 0; i < 7; i++)
		made_number(made, 0, 8);
	made_number(made, 0, 4);
	made_number(made, 0, 4);
	made_text(made, name, 2);
}

/* What the tests read events with. */
struct fixture {
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_processes *processes;
};

static inline void fixture_init(struct fixture *fixture)
{
	assert_int_equal(etw_schema_store_create(&fixture->store), 0);
	assert_int_equal(etw_decoder_create(fixture->store, &fixture->decoder), 0);
	assert_int_equal(etw_processes_create(&fixture->processes), 0);
}

static inline void fixture_done(struct fixture *fixture)
{
	etw_processes_free(fixture->processes);
	etw_decoder_free(fixture->decoder);
	etw_schema_store_free(fixture->store);
}

static inline struct etw_decoding fixture_decode(struct fixture *fixture, struct made_event *made)
{
	struct etw_decoding decoding;

	assert_int_equal(etw_decoder_run(fixture->decoder, &made->record, &decoding), 0);
	assert_int_equal(decoding.status, ETW_DECODE_COMPLETE);
	return decoding;
}

static inline void fixture_take(struct fixture *fixture, struct made_event *made, int64_t time_ft)
{
	const struct etw_decoding decoding = fixture_decode(fixture, made);

	assert_int_equal(etw_processes_add(fixture->processes, &decoding, time_ft), 0);
}

static inline void fixture_process(struct fixture *fixture, int64_t time_ft, unsigned opcode,
				   const struct made_process *process)
{
	struct made_event made;

	made_process(&made, opcode, process);
	fixture_take(fixture, &made, time_ft);
}

static inline void fixture_thread(struct fixture *fixture, int64_t time_ft, unsigned opcode,
				  uint32_t pid, uint32_t tid, const char *name)
{
	struct made_event made;

	made_thread(&made, opcode, pid, tid, name);
	fixture_take(fixture, &made, time_ft);
}

#endif
