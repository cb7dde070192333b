/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What programs call where they mean the kernel's bpf_rdonly_cast(); the host puts that in when it loads them. */
#ifndef ETW_SOURCE_KERNEL_BPF_READABLE_CALL_H
#define ETW_SOURCE_KERNEL_BPF_READABLE_CALL_H

#define ETW_KERNEL_READABLE_CALL 0x45545752 /* no helper has such a number */

#endif
