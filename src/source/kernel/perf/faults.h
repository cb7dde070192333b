/* SPDX-License-Identifier: MIT */
/*
 * perf's events of page faults on each processor, each of which runs its BPF program: of those that were served from memory,
 * and of those for which something was read. Every fault is an event, so nothing is held back.
 *
 * Context: the session's thread.
 * Source: docs/kernel-events/memory.md.
 */
#ifndef ETW_SOURCE_KERNEL_PERF_FAULTS_H
#define ETW_SOURCE_KERNEL_PERF_FAULTS_H

#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/perf/cpus.h"
#include "source/kernel/perf/perf_calls.h"

enum etw_kernel_fault_event {
	ETW_KERNEL_MINOR_FAULTS = 0,
	ETW_KERNEL_MAJOR_FAULTS = 1,
	ETW_KERNEL_FAULT_EVENTS = 2,
};

struct etw_kernel_faults_cpu;

struct etw_kernel_faults {
	const struct etw_kernel_perf_calls *calls; /* borrowed; NULL: the kernel's */
	const struct etw_source_host *host;        /* borrowed */
	struct etw_kernel_faults_cpu *cpus;        /* owned; host->cpu_count; NULL: never wanted */
	struct etw_kernel_cpus list;               /* open where @cpus is */
	int program_fds[ETW_KERNEL_FAULT_EVENTS];  /* borrowed; -1: not wanted */
};

/*
 * etw_kernel_faults_start() - the programs run from now on. Events of a former host are taken over.
 *
 * @host:        borrowed as long as the events live
 * @program_fds: by enum etw_kernel_fault_event, borrowed as long; -1: not wanted
 *
 * Returns 0; -EACCES without the privilege, -ENOMEM, else what the kernel said, with @reterr; then none runs.
 */
int etw_kernel_faults_start(struct etw_kernel_faults *faults, const struct etw_source_host *host,
			    const int program_fds[ETW_KERNEL_FAULT_EVENTS],
			    struct etw_fault *reterr);

/* etw_kernel_faults_stop() - until they are started again. Takes what was zeroed. */
void etw_kernel_faults_stop(struct etw_kernel_faults *faults);

/* etw_kernel_faults_follow_cpus() - opens the events of processors that came. Cheap when nothing changed. */
void etw_kernel_faults_follow_cpus(struct etw_kernel_faults *faults);

/* etw_kernel_faults_done() - stops and closes all. Takes what was zeroed. */
void etw_kernel_faults_done(struct etw_kernel_faults *faults);

#endif
