/* SPDX-License-Identifier: MIT */
/*
 * What this machine lets the kernel's source do, and what helps where something is missing. Tools print it; the
 * source refuses with it.
 */
#ifndef ETW_SOURCE_KERNEL_PROBE_PROBE_H
#define ETW_SOURCE_KERNEL_PROBE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

enum etw_kernel_need {
	ETW_KERNEL_NEED_BUILD = 0,   /* this build has the BPF programs */
	ETW_KERNEL_NEED_BTF,         /* the kernel tells its types */
	ETW_KERNEL_NEED_CAP_BPF,     /* or CAP_SYS_ADMIN */
	ETW_KERNEL_NEED_CAP_PERFMON, /* or CAP_SYS_ADMIN */
	ETW_KERNEL_NEED_CAP_PTRACE, /* other users' mappings at rundown; the source works without */
	ETW_KERNEL_NEED_PID_SPACE,  /* this process is in the initial pid namespace */
	ETW_KERNEL_NEED_PROCFS,     /* /proc shows processes */
	ETW_KERNEL_NEED_TIME_SPACE, /* this process has the kernel's own clock */
	ETW_KERNEL_NEED_TYPES,      /* what tells the kernel's types makes sense */
	ETW_KERNEL_NEEDS
};

struct etw_kernel_probe {
	bool has[ETW_KERNEL_NEEDS];
};

/* etw_kernel_probe_run() - looks; changes nothing. */
void etw_kernel_probe_run(struct etw_kernel_probe *ret);

/* etw_kernel_probe_name() - of a need, in a word or two. Static. */
const char *etw_kernel_probe_name(enum etw_kernel_need need);

/* etw_kernel_probe_sentence() - what is missing when @need is not met, and how to get it. Static. */
const char *etw_kernel_probe_sentence(enum etw_kernel_need need);

/*
 * etw_kernel_probe_check() - whether the source can be opened.
 *
 * Returns 0; -ENOSYS, -EACCES, -EOPNOTSUPP or -ENOENT with @reterr naming the first thing that is missing.
 */
int etw_kernel_probe_check(struct etw_fault *reterr);

#endif
