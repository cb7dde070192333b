/* SPDX-License-Identifier: MIT */
/* How many descriptors the kernel's source keeps with the host's keeper (base/source.h), with everything that is built. */
#ifndef ETW_SOURCE_KERNEL_KEPT_H
#define ETW_SOURCE_KERNEL_KEPT_H

#include "source/kernel/perf/faults.h"
#include "source/kernel/programs/bpf_objects.h"
#include "source/kernel/programs/cpu_programs.h"

/*
 * The ring of tasks, what it dropped, the control map and the links; the map of rings, threads, the shared maps, the links of
 * frequent events and three walks; the account of stacks.
 */
#define ETW_KERNEL_KEPT_FDS \
	(3 + ETW_KERNEL_LINKS + 2 + ETW_KERNEL_SHARED_MAPS + ETW_KERNEL_CPU_PROGRAMS + 3 + 1)

/* The ring of frequent events, perf's rings of code and of data, the timer of samples, and counts of faults. */
#define ETW_KERNEL_KEPT_FDS_PER_CPU (1 + 2 + 1 + ETW_KERNEL_FAULT_EVENTS)

#endif
