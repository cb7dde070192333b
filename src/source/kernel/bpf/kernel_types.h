/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The few members of kernel types that the programs read. Their places are found when a program is
 * loaded (CO-RE), so only names and types matter here, and no vmlinux.h is needed to build.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_KERNEL_TYPES_H
#define ETW_SOURCE_KERNEL_BPF_KERNEL_TYPES_H

#include <linux/types.h>

#define PF_KTHREAD        0x00200000
#define CLONE_VM_FLAG     0x00000100
#define SIGNAL_GROUP_EXIT 0x00000004

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
};

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct rq {
	__u64 clock, clock_task;
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	__u64 exec_start, sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	__u64 utime, stime;
	unsigned int flags;
	unsigned int __state;
	int prio, wake_cpu;
	unsigned int policy;
	unsigned in_iowait : 1;
	int pid, tgid, exit_code;
	struct task_struct *real_parent, *group_leader;
	const struct cred *cred;
	struct signal_struct *signal;
	struct mm_struct *mm;
	unsigned int sessionid;
	__u64 start_boottime;
	char comm[16];
};

struct bpf_iter__task {
	struct task_struct *task;
};

struct irqaction {
	void *handler;
};

struct linux_binprm {
	const char *filename;
};

struct file;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct file *vm_file;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, bx, cx;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	unsigned long regs[31];
};
#endif

#pragma clang attribute pop

#endif
