/* SPDX-License-Identifier: MIT */
/* What this process may do beside what its user may. */
#ifndef ETW_BASE_PROCESS_RIGHTS_H
#define ETW_BASE_PROCESS_RIGHTS_H

#include <stdbool.h>

/*
 * etw_process_is_plain() - whether this process may do nothing that any other process of its user may not.
 *
 * It has one uid and one gid, real, effective and saved, and no capability, and was not started with more rights than
 * whoever started it has. Groups beside the first are not looked at. False where the kernel does not tell. Context: any
 * thread; some system calls.
 */
bool etw_process_is_plain(void);

#endif
