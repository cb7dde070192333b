/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own code as it comes and goes: modules, BPF programs, trampolines. Each piece is an image of process 0, told with
 * the time at which it came; what the kernel makes at run time has the name of its function with it, because nobody can look
 * that up once the function is gone.
 *
 * Context: the session's thread, behind etw_kernel_out_begin().
 */
#ifndef ETW_SOURCE_KERNEL_OWN_LIVE_H
#define ETW_SOURCE_KERNEL_OWN_LIVE_H

#include "source/kernel/bpf/records.h"
#include "source/kernel/events.h"
#include "source/kernel/mappings.h"
#include "source/kernel/own.h"

/* etw_kernel_own_module() - @record: whole, its name as it came */
void etw_kernel_own_module(struct etw_kernel_own *own, struct etw_kernel_out *out,
			   const struct etw_kernel_module *record);

/* etw_kernel_own_made() - @actor: who has it made, or thrown away */
void etw_kernel_own_made(struct etw_kernel_own *own, struct etw_kernel_out *out,
			 struct etw_kernel_actor actor, const struct etw_kernel_made *made);

#endif
