/* SPDX-License-Identifier: MIT */
/*
 * Microsoft-Windows-Kernel-Process: starts and ends of processes and threads, images, priorities, and the rundown of
 * processes.
 * Source: docs/kernel-events/named.md "Process".
 */
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/events/events.h"
#include "source/kernel/named/named.h"
#include "wire/security.h"
#include "wire/well_known.h"

#define GROUP_PROCESS 0x03
#define GROUP_THREAD  0x05
#define GROUP_IMAGE   0x14

#define COUNTERS_TYPE      32
#define SET_PRIORITY_TYPE  48
#define BASE_PRIORITY_TYPE 49

#define KEYWORD_PROCESS  0x10
#define KEYWORD_THREAD   0x20
#define KEYWORD_IMAGE    0x40
#define KEYWORD_PRIORITY 0x80

#define START_VERSION   3
#define STOP_VERSION    2
#define RUNDOWN_VERSION 1
#define THREAD_VERSION  1

#define TOKEN_ELEVATION_DEFAULT 1
#define TOKEN_USER_BYTES        16 /* in front of the SID of a Process event */
#define MEDIUM_LEVEL            0x2000
#define SYSTEM_LEVEL            0x4000

/* A Process event of version 4. */
struct process {
	uint64_t key;
	uint32_t pid, parent_pid, session_id, status, flags, uid;
	const char *name;
	size_t name_bytes;
};

static bool read_process(const struct etw_kernel_named_classic *from, struct process *ret)
{
	const uint32_t fixed = 8 + 4 * 4 + 8 + 4 + TOKEN_USER_BYTES;
	const uint8_t *at = from->payload;
	size_t sid_bytes;

	if (from->byte_count < fixed)
		return false;
	*ret = (struct process){
		.key = etw_load64(at),
		.pid = etw_load32(at + 8),
		.parent_pid = etw_load32(at + 12),
		.session_id = etw_load32(at + 16),
		.status = etw_load32(at + 20),
		.flags = etw_load32(at + 32),
	};
	sid_bytes = etw_sid_bytes((struct etw_bytes){at + fixed, from->byte_count - fixed});
	if (!sid_bytes)
		return false;
	ret->uid = etw_load32(at + fixed + sid_bytes - 4);
	ret->name = (const char *)at + fixed + sid_bytes;
	ret->name_bytes = strnlen(ret->name, from->byte_count - fixed - sid_bytes);
	return true;
}

/* As EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY has it: start in ticks since boot, then the number. */
static uint64_t sequence_of(uint64_t start_ticks, uint32_t pid)
{
	return start_ticks << 22 | pid;
}

static uint64_t sequence_of_parent(const struct etw_kernel_named_maker *maker, uint32_t pid)
{
	struct etw_kernel_process_facts parent;

	if (!maker->tasks || !etw_kernel_tasks_facts(maker->tasks, pid, &parent))
		return 0;
	return sequence_of(parent.start_ticks, pid);
}

static uint64_t create_time(const struct etw_kernel_named_maker *maker, uint64_t start_ticks)
{
	const int64_t since_boot_ns = (int64_t)(start_ticks * maker->ns_per_tick);

	return (uint64_t)(ETW_FILETIME_UNIX_EPOCH +
			  (since_boot_ns + maker->boot_realtime_ns) / ETW_NS_PER_FT);
}

/* S-1-16-level: root's processes are the system's, those of others are at the level that users have. */
static void put_label(struct etw_kernel_named_writer *writer, uint32_t uid)
{
	static const uint8_t head[8] = {1, 1, 0, 0, 0, 0, 0, 16};

	etw_kernel_named_put(writer, head, sizeof(head));
	etw_kernel_named_put32(writer, uid ? MEDIUM_LEVEL : SYSTEM_LEVEL);
}

/* Of a start and of a rundown: the fields are the same. */
static bool make_start(const struct etw_kernel_named_maker *maker, const struct process *process,
		       struct etw_kernel_named_event *ret)
{
	const uint64_t ticks = (uint32_t)process->key;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	etw_kernel_named_put32(&writer, process->pid);
	etw_kernel_named_put64(&writer, sequence_of(ticks, process->pid));
	etw_kernel_named_put64(&writer, create_time(maker, ticks));
	etw_kernel_named_put32(&writer, process->parent_pid);
	etw_kernel_named_put64(&writer, sequence_of_parent(maker, process->parent_pid));
	etw_kernel_named_put32(&writer, process->session_id);
	etw_kernel_named_put32(&writer, 0); /* Flags: of packages */
	etw_kernel_named_put32(&writer, TOKEN_ELEVATION_DEFAULT);
	etw_kernel_named_put32(&writer, process->uid == 0);
	put_label(&writer, process->uid);
	etw_kernel_named_put_wide(&writer, process->name, process->name_bytes);
	etw_kernel_named_put64(&writer, 0); /* ImageChecksum, TimeDateStamp */
	etw_kernel_named_put32(&writer, 0); /* PackageFullName, PackageRelativeAppId: empty */
	return etw_kernel_named_end(&writer, ret);
}

static bool make_stop(const struct etw_kernel_named_maker *maker, const struct process *process,
		      uint64_t moment_ns, struct etw_kernel_named_event *ret)
{
	const uint64_t ticks = (uint32_t)process->key;
	const bool has_counters = maker->counters_pid == process->pid;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	etw_kernel_named_put32(&writer, process->pid);
	etw_kernel_named_put64(&writer, sequence_of(ticks, process->pid));
	etw_kernel_named_put64(&writer, create_time(maker, ticks));
	etw_kernel_named_put64(&writer, etw_kernel_named_filetime(maker, moment_ns));
	etw_kernel_named_put32(&writer, process->status);
	etw_kernel_named_put32(&writer, TOKEN_ELEVATION_DEFAULT);
	etw_kernel_named_put32(&writer, has_counters ? maker->handle_count : 0);
	etw_kernel_named_put64(&writer, has_counters ? maker->commit_bytes : 0);
	etw_kernel_named_put64(&writer, 0); /* CommitPeak */
	etw_kernel_named_put64(&writer, 0); /* CPUCycleCount */
	etw_kernel_named_put64(&writer, 0); /* ReadOperationCount, WriteOperationCount */
	etw_kernel_named_put64(&writer, 0); /* ReadTransferKiloBytes, WriteTransferKiloBytes */
	etw_kernel_named_put32(&writer, 0); /* HardFaultCount */
	etw_kernel_named_put(&writer, process->name, (uint32_t)process->name_bytes);
	etw_kernel_named_put(&writer, "", 1);
	return etw_kernel_named_end(&writer, ret);
}

/* PerfCtr, in front of the end: no event of its own. */
static void keep_counters(struct etw_kernel_named_maker *maker,
			  const struct etw_kernel_named_classic *from)
{
	const uint32_t private_at = 4 * 4 + 10 * 8;

	if (from->byte_count < private_at + 8)
		return;
	maker->counters_pid = etw_load32(from->payload);
	maker->handle_count = etw_load32(from->payload + 8);
	maker->commit_bytes = etw_load64(from->payload + private_at);
}

static bool make_process(struct etw_kernel_named_maker *maker,
			 const struct etw_kernel_named_classic *from,
			 struct etw_kernel_named_event *ret)
{
	struct process process;

	if (from->type == COUNTERS_TYPE) {
		keep_counters(maker, from);
		return false;
	}
	if (!read_process(from, &process))
		return false;
	switch (from->type) {
	case ETW_KERNEL_OPCODE_START:
		ret->descriptor = etw_kernel_named_describe(1, START_VERSION, 1, 1,
							    KEYWORD_PROCESS);
		return make_start(maker, &process, ret);
	case ETW_KERNEL_OPCODE_END:
		ret->descriptor = etw_kernel_named_describe(2, STOP_VERSION, 2, 2, KEYWORD_PROCESS);
		return make_stop(maker, &process, from->moment_ns, ret);
	case ETW_KERNEL_OPCODE_DC_END:
		ret->descriptor = etw_kernel_named_describe(15, RUNDOWN_VERSION, 0, 15,
							    KEYWORD_PROCESS);
		return make_start(maker, &process, ret);
	default:
		return false;
	}
}

static bool make_priority(struct etw_kernel_named_maker *maker,
			  const struct etw_kernel_named_classic *from,
			  struct etw_kernel_named_event *ret)
{
	const uint16_t id = from->type == BASE_PRIORITY_TYPE ? 7 : 8;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	if (from->byte_count < 6)
		return false;
	ret->descriptor = etw_kernel_named_describe(id, 0, 0, id, KEYWORD_PRIORITY);
	/* Who did it is not known: it is the thread's own, mostly. */
	ret->tid = etw_load32(from->payload);
	ret->pid = etw_kernel_named_process_of(maker, ret->tid);
	etw_kernel_named_put32(&writer, ret->pid);
	etw_kernel_named_put(&writer, from->payload, 6);
	return etw_kernel_named_end(&writer, ret);
}

static bool make_thread(struct etw_kernel_named_maker *maker,
			const struct etw_kernel_named_classic *from,
			struct etw_kernel_named_event *ret)
{
	const bool is_end = from->type == ETW_KERNEL_OPCODE_END;
	const uint8_t *at = from->payload;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	if (from->type == SET_PRIORITY_TYPE || from->type == BASE_PRIORITY_TYPE)
		return make_priority(maker, from, ret);
	if ((!is_end && from->type != ETW_KERNEL_OPCODE_START) || from->byte_count < 68)
		return false;
	ret->descriptor = etw_kernel_named_describe(is_end ? 4 : 3, THREAD_VERSION, is_end ? 2 : 1,
						    is_end ? 4 : 3, KEYWORD_THREAD);
	etw_kernel_named_put(&writer, at, 2 * 4 + 4 * 8); /* process, thread, both stacks */
	etw_kernel_named_put64(&writer, 0); /* StartAddr: the classic event has Affinity there */
	etw_kernel_named_put(&writer, at + 48,
			     2 * 8 + 4); /* Win32StartAddr, TebBase, SubProcessTag */
	if (is_end)
		etw_kernel_named_put64(&writer, 0); /* CycleTime */
	return etw_kernel_named_end(&writer, ret);
}

static bool make_image(const struct etw_kernel_named_classic *from,
		       struct etw_kernel_named_event *ret)
{
	const uint32_t name_at = 2 * 8 + 4 * 4 + 8 + 4 * 4;
	const bool is_load = from->type == ETW_KERNEL_OPCODE_LOAD;
	struct etw_kernel_named_writer writer = etw_kernel_named_begin(ret);

	if ((!is_load && from->type != ETW_KERNEL_OPCODE_END) || from->byte_count < name_at + 2)
		return false;
	ret->descriptor = etw_kernel_named_describe(is_load ? 5 : 6, 0, 0, is_load ? 5 : 6,
						    KEYWORD_IMAGE);
	etw_kernel_named_put(&writer, from->payload, 2 * 8 + 3 * 4);     /* up to TimeDateStamp */
	etw_kernel_named_put(&writer, from->payload + 2 * 8 + 4 * 4, 8); /* DefaultBase */
	etw_kernel_named_put(&writer, from->payload + name_at, from->byte_count - name_at);
	return etw_kernel_named_end(&writer, ret);
}

static bool make(struct etw_kernel_named_maker *maker, const struct etw_kernel_named_classic *from,
		 struct etw_kernel_named_event *ret)
{
	switch (from->group) {
	case GROUP_PROCESS:
		/* Loads of images have this group, unloads their own. */
		if (from->type == ETW_KERNEL_OPCODE_LOAD)
			return make_image(from, ret);
		return make_process(maker, from, ret);
	case GROUP_THREAD:
		return make_thread(maker, from, ret);
	case GROUP_IMAGE:
		return make_image(from, ret);
	default:
		return false;
	}
}

static const struct etw_kernel_named_need needs[] = {
	{KEYWORD_PROCESS | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x1 | 0x8}, /* with counters */
	{KEYWORD_THREAD | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x2},
	{KEYWORD_IMAGE | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 0, 0x4},
	{KEYWORD_PRIORITY | ETW_KERNEL_NAMED_CHANNEL_KEYWORD, 1, 0x2000},
};

/* Process start, end; Thread start, end; Image load, unload. */
static const uint16_t stack_hooks[] = {0x0301, 0x0302, 0x0501, 0x0502, 0x030A, 0x1402};

const struct etw_kernel_named_provider etw_kernel_named_process = {
	.guid = WIRE_PROVIDER_KERNEL_PROCESS,
	.name = "Microsoft-Windows-Kernel-Process",
	.needs = needs,
	.need_count = ARRAY_SIZE(needs),
	.stack_hooks = stack_hooks,
	.stack_hook_count = ARRAY_SIZE(stack_hooks),
	.make = make,
};
