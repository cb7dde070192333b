/* SPDX-License-Identifier: MIT */
/*
 * Which kinds of frequent records serve which bits of the group masks, and which of their events can have stacks.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_PROBE_CLASSES_H
#define ETW_SOURCE_KERNEL_PROBE_CLASSES_H

#include <stdint.h>

#include <evntrace.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/bpf/file_records.h"
#include "source/kernel/bpf/records.h"

/* Kinds whose events name the kernel's function that serves a number. */
#define ETW_KERNEL_ROUTINE_KINDS                                                         \
	(UINT32_C(1) << ETW_KERNEL_SYSCALL_ENTER | UINT32_C(1) << ETW_KERNEL_INTERRUPT | \
	 UINT32_C(1) << ETW_KERNEL_SOFT_INTERRUPT)

#define ETW_KERNEL_TASK_FLAGS                                                               \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD | \
	 EVENT_TRACE_FLAG_PROCESS_COUNTERS)

#define ETW_KERNEL_DISK_FLAGS \
	(EVENT_TRACE_FLAG_DISK_IO | EVENT_TRACE_FLAG_DISK_IO_INIT | EVENT_TRACE_FLAG_SPLIT_IO)

#define ETW_KERNEL_MEMORY_FLAGS                                                      \
	(EVENT_TRACE_FLAG_MEMORY_PAGE_FAULTS | EVENT_TRACE_FLAG_MEMORY_HARD_FAULTS | \
	 EVENT_TRACE_FLAG_VAMAP)

#define ETW_KERNEL_FILE_FLAGS \
	(EVENT_TRACE_FLAG_DISK_FILE_IO | EVENT_TRACE_FLAG_FILE_IO | EVENT_TRACE_FLAG_FILE_IO_INIT)

/* What is built, as group masks: the flags of tasks, and the bits of the kinds below. */
#define ETW_KERNEL_BUILT_MASKS                                                                \
	{                                                                                     \
		[0] = ETW_KERNEL_TASK_FLAGS | ETW_KERNEL_DISK_FLAGS | ETW_KERNEL_FILE_FLAGS | \
		      ETW_KERNEL_MEMORY_FLAGS | EVENT_TRACE_FLAG_NETWORK_TCPIP,               \
		[1] = 0x88E686, [2] = 0x8040, [4] = 0x8000, [6] = 0x3F,                       \
	}

/* The events that can have stacks: (group << 8) | type. */
#define ETW_KERNEL_STACK_HOOKS                                                                  \
	{                                                                                       \
		0x010A, 0x010B, 0x010E, 0x010C, 0x010D, 0x010F, 0x020A, 0x020B, 0x020C, 0x020D, \
			0x020E, 0x020F, 0x0220, 0x0262, 0x0263, 0x0425, 0x0426, 0x0301, 0x0302, \
			0x030A, 0x1402, 0x0501, 0x0502, 0x0524, 0x0532, 0x0F2E, 0x0F2F, 0x0F33, \
			0x0F34, 0x0F42, 0x0F43, 0x0F44, 0x0F45, 0x060A, 0x060B, 0x060C, 0x060F, \
			0x061A, 0x061B, 0x061C, 0x061F, 0x080A, 0x080B, 0x081A, 0x081B, 0x0440, \
			0x0441, 0x0442, 0x0443, 0x0444, 0x0445, 0x0448, 0x0449, 0x044A, 0x044B, \
			0x044C, 0x044F, 0x0450, 0x0451                                          \
	}

/* etw_kernel_class_kinds() - a bit for each enum etw_kernel_cpu_kind that @masks ask for. */
uint32_t etw_kernel_class_kinds(const uint32_t masks[8]);

/* etw_kernel_class_masks() - the bits that ask for one of @kinds. */
void etw_kernel_class_masks(uint32_t kinds, uint32_t ret[8]);

/*
 * etw_kernel_class_lacking() - the bits of @masks that this kernel cannot serve.
 *
 * Returns 0, or -EOPNOTSUPP with @reterr naming the first of their classes and what is missing.
 */
int etw_kernel_class_lacking(const uint32_t masks[8], uint32_t ret[8], struct etw_fault *reterr);

/* etw_kernel_class_given() - those of @kinds that this kernel has; a class may go on without one of its kinds. */
uint32_t etw_kernel_class_given(uint32_t kinds);

/* etw_kernel_class_names_code() - whether the events that a session wants name addresses of code. */
bool etw_kernel_class_names_code(const struct etw_source_request *request);

/*
 * etw_kernel_class_less() - whether some of @kinds bring no events on this machine, although its kernel has their tracepoints:
 * it has no idle states, or no frequencies.
 *
 * Returns 0, or -EOPNOTSUPP with @reterr naming what the machine lacks.
 */
int etw_kernel_class_less(uint32_t kinds, struct etw_fault *reterr);

/* etw_kernel_class_stack_kinds() - those of whose events the request wants the stacks. */
uint32_t etw_kernel_class_stack_kinds(const struct etw_source_request *request);

#define ETW_KERNEL_FILE_HOOKS_FIRST (0x0400 | ETW_KERNEL_FILE_TYPES_FIRST)

/* etw_kernel_class_file_stacks() - the operations of files whose stacks the request wants: struct etw_kernel_control. */
uint32_t etw_kernel_class_file_stacks(const struct etw_source_request *request);

/*
 * etw_kernel_class_stack_events() - the events of tasks, of soft interrupts and of disks whose stacks the request wants: enum
 * etw_kernel_stack_event.
 */
uint32_t etw_kernel_class_stack_events(const struct etw_source_request *request);

/* etw_kernel_class_network_stacks() - of what sockets do: etw_kernel_network_stack_bit() of each whose stack the request wants. */
uint32_t etw_kernel_class_network_stacks(const struct etw_source_request *request);

/* etw_kernel_class_memory_stacks() - enum etw_kernel_memory_stack of each event whose stack the request wants. */
uint32_t etw_kernel_class_memory_stacks(const struct etw_source_request *request);

/* etw_kernel_loss_class() - enum etw_loss_class of a kind's records. */
uint32_t etw_kernel_loss_class(uint32_t kind);

#endif
