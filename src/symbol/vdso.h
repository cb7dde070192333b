/* SPDX-License-Identifier: MIT */
/* The vDSO: the object that the kernel maps into every process. The running kernel's is this process' own. */
#ifndef ETW_SYMBOL_VDSO_H
#define ETW_SYMBOL_VDSO_H

#include <stdbool.h>

#include "symbol/elf_file.h"

/* etw_symbol_is_vdso() - whether an image's path is the name of a vDSO: "[vdso]", "linux-vdso.so.1". */
bool etw_symbol_is_vdso(const char *path);

/*
 * etw_symbol_vdso_open() - opens this process' own, where it is the wanted one. Without a recorded build id none is
 * used.
 *
 * Returns as etw_symbol_elf_open().
 */
int etw_symbol_vdso_open(const struct etw_symbol_files *files,
			 const struct etw_symbol_wanted *wanted, struct etw_symbol_elf **ret,
			 enum etw_symbol_reason *ret_reason);

#endif
