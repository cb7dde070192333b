/* SPDX-License-Identifier: MIT */
/* Futexes, with what headers before Linux 5.16 lack; whether the kernel knows it, the call tells. */
#ifndef ETW_BASE_FUTEX_H
#define ETW_BASE_FUTEX_H

#include <linux/futex.h>
#include <linux/types.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

#ifndef FUTEX_32
#define FUTEX_32 2
struct futex_waitv {
	__u64 val;
	__u64 uaddr;
	__u32 flags;
	__u32 __reserved;
};
#endif

#endif
