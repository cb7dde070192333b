/* SPDX-License-Identifier: MIT */
/*
 * The BPF programs of frequent events: loaded and attached when the first event of theirs is wanted, taken over from a host
 * that died, and silenced by the control map, as those of bpf_objects.h are.
 */
#ifndef ETW_SOURCE_KERNEL_PROGRAMS_CPU_PROGRAMS_H
#define ETW_SOURCE_KERNEL_PROGRAMS_CPU_PROGRAMS_H

#include <stdint.h>

#include "base/fault.h"
#include "base/source.h"
#include "source/kernel/bpf/cpu_records.h"
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/programs/bpf_objects.h"

/* Programs, in the order in which they are attached. */
enum etw_kernel_cpu_program {
	ETW_KERNEL_PROGRAM_NEW_THREAD = 0,
	ETW_KERNEL_PROGRAM_SWITCH = 1,
	ETW_KERNEL_PROGRAM_SOFT_BEGINS = 2,
	ETW_KERNEL_PROGRAM_SOFT_ENDS = 3,
	ETW_KERNEL_PROGRAM_SAMPLE = 4, /* not attached: perf's events are (sampler.h) */
	ETW_KERNEL_PROGRAM_HANDLER_BEGINS = 5,
	ETW_KERNEL_PROGRAM_HANDLER_ENDS = 6,
	ETW_KERNEL_PROGRAM_TIMER_BEGINS = 7,
	ETW_KERNEL_PROGRAM_TIMER_ENDS = 8,
	ETW_KERNEL_PROGRAM_WAKE = 9,
	ETW_KERNEL_PROGRAM_WAKE_NEW = 10,
	ETW_KERNEL_PROGRAM_SYSCALL_ENTER = 11,
	ETW_KERNEL_PROGRAM_SYSCALL_EXIT = 12,
	ETW_KERNEL_PROGRAM_ISR_BEGINS = 13,
	ETW_KERNEL_PROGRAM_ISR_ENDS = 14,
	ETW_KERNEL_PROGRAM_DPC_BEGINS = 15,
	ETW_KERNEL_PROGRAM_DPC_ENDS = 16,
	/* On x86. */
	ETW_KERNEL_PROGRAM_VECTOR_TIMER_BEGINS = 17,
	ETW_KERNEL_PROGRAM_VECTOR_TIMER_ENDS = 18,
	ETW_KERNEL_PROGRAM_VECTOR_RESCHED_BEGINS = 19,
	ETW_KERNEL_PROGRAM_VECTOR_RESCHED_ENDS = 20,
	ETW_KERNEL_PROGRAM_VECTOR_CALL_BEGINS = 21,
	ETW_KERNEL_PROGRAM_VECTOR_CALL_ENDS = 22,
	ETW_KERNEL_PROGRAM_VECTOR_CALL_ONE_BEGINS = 23,
	ETW_KERNEL_PROGRAM_VECTOR_CALL_ONE_ENDS = 24,
	ETW_KERNEL_PROGRAM_VECTOR_WORK_BEGINS = 25,
	ETW_KERNEL_PROGRAM_VECTOR_WORK_ENDS = 26,
	ETW_KERNEL_PROGRAM_SWITCH_PRIORITIES = 27,
	ETW_KERNEL_PROGRAM_WAKE_PRIORITIES = 28,
	ETW_KERNEL_PROGRAM_LEND_PRIORITY = 29,
	/* For whom work is done, where one process tree alone is wanted. */
	ETW_KERNEL_PROGRAM_ASKED_BEGINS = 30, /* these six on x86 */
	ETW_KERNEL_PROGRAM_ASKED_ENDS = 31,
	ETW_KERNEL_PROGRAM_ASKED_ONE_BEGINS = 32,
	ETW_KERNEL_PROGRAM_ASKED_ONE_ENDS = 33,
	ETW_KERNEL_PROGRAM_IRQ_WORK_BEGINS = 34,
	ETW_KERNEL_PROGRAM_IRQ_WORK_ENDS = 35,
	ETW_KERNEL_PROGRAM_RAISE = 36,
	ETW_KERNEL_PROGRAM_QUEUE_WORK = 37,
	ETW_KERNEL_PROGRAM_BEGIN_WORK = 38,
	ETW_KERNEL_PROGRAM_END_WORK = 39,
	ETW_KERNEL_PROGRAM_IDLE_STATE = 40,
	ETW_KERNEL_PROGRAM_FREQUENCY = 41,
	ETW_KERNEL_PROGRAM_COUNTER_SAMPLE = 42, /* not attached, as that of samples */
	ETW_KERNEL_PROGRAM_QUEUE_REQUEST = 43,
	ETW_KERNEL_PROGRAM_ISSUE_REQUEST = 44,
	ETW_KERNEL_PROGRAM_REQUEUE_REQUEST = 45,
	ETW_KERNEL_PROGRAM_MERGE_REQUEST = 46,
	ETW_KERNEL_PROGRAM_COMPLETE_REQUEST = 47,
	ETW_KERNEL_PROGRAM_ASK_FLUSH = 48,
	ETW_KERNEL_PROGRAM_QUEUE_BIO = 49,
	ETW_KERNEL_PROGRAM_COMPLETE_BIO = 50,
	ETW_KERNEL_PROGRAM_SPLIT_BIO = 51,
	ETW_KERNEL_PROGRAM_USER_FAULT = 52,
	ETW_KERNEL_PROGRAM_KERNEL_FAULT = 53,
	ETW_KERNEL_PROGRAM_READ_PAGE = 54,
	ETW_KERNEL_PROGRAM_SIGNAL = 55,
	ETW_KERNEL_PROGRAM_MINOR_FAULT = 56, /* not attached: perf's events are (faults.h) */
	ETW_KERNEL_PROGRAM_MAJOR_FAULT = 57, /* likewise */
	ETW_KERNEL_PROGRAM_SOCKET_STATE = 58,
	ETW_KERNEL_PROGRAM_FORGET_SOCKET = 59,
	ETW_KERNEL_PROGRAM_END_NETWORK_CALL = 60,
	ETW_KERNEL_PROGRAM_SENT = 61,
	ETW_KERNEL_PROGRAM_RECEIVED = 62,
	ETW_KERNEL_PROGRAM_RETRANSMIT = 63,
	ETW_KERNEL_PROGRAM_RETRANSMIT_ANSWER = 64,
	ETW_KERNEL_PROGRAM_ENTER_FILE_CALL = 65,
	ETW_KERNEL_PROGRAM_EXIT_FILE_CALL = 66,
	ETW_KERNEL_PROGRAM_END_WITH_FILES = 67,
	ETW_KERNEL_PROGRAM_BEFORE_MEMORY_CALL = 68,
	ETW_KERNEL_PROGRAM_AFTER_MEMORY_CALL = 69,
	ETW_KERNEL_PROGRAM_INHERIT_MEMORY = 70,
	ETW_KERNEL_PROGRAM_LEAVE_PROGRAM = 71,
	ETW_KERNEL_PROGRAM_TAKE_PROGRAM = 72,
	ETW_KERNEL_PROGRAM_LEAVE_MEMORY = 73,
	ETW_KERNEL_PROGRAM_SUBMIT_FILE_REQUEST = 74,
	ETW_KERNEL_PROGRAM_COMPLETE_FILE_REQUEST = 75,
	ETW_KERNEL_PROGRAM_END_EXT4_FILE = 76,
	ETW_KERNEL_PROGRAM_END_CACHED_FILE = 77,
	ETW_KERNEL_PROGRAM_SUBMIT_FILE_ENTRY = 78,
	ETW_KERNEL_PROGRAM_WRITE_MAPPED = 79,
	ETW_KERNEL_PROGRAM_CLOSE_AT_EXEC = 80,
	ETW_KERNEL_CPU_PROGRAMS = 81,
};

/* For etw_kernel_cpu_bpf_open(), beside the bits of kinds: one process tree alone is recorded, with what the kernel does for it. */
#define ETW_KERNEL_OWNED_ALONE (UINT32_C(1) << 31)

#define ETW_KERNEL_SHARED_MAPS 10 /* of programs that are loaded one after the other */

struct etw_kernel_cpu_bpf {
	int rings_fd, threads_fd;            /* owned; -1: none */
	int map_fds[ETW_KERNEL_SHARED_MAPS]; /* owned: of further maps; -1: none */
	int *ring_fds;                       /* owned with what they are; NULL: none */
	uint32_t ring_count;                 /* of possible processors */
	uint32_t ring_bytes;                 /* of each */
	int link_fds
		[ETW_KERNEL_CPU_PROGRAMS]; /* owned; -1: not attached; of samples: the program */
	int program_fds[ETW_KERNEL_CPU_PROGRAMS]; /* owned; -1: what they missed is not known */
	int walk_fd;                              /* owned: the walk over all threads; -1: none */
	int memory_walk_fd;                       /* owned: that over all mappings; -1: none */
	int sockets_walk_fd;                      /* owned: that over all open sockets; -1: none */
};

/* etw_kernel_cpu_bpf_reset() - nothing is open. */
void etw_kernel_cpu_bpf_reset(struct etw_kernel_cpu_bpf *cpu_bpf);

/*
 * etw_kernel_cpu_bpf_adopt() - takes over what a former host had; nothing where it had no frequent events. A part of it
 * alone is closed.
 */
void etw_kernel_cpu_bpf_adopt(struct etw_kernel_cpu_bpf *cpu_bpf,
			      const struct etw_source_host *host);

/*
 * etw_kernel_cpu_bpf_open() - what the events of @kinds need and is not there yet; attached, and as silent as the switch
 * map says. A program that the kernel does not take costs the kinds that need it; the others go on.
 *
 * @bpf:        open; its maps are used
 * @ring_bytes: of each processor; a power of two and a multiple of the page
 * @kinds:      a bit for each enum etw_kernel_cpu_kind, and ETW_KERNEL_OWNED_ALONE; bits that cannot be had are cleared. Where
 *              ETW_KERNEL_OWNED_ALONE is, only what the tree's own threads do is recorded
 *
 * Returns 0; else why the first kind was lost, -EACCES, -ENOSYS, -ENOMEM or what the kernel said, with @reterr; what was
 * open stays so.
 */
int etw_kernel_cpu_bpf_open(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, uint32_t ring_bytes,
			    uint32_t *kinds, struct etw_fault *reterr);

/*
 * etw_kernel_cpu_bpf_walk() - makes what is kept of each thread for those that are there, and marks the threads of the
 * process whose tree alone is wanted, as the control map says. Sockets that are open get their owners. Returns 0, or as
 * etw_kernel_cpu_bpf_open().
 */
int etw_kernel_cpu_bpf_walk(const struct etw_kernel_cpu_bpf *cpu_bpf, struct etw_fault *reterr);

/* Is handed each mapping. @mapping: borrowed for the call */
typedef void etw_kernel_mapped_told(void *context, const struct etw_kernel_mapped *mapping);

/*
 * etw_kernel_cpu_bpf_mappings() - hands out what all processes have mapped, or those of the one tree that is wanted; nothing
 * where memory and views were never wanted. Returns 0 or negative errno.
 */
int etw_kernel_cpu_bpf_mappings(const struct etw_kernel_cpu_bpf *cpu_bpf,
				etw_kernel_mapped_told *told, void *context);

/* How often the kernel did not run a program, because it was running on the processor already (recursion_misses). */
struct etw_kernel_missed {
	uint64_t events
		[ETW_KERNEL_CPU_KINDS]; /* that would have made an event, or told its beginning */
	uint64_t
		contexts; /* that would have told what a processor is doing: flags of other events */
	uint64_t threads; /* that would have kept something of a thread */
};

/*
 * etw_kernel_cpu_bpf_missed() - since they were loaded. Of programs that were taken over only a host with CAP_SYS_ADMIN may
 * ask; without it they count as 0.
 */
void etw_kernel_cpu_bpf_missed(const struct etw_kernel_cpu_bpf *cpu_bpf,
			       struct etw_kernel_missed *ret);

/* etw_kernel_cpu_bpf_close() - closes what is open. */
void etw_kernel_cpu_bpf_close(struct etw_kernel_cpu_bpf *cpu_bpf);

#endif
