/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The few members of kernel types that the programs read. Their places are found when a program is
 * loaded (CO-RE), so only names and types matter here, and no vmlinux.h is needed to build.
 */
#ifndef ETW_SOURCE_KERNEL_BPF_KERNEL_TYPES_H
#define ETW_SOURCE_KERNEL_BPF_KERNEL_TYPES_H

#include <linux/types.h>

#define PF_KTHREAD        0x00200000
#define PF_WQ_WORKER      0x00000020
#define PF_IO_WORKER      0x00000010
#define CLONE_VM_FLAG     0x00000100
#define SIGNAL_GROUP_EXIT 0x00000004

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	unsigned int val;
} kuid_t;

struct user_namespace {
	int level; /* 0: the initial one */
};

struct cred {
	kuid_t euid;
	struct user_namespace *user_ns;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
	int nr_threads;
	unsigned long min_flt, maj_flt, maxrss;
};

struct percpu_counter {
	__s64 count;
};

struct maple_tree {
	void *ma_root;
};

#define AUXILIARY_WORDS 40 /* of the vector that a program gets, as far as it is looked at */

struct mm_struct {
	unsigned long arg_start, arg_end, start_stack, task_size;
	unsigned long total_vm, hiwater_vm, hiwater_rss, data_vm, stack_vm;
	unsigned long brk;
	int map_count;
	unsigned long saved_auxv[AUXILIARY_WORDS];
	struct maple_tree mm_mt;           /* since Linux 6.1 */
	struct percpu_counter rss_stat[4]; /* since Linux 6.2 */
};

struct file;

struct fdtable {
	unsigned int max_fds;
	unsigned long *open_fds, *close_on_exec;
	struct file **fd;
};

struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};

struct fs_struct;

struct io_context {
	unsigned short ioprio;
};

struct cpumask {
	unsigned long bits[1];
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
	int prio, normal_prio, wake_cpu; /* prio: with what others lend */
	unsigned int policy;
	unsigned in_iowait : 1;
	unsigned in_execve : 1;
	int pid, tgid, exit_code;
	struct task_struct *real_parent, *group_leader;
	const struct cred *cred;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct files_struct *files;
	struct fs_struct *fs;
	struct io_context *io_context;
	const struct cpumask *cpus_ptr;
	unsigned long min_flt, maj_flt;
	int pagefault_disabled;
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

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, bx, cx, dx, bp, ip, sp, r8, r9, r10, orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31], sp, pc, orig_x0;
	__s32 syscallno;
};
#endif

#pragma clang attribute pop

#endif
