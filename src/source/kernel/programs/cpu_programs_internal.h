/* SPDX-License-Identifier: MIT */
/*
 * What the files of cpu_programs.h share: the table of programs (cpu_programs.c), what is open (_open.c: made, _adopt.c: taken
 * over and closed), and the walks (_walks.c). Only in builds with libbpf, but for etw_kernel_cpu_bpf_close_rings().
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_CPU_PROGRAMS_INTERNAL_H
#define ETW_SOURCE_KERNEL_PROGRAMS_CPU_PROGRAMS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/kernel/programs/cpu_programs.h"

struct bpf_object;

struct etw_kernel_program {
	const char *program;
	const char *tracepoint; /* NULL: none, the program is attached elsewhere */
	const uint8_t *object;
	const size_t *object_bytes;
	uint32_t kinds;  /* that are refused without it */
	uint32_t helps;  /* kinds that go on without it, where the kernel lacks @feature */
	uint8_t feature; /* enum etw_kernel_feature; of one that helps */
};

extern const struct etw_kernel_program etw_kernel_programs[ETW_KERNEL_CPU_PROGRAMS];

/* A map that outlives the programs of one loading, beside the rings and what is known of threads. */
struct etw_kernel_shared_map {
	const char *map;
	const char *kept; /* its name with the keeper */
};

extern const struct etw_kernel_shared_map etw_kernel_shared_maps[ETW_KERNEL_SHARED_MAPS];

/* etw_kernel_program_is_wanted() - whether a program is to be loaded for @kinds, where it is not there yet. */
bool etw_kernel_program_is_wanted(size_t place, uint32_t kinds);

#define ETW_KERNEL_KEPT_NAME 32 /* bytes of a name with the keeper, with its NUL */

/* etw_kernel_link_name(), etw_kernel_ring_name() - what the keeper calls a program's link, and a processor's ring. */
void etw_kernel_link_name(size_t place, char name[ETW_KERNEL_KEPT_NAME]);
void etw_kernel_ring_name(uint32_t cpu, char name[ETW_KERNEL_KEPT_NAME]);

/* etw_kernel_cpu_bpf_close_rings() - those alone. */
void etw_kernel_cpu_bpf_close_rings(struct etw_kernel_cpu_bpf *cpu_bpf);

/* etw_kernel_choose_walk() - before an object is loaded: a kernel without the walk over open files goes on without it. */
int etw_kernel_choose_walk(struct bpf_object *object);

/* etw_kernel_take_walks() - of a loaded object, which has one walk, or none. Returns 0 or negative errno. */
int etw_kernel_take_walks(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
			  struct bpf_object *object);

#endif
