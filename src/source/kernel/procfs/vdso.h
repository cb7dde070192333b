/* SPDX-License-Identifier: MIT */
/*
 * The vDSO: the code that the kernel maps into every process, without a file. Its mappings are called "[vdso]", and have no
 * build id of their own; but all 64-bit processes have the same one, and so has this.
 */
#ifndef ETW_SOURCE_KERNEL_PROCFS_VDSO_H
#define ETW_SOURCE_KERNEL_PROCFS_VDSO_H

#include <stdint.h>

#include "source/kernel/processes/images.h"

/*
 * etw_kernel_vdso_build_id() - that of this process' own.
 *
 * @ret: ETW_KERNEL_BUILD_ID_BYTES
 *
 * Returns its bytes; 0 where there is none. Context: any thread.
 */
uint8_t etw_kernel_vdso_build_id(uint8_t *ret);

/*
 * etw_kernel_vdso_open() - a copy of this process' own, as a file.
 *
 * Returns an owned descriptor; -ENOENT where there is none; -errno.
 */
int etw_kernel_vdso_open(void);

/* etw_kernel_vdso_complete() - gives the vDSO of a 64-bit process its build id; leaves other mappings alone. */
void etw_kernel_vdso_complete(struct etw_kernel_mapping *mapping);

#endif
