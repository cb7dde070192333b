/* SPDX-License-Identifier: MIT */
/*
 * Kernel events with the payloads that Windows 10 writes, 64-bit. Each function begins @event anew.
 * Source: the classes of src/schema/kernel, which tests/conformance/kernel holds against genuine traces.
 */
#ifndef ETW_TESTS_SYNTHETIC_KERNEL_EVENT_H
#define ETW_TESTS_SYNTHETIC_KERNEL_EVENT_H

#include "synthetic/made_event.h"

enum kernel_moment {
	KERNEL_START = 1,
	KERNEL_END = 2,
	KERNEL_RUNDOWN_START = 3, /* there when the session began */
	KERNEL_RUNDOWN_END = 4,   /* still there at its end */
};

struct kernel_process {
	uint32_t pid, parent, session;
	const char *image, *command_line;
};

/* kernel_process() - Process v4 (hooks 0301 to 0304), logged by thread @ids. */
void kernel_process(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		    const struct made_ids *ids, const struct kernel_process *process);

/* kernel_thread() - Thread v3 (hooks 0501 to 0504); @name NULL for the form without a name. */
void kernel_thread(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		   const struct made_ids *ids, uint32_t pid, uint32_t tid, const char *name);

/* kernel_image() - Image v3: hook 030A for a load, 1402 to 1404 for the rest. */
void kernel_image(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		  const struct made_ids *ids, uint32_t pid, uint64_t base, uint64_t bytes,
		  const char *path);

/* kernel_switch() - CSwitch v4 (hook 0524). */
void kernel_switch(struct made_event *event, int64_t time_raw, uint32_t new_tid, uint32_t old_tid,
		   uint8_t old_state, uint8_t wait_reason);

/* kernel_sample() - SampledProfile v2 (hook 0F2E). */
void kernel_sample(struct made_event *event, int64_t time_raw, uint64_t ip, uint32_t tid);

/* kernel_disk_read() - DiskIo/Read v3 (hook 010A). */
void kernel_disk_read(struct made_event *event, int64_t time_raw, uint64_t offset, uint32_t bytes,
		      uint32_t tid);

/* kernel_stack() - StackWalk v2 (hook 1820) of the event at @of_raw. */
void kernel_stack(struct made_event *event, int64_t time_raw, int64_t of_raw, uint32_t pid,
		  uint32_t tid, const uint64_t *frames, size_t count);

#endif
