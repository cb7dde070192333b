/* SPDX-License-Identifier: MIT */
/*
 * Which kinds of frequent records serve which bits of the group masks, and which of their events can have stacks.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_CLASSES_H
#define ETW_SOURCE_KERNEL_CLASSES_H

#include <stdint.h>

#include "base/source.h"

/* etw_kernel_class_kinds() - a bit for each enum etw_kernel_cpu_kind that @masks ask for. */
uint32_t etw_kernel_class_kinds(const uint32_t masks[8]);

/* etw_kernel_class_stack_kinds() - those of whose events the request wants the stacks. */
uint32_t etw_kernel_class_stack_kinds(const struct etw_source_request *request);

#endif
