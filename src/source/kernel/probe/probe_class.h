/* SPDX-License-Identifier: MIT */
/*
 * Which classes of events this machine's kernel can give, each by what it is made of: tracepoints, maps and helpers
 * that the kernel's types (BTF) name, and a few things that are tried. What every class needs is probe.h.
 *
 * A class may need a feature, and is refused without it, or may only lose something with it, and goes on.
 * Source: docs/kernel-events.md.
 */
#ifndef ETW_SOURCE_KERNEL_PROBE_PROBE_CLASS_H
#define ETW_SOURCE_KERNEL_PROBE_PROBE_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

enum etw_kernel_class {
	ETW_KERNEL_CLASS_TASKS = 0, /* processes, threads */
	ETW_KERNEL_CLASS_IMAGES,
	ETW_KERNEL_CLASS_SWITCHES,
	ETW_KERNEL_CLASS_READY,
	ETW_KERNEL_CLASS_SAMPLES,
	ETW_KERNEL_CLASS_SYSTEM_CALLS,
	ETW_KERNEL_CLASS_INTERRUPTS,
	ETW_KERNEL_CLASS_DPCS,       /* soft interrupts */
	ETW_KERNEL_CLASS_PRIORITIES, /* changes of them */
	ETW_KERNEL_CLASS_POWER,
	ETW_KERNEL_CLASS_COUNTERS, /* samples by another source than the clock */
	ETW_KERNEL_CLASS_FILE_NAMES,
	ETW_KERNEL_CLASS_FILES,  /* operations of files */
	ETW_KERNEL_CLASS_DISKS,  /* transfers */
	ETW_KERNEL_CLASS_SPLITS, /* of them */
	ETW_KERNEL_CLASS_FAULTS,
	ETW_KERNEL_CLASS_NETWORK, /* TCP, UDP */
	ETW_KERNEL_CLASS_MEMORY,  /* taken and given back, views of files */
	ETW_KERNEL_CLASS_TREE,    /* what the kernel does for one process tree */
	ETW_KERNEL_CLASS_STACKS,
	ETW_KERNEL_CLASSES
};

enum etw_kernel_feature {
	ETW_KERNEL_HAS_RING = 0,          /* BPF_MAP_TYPE_RINGBUF */
	ETW_KERNEL_HAS_RING_IN_INTERRUPT, /* its lock never sleeps */
	ETW_KERNEL_HAS_TASK_STORAGE,
	ETW_KERNEL_HAS_TASK_WALK, /* iter/task */
	ETW_KERNEL_HAS_LOOP,      /* bpf_loop() */
	ETW_KERNEL_HAS_FIND_VMA,
	ETW_KERNEL_HAS_COOKIE,       /* a program knows what it was attached with */
	ETW_KERNEL_HAS_TASK_NEWTASK, /* tracepoints, from here */
	ETW_KERNEL_HAS_PROCESS_EXEC,
	ETW_KERNEL_HAS_PROCESS_EXIT,
	ETW_KERNEL_HAS_RENAME,
	ETW_KERNEL_HAS_SWITCH,
	ETW_KERNEL_HAS_WAKING,
	ETW_KERNEL_HAS_WAKEUP_NEW,
	ETW_KERNEL_HAS_LENDING, /* sched_pi_setprio */
	ETW_KERNEL_HAS_MODULES, /* module_load, module_free */
	ETW_KERNEL_HAS_SYSCALL_ENTER,
	ETW_KERNEL_HAS_SYSCALL_EXIT,
	ETW_KERNEL_HAS_IRQ,          /* irq_handler_entry, irq_handler_exit */
	ETW_KERNEL_HAS_TIMER_VECTOR, /* local_timer_entry, local_timer_exit; vectors are on x86 only */
	ETW_KERNEL_HAS_CPU_VECTORS, /* of interrupts between processors, three pairs */
	ETW_KERNEL_HAS_WORK_VECTOR, /* irq_work_entry, irq_work_exit */
	ETW_KERNEL_HAS_SOFTIRQ,     /* softirq_entry, softirq_exit */
	ETW_KERNEL_HAS_HRTIMER,     /* hrtimer_expire_entry, hrtimer_expire_exit */
	ETW_KERNEL_HAS_RAISE,       /* softirq_raise */
	ETW_KERNEL_HAS_WORKQUEUE,   /* workqueue_queue_work, workqueue_execute_start, _end */
	ETW_KERNEL_HAS_IDLE,
	ETW_KERNEL_HAS_FREQUENCY,
	ETW_KERNEL_HAS_REQUESTS,     /* block_rq_issue, block_rq_complete */
	ETW_KERNEL_HAS_QUEUED,       /* block_rq_insert, block_rq_merge, block_rq_requeue */
	ETW_KERNEL_HAS_URING,        /* io_uring_complete, and a way of its submission */
	ETW_KERNEL_HAS_DIRTY_FOLIO,  /* writeback_dirty_folio */
	ETW_KERNEL_HAS_EXT4_ENDS,    /* ext4_evict_inode */
	ETW_KERNEL_HAS_CACHE_DELETE, /* mm_filemap_delete_from_page_cache */
	ETW_KERNEL_HAS_FLUSHES,      /* block_getrq */
	ETW_KERNEL_HAS_BIOS,         /* block_bio_queue, block_bio_complete */
	ETW_KERNEL_HAS_SPLITS,       /* block_split */
	ETW_KERNEL_HAS_PAGE_FAULT,   /* page_fault_user, page_fault_kernel; on x86 only */
	ETW_KERNEL_HAS_CACHE_ADD,    /* mm_filemap_add_to_page_cache */
	ETW_KERNEL_HAS_PREPARE_EXEC, /* sched_prepare_exec */
	ETW_KERNEL_HAS_SIGNAL,       /* signal_generate */
	ETW_KERNEL_HAS_MAPLE_TREE,   /* mappings are in one; a type */
	ETW_KERNEL_HAS_SOCKET_STATE, /* inet_sock_set_state, tcp_destroy_sock */
	ETW_KERNEL_HAS_SOCKET_LENGTHS, /* sock_send_length, sock_recv_length, and sendfile() comes by */
	ETW_KERNEL_HAS_RETRANSMIT,     /* tcp_retransmit_skb */
	ETW_KERNEL_HAS_RETRANSMIT_ANSWER, /* tcp_retransmit_synack */
	ETW_KERNEL_HAS_FILE_WALK,         /* iter/task_file */
	ETW_KERNEL_HAS_CPU_CLOCK,         /* perf gives samples by it; from here what is no type */
	ETW_KERNEL_HAS_IDLE_DRIVER,       /* the processors have idle states to choose from */
	ETW_KERNEL_HAS_FREQUENCY_DRIVER,  /* the processors have frequencies that Linux sets */
	ETW_KERNEL_HAS_OWN_INTERRUPTS, /* no real-time kernel, which moves handlers into threads */
	ETW_KERNEL_HAS_SYMBOLS,        /* /proc/kallsyms has addresses */
	ETW_KERNEL_TOLD_FEATURES,      /* a class tells where one of those above is missing */
	/* Which of two ways a program goes; types again. */
	ETW_KERNEL_HAS_URING_REQUEST = ETW_KERNEL_TOLD_FEATURES, /* io_uring_submit_req */
	ETW_KERNEL_HAS_URING_ENTRY,  /* io_uring_submit_sqe, which tells the request */
	ETW_KERNEL_HAS_LAST_EXIT,    /* sched_process_exit tells whether the group ends */
	ETW_KERNEL_HAS_SWITCH_STATE, /* sched_switch tells the state of who leaves */
	ETW_KERNEL_FEATURES
};

struct etw_kernel_features {
	bool has[ETW_KERNEL_FEATURES];
};

/*
 * etw_kernel_features_read() - what the types say. Others of @ret stay as they are.
 *
 * @btf_path: of the kernel's types; /sys/kernel/btf/vmlinux
 *
 * Returns 0; -ENOSYS when this build cannot read types, or the file makes no sense; -ENOMEM.
 */
int etw_kernel_features_read(const char *btf_path, struct etw_kernel_features *ret);

/* etw_kernel_features_try() - what only a try tells: it opens a perf event for a moment. Others of @ret stay. */
void etw_kernel_features_try(struct etw_kernel_features *ret);

/* etw_kernel_class_loss() - what @class goes without where @feature is missing. Static; NULL: nothing, or it is refused. */
const char *etw_kernel_class_loss(enum etw_kernel_class class, enum etw_kernel_feature feature);

/* etw_kernel_probe_class_name() - in a word or two. Static. */
const char *etw_kernel_probe_class_name(enum etw_kernel_class class);

/*
 * etw_kernel_class_check() - whether @features are enough for @class.
 *
 * Returns 0, or -EOPNOTSUPP with @reterr naming the class and the first thing that is missing.
 */
int etw_kernel_class_check(const struct etw_kernel_features *features, enum etw_kernel_class class,
			   struct etw_fault *reterr);

/*
 * etw_kernel_class_loses() - what @class goes without on a machine with @features, where it can be recorded.
 *
 * Returns how many sentences there are; the first @room of them are in @ret, static.
 */
size_t etw_kernel_class_loses(const struct etw_kernel_features *features,
			      enum etw_kernel_class class, const char **ret, size_t room);

/*
 * etw_kernel_probe_class() - etw_kernel_class_check() on this machine. The first call reads the kernel's types, for
 * some ten milliseconds; the others know.
 */
int etw_kernel_probe_class(enum etw_kernel_class class, struct etw_fault *reterr);

/* etw_kernel_probe_types() - whether this machine's types can be read. Returns as etw_kernel_features_read(). */
int etw_kernel_probe_types(void);

/* etw_kernel_probe_features() - of this machine, as etw_kernel_probe_class() sees it. All false without types. */
const struct etw_kernel_features *etw_kernel_probe_features(void);

#endif
