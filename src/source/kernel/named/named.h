/* SPDX-License-Identifier: MIT */
/*
 * The kernel's events as Windows' manifest providers have them: an event of the NT Kernel Logger's classes becomes the one
 * that Microsoft-Windows-Kernel-Process, -File, -Network, -Disk or -Memory has for the same fact. One file a provider; what is
 * wanted of them, and where the events come from, is named_source.h.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/named.md; the layouts are those of src/schema/known/table.
 */
#ifndef ETW_SOURCE_KERNEL_NAMED_NAMED_H
#define ETW_SOURCE_KERNEL_NAMED_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntprov.h>
#include <guiddef.h>

#include "source/kernel/processes/tasks.h"

#define ETW_KERNEL_NAMED_PAYLOAD_MAX 32768 /* more than the working sets of one event take */

/* Every event of these providers is in the channel Analytic, which has the top bit of the keywords. */
#define ETW_KERNEL_NAMED_CHANNEL         16
#define ETW_KERNEL_NAMED_CHANNEL_KEYWORD UINT64_C(0x8000000000000000)
#define ETW_KERNEL_NAMED_LEVEL           4

/* An event of the classic classes, taken apart. */
struct etw_kernel_named_classic {
	uint8_t group, type;
	bool has_actor; /* its header says who acts */
	uint16_t version;
	uint32_t tid, pid;
	uint32_t kernel_ticks, user_ticks;
	uint64_t moment_ns; /* CLOCK_MONOTONIC */
	const uint8_t *payload;
	uint32_t byte_count; /* of the payload */
};

/* What events are made with. */
struct etw_kernel_named_maker {
	struct etw_kernel_tasks *tasks; /* borrowed: who there is; NULL: nobody is known */
	int64_t realtime_ns;            /* CLOCK_REALTIME less CLOCK_MONOTONIC */
	int64_t boot_realtime_ns;       /* CLOCK_REALTIME less CLOCK_BOOTTIME */
	uint64_t ns_per_tick;           /* of the starts of processes */
	/* What a process had when it ended: its event comes in front of the end's. */
	uint32_t counters_pid;
	uint32_t handle_count;
	uint64_t commit_bytes;
};

/* The event that comes of it. */
struct etw_kernel_named_event {
	EVENT_DESCRIPTOR descriptor;
	uint32_t tid, pid; /* who acts, as far as it is known */
	uint32_t kernel_ticks, user_ticks;
	uint32_t byte_count; /* of the payload */
	uint8_t payload[ETW_KERNEL_NAMED_PAYLOAD_MAX];
};

/* What one keyword of a provider needs of the kernel. */
struct etw_kernel_named_need {
	uint64_t keyword;    /* as its events have them */
	uint32_t word, bits; /* of the group masks */
};

struct etw_kernel_named_provider {
	GUID guid;
	const char *name;
	const struct etw_kernel_named_need *needs;
	size_t need_count;
	const uint16_t
		*stack_hooks; /* of the classic events with stacks that its events are made of */
	size_t stack_hook_count;
	/*
	 * make - the event of a classic one.
	 *
	 * Returns whether there is one. @ret: filled in but for who acts, where the classic header does not say it
	 */
	bool (*make)(struct etw_kernel_named_maker *maker,
		     const struct etw_kernel_named_classic *from,
		     struct etw_kernel_named_event *ret);
};

#define ETW_KERNEL_NAMED_PROVIDERS 5

extern const struct etw_kernel_named_provider etw_kernel_named_process, etw_kernel_named_file,
	etw_kernel_named_network, etw_kernel_named_disk, etw_kernel_named_memory;

/* etw_kernel_named_providers() - all of them: ETW_KERNEL_NAMED_PROVIDERS. */
const struct etw_kernel_named_provider *const *etw_kernel_named_providers(void);

/* etw_kernel_named_read() - takes a classic event apart. Returns false for what is none. */
bool etw_kernel_named_read(const uint8_t *event, uint32_t byte_count,
			   struct etw_kernel_named_classic *ret);

/* etw_kernel_named_describe() - an event's descriptor: level and channel are those of all. */
EVENT_DESCRIPTOR etw_kernel_named_describe(uint16_t id, uint8_t version, uint8_t opcode,
					   uint16_t task, uint64_t keyword);

/* etw_kernel_named_filetime() - a moment of CLOCK_MONOTONIC as FILETIME. */
uint64_t etw_kernel_named_filetime(const struct etw_kernel_named_maker *maker,
				   uint64_t monotonic_ns);

/* etw_kernel_named_process_of() - of a thread; 0: it is not known. */
uint32_t etw_kernel_named_process_of(const struct etw_kernel_named_maker *maker, uint32_t tid);

/* Payloads are written field by field; what does not fit is left out, and the event with it. */
struct etw_kernel_named_writer {
	uint8_t *at;
	uint32_t used, room;
	bool is_full;
};

/* etw_kernel_named_put() - bytes as they are. etw_kernel_named_put32(), etw_kernel_named_put64() - numbers, little-endian. */
void etw_kernel_named_put(struct etw_kernel_named_writer *writer, const void *bytes,
			  uint32_t count);
void etw_kernel_named_put32(struct etw_kernel_named_writer *writer, uint32_t value);
void etw_kernel_named_put64(struct etw_kernel_named_writer *writer, uint64_t value);
/* etw_kernel_named_put_wide() - UTF-8 as UTF-16LE with a NUL. */
void etw_kernel_named_put_wide(struct etw_kernel_named_writer *writer, const char *text,
			       size_t bytes);

/* etw_kernel_named_begin() - writes into the event's payload. etw_kernel_named_end() - returns whether all of it is there. */
struct etw_kernel_named_writer etw_kernel_named_begin(struct etw_kernel_named_event *event);
bool etw_kernel_named_end(const struct etw_kernel_named_writer *writer,
			  struct etw_kernel_named_event *event);

#endif
