/* SPDX-License-Identifier: MIT */
/*
 * How this host has libbpf load programs: by few of the kernel's types (needed_types.h), which are read once, when the first
 * object is opened. Only in builds with libbpf.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_PREPARE_H
#define ETW_SOURCE_KERNEL_PROGRAMS_PREPARE_H

struct bpf_object_open_opts;

/*
 * etw_kernel_prepare_open() - to be called before an object is opened.
 *
 * @options: of opening it; told of these types, if they could be read, else libbpf reads all by itself
 *
 * Returns 0, or what libbpf_register_prog_handler() failed with.
 *
 * Context: any thread; the first call reads the types.
 */
int etw_kernel_prepare_open(struct bpf_object_open_opts *options);

#endif
