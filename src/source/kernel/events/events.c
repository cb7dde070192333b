/* SPDX-License-Identifier: MIT */
/* The bytes of the classes. See events.h. */
#include "source/kernel/events/events.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/utf.h"
#include "wire/class_guids.h"
#include "wire/etl_event.h"
#include "wire/etl_logfile.h"
#include "wire/group_masks.h"

#define GROUP_HEADER   0x00
#define GROUP_PROCESS  0x03
#define GROUP_THREAD   0x05
#define GROUP_CONFIG   0x0B
#define GROUP_PERFINFO 0x0F
#define GROUP_IMAGE    0x14

#define CONFIG_VERSION   3
#define PROCESS_VERSION  4
#define THREAD_VERSION   3
#define IMAGE_VERSION    3
#define IMAGE_ID_VERSION 2
#define INTERVAL_VERSION 3

#define PROCESS_COUNTERS_VERSION 2
#define THREAD_SET_NAME_VERSION  2

#define PROCESS_COUNTERS_OPCODE         32
#define PROCESS_COUNTERS_RUNDOWN_OPCODE 33
#define THREAD_SET_NAME_OPCODE          72

#define PROCESS_COUNTERS_BYTES (4 * 4 + 11 * 8)

#define CONFIG_CPU_OPCODE    10
#define IMAGE_ID_RSDS_OPCODE 36
#define PROCESS_FLAG_WOW64   2
#define NOBODY               UINT32_MAX /* thread of the events that no thread wrote */

/* KernelTraceControl's class of image identities. */
static const GUID image_id_class = WIRE_CLASS_IMAGE_ID;

/* S-1-22-1-<uid>, the SID that Samba gives to a Unix user. */
#define SID_BYTES        16
#define TOKEN_USER_BYTES 16 /* what Windows writes before the SID: two pointers, of no use */

#define PROCESS_FIXED_BYTES   (8 + 4 * 4 + 8 + 4 + TOKEN_USER_BYTES + SID_BYTES)
#define THREAD_FIXED_BYTES    (2 * 4 + 7 * 8 + 4 + 4)
#define IMAGE_FIXED_BYTES     (2 * 8 + 4 * 4 + 8 + 4 * 4)
#define CONFIG_COMPUTER_UNITS 256
#define CONFIG_DOMAIN_UNITS   134
#define CONFIG_CPU_BYTES \
	(5 * 4 + (CONFIG_COMPUTER_UNITS + CONFIG_DOMAIN_UNITS) * 2 + 2 * 8 + 3 * 2 + 2 + 4)
#define IMAGE_ID_BYTES (8 + 4 + 16 + 4)

struct hook {
	uint8_t group, type;
	uint8_t version;
};

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	etw_store32(at, value);
	return at + 4;
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
	etw_store64(at, value);
	return at + 8;
}

/* A text with its NUL; an empty one is its NUL alone. @nul_bytes: of a character. */
static uint8_t *put_text(uint8_t *at, const struct etw_kernel_text *text, size_t nul_bytes)
{
	if (!text)
		return at + nul_bytes;
	memcpy(at, text->at, text->byte_count);
	return at + text->byte_count;
}

static size_t text_bytes(const struct etw_kernel_text *text, size_t nul_bytes)
{
	return text ? text->byte_count : nul_bytes;
}

/* An event with the system header; returns its payload, zeroed, or NULL. */
static uint8_t *begin_system(struct etw_kernel_out *out, struct hook hook,
			     struct etw_kernel_actor actor, size_t payload_bytes)
{
	uint32_t bytes = (uint32_t)(sizeof(struct wire_system_header) + payload_bytes);
	uint8_t *at = etw_kernel_out_add(out, bytes, offsetof(struct wire_system_header, time_raw));
	struct wire_system_header header = {
		.version = le16_of(hook.version),
		.header_type = WIRE_HEADER_SYSTEM64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)bytes),
		.type = hook.type,
		.group = hook.group,
		.thread_id = le32_of(actor.tid),
		.process_id = le32_of(actor.pid),
		.kernel_ticks = le32_of(actor.kernel_ticks),
		.user_ticks = le32_of(actor.user_ticks),
	};

	if (!at)
		return NULL;
	memcpy(at, &header, sizeof(header));
	return at + sizeof(header);
}

static uint8_t *begin_perfinfo(struct etw_kernel_out *out, struct hook hook, size_t payload_bytes)
{
	uint32_t bytes = (uint32_t)(sizeof(struct wire_perfinfo_header) + payload_bytes);
	uint8_t *at = etw_kernel_out_add(out, bytes,
					 offsetof(struct wire_perfinfo_header, time_raw));
	struct wire_perfinfo_header header = {
		.version = le16_of(hook.version),
		.header_type = WIRE_HEADER_PERFINFO64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.bytes = le16_of((uint16_t)bytes),
		.type = hook.type,
		.group = hook.group,
	};

	if (!at)
		return NULL;
	memcpy(at, &header, sizeof(header));
	return at + sizeof(header);
}

void etw_kernel_write_masks(struct etw_kernel_out *out, uint16_t hook, const uint32_t *words)
{
	struct wire_group_masks masks = {
		.trace_version = le32_of(etw_group_masks_trace_version(WIRE_LOGFILE_OS_BUILD)),
	};
	uint8_t *at = begin_perfinfo(
		out, (struct hook){GROUP_HEADER, (uint8_t)hook, WIRE_GROUP_MASKS_VERSION},
		sizeof(masks));

	if (!at)
		return;
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		masks.words[i] = le32_of(words[i]);
	memcpy(at, &masks, sizeof(masks));
}

void etw_kernel_write_interval(struct etw_kernel_out *out, enum etw_kernel_interval type,
			       uint32_t place, uint32_t new_interval, uint32_t old_interval)
{
	const struct etw_profile_source *source = etw_profile_source(place);
	const size_t units = strlen(source->name) + 1;
	uint8_t *at = begin_perfinfo(out,
				     (struct hook){GROUP_PERFINFO, (uint8_t)type, INTERVAL_VERSION},
				     3 * 4 + 2 * units);

	if (!at)
		return;
	at = put32(at, source->id);
	at = put32(at, new_interval);
	at = put32(at, old_interval);
	for (size_t i = 0; i < units; i++)
		etw_store16(at + 2 * i, (uint16_t)source->name[i]);
}

void etw_kernel_write_rundown_complete(struct etw_kernel_out *out)
{
	(void)begin_perfinfo(
		out,
		(struct hook){GROUP_HEADER, WIRE_HOOK_RUNDOWN_COMPLETE, WIRE_GROUP_MASKS_VERSION},
		0);
}

/* A text in a field of fixed size, cut where its NUL would not fit; the field is zeroed. */
static void put_units(uint8_t *at, const char16_t *text, size_t room)
{
	for (size_t i = 0; i + 1 < room && text[i]; i++)
		etw_store16(at + 2 * i, text[i]);
}

void etw_kernel_write_config(struct etw_kernel_out *out, struct etw_kernel_actor actor,
			     const struct etw_kernel_config *config)
{
	uint8_t *at = begin_system(out,
				   (struct hook){GROUP_CONFIG, CONFIG_CPU_OPCODE, CONFIG_VERSION},
				   actor, CONFIG_CPU_BYTES);

	if (!at)
		return;
	at = put32(at, config->mhz);
	at = put32(at, config->processors);
	at = put32(at, config->memory_mib);
	at = put32(at, config->page_bytes);
	at = put32(at, config->page_bytes); /* AllocationGranularity */
	put_units(at, config->computer, CONFIG_COMPUTER_UNITS);
	at += CONFIG_COMPUTER_UNITS * 2;
	put_units(at, config->domain, CONFIG_DOMAIN_UNITS);
	at += CONFIG_DOMAIN_UNITS * 2;
	at = put64(at, config->sibling_mask);
	at = put64(at, config->highest_user_address);
	etw_store16(at, config->architecture);
	etw_store16(at + 2, config->level);
	etw_store16(at + 4, config->revision);
	at[6] = 1; /* no Linux of today without NX and PAE on 64-bit machines */
	at[7] = 1;
	/* MemorySpeed: firmware alone knows, and tells root; 0 as on machines where it does not. */
}

static uint8_t *put_user(uint8_t *at, uint32_t uid)
{
	static const uint8_t sid_head[8] = {1, 2, 0, 0, 0, 0, 0, 22};

	/* Readers take a first dword of 0 as "no SID". */
	etw_store32(at, 1);
	at += TOKEN_USER_BYTES;
	memcpy(at, sid_head, sizeof(sid_head));
	at = put32(at + sizeof(sid_head), 1);
	return put32(at, uid);
}

/* The same for the whole life of a pid, and found again in procfs. No kernel address. */
static uint64_t process_key(const struct etw_kernel_process *process)
{
	return (uint64_t)process->pid << 32 | (uint32_t)process->start_ticks;
}

void etw_kernel_write_process(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			      struct etw_kernel_actor actor,
			      const struct etw_kernel_process *process, uint32_t status)
{
	struct hook hook = {GROUP_PROCESS, (uint8_t)opcode, PROCESS_VERSION};
	size_t bytes = PROCESS_FIXED_BYTES + text_bytes(process->name, 1) +
		       text_bytes(process->command_line, 2) + 2 + 2;
	bool is_rundown = opcode == ETW_KERNEL_OPCODE_DC_START ||
			  opcode == ETW_KERNEL_OPCODE_DC_END;
	uint8_t *at = is_rundown ? begin_perfinfo(out, hook, bytes)
				 : begin_system(out, hook, actor, bytes);

	if (!at)
		return;
	at = put64(at, process_key(process));
	at = put32(at, process->pid);
	at = put32(at, process->parent_pid);
	at = put32(at, process->session_id);
	at = put32(at, status);
	at += 8; /* DirectoryTableBase */
	at = put32(at, process->is_32_bit ? PROCESS_FLAG_WOW64 : 0);
	at = put_user(at, process->uid);
	at = put_text(at, process->name, 1);
	(void)put_text(at, process->command_line, 2);
	/* PackageFullName and ApplicationId are empty. */
}

/* A thread's name as UTF-16. Returns the units; one for each byte is enough room. */
static size_t widen_name(const char *name, uint16_t wide[ETW_KERNEL_NAME_BYTES])
{
	size_t bytes = strnlen(name, ETW_KERNEL_NAME_BYTES - 1), units = 0;

	for (size_t i = 0, used = 0; i < bytes; i += used) {
		uint32_t point = etw_utf8_decode((const uint8_t *)name + i, bytes - i, &used);

		if (point > 0xFFFF && point != UINT32_MAX) {
			wide[units++] = (uint16_t)(0xD800 + ((point - 0x10000) >> 10));
			point = 0xDC00 + ((point - 0x10000) & 0x3FF);
		}
		wide[units++] = point == UINT32_MAX ? 0xFFFD : (uint16_t)point;
	}
	return units;
}

void etw_kernel_write_thread(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			     struct etw_kernel_actor actor, uint32_t pid,
			     const struct etw_kernel_thread *thread)
{
	struct hook hook = {GROUP_THREAD, (uint8_t)opcode, THREAD_VERSION};
	uint16_t wide[ETW_KERNEL_NAME_BYTES];
	size_t units = widen_name(thread->name, wide);
	uint8_t *at = begin_system(out, hook, actor, THREAD_FIXED_BYTES + (units + 1) * 2);

	if (!at)
		return;
	at = put32(at, pid);
	at = put32(at, thread->tid);
	at += 2 * 8; /* StackBase, StackLimit: the kernel's */
	at = put64(at, thread->facts.user_stack);
	at += 8; /* UserStackLimit */
	at = put64(at, thread->facts.affinity);
	at = put64(at, thread->facts.entry);
	at += 8 + 4; /* TebBase, SubProcessTag */
	at[0] = thread->facts.priority;
	at[2] = thread->facts.io_priority; /* between them PagePriority, behind it ThreadFlags */
	at += 4;
	for (size_t i = 0; i < units; i++)
		etw_store16(at + 2 * i, wide[i]);
}

void etw_kernel_write_name(struct etw_kernel_out *out, struct etw_kernel_actor actor, uint32_t pid,
			   uint32_t tid, const char *name)
{
	struct hook hook = {GROUP_THREAD, THREAD_SET_NAME_OPCODE, THREAD_SET_NAME_VERSION};
	uint16_t wide[ETW_KERNEL_NAME_BYTES];
	size_t units = widen_name(name, wide);
	uint8_t *at = begin_system(out, hook, actor, 2 * 4 + (units + 1) * 2);

	if (!at)
		return;
	at = put32(at, pid);
	at = put32(at, tid);
	for (size_t i = 0; i < units; i++)
		etw_store16(at + 2 * i, wide[i]);
}

static uint8_t *put_pages(uint8_t *at, uint64_t pages)
{
	return put64(at, pages * (uint64_t)sysconf(_SC_PAGESIZE));
}

void etw_kernel_write_counters(struct etw_kernel_out *out, bool is_rundown, uint32_t pid,
			       const struct etw_kernel_counters *counters)
{
	struct hook hook = {GROUP_PROCESS,
			    is_rundown ? PROCESS_COUNTERS_RUNDOWN_OPCODE : PROCESS_COUNTERS_OPCODE,
			    PROCESS_COUNTERS_VERSION};
	uint8_t *at = begin_perfinfo(out, hook, PROCESS_COUNTERS_BYTES);

	if (!at)
		return;
	at = put32(at, pid);
	at = put32(at, counters->fault_count > UINT32_MAX ? UINT32_MAX
							  : (uint32_t)counters->fault_count);
	at = put32(at, counters->file_count);
	at += 4;
	at = put_pages(at, counters->peak_virtual_pages);
	at = put_pages(at, counters->peak_resident_pages);
	at += 3 * 8; /* PeakPagefileUsage, the peaks of two pools */
	at = put_pages(at, counters->virtual_pages);
	at = put_pages(at, counters->resident_pages);
	at = put_pages(at, counters->writable_pages); /* PagefileUsage */
	at += 2 * 8;                                  /* the pools */
	(void)put_pages(at, counters->private_pages);
}

static void write_image_id(struct etw_kernel_out *out, uint32_t pid,
			   const struct etw_kernel_image *image)
{
	struct wire_full_header header = {
		.header_type = WIRE_HEADER_FULL64,
		.header_flag = WIRE_EVENT_FLAG_TRACE,
		.type = IMAGE_ID_RSDS_OPCODE,
		.version = le16_of(IMAGE_ID_VERSION),
		.thread_id = le32_of(NOBODY),
		.process_id = le32_of(pid),
	};
	uint32_t bytes = (uint32_t)(sizeof(header) + IMAGE_ID_BYTES + text_bytes(image->path, 1));
	uint8_t *at = etw_kernel_out_add(out, bytes, offsetof(struct wire_full_header, time_raw));

	if (!at)
		return;
	header.bytes = le16_of((uint16_t)bytes);
	etw_guid_write(header.guid, &image_id_class);
	memcpy(at, &header, sizeof(header));
	at = put64(at + sizeof(header), image->base);
	at = put32(at, pid);
	memcpy(at, image->build_id, 16);
	at = put32(at + 16, 1);
	(void)put_text(at, image->path, 1);
}

void etw_kernel_write_image(struct etw_kernel_out *out, enum etw_kernel_opcode opcode,
			    struct etw_kernel_actor actor, uint32_t pid,
			    const struct etw_kernel_image *image)
{
	/* The load alone is stored in the Process group. */
	struct hook hook = {opcode == ETW_KERNEL_OPCODE_LOAD ? GROUP_PROCESS : GROUP_IMAGE,
			    (uint8_t)opcode, IMAGE_VERSION};
	uint8_t *at = begin_system(out, hook, actor,
				   IMAGE_FIXED_BYTES + text_bytes(image->wide, 2));

	if (at) {
		at = put64(at, image->base);
		at = put64(at, image->end - image->base);
		at = put32(at, pid);
		at += 3 * 4; /* ImageChecksum, TimeDateStamp, signature */
		at = put64(at, image->base);
		at += 4 * 4;
		(void)put_text(at, image->wide, 2);
	}
	if (image->build_id_bytes &&
	    (opcode == ETW_KERNEL_OPCODE_LOAD || opcode == ETW_KERNEL_OPCODE_DC_START))
		write_image_id(out, pid, image);
}
