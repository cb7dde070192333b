/* SPDX-License-Identifier: MIT */
/*
 * The BPF programs: loaded, attached, switched, and taken over from a host that died. Descriptors alone
 * keep them alive; their copies with the keeper outlive the host, and programs that nobody wants any more
 * are silenced by the control map, because a kept link cannot be taken back.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_BPF_OBJECTS_H
#define ETW_SOURCE_KERNEL_PROGRAMS_BPF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/bpf/drops.h"
#include "source/kernel/bpf/records.h"

/* ELF objects as bytes, made by the build. */
extern const uint8_t etw_kernel_tasks_object[];
extern const size_t etw_kernel_tasks_object_bytes;
extern const uint8_t etw_kernel_unmaps_object[];
extern const size_t etw_kernel_unmaps_object_bytes;
extern const uint8_t etw_kernel_maps_object[];
extern const size_t etw_kernel_maps_object_bytes;
extern const uint8_t etw_kernel_modules_object[];
extern const size_t etw_kernel_modules_object_bytes;
extern const uint8_t etw_kernel_threads_object[];
extern const size_t etw_kernel_threads_object_bytes;
extern const uint8_t etw_kernel_switches_object[];
extern const size_t etw_kernel_switches_object_bytes;
extern const uint8_t etw_kernel_contexts_object[];
extern const size_t etw_kernel_contexts_object_bytes;
extern const uint8_t etw_kernel_ready_object[];
extern const size_t etw_kernel_ready_object_bytes;
extern const uint8_t etw_kernel_samples_object[];
extern const size_t etw_kernel_samples_object_bytes;
extern const uint8_t etw_kernel_syscalls_object[];
extern const size_t etw_kernel_syscalls_object_bytes;
extern const uint8_t etw_kernel_owners_object[];
extern const size_t etw_kernel_owners_object_bytes;
extern const uint8_t etw_kernel_interrupts_object[];
extern const size_t etw_kernel_interrupts_object_bytes;
extern const uint8_t etw_kernel_priorities_object[];
extern const size_t etw_kernel_priorities_object_bytes;
extern const uint8_t etw_kernel_faults_object[];
extern const size_t etw_kernel_faults_object_bytes;
extern const uint8_t etw_kernel_memory_object[];
extern const size_t etw_kernel_memory_object_bytes;
extern const uint8_t etw_kernel_power_object[];
extern const size_t etw_kernel_power_object_bytes;
extern const uint8_t etw_kernel_disks_object[];
extern const size_t etw_kernel_disks_object_bytes;
extern const uint8_t etw_kernel_file_calls_object[];
extern const size_t etw_kernel_file_calls_object_bytes;
extern const uint8_t etw_kernel_file_ends_object[];
extern const size_t etw_kernel_file_ends_object_bytes;
extern const uint8_t etw_kernel_mapped_writes_object[];
extern const size_t etw_kernel_mapped_writes_object_bytes;
extern const uint8_t etw_kernel_file_requests_object[];
extern const size_t etw_kernel_file_requests_object_bytes;
extern const uint8_t etw_kernel_network_object[];
extern const size_t etw_kernel_network_object_bytes;

#define ETW_KERNEL_LINKS 8

struct etw_kernel_bpf {
	int ring_fd, drops_fd, control_fd; /* owned; -1: none */
	int link_fds
		[ETW_KERNEL_LINKS]; /* owned; new task, exec, exit, rename, unmap, module load, module
				       free, map; -1: not attached */
	uint32_t ring_bytes;
	bool is_adopted; /* a former host's */
};

/*
 * etw_kernel_bpf_open() - the maps, and the programs that follow tasks; attached and silent.
 *
 * @ring_bytes: a power of two and a multiple of the page; of a ring that is taken over, its own holds
 *
 * Returns 0; -ENOSYS when this build or this kernel cannot; -EACCES when privilege is missing; -ENOMEM;
 * else what the kernel said; @reterr says which.
 */
int etw_kernel_bpf_open(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			uint32_t ring_bytes, struct etw_fault *reterr);

/* etw_kernel_bpf_attach_unmaps() - the program at munmap, once. Returns as etw_kernel_bpf_open(). */
int etw_kernel_bpf_attach_unmaps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				 struct etw_fault *reterr);

/*
 * etw_kernel_bpf_attach_modules() - the programs at modules' coming and going, once. Returns 0; -ENOENT when the kernel has
 * no modules; else as etw_kernel_bpf_open().
 */
int etw_kernel_bpf_attach_modules(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
				  struct etw_fault *reterr);

/* etw_kernel_bpf_attach_maps() - the program for stacks of image loads, once. Returns as etw_kernel_bpf_open(). */
int etw_kernel_bpf_attach_maps(struct etw_kernel_bpf *bpf, const struct etw_source_host *host,
			       struct etw_fault *reterr);

/* etw_kernel_bpf_set_control() - what is collected, and what a next host must know. Returns 0 or negative errno. */
int etw_kernel_bpf_set_control(const struct etw_kernel_bpf *bpf,
			       const struct etw_kernel_control *control);

/* etw_kernel_bpf_control() - what was switched last. Returns 0 or negative errno. */
int etw_kernel_bpf_control(const struct etw_kernel_bpf *bpf, struct etw_kernel_control *ret);

/* etw_kernel_bpf_drops() - @ret: of processors 0 to @cpu_count - 1; zeros where they cannot be read. */
void etw_kernel_bpf_drops(const struct etw_kernel_bpf *bpf, uint32_t cpu_count,
			  struct etw_kernel_drops *ret);

/* etw_kernel_bpf_close() - closes what is open. */
void etw_kernel_bpf_close(struct etw_kernel_bpf *bpf);

#endif
