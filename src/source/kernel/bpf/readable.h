/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pointers that programs read through directly, as C does, which costs a load where BPF_CORE_READ() costs a call. What is not
 * there reads as 0 in both. Since Linux 6.2 the verifier looks in all types of the kernel for each pointer that is read from
 * one that it trusts, which takes milliseconds; one of these it does not trust.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_READABLE_H
#define ETW_SOURCE_KERNEL_BPF_READABLE_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "readable_call.h"

enum bpf_type_flag {
	PTR_TRUSTED = 0, /* there since Linux 6.2, as is the function */
};

/*
 * Costs nothing: the verifier takes the call out. It is no function of the kernel by name, for which libbpf would read all of
 * the kernel's types; the host puts that in, in programs of sections tp_btf and iter alone.
 *
 * @type: bpf_core_type_id_kernel() itself, which the host finds in front of the call
 */
static void *(*const etw_readable_call)(const void *pointer,
					__u32 type) = (void *)ETW_KERNEL_READABLE_CALL;

/* @pointer: one of the program's arguments, the task that runs, or read from one of these */
#define READABLE(type, pointer)                                                       \
	((type *)(bpf_core_enum_value_exists(enum bpf_type_flag, PTR_TRUSTED)         \
			  ? etw_readable_call(pointer, bpf_core_type_id_kernel(type)) \
			  : (pointer)))

#endif
