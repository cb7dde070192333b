/* SPDX-License-Identifier: MIT */
#include "synthetic/kernel_event.h"

#define KEY_BASE   UINT64_C(0xFFFF8A0000000000)
#define STACK_BASE UINT64_C(0xFFFFB00000000000)

static const uint8_t local_system[12] = {1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}; /* S-1-5-18 */

void kernel_process(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		    const struct made_ids *ids, const struct kernel_process *process)
{
	uint16_t hook = (uint16_t)(0x0300 | moment);

	if (moment == KERNEL_START || moment == KERNEL_END)
		made_system(event, WIRE_HEADER_SYSTEM64, hook, 4, time_raw, ids);
	else
		made_perfinfo(event, WIRE_HEADER_PERFINFO64, hook, 4, time_raw, NULL, 0);
	made_u64(event, KEY_BASE + 0x1000 * (uint64_t)process->pid);
	made_u32(event, process->pid);
	made_u32(event, process->parent);
	made_u32(event, process->session);
	made_u32(event, moment == KERNEL_END ? 0 : 259);
	made_u64(event, UINT64_C(0x1AD000) + 0x1000 * (uint64_t)process->pid);
	made_u32(event, 0);
	made_u64(event, UINT64_C(0xFFFFD20000000001)); /* TOKEN_USER as the kernel left it */
	made_u64(event, 0);
	made_put(event, local_system, sizeof(local_system));
	made_ansi(event, process->image);
	made_utf16(event, process->command_line);
	made_utf16(event, "");
	made_utf16(event, "");
}

void kernel_thread(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		   const struct made_ids *ids, uint32_t pid, uint32_t tid, const char *name)
{
	uint64_t stack = STACK_BASE + 0x10000 * (uint64_t)tid;

	made_system(event, WIRE_HEADER_SYSTEM64, (uint16_t)(0x0500 | moment), 3, time_raw, ids);
	made_u32(event, pid);
	made_u32(event, tid);
	made_u64(event, stack + 0x7000);
	made_u64(event, stack);
	made_u64(event, pid == 4 ? 0 : UINT64_C(0x0000001000100000));
	made_u64(event, pid == 4 ? 0 : UINT64_C(0x00000010000F0000));
	made_u64(event, 3);
	made_u64(event, UINT64_C(0x00007FF600001234));
	made_u64(event, pid == 4 ? 0 : UINT64_C(0x0000001000000000));
	made_u32(event, 0);
	made_u8(event, 8);
	made_u8(event, 5);
	made_u8(event, 2);
	made_u8(event, 0);
	if (name)
		made_utf16(event, name);
}

void kernel_image(struct made_event *event, enum kernel_moment moment, int64_t time_raw,
		  const struct made_ids *ids, uint32_t pid, uint64_t base, uint64_t bytes,
		  const char *path)
{
	uint16_t hook = moment == KERNEL_START ? 0x030A : (uint16_t)(0x1400 | moment);

	made_system(event, WIRE_HEADER_SYSTEM64, hook, 3, time_raw, ids);
	made_u64(event, base);
	made_u64(event, bytes);
	made_u32(event, pid);
	made_u32(event, 0x12345);
	made_u32(event, 0x5F000000);
	made_u8(event, 12);
	made_u8(event, 1);
	made_u16(event, 0);
	made_u64(event, base);
	made_fill(event, 0, 16);
	made_utf16(event, path);
}

void kernel_switch(struct made_event *event, int64_t time_raw, uint32_t new_tid, uint32_t old_tid,
		   uint8_t old_state, uint8_t wait_reason)
{
	made_perfinfo(event, WIRE_HEADER_PERFINFO64, 0x0524, 4, time_raw, NULL, 0);
	made_u32(event, new_tid);
	made_u32(event, old_tid);
	made_u8(event, new_tid ? 9 : 0);
	made_u8(event, old_tid ? 9 : 0);
	made_u8(event, 0);
	made_u8(event, 0);
	made_u8(event, wait_reason);
	made_u8(event, 0);
	made_u8(event, old_state);
	made_u8(event, 0);
	made_u32(event, 1);
	made_u32(event, 0);
}

void kernel_sample(struct made_event *event, int64_t time_raw, uint64_t ip, uint32_t tid)
{
	made_perfinfo(event, WIRE_HEADER_PERFINFO64, 0x0F2E, 2, time_raw, NULL, 0);
	made_u64(event, ip);
	made_u32(event, tid);
	made_u16(event, 1);
	made_u8(event, 0x40);
	made_u8(event, 0);
}

void kernel_disk_read(struct made_event *event, int64_t time_raw, uint64_t offset, uint32_t bytes,
		      uint32_t tid)
{
	made_perfinfo(event, WIRE_HEADER_PERFINFO64, 0x010A, 3, time_raw, NULL, 0);
	made_u32(event, 0);
	made_u32(event, 0x60043);
	made_u32(event, bytes);
	made_u32(event, 0);
	made_u64(event, offset);
	made_u64(event, KEY_BASE + 0x123450);
	made_u64(event, KEY_BASE + 0x223450);
	made_u64(event, 1234);
	made_u32(event, tid);
}

void kernel_stack(struct made_event *event, int64_t time_raw, int64_t of_raw, uint32_t pid,
		  uint32_t tid, const uint64_t *frames, size_t count)
{
	made_perfinfo(event, WIRE_HEADER_PERFINFO64, 0x1820, 2, time_raw, NULL, 0);
	made_u64(event, (uint64_t)of_raw);
	made_u32(event, pid);
	made_u32(event, tid);
	for (size_t i = 0; i < count; i++)
		made_u64(event, frames[i]);
}
