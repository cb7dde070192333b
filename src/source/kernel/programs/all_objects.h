/* SPDX-License-Identifier: MIT */
/* All objects of BPF programs that the build made. Only in builds with libbpf. */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_ALL_OBJECTS_H
#define ETW_SOURCE_KERNEL_PROGRAMS_ALL_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct etw_kernel_object {
	const uint8_t *bytes; /* ELF */
	const size_t *byte_count;
};

/* Made by cmake/KernelBpf.cmake. */
extern const struct etw_kernel_object etw_kernel_objects[];
extern const size_t etw_kernel_object_count;

#endif
