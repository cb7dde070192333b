/* SPDX-License-Identifier: MIT */
#include "stack/part.h"

#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"
#include "wire/class_guids.h"
#include "wire/image_symbols.h"

enum {
	STACK_WALK_FRAMES = 32,
	STACK_WALK_CREATE = 34,
	STACK_WALK_DELETE = 35,
	STACK_WALK_RUNDOWN = 36,
	STACK_WALK_KEY_KERNEL = 37,
	STACK_WALK_KEY_USER = 38,
};

#define REFERENCE_BYTES  16 /* time, process, thread */
#define MATCH_BYTES      8
#define THREAD_SWITCH    36
#define DISK_WITH_THREAD 3 /* from this version on a completion names the thread */
#define USER_HALF_ID     18
#define USER_HALF_OPCODE 24

static const GUID class_stack_walk = WIRE_CLASS_STACK_WALK;
static const GUID class_thread = WIRE_CLASS_THREAD;
/* Microsoft-Windows-Kernel-EventTracing */
static const GUID provider_event_tracing = {
	0xb675ec37, 0xbdb6, 0x4648, {0xbc, 0x92, 0xf3, 0xfd, 0xc7, 0x4d, 0x3c, 0xa2}};

static const GUID no_subjects[] = {
	WIRE_CLASS_STACK_WALK,       WIRE_CLASS_EVENT_TRACE,    WIRE_CLASS_LOST_EVENT,
	WIRE_CLASS_IMAGE_ID,         WIRE_CLASS_EVENT_METADATA, WIRE_CLASS_SYS_CONFIG,
	WIRE_IMAGE_SYMBOLS_PROVIDER,
};

/* Where the payload of an event without a thread in its header names it: behind so many pointers and bytes. */
struct owner_rule {
	GUID provider;
	uint8_t opcode, least_version, pointers, bytes;
};

static const struct owner_rule owner_rules[] = {
	{WIRE_CLASS_PERF_INFO, 46, 1, 1, 0},   /* SampleProf */
	{WIRE_CLASS_PERF_INFO, 47, 2, 1, 0},   /* PmcCounterProf */
	{WIRE_CLASS_PAGE_FAULT, 32, 0, 2, 16}, /* HardFault */
	{WIRE_CLASS_DISK_IO, 12, 0, 1, 0},     /* ReadInit, WriteInit, FlushInit */
	{WIRE_CLASS_DISK_IO, 13, 0, 1, 0},
	{WIRE_CLASS_DISK_IO, 15, 0, 1, 0},
	{WIRE_CLASS_DISK_IO, 10, DISK_WITH_THREAD, 2, 32}, /* Read, Write */
	{WIRE_CLASS_DISK_IO, 11, DISK_WITH_THREAD, 2, 32},
};

static uint8_t pointer_bytes_of(const EVENT_RECORD *record)
{
	return record->EventHeader.Flags & EVENT_HEADER_FLAG_32_BIT_HEADER ? 4 : 8;
}

static bool is_of(const EVENT_RECORD *record, const GUID *provider)
{
	const GUID *own = &record->EventHeader.ProviderId;

	return UNLIKELY(own->Data1 == provider->Data1) && etw_guid_equal(own, provider);
}

static uint64_t load_pointer(const uint8_t *at, uint8_t bytes)
{
	return bytes == 4 ? etw_load32(at) : etw_load64(at);
}

uint64_t etw_stack_frame(const struct etw_stack_part *part, uint32_t index)
{
	return load_pointer(part->frames + (size_t)index * part->frame_bytes, part->frame_bytes);
}

bool etw_stack_is_walk(const EVENT_RECORD *record)
{
	return is_of(record, &class_stack_walk);
}

static void set_frames(struct etw_stack_part *part, const uint8_t *at, size_t bytes)
{
	part->frames = at;
	part->count = (uint32_t)(bytes / part->frame_bytes);
}

bool etw_stack_part_read(const EVENT_RECORD *record, struct etw_stack_part *ret)
{
	const uint8_t opcode = record->EventHeader.EventDescriptor.Opcode;
	const uint8_t *at = record->UserData;
	const size_t bytes = record->UserDataLength;
	const uint8_t pointer = pointer_bytes_of(record);
	const bool is_definition = opcode >= STACK_WALK_CREATE && opcode <= STACK_WALK_RUNDOWN;

	*ret = (struct etw_stack_part){.frame_bytes = pointer};
	if (is_definition) {
		if (bytes < pointer)
			return false;
		ret->kind = ETW_STACK_DEFINITION;
		ret->key = load_pointer(at, pointer);
		set_frames(ret, at + pointer, bytes - pointer);
		return true;
	}
	if (opcode != STACK_WALK_FRAMES && opcode != STACK_WALK_KEY_KERNEL &&
	    opcode != STACK_WALK_KEY_USER)
		return false;
	if (bytes < REFERENCE_BYTES)
		return false;
	ret->time_raw = (int64_t)etw_load64(at);
	ret->pid = etw_load32(at + 8);
	ret->tid = etw_load32(at + 12);
	at += REFERENCE_BYTES;
	if (opcode == STACK_WALK_FRAMES) {
		ret->kind = ETW_STACK_FRAMES;
		set_frames(ret, at, bytes - REFERENCE_BYTES);
		return true;
	}
	if (bytes - REFERENCE_BYTES < pointer)
		return false;
	ret->kind = opcode == STACK_WALK_KEY_KERNEL ? ETW_STACK_KEY_KERNEL : ETW_STACK_KEY_USER;
	ret->key = load_pointer(at, pointer);
	return true;
}

static bool read_item(const EVENT_HEADER_EXTENDED_DATA_ITEM *item, struct etw_stack_part *ret)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)item->DataPtr;
	const uint16_t type = item->ExtType;
	const size_t bytes = item->DataSize;
	const bool is_key = type == EVENT_HEADER_EXT_TYPE_STACK_KEY32 ||
			    type == EVENT_HEADER_EXT_TYPE_STACK_KEY64;

	if (!is_key && type != EVENT_HEADER_EXT_TYPE_STACK_TRACE32 &&
	    type != EVENT_HEADER_EXT_TYPE_STACK_TRACE64)
		return false;
	ret->frame_bytes = type == EVENT_HEADER_EXT_TYPE_STACK_KEY32 ||
					   type == EVENT_HEADER_EXT_TYPE_STACK_TRACE32
				   ? 4
				   : 8;
	if (!at || bytes < MATCH_BYTES + (is_key ? ret->frame_bytes : 0u))
		return false;
	ret->match = etw_load64(at);
	at += MATCH_BYTES;
	if (is_key) {
		ret->kind = ETW_STACK_KEY;
		ret->key = load_pointer(at, ret->frame_bytes);
	} else {
		ret->kind = ETW_STACK_FRAMES;
		set_frames(ret, at, bytes - MATCH_BYTES);
	}
	return true;
}

bool etw_stack_item_read(const EVENT_RECORD *record, unsigned *index, struct etw_stack_part *ret)
{
	while (*index < record->ExtendedDataCount) {
		*ret = (struct etw_stack_part){.pid = record->EventHeader.ProcessId,
					       .tid = record->EventHeader.ThreadId};
		if (read_item(&record->ExtendedData[(*index)++], ret))
			return true;
	}
	return false;
}

bool etw_stack_is_user_half(const EVENT_RECORD *record)
{
	return is_of(record, &provider_event_tracing) &&
	       record->EventHeader.EventDescriptor.Id == USER_HALF_ID &&
	       record->EventHeader.EventDescriptor.Opcode == USER_HALF_OPCODE;
}

bool etw_stack_is_subject(const EVENT_RECORD *record)
{
	for (size_t i = 0; i < ARRAY_SIZE(no_subjects); i++) {
		if (is_of(record, &no_subjects[i]))
			return false;
	}
	return true;
}

static uint32_t load_tid(const EVENT_RECORD *record, size_t offset)
{
	const uint8_t *at = record->UserData;

	return record->UserDataLength < offset + 4 ? ETW_STACK_NO_THREAD : etw_load32(at + offset);
}

uint32_t etw_stack_owner(const EVENT_RECORD *record)
{
	const EVENT_HEADER *header = &record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;

	if (is_of(record, &class_thread) && descriptor->Opcode == THREAD_SWITCH)
		return load_tid(record, 0);
	if (LIKELY(header->ThreadId != ETW_STACK_NO_THREAD))
		return header->ThreadId;
	for (size_t i = 0; i < ARRAY_SIZE(owner_rules); i++) {
		const struct owner_rule *rule = &owner_rules[i];

		if (rule->opcode == descriptor->Opcode &&
		    rule->least_version <= descriptor->Version && is_of(record, &rule->provider))
			return load_tid(record, (size_t)rule->pointers * pointer_bytes_of(record) +
							rule->bytes);
	}
	return ETW_STACK_NO_THREAD;
}
