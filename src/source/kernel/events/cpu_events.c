/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/cpu_events.h"

#include <stddef.h>
#include <string.h>
#include <sys/param.h>

#include "base/bytes.h"
#include "base/time.h"
#include "source/kernel/events/cpu_events_internal.h"
#include "source/kernel/events/network_events.h"
#include "source/kernel/processes/priority.h"

#define CSWITCH_TYPE      36
#define SET_PRIORITY_TYPE 48 /* what it runs with; the next is what it has by itself */
#define READY_THREAD_TYPE 50
#define PRIORITY_VERSION  3
#define STACK_TYPE        32
#define SAMPLE_TYPE       46
#define PMC_TYPE          47
#define NS_PER_WAIT_UNIT  UINT64_C(1000000) /* NewThreadWaitTime is in TimerResolution, 1 ms */
#define STACK_HEAD_BYTES  16
#define SAMPLE_IN_DPC     0x1

/* AdjustReason of a ReadyThread event, and its flag. */
#define READY_STARTS    0
#define READY_WAIT_ENDS 1
#define READY_IN_DPC    0x1

/* KTHREAD_STATE [SDK docs]. */
enum {
	STATE_READY = 1,
	STATE_TERMINATED = 4,
	STATE_WAITING = 5,
};

/* KWAIT_REASON, those that Linux has an equivalent of [SDK docs]. */
enum {
	REASON_EXECUTIVE = 0,
	REASON_PAGE_IN = 2,
	REASON_SUSPENDED = 5,
	REASON_USER_REQUEST = 6,
	REASON_DISPATCH_INT = 31,
	REASON_PREEMPTED = 32,
	REASON_YIELD = 33,
};

/* Linux' TASK_*, as task->__state has them since 5.14. */
#define LINUX_INTERRUPTIBLE   0x1u
#define LINUX_UNINTERRUPTIBLE 0x2u
#define LINUX_STOPPED         (0x4u | 0x8u)
#define LINUX_DEAD            (0x10u | 0x20u | 0x80u) /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */

/* @priority: as the programs tell it, in a byte: -1 is 255 */
static uint8_t priority_of(uint32_t tid, uint8_t priority, uint8_t policy)
{
	if (!tid)
		return ETW_KERNEL_PRIORITY_IDLE_TASK;
	return etw_kernel_priority_of(priority == UINT8_MAX ? -1 : priority, policy);
}

static uint8_t state_of(const struct etw_kernel_switch *record)
{
	if (record->old_state & LINUX_DEAD)
		return STATE_TERMINATED;
	if (!record->old_state || record->flags & ETW_KERNEL_SWITCH_PREEMPTED)
		return STATE_READY;
	return STATE_WAITING;
}

static uint8_t wait_reason_of(const struct etw_kernel_switch *record)
{
	if (record->old_state & LINUX_DEAD)
		return REASON_EXECUTIVE;
	if (record->flags & ETW_KERNEL_SWITCH_PREEMPTED)
		return REASON_PREEMPTED;
	if (!record->old_state)
		return record->old_tid ? REASON_YIELD : REASON_DISPATCH_INT;
	if (record->flags & ETW_KERNEL_SWITCH_WAITS_IO)
		return REASON_PAGE_IN;
	if (record->old_state & LINUX_STOPPED)
		return REASON_SUSPENDED;
	if (record->old_state & LINUX_UNINTERRUPTIBLE ||
	    record->flags & ETW_KERNEL_SWITCH_OLD_KERNEL)
		return REASON_EXECUTIVE;
	return REASON_USER_REQUEST;
}

static uint32_t make_switch(const struct etw_kernel_switch *record, int64_t time_raw, uint8_t *to)
{
	uint64_t waited = record->waited_ns / NS_PER_WAIT_UNIT;
	uint8_t *at = etw_kernel_event_begin(to, GROUP_THREAD, CSWITCH_TYPE, 24, time_raw);
	bool is_user_wait = record->old_state & LINUX_INTERRUPTIBLE &&
			    !(record->flags & ETW_KERNEL_SWITCH_OLD_KERNEL);

	at = put32(at, record->new_tid);
	at = put32(at, record->old_tid);
	at = put8(at, priority_of(record->new_tid, record->new_priority, record->new_policy));
	at = put8(at, priority_of(record->old_tid, record->old_priority, record->old_policy));
	at = put8(at, record->idle_state); /* PreviousCState */
	at = put8(at, 0);
	at = put8(at, wait_reason_of(record));
	at = put8(at, is_user_wait);
	at = put8(at, state_of(record));
	at = put8(at, (uint8_t)record->old_ideal_cpu);
	at = put32(at, (uint32_t)MIN(waited, UINT32_MAX));
	at = put32(at, 0);
	return (uint32_t)(at - to);
}

static uint32_t make_ready(const struct etw_kernel_ready *record, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_THREAD, READY_THREAD_TYPE, 8, time_raw);

	at = put32(at, record->tid);
	at = put8(at, record->flags & ETW_KERNEL_READY_NEW ? READY_STARTS : READY_WAIT_ENDS);
	at = put8(at, 0); /* AdjustIncrement: Linux raises nobody's priority for it */
	at = put8(at, record->flags & ETW_KERNEL_READY_INTERRUPT ? READY_IN_DPC : 0);
	at = put8(at, 0);
	return (uint32_t)(at - to);
}

static uint8_t priority_seen(uint8_t priority, uint8_t is_idle)
{
	return etw_kernel_priority_of(priority == UINT8_MAX ? -1 : priority,
				      is_idle ? ETW_KERNEL_POLICY_IDLE : ETW_KERNEL_POLICY_OTHER);
}

static uint32_t make_priority(const struct etw_kernel_priority *record, int64_t time_raw,
			      uint8_t *to)
{
	uint8_t type = (uint8_t)(SET_PRIORITY_TYPE + (record->is_base != 0));
	uint8_t *at = etw_kernel_event_begin(to, GROUP_THREAD, type, 8, time_raw);

	etw_kernel_event_version(to, PRIORITY_VERSION);
	at = put32(at, record->tid);
	at = put8(at, priority_seen(record->old_priority, record->is_old_idle));
	at = put8(at, priority_seen(record->new_priority, record->is_new_idle));
	at = put16(at, 0);
	return (uint32_t)(at - to);
}

static uint32_t make_sample(const struct etw_kernel_cpu_maker *maker,
			    const struct etw_kernel_sample *record, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO, SAMPLE_TYPE, 16, time_raw);
	uint8_t flags = (uint8_t)(priority_of(record->tid, record->priority, record->policy) << 3);

	if (record->flags & ETW_KERNEL_SAMPLE_SOFT_INTERRUPT)
		flags |= SAMPLE_IN_DPC;
	if (maker->seen)
		etw_kernel_seen_add(maker->seen, record->address);
	etw_store64(at, record->address);
	at = put32(at + 8, record->tid);
	at = put16(at, 1); /* Count */
	at = put8(at, flags);
	at = put8(at, 0); /* Rank */
	return (uint32_t)(at - to);
}

static uint32_t make_counter_sample(const struct etw_kernel_cpu_maker *maker,
				    const struct etw_kernel_counter_sample *record,
				    int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_PERFINFO, PMC_TYPE, 16, time_raw);

	if (maker->seen)
		etw_kernel_seen_add(maker->seen, record->address);
	etw_store64(at, record->address);
	at = put32(at + 8, record->tid);
	at = put16(at, (uint16_t)record->source);
	at = put16(at, 0);
	return (uint32_t)(at - to);
}

uint32_t etw_kernel_cpu_event(const struct etw_kernel_cpu_maker *maker,
			      const struct etw_kernel_cpu_record *record, int64_t time_raw,
			      uint8_t *to)
{
	const void *payload = record + 1;

	switch (record->kind) {
	case ETW_KERNEL_SWITCH:
		return record->payload_bytes >= sizeof(struct etw_kernel_switch)
			       ? make_switch(payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_READY:
		return record->payload_bytes >= sizeof(struct etw_kernel_ready)
			       ? make_ready(payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_SAMPLE:
		return record->payload_bytes >= sizeof(struct etw_kernel_sample)
			       ? make_sample(maker, payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_COUNTER_SAMPLE:
		return record->payload_bytes >= sizeof(struct etw_kernel_counter_sample)
			       ? make_counter_sample(maker, payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_PRIORITY:
		return record->payload_bytes >= sizeof(struct etw_kernel_priority)
			       ? make_priority(payload, time_raw, to)
			       : 0;
	case ETW_KERNEL_SYSCALL_ENTER:
	case ETW_KERNEL_SYSCALL_EXIT:
	case ETW_KERNEL_INTERRUPT:
	case ETW_KERNEL_SOFT_INTERRUPT:
		return etw_kernel_cpu_system_event(maker, record, time_raw, to);
	case ETW_KERNEL_IDLE_STATE:
	case ETW_KERNEL_FREQUENCY:
		return etw_kernel_cpu_power_event(record, time_raw, to);
	case ETW_KERNEL_NETWORK:
		return etw_kernel_network_event(record, time_raw, to);
	case ETW_KERNEL_FILE_NAME:
	case ETW_KERNEL_FILE_BEGIN:
	case ETW_KERNEL_FILE_END:
		return etw_kernel_cpu_file_event(maker, record, time_raw, to);
	case ETW_KERNEL_DISK_BEGIN:
	case ETW_KERNEL_DISK_END:
	case ETW_KERNEL_SPLIT:
		return etw_kernel_disk_event(maker, record, time_raw, to);
	case ETW_KERNEL_FAULT:
	case ETW_KERNEL_HARD_FAULT:
	case ETW_KERNEL_MEMORY:
	case ETW_KERNEL_VIEW:
		return etw_kernel_cpu_memory_event(maker, record, time_raw, to);
	default:
		return 0;
	}
}

uint32_t etw_kernel_cpu_stack(const struct etw_kernel_cpu_record *record, const uint64_t *frames,
			      uint32_t count, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_STACKWALK, STACK_TYPE,
					     STACK_HEAD_BYTES + count * 8, time_raw);

	etw_store64(at, (uint64_t)time_raw);
	at = put32(at + 8, record->stack_pid);
	at = put32(at, record->stack_tid);
	memcpy(at, frames, (size_t)count * 8);
	return (uint32_t)(at - to) + count * 8;
}
