/* SPDX-License-Identifier: MIT */
/* The providers and classes that tell of processes and threads. */
#ifndef ETW_PROCESS_KERNEL_CLASS_H
#define ETW_PROCESS_KERNEL_CLASS_H

#include <guiddef.h>

extern const GUID etw_class_process;           /* classic: Process */
extern const GUID etw_class_thread;            /* classic: Thread */
extern const GUID etw_class_perfinfo;          /* classic: PerfInfo */
extern const GUID etw_provider_kernel_process; /* Microsoft-Windows-Kernel-Process */

/* Opcodes of the classes Process and Thread. */
enum {
	ETW_OPCODE_START = 1,
	ETW_OPCODE_END = 2,
	ETW_OPCODE_DC_START = 3,
	ETW_OPCODE_DC_END = 4,
	ETW_OPCODE_SWITCH = 36,  /* Thread */
	ETW_OPCODE_DEFUNCT = 39, /* Process: it has ended, but something still holds it */
};

#endif
