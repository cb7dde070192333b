/* SPDX-License-Identifier: MIT */
/* The BPF programs of frequent events. See cpu_programs.h. */
#include "source/kernel/programs/cpu_programs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/bpf/cpu_records.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void etw_kernel_cpu_bpf_reset(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	*cpu_bpf = (struct etw_kernel_cpu_bpf){.rings_fd = -1,
					       .threads_fd = -1,
					       .walk_fd = -1,
					       .sockets_walk_fd = -1,
					       .memory_walk_fd = -1};
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		cpu_bpf->map_fds[i] = -1;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++)
		cpu_bpf->link_fds[i] = cpu_bpf->program_fds[i] = -1;
}

static void close_rings(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	for (uint32_t i = 0; i < cpu_bpf->ring_count; i++)
		close_fd(&cpu_bpf->ring_fds[i]);
	free(cpu_bpf->ring_fds);
	cpu_bpf->ring_fds = NULL;
	cpu_bpf->ring_count = 0;
}

void etw_kernel_cpu_bpf_close(struct etw_kernel_cpu_bpf *cpu_bpf)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		close_fd(&cpu_bpf->link_fds[i]);
		close_fd(&cpu_bpf->program_fds[i]);
	}
	close_fd(&cpu_bpf->walk_fd);
	close_fd(&cpu_bpf->sockets_walk_fd);
	close_fd(&cpu_bpf->memory_walk_fd);
	close_rings(cpu_bpf);
	close_fd(&cpu_bpf->rings_fd);
	close_fd(&cpu_bpf->threads_fd);
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		close_fd(&cpu_bpf->map_fds[i]);
	etw_kernel_cpu_bpf_reset(cpu_bpf);
}

#ifdef ETW_KERNEL_BPF

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "source/kernel/probe/probe_class.h"
#include "source/kernel/programs/file_calls.h"
#include "source/kernel/programs/load.h"

#define KIND(kind) (UINT32_C(1) << (kind))
#define DISK_PROGRAM_KINDS \
	(KIND(ETW_KERNEL_DISK_BEGIN) | KIND(ETW_KERNEL_DISK_END) | KIND(ETW_KERNEL_SPLIT))
#define MEMORY_KINDS       (KIND(ETW_KERNEL_MEMORY) | KIND(ETW_KERNEL_VIEW))
#define FAULT_KINDS        (KIND(ETW_KERNEL_FAULT) | KIND(ETW_KERNEL_HARD_FAULT))
#define FILE_PROGRAM_KINDS (KIND(ETW_KERNEL_FILE_BEGIN) | KIND(ETW_KERNEL_FILE_END))
#define OBJECT(name)       etw_kernel_##name##_object, &etw_kernel_##name##_object_bytes

static const struct {
	const char *program;
	const char *tracepoint; /* NULL: none, the program is attached elsewhere */
	const uint8_t *object;
	const size_t *object_bytes;
	uint32_t kinds;  /* that are refused without it */
	uint32_t helps;  /* kinds that go on without it, where the kernel lacks @feature */
	uint8_t feature; /* enum etw_kernel_feature; of one that helps */
} programs[ETW_KERNEL_CPU_PROGRAMS] = {
	[ETW_KERNEL_PROGRAM_NEW_THREAD] = {"etw_new_thread", "task_newtask", OBJECT(threads),
					   .kinds = UINT32_MAX},
	[ETW_KERNEL_PROGRAM_SWITCH] = {"etw_switch_tasks", "sched_switch", OBJECT(switches),
				       .kinds = KIND(ETW_KERNEL_SWITCH)},
	[ETW_KERNEL_PROGRAM_SOFT_BEGINS] = {"etw_softirq_begins", "softirq_entry", OBJECT(contexts),
					    0,
					    KIND(ETW_KERNEL_SAMPLE) | KIND(ETW_KERNEL_READY) |
						    ETW_KERNEL_OWNED_ALONE,
					    ETW_KERNEL_HAS_SOFTIRQ},
	[ETW_KERNEL_PROGRAM_SOFT_ENDS] = {"etw_softirq_ends", "softirq_exit", OBJECT(contexts), 0,
					  KIND(ETW_KERNEL_SAMPLE) | KIND(ETW_KERNEL_READY) |
						  ETW_KERNEL_OWNED_ALONE,
					  ETW_KERNEL_HAS_SOFTIRQ},
	[ETW_KERNEL_PROGRAM_SAMPLE] = {"etw_sample", NULL, OBJECT(samples),
				       .kinds = KIND(ETW_KERNEL_SAMPLE)},
	[ETW_KERNEL_PROGRAM_HANDLER_BEGINS] = {"etw_handler_begins", "irq_handler_entry",
					       OBJECT(contexts), 0,
					       KIND(ETW_KERNEL_READY) | ETW_KERNEL_OWNED_ALONE,
					       ETW_KERNEL_HAS_IRQ},
	[ETW_KERNEL_PROGRAM_HANDLER_ENDS] = {"etw_handler_ends", "irq_handler_exit",
					     OBJECT(contexts), 0,
					     KIND(ETW_KERNEL_READY) | ETW_KERNEL_OWNED_ALONE,
					     ETW_KERNEL_HAS_IRQ},
	[ETW_KERNEL_PROGRAM_TIMER_BEGINS] = {"etw_timer_begins", "hrtimer_expire_entry",
					     OBJECT(contexts), 0,
					     KIND(ETW_KERNEL_READY) | ETW_KERNEL_OWNED_ALONE,
					     ETW_KERNEL_HAS_HRTIMER},
	[ETW_KERNEL_PROGRAM_TIMER_ENDS] = {"etw_timer_ends", "hrtimer_expire_exit",
					   OBJECT(contexts), 0,
					   KIND(ETW_KERNEL_READY) | ETW_KERNEL_OWNED_ALONE,
					   ETW_KERNEL_HAS_HRTIMER},
	[ETW_KERNEL_PROGRAM_WAKE] = {"etw_wake", "sched_waking", OBJECT(ready),
				     .kinds = KIND(ETW_KERNEL_READY)},
	[ETW_KERNEL_PROGRAM_WAKE_NEW] = {"etw_wake_new", "sched_wakeup_new", OBJECT(ready), 0,
					 KIND(ETW_KERNEL_READY), ETW_KERNEL_HAS_WAKEUP_NEW},
	[ETW_KERNEL_PROGRAM_SYSCALL_ENTER] = {"etw_enter_syscall", "sys_enter", OBJECT(syscalls),
					      .kinds = KIND(ETW_KERNEL_SYSCALL_ENTER)},
	[ETW_KERNEL_PROGRAM_SYSCALL_EXIT] = {"etw_exit_syscall", "sys_exit", OBJECT(syscalls),
					     .kinds = KIND(ETW_KERNEL_SYSCALL_EXIT)},
	[ETW_KERNEL_PROGRAM_ISR_BEGINS] = {"etw_isr_begins", "irq_handler_entry",
					   OBJECT(interrupts), .kinds = KIND(ETW_KERNEL_INTERRUPT)},
	[ETW_KERNEL_PROGRAM_ISR_ENDS] = {"etw_isr_ends", "irq_handler_exit", OBJECT(interrupts),
					 .kinds = KIND(ETW_KERNEL_INTERRUPT)},
	[ETW_KERNEL_PROGRAM_DPC_BEGINS] = {"etw_dpc_begins", "softirq_entry", OBJECT(interrupts),
					   .kinds = KIND(ETW_KERNEL_SOFT_INTERRUPT)},
	[ETW_KERNEL_PROGRAM_DPC_ENDS] = {"etw_dpc_ends", "softirq_exit", OBJECT(interrupts),
					 .kinds = KIND(ETW_KERNEL_SOFT_INTERRUPT)},
	[ETW_KERNEL_PROGRAM_VECTOR_TIMER_BEGINS] = {"etw_vector_timer_begins", "local_timer_entry",
						    OBJECT(interrupts), 0,
						    KIND(ETW_KERNEL_INTERRUPT),
						    ETW_KERNEL_HAS_TIMER_VECTOR},
	[ETW_KERNEL_PROGRAM_VECTOR_TIMER_ENDS] = {"etw_vector_timer_ends", "local_timer_exit",
						  OBJECT(interrupts), 0, KIND(ETW_KERNEL_INTERRUPT),
						  ETW_KERNEL_HAS_TIMER_VECTOR},
	[ETW_KERNEL_PROGRAM_VECTOR_RESCHED_BEGINS] = {"etw_vector_resched_begins",
						      "reschedule_entry", OBJECT(interrupts), 0,
						      KIND(ETW_KERNEL_INTERRUPT),
						      ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_RESCHED_ENDS] = {"etw_vector_resched_ends", "reschedule_exit",
						    OBJECT(interrupts), 0,
						    KIND(ETW_KERNEL_INTERRUPT),
						    ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_CALL_BEGINS] = {"etw_vector_call_begins", "call_function_entry",
						   OBJECT(interrupts), 0,
						   KIND(ETW_KERNEL_INTERRUPT),
						   ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_CALL_ENDS] = {"etw_vector_call_ends", "call_function_exit",
						 OBJECT(interrupts), 0, KIND(ETW_KERNEL_INTERRUPT),
						 ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_CALL_ONE_BEGINS] = {"etw_vector_call_one_begins",
						       "call_function_single_entry",
						       OBJECT(interrupts), 0,
						       KIND(ETW_KERNEL_INTERRUPT),
						       ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_CALL_ONE_ENDS] = {"etw_vector_call_one_ends",
						     "call_function_single_exit",
						     OBJECT(interrupts), 0,
						     KIND(ETW_KERNEL_INTERRUPT),
						     ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_VECTOR_WORK_BEGINS] = {"etw_vector_work_begins", "irq_work_entry",
						   OBJECT(interrupts), 0,
						   KIND(ETW_KERNEL_INTERRUPT),
						   ETW_KERNEL_HAS_WORK_VECTOR},
	[ETW_KERNEL_PROGRAM_VECTOR_WORK_ENDS] = {"etw_vector_work_ends", "irq_work_exit",
						 OBJECT(interrupts), 0, KIND(ETW_KERNEL_INTERRUPT),
						 ETW_KERNEL_HAS_WORK_VECTOR},
	[ETW_KERNEL_PROGRAM_SWITCH_PRIORITIES] = {"etw_switch_priorities", "sched_switch",
						  OBJECT(priorities),
						  .kinds = KIND(ETW_KERNEL_PRIORITY)},
	[ETW_KERNEL_PROGRAM_WAKE_PRIORITIES] = {"etw_wake_priorities", "sched_waking",
						OBJECT(priorities), 0, KIND(ETW_KERNEL_PRIORITY),
						ETW_KERNEL_HAS_WAKING},
	[ETW_KERNEL_PROGRAM_LEND_PRIORITY] = {"etw_lend_priority", "sched_pi_setprio",
					      OBJECT(priorities), 0, KIND(ETW_KERNEL_PRIORITY),
					      ETW_KERNEL_HAS_LENDING},
	[ETW_KERNEL_PROGRAM_ASKED_BEGINS] = {"etw_asked_begins", "call_function_entry",
					     OBJECT(contexts), 0, ETW_KERNEL_OWNED_ALONE,
					     ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_ASKED_ENDS] = {"etw_asked_ends", "call_function_exit", OBJECT(contexts),
					   0, ETW_KERNEL_OWNED_ALONE, ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_ASKED_ONE_BEGINS] = {"etw_asked_one_begins",
						 "call_function_single_entry", OBJECT(contexts), 0,
						 ETW_KERNEL_OWNED_ALONE,
						 ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_ASKED_ONE_ENDS] = {"etw_asked_one_ends", "call_function_single_exit",
					       OBJECT(contexts), 0, ETW_KERNEL_OWNED_ALONE,
					       ETW_KERNEL_HAS_CPU_VECTORS},
	[ETW_KERNEL_PROGRAM_IRQ_WORK_BEGINS] = {"etw_irq_work_begins", "irq_work_entry",
						OBJECT(contexts), 0, ETW_KERNEL_OWNED_ALONE,
						ETW_KERNEL_HAS_WORK_VECTOR},
	[ETW_KERNEL_PROGRAM_IRQ_WORK_ENDS] = {"etw_irq_work_ends", "irq_work_exit",
					      OBJECT(contexts), 0, ETW_KERNEL_OWNED_ALONE,
					      ETW_KERNEL_HAS_WORK_VECTOR},
	[ETW_KERNEL_PROGRAM_RAISE] = {"etw_raise", "softirq_raise", OBJECT(owners), 0,
				      ETW_KERNEL_OWNED_ALONE, ETW_KERNEL_HAS_RAISE},
	[ETW_KERNEL_PROGRAM_QUEUE_WORK] = {"etw_queue_work", "workqueue_queue_work", OBJECT(owners),
					   0, ETW_KERNEL_OWNED_ALONE, ETW_KERNEL_HAS_WORKQUEUE},
	[ETW_KERNEL_PROGRAM_BEGIN_WORK] = {"etw_begin_work", "workqueue_execute_start",
					   OBJECT(owners), 0, ETW_KERNEL_OWNED_ALONE,
					   ETW_KERNEL_HAS_WORKQUEUE},
	[ETW_KERNEL_PROGRAM_END_WORK] = {"etw_end_work", "workqueue_execute_end", OBJECT(owners), 0,
					 ETW_KERNEL_OWNED_ALONE, ETW_KERNEL_HAS_WORKQUEUE},
	[ETW_KERNEL_PROGRAM_IDLE_STATE] = {"etw_idle_state", "cpu_idle", OBJECT(power),
					   KIND(ETW_KERNEL_IDLE_STATE), KIND(ETW_KERNEL_SWITCH),
					   ETW_KERNEL_HAS_IDLE},
	[ETW_KERNEL_PROGRAM_FREQUENCY] = {"etw_frequency", "cpu_frequency", OBJECT(power), 0,
					  KIND(ETW_KERNEL_FREQUENCY), ETW_KERNEL_HAS_FREQUENCY},
	[ETW_KERNEL_PROGRAM_COUNTER_SAMPLE] = {"etw_counter_sample", NULL, OBJECT(samples),
					       .kinds = KIND(ETW_KERNEL_COUNTER_SAMPLE)},
	[ETW_KERNEL_PROGRAM_QUEUE_REQUEST] = {"etw_queue_request", "block_rq_insert", OBJECT(disks),
					      0, DISK_PROGRAM_KINDS, ETW_KERNEL_HAS_QUEUED},
	[ETW_KERNEL_PROGRAM_ISSUE_REQUEST] = {"etw_issue_request", "block_rq_issue", OBJECT(disks),
					      .kinds = DISK_PROGRAM_KINDS},
	[ETW_KERNEL_PROGRAM_REQUEUE_REQUEST] = {"etw_requeue_request", "block_rq_requeue",
						OBJECT(disks), 0, DISK_PROGRAM_KINDS,
						ETW_KERNEL_HAS_QUEUED},
	[ETW_KERNEL_PROGRAM_MERGE_REQUEST] = {"etw_merge_request", "block_rq_merge", OBJECT(disks),
					      0, DISK_PROGRAM_KINDS, ETW_KERNEL_HAS_QUEUED},
	[ETW_KERNEL_PROGRAM_COMPLETE_REQUEST] = {"etw_complete_request", "block_rq_complete",
						 OBJECT(disks), .kinds = DISK_PROGRAM_KINDS},
	[ETW_KERNEL_PROGRAM_ASK_FLUSH] = {"etw_ask_flush", "block_getrq", OBJECT(disks), 0,
					  DISK_PROGRAM_KINDS, ETW_KERNEL_HAS_FLUSHES},
	[ETW_KERNEL_PROGRAM_QUEUE_BIO] = {"etw_queue_bio", "block_bio_queue", OBJECT(disks), 0,
					  DISK_PROGRAM_KINDS, ETW_KERNEL_HAS_BIOS},
	[ETW_KERNEL_PROGRAM_COMPLETE_BIO] = {"etw_complete_bio", "block_bio_complete",
					     OBJECT(disks), 0, DISK_PROGRAM_KINDS,
					     ETW_KERNEL_HAS_BIOS},
	[ETW_KERNEL_PROGRAM_SPLIT_BIO] = {"etw_split_bio", "block_split", OBJECT(disks),
					  .kinds = KIND(ETW_KERNEL_SPLIT)},
	[ETW_KERNEL_PROGRAM_USER_FAULT] = {"etw_user_fault", "page_fault_user", OBJECT(faults), 0,
					   FAULT_KINDS, ETW_KERNEL_HAS_PAGE_FAULT},
	[ETW_KERNEL_PROGRAM_KERNEL_FAULT] = {"etw_kernel_fault", "page_fault_kernel",
					     OBJECT(faults), 0, FAULT_KINDS,
					     ETW_KERNEL_HAS_PAGE_FAULT},
	[ETW_KERNEL_PROGRAM_READ_PAGE] = {"etw_read_page", "mm_filemap_add_to_page_cache",
					  OBJECT(faults), 0, KIND(ETW_KERNEL_HARD_FAULT),
					  ETW_KERNEL_HAS_CACHE_ADD},
	[ETW_KERNEL_PROGRAM_SIGNAL] = {"etw_signal", "signal_generate", OBJECT(faults), 0,
				       KIND(ETW_KERNEL_FAULT), ETW_KERNEL_HAS_SIGNAL},
	[ETW_KERNEL_PROGRAM_MINOR_FAULT] = {"etw_minor_fault", NULL, OBJECT(faults),
					    .kinds = KIND(ETW_KERNEL_FAULT)},
	[ETW_KERNEL_PROGRAM_MAJOR_FAULT] = {"etw_major_fault", NULL, OBJECT(faults),
					    .kinds = FAULT_KINDS},
	[ETW_KERNEL_PROGRAM_SOCKET_STATE] = {"etw_socket_state", "inet_sock_set_state",
					     OBJECT(network), .kinds = KIND(ETW_KERNEL_NETWORK)},
	[ETW_KERNEL_PROGRAM_FORGET_SOCKET] = {"etw_forget_socket", "tcp_destroy_sock",
					      OBJECT(network), .kinds = KIND(ETW_KERNEL_NETWORK)},
	[ETW_KERNEL_PROGRAM_END_NETWORK_CALL] = {"etw_end_network_call", "sys_exit",
						 OBJECT(network),
						 .kinds = KIND(ETW_KERNEL_NETWORK)},
	[ETW_KERNEL_PROGRAM_SENT] = {"etw_sent", "sock_send_length", OBJECT(network), 0,
				     KIND(ETW_KERNEL_NETWORK), ETW_KERNEL_HAS_SOCKET_LENGTHS},
	[ETW_KERNEL_PROGRAM_RECEIVED] = {"etw_received", "sock_recv_length", OBJECT(network), 0,
					 KIND(ETW_KERNEL_NETWORK), ETW_KERNEL_HAS_SOCKET_LENGTHS},
	[ETW_KERNEL_PROGRAM_RETRANSMIT] = {"etw_retransmit", "tcp_retransmit_skb", OBJECT(network),
					   0, KIND(ETW_KERNEL_NETWORK), ETW_KERNEL_HAS_RETRANSMIT},
	[ETW_KERNEL_PROGRAM_RETRANSMIT_ANSWER] = {"etw_retransmit_answer", "tcp_retransmit_synack",
						  OBJECT(network), 0, KIND(ETW_KERNEL_NETWORK),
						  ETW_KERNEL_HAS_RETRANSMIT_ANSWER},
	[ETW_KERNEL_PROGRAM_ENTER_FILE_CALL] = {"etw_enter_file_call", "sys_enter",
						OBJECT(file_calls), .kinds = FILE_PROGRAM_KINDS},
	[ETW_KERNEL_PROGRAM_EXIT_FILE_CALL] = {"etw_exit_file_call", "sys_exit", OBJECT(file_calls),
					       .kinds = FILE_PROGRAM_KINDS},
	[ETW_KERNEL_PROGRAM_END_WITH_FILES] = {"etw_end_with_files", "sched_process_exit",
					       OBJECT(file_calls), .kinds = FILE_PROGRAM_KINDS},
	[ETW_KERNEL_PROGRAM_SUBMIT_FILE_REQUEST] = {"etw_submit_file_request",
						    "io_uring_submit_req", OBJECT(file_requests), 0,
						    FILE_PROGRAM_KINDS, ETW_KERNEL_HAS_URING},
	[ETW_KERNEL_PROGRAM_COMPLETE_FILE_REQUEST] = {"etw_complete_file_request",
						      "io_uring_complete", OBJECT(file_requests), 0,
						      FILE_PROGRAM_KINDS, ETW_KERNEL_HAS_URING},
	[ETW_KERNEL_PROGRAM_BEFORE_MEMORY_CALL] = {"etw_before_memory_call", "sys_enter",
						   OBJECT(memory), .kinds = MEMORY_KINDS},
	[ETW_KERNEL_PROGRAM_AFTER_MEMORY_CALL] = {"etw_after_memory_call", "sys_exit",
						  OBJECT(memory), .kinds = MEMORY_KINDS},
	[ETW_KERNEL_PROGRAM_INHERIT_MEMORY] = {"etw_inherit_memory", "task_newtask", OBJECT(memory),
					       .kinds = MEMORY_KINDS},
	[ETW_KERNEL_PROGRAM_LEAVE_PROGRAM] = {"etw_leave_program", "sched_prepare_exec",
					      OBJECT(memory), 0, MEMORY_KINDS,
					      ETW_KERNEL_HAS_PREPARE_EXEC},
	[ETW_KERNEL_PROGRAM_TAKE_PROGRAM] = {"etw_take_program", "sched_process_exec",
					     OBJECT(memory), .kinds = MEMORY_KINDS},
	[ETW_KERNEL_PROGRAM_LEAVE_MEMORY] = {"etw_leave_memory", "sched_process_exit",
					     OBJECT(memory), .kinds = MEMORY_KINDS},
};

/* Maps that outlive the programs of one loading, beside the rings and what is known of threads. */
static const struct {
	const char *map;
	const char *kept; /* its name with the keeper */
} shared_maps[ETW_KERNEL_SHARED_MAPS] = {
	{"etw_contexts", "contexts"},         {"etw_works", "works"},
	{"etw_transfers", "transfers"},       {"etw_disk_askers", "disk-askers"},
	{"etw_disk_parts", "disk-parts"},     {"etw_named_files", "named-files"},
	{"etw_opened_files", "opened-files"}, {"etw_connections", "connections"},
};

static void link_name(size_t program, char name[32])
{
	(void)snprintf(name, 32, "link-%s", programs[program].program);
}

static void ring_name(uint32_t cpu, char name[32])
{
	(void)snprintf(name, 32, "cpu-ring-%u", cpu);
}

/* The program behind a link that a former host made; only root may ask. */
static int program_of(int link_fd)
{
	struct bpf_link_info info = {0};
	uint32_t info_bytes = sizeof(info);

	if (link_fd < 0 || bpf_obj_get_info_by_fd(link_fd, &info, &info_bytes))
		return -1;
	return bpf_prog_get_fd_by_id(info.prog_id);
}

void etw_kernel_cpu_bpf_adopt(struct etw_kernel_cpu_bpf *cpu_bpf,
			      const struct etw_source_host *host)
{
	int cpu_count = libbpf_num_possible_cpus();
	struct bpf_map_info info = {0};
	uint32_t info_bytes = sizeof(info);
	char name[32];

	etw_kernel_cpu_bpf_reset(cpu_bpf);
	if (!host->kept_fd || cpu_count <= 0)
		return;
	cpu_bpf->rings_fd = host->kept_fd(host->context, "cpu-rings");
	cpu_bpf->threads_fd = host->kept_fd(host->context, "threads");
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		cpu_bpf->map_fds[i] = host->kept_fd(host->context, shared_maps[i].kept);
	cpu_bpf->ring_fds = malloc((size_t)cpu_count * sizeof(*cpu_bpf->ring_fds));
	if (cpu_bpf->rings_fd < 0 || cpu_bpf->threads_fd < 0 || !cpu_bpf->ring_fds) {
		etw_kernel_cpu_bpf_close(cpu_bpf);
		return;
	}
	for (uint32_t i = 0; i < (uint32_t)cpu_count; i++) {
		ring_name(i, name);
		cpu_bpf->ring_fds[i] = host->kept_fd(host->context, name);
		cpu_bpf->ring_count = i + 1;
		if (cpu_bpf->ring_fds[i] < 0) {
			etw_kernel_cpu_bpf_close(cpu_bpf);
			return;
		}
	}
	if (bpf_obj_get_info_by_fd(cpu_bpf->ring_fds[0], &info, &info_bytes) == 0)
		cpu_bpf->ring_bytes = info.max_entries;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		link_name(i, name);
		cpu_bpf->link_fds[i] = host->kept_fd(host->context, name);
		/* What perf's events run is kept as a program, and has no link. */
		if (programs[i].tracepoint)
			cpu_bpf->program_fds[i] = program_of(cpu_bpf->link_fds[i]);
	}
	cpu_bpf->walk_fd = host->kept_fd(host->context, "walk-threads");
	cpu_bpf->sockets_walk_fd = host->kept_fd(host->context, "walk-sockets");
	cpu_bpf->memory_walk_fd = host->kept_fd(host->context, "walk-memory");
}

/* All or none, so that a later try begins anew. */
static int make_rings(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
		      uint32_t ring_bytes)
{
	int cpu_count = libbpf_num_possible_cpus();
	char name[32];

	if (cpu_count <= 0)
		return -ENOSYS;
	cpu_bpf->ring_fds = malloc((size_t)cpu_count * sizeof(*cpu_bpf->ring_fds));
	if (!cpu_bpf->ring_fds)
		return -ENOMEM;
	for (uint32_t i = 0; i < (uint32_t)cpu_count; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "etw_cpu_ring", 0, 0, ring_bytes,
					NULL);

		if (fd < 0) {
			close_rings(cpu_bpf);
			return fd;
		}
		cpu_bpf->ring_fds[i] = fd;
		cpu_bpf->ring_count = i + 1;
		ring_name(i, name);
		etw_kernel_keep(host, name, fd);
	}
	cpu_bpf->ring_bytes = ring_bytes;
	return 0;
}

/* The maps that the first object with them made are those of all. */
static int take_maps(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
		     struct bpf_object *object)
{
	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		if (cpu_bpf->map_fds[i] < 0 &&
		    etw_kernel_take_map(object, shared_maps[i].map, &cpu_bpf->map_fds[i]) == 0)
			etw_kernel_keep(host, shared_maps[i].kept, cpu_bpf->map_fds[i]);
	if (cpu_bpf->rings_fd >= 0)
		return 0;
	TRY(etw_kernel_take_map(object, "etw_cpu_rings", &cpu_bpf->rings_fd));
	TRY(etw_kernel_take_map(object, "etw_threads", &cpu_bpf->threads_fd));
	for (uint32_t i = 0; i < cpu_bpf->ring_count; i++)
		TRY(bpf_map_update_elem(cpu_bpf->rings_fd, &i, &cpu_bpf->ring_fds[i], BPF_ANY));
	etw_kernel_keep(host, "cpu-rings", cpu_bpf->rings_fd);
	etw_kernel_keep(host, "threads", cpu_bpf->threads_fd);
	return 0;
}

/* @bytes: of the object, which says what its constant means */
static uint32_t constant_of(const uint8_t *bytes)
{
	if (bytes == etw_kernel_network_object)
		return etw_kernel_probe_features()->has[ETW_KERNEL_HAS_SOCKET_LENGTHS];
	if (bytes == etw_kernel_memory_object)
		return etw_kernel_tracepoint_arguments("sched_process_exit") >= 2;
	return etw_kernel_tracepoint_arguments("sched_switch") >= 4;
}

static int prepare(const struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
		   struct bpf_object *object, const uint8_t *bytes)
{
	struct etw_kernel_map_fd maps[5 + ETW_KERNEL_SHARED_MAPS] = {
		{"etw_ring", bpf->ring_fd},           {"etw_drops", bpf->drops_fd},
		{"etw_control", bpf->control_fd},     {"etw_cpu_rings", cpu_bpf->rings_fd},
		{"etw_threads", cpu_bpf->threads_fd},
	};
	struct bpf_map *rings = bpf_object__find_map_by_name(object, "etw_cpu_rings");

	for (size_t i = 0; i < ETW_KERNEL_SHARED_MAPS; i++)
		maps[5 + i] = (struct etw_kernel_map_fd){shared_maps[i].map, cpu_bpf->map_fds[i]};
	if (rings && cpu_bpf->rings_fd < 0)
		TRY(bpf_map__set_max_entries(rings, cpu_bpf->ring_count));
	TRY(etw_kernel_reuse_maps(object, maps, ARRAY_SIZE(maps)));
	return etw_kernel_set_constant(object, constant_of(bytes));
}

/* An object has a walk of one kind, or none. */
static int take_walk(const struct etw_source_host *host, struct bpf_object *object,
		     const char *name, const char *kept_name, int *ret)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct bpf_link *link;

	if (!program || !bpf_program__autoload(program) || *ret >= 0)
		return 0;
	link = bpf_program__attach_iter(program, NULL);
	if (libbpf_get_error(link))
		return -errno;
	*ret = fcntl(bpf_link__fd(link), F_DUPFD_CLOEXEC, 3);
	bpf_link__destroy(link);
	if (*ret < 0)
		return -errno;
	etw_kernel_keep(host, kept_name, *ret);
	return 0;
}

static int take_walks(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
		      struct bpf_object *object)
{
	TRY(take_walk(host, object, "etw_walk_threads", "walk-threads", &cpu_bpf->walk_fd));
	TRY(take_walk(host, object, "etw_walk_memory", "walk-memory", &cpu_bpf->memory_walk_fd));
	return take_walk(host, object, "etw_walk_sockets", "walk-sockets",
			 &cpu_bpf->sockets_walk_fd);
}

static int walk(int walk_fd)
{
	char nothing[64];
	int fd = bpf_iter_create(walk_fd);

	if (fd < 0)
		return fd;
	while (read(fd, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
	return 0;
}

int etw_kernel_cpu_bpf_walk(const struct etw_kernel_cpu_bpf *cpu_bpf, struct etw_fault *reterr)
{
	int r = walk(cpu_bpf->walk_fd);

	if (r)
		return etw_kernel_refuse(r, "iter/task", reterr);
	/* Threads first: sockets belong to them. Without it sockets have an owner once they are used. */
	if (cpu_bpf->sockets_walk_fd >= 0)
		(void)walk(cpu_bpf->sockets_walk_fd);
	return 0;
}

int etw_kernel_cpu_bpf_mappings(const struct etw_kernel_cpu_bpf *cpu_bpf,
				etw_kernel_mapped_told *told, void *context)
{
	struct etw_kernel_mapped some[64];
	size_t held = 0;
	ssize_t more;
	int fd;

	if (cpu_bpf->memory_walk_fd < 0)
		return 0;
	fd = bpf_iter_create(cpu_bpf->memory_walk_fd);
	if (fd < 0)
		return fd;
	while ((more = read(fd, (char *)some + held, sizeof(some) - held)) > 0) {
		size_t count = (held + (size_t)more) / sizeof(some[0]);

		for (size_t i = 0; i < count; i++)
			told(context, &some[i]);
		held = held + (size_t)more - count * sizeof(some[0]);
		memmove(some, &some[count], held);
	}
	close(fd);
	return more < 0 ? -errno : 0;
}

/* Each program is needed by a kind or helps one; see programs. */
static uint64_t *count_of(struct etw_kernel_missed *missed, size_t place)
{
	uint32_t kinds = programs[place].kinds ? programs[place].kinds : programs[place].helps;
	unsigned kind = (unsigned)__builtin_ctz(kinds);

	if (place == ETW_KERNEL_PROGRAM_NEW_THREAD)
		return &missed->threads;
	if (programs[place].object == etw_kernel_contexts_object || kind >= ETW_KERNEL_CPU_KINDS)
		return &missed->contexts;
	return &missed->events[kind];
}

void etw_kernel_cpu_bpf_missed(const struct etw_kernel_cpu_bpf *cpu_bpf,
			       struct etw_kernel_missed *ret)
{
	*ret = (struct etw_kernel_missed){0};
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		struct bpf_prog_info info = {0};
		uint32_t info_bytes = sizeof(info);

		if (cpu_bpf->program_fds[i] >= 0 &&
		    !bpf_obj_get_info_by_fd(cpu_bpf->program_fds[i], &info, &info_bytes))
			*count_of(ret, i) += info.recursion_misses;
	}
}

static int attach(struct bpf_object *object, size_t place, int *ret)
{
	if (!programs[place].tracepoint)
		return etw_kernel_take_program(object, programs[place].program, ret);
	return etw_kernel_attach(object, programs[place].program, ret);
}

/* Whether a program that is not there yet is to be loaded for @kinds. */
static bool is_wanted(size_t place, uint32_t kinds)
{
	if (kinds & programs[place].kinds)
		return true;
	return kinds & programs[place].helps &&
	       etw_kernel_probe_features()->has[programs[place].feature];
}

/* Some of the programs. */
struct program_set {
	bool has[ETW_KERNEL_CPU_PROGRAMS];
};

static struct program_set only(size_t place)
{
	struct program_set set = {{false}};

	set.has[place] = true;
	return set;
}

/* Which programs of one object are wanted and not there yet. */
static struct program_set missing_beside(const struct etw_kernel_cpu_bpf *cpu_bpf, size_t place,
					 uint32_t kinds)
{
	struct program_set set = {{false}};

	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++)
		set.has[i] = programs[i].object == programs[place].object && is_wanted(i, kinds) &&
			     cpu_bpf->link_fds[i] < 0;
	return set;
}

/* A kernel without the walk over open files goes on without it. */
static int choose_walk(struct bpf_object *object)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, "etw_walk_sockets");

	if (!program)
		return 0;
	return bpf_program__set_autoload(
		program, etw_kernel_probe_features()->has[ETW_KERNEL_HAS_FILE_WALK]);
}

/* Of an object's programs those of the set are loaded. Returns 0; -ENOENT: this machine's has none of that name. */
static int choose(struct bpf_object *object, const uint8_t *bytes, const struct program_set *set)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		struct bpf_program *program;

		if (programs[i].object != bytes)
			continue;
		program = bpf_object__find_program_by_name(object, programs[i].program);
		if (!program && set->has[i])
			return -ENOENT;
		if (program)
			(void)bpf_program__set_autoload(program, set->has[i]);
	}
	return choose_walk(object);
}

static int take_programs(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_source_host *host,
			 struct bpf_object *object, const struct program_set *set)
{
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		char name[32];

		if (!set->has[i])
			continue;
		TRY(attach(object, i, &cpu_bpf->link_fds[i]));
		TRY(etw_kernel_take_program(object, programs[i].program, &cpu_bpf->program_fds[i]));
		link_name(i, name);
		etw_kernel_keep(host, name, cpu_bpf->link_fds[i]);
	}
	return 0;
}

/* To the object that asks for them. */
static int tell_file_calls(struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, "etw_file_calls");
	struct etw_kernel_file_calls calls;
	uint32_t key = 0;

	if (!map)
		return 0;
	etw_kernel_file_calls_fill(&calls);
	return bpf_map__update_elem(map, &key, sizeof(key), &calls, sizeof(calls), BPF_ANY);
}

/* @set: programs of one object, none of which is there yet */
static int load(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
		const struct etw_source_host *host, size_t place, const struct program_set *set)
{
	struct bpf_object *object = NULL;
	int r;

	r = etw_kernel_open_object(programs[place].object, *programs[place].object_bytes, "etw_cpu",
				   &object);
	if (!r)
		r = prepare(cpu_bpf, bpf, object, programs[place].object);
	if (!r)
		r = choose(object, programs[place].object, set);
	if (!r)
		r = bpf_object__load(object);
	if (!r)
		r = tell_file_calls(object);
	if (!r)
		r = take_maps(cpu_bpf, host, object);
	if (!r)
		r = take_programs(cpu_bpf, host, object, set);
	if (!r)
		r = take_walks(cpu_bpf, host, object);
	if (object)
		bpf_object__close(object);
	return r;
}

/* All that is wanted of its object, because most of what loading costs is for the object; where one fails, each alone. */
static int load_with_others(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, size_t place, uint32_t kinds)
{
	const struct program_set set = missing_beside(cpu_bpf, place, kinds), alone = only(place);
	int r = load(cpu_bpf, bpf, host, place, &set);

	if (!r || memcmp(&set, &alone, sizeof(set)) == 0)
		return r;
	/* Another one of them failed, if this one is attached. */
	return cpu_bpf->link_fds[place] >= 0 ? 0 : load(cpu_bpf, bpf, host, place, &alone);
}

/* Without one of these it is not sure who asks for work: then nobody does. */
static bool knows_owners(void)
{
	const bool *has = etw_kernel_probe_features()->has;

	return has[ETW_KERNEL_HAS_SOFTIRQ] && has[ETW_KERNEL_HAS_IRQ] &&
	       has[ETW_KERNEL_HAS_HRTIMER] && has[ETW_KERNEL_HAS_RAISE] &&
	       has[ETW_KERNEL_HAS_WORKQUEUE];
}

int etw_kernel_cpu_bpf_open(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, uint32_t ring_bytes,
			    uint32_t *kinds, struct etw_fault *reterr)
{
	int result = 0;

	if (!cpu_bpf->ring_count) {
		int r = make_rings(cpu_bpf, host, ring_bytes);

		if (r) {
			*kinds = 0;
			return etw_kernel_refuse(r, NULL, reterr);
		}
	}
	if (!knows_owners())
		*kinds &= ~ETW_KERNEL_OWNED_ALONE;
	for (size_t i = 0; i < ETW_KERNEL_CPU_PROGRAMS; i++) {
		int r;

		if (cpu_bpf->link_fds[i] >= 0 || !is_wanted(i, *kinds))
			continue;
		r = load_with_others(cpu_bpf, bpf, host, i, *kinds);
		if (!r)
			continue;
		r = etw_kernel_refuse(r, programs[i].tracepoint, result ? NULL : reterr);
		result = result ? result : r;
		*kinds &= ~(programs[i].kinds | programs[i].helps);
	}
	return result;
}

#else

void etw_kernel_cpu_bpf_adopt(struct etw_kernel_cpu_bpf *cpu_bpf,
			      const struct etw_source_host *host)
{
	(void)host;
	etw_kernel_cpu_bpf_reset(cpu_bpf);
}

int etw_kernel_cpu_bpf_open(struct etw_kernel_cpu_bpf *cpu_bpf, const struct etw_kernel_bpf *bpf,
			    const struct etw_source_host *host, uint32_t ring_bytes,
			    uint32_t *kinds, struct etw_fault *reterr)
{
	(void)cpu_bpf;
	(void)bpf;
	(void)host;
	(void)ring_bytes;
	*kinds = 0;
	return etw_fault_set(reterr, -ENOSYS, 0, "kernel source", "BPF",
			     "libetw was built without them, because " ETW_KERNEL_LEFT_OUT);
}

int etw_kernel_cpu_bpf_walk(const struct etw_kernel_cpu_bpf *cpu_bpf, struct etw_fault *reterr)
{
	(void)cpu_bpf;
	(void)reterr;
	return -ENOSYS;
}

int etw_kernel_cpu_bpf_mappings(const struct etw_kernel_cpu_bpf *cpu_bpf,
				etw_kernel_mapped_told *told, void *context)
{
	(void)cpu_bpf;
	(void)told;
	(void)context;
	return 0;
}

void etw_kernel_cpu_bpf_missed(const struct etw_kernel_cpu_bpf *cpu_bpf,
			       struct etw_kernel_missed *ret)
{
	(void)cpu_bpf;
	*ret = (struct etw_kernel_missed){0};
}

#endif
