/* SPDX-License-Identifier: MIT */
/* Which BPF programs of frequent events there are, and what each is for. See cpu_programs.h. */
#include "source/kernel/programs/cpu_programs_internal.h"

#include <stdio.h>

#ifdef ETW_KERNEL_BPF

#include <bpf/bpf.h>

#include "source/kernel/probe/probe_class.h"

#define KIND(kind) (UINT32_C(1) << (kind))
#define DISK_PROGRAM_KINDS \
	(KIND(ETW_KERNEL_DISK_BEGIN) | KIND(ETW_KERNEL_DISK_END) | KIND(ETW_KERNEL_SPLIT))
#define MEMORY_KINDS       (KIND(ETW_KERNEL_MEMORY) | KIND(ETW_KERNEL_VIEW))
#define FAULT_KINDS        (KIND(ETW_KERNEL_FAULT) | KIND(ETW_KERNEL_HARD_FAULT))
#define FILE_PROGRAM_KINDS (KIND(ETW_KERNEL_FILE_BEGIN) | KIND(ETW_KERNEL_FILE_END))
#define OBJECT(name)       etw_kernel_##name##_object, &etw_kernel_##name##_object_bytes

const struct etw_kernel_program etw_kernel_programs[ETW_KERNEL_CPU_PROGRAMS] = {
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
						    FILE_PROGRAM_KINDS,
						    ETW_KERNEL_HAS_URING_REQUEST},
	[ETW_KERNEL_PROGRAM_SUBMIT_FILE_ENTRY] = {"etw_submit_file_entry", "io_uring_submit_sqe",
						  OBJECT(file_requests), 0, FILE_PROGRAM_KINDS,
						  ETW_KERNEL_HAS_URING_ENTRY},
	[ETW_KERNEL_PROGRAM_COMPLETE_FILE_REQUEST] = {"etw_complete_file_request",
						      "io_uring_complete", OBJECT(file_requests), 0,
						      FILE_PROGRAM_KINDS, ETW_KERNEL_HAS_URING},
	[ETW_KERNEL_PROGRAM_END_EXT4_FILE] = {"etw_end_ext4_file", "ext4_evict_inode",
					      OBJECT(file_ends), 0, KIND(ETW_KERNEL_FILE_NAME),
					      ETW_KERNEL_HAS_EXT4_ENDS},
	[ETW_KERNEL_PROGRAM_END_CACHED_FILE] = {"etw_end_cached_file",
						"mm_filemap_delete_from_page_cache",
						OBJECT(file_ends), 0, KIND(ETW_KERNEL_FILE_NAME),
						ETW_KERNEL_HAS_CACHE_DELETE},
	[ETW_KERNEL_PROGRAM_WRITE_MAPPED] = {"etw_write_mapped", "writeback_dirty_folio",
					     OBJECT(mapped_writes), 0, FILE_PROGRAM_KINDS,
					     ETW_KERNEL_HAS_DIRTY_FOLIO},
	[ETW_KERNEL_PROGRAM_CLOSE_AT_EXEC] = {"etw_close_at_exec", "sched_prepare_exec",
					      OBJECT(file_calls), 0, FILE_PROGRAM_KINDS,
					      ETW_KERNEL_HAS_PREPARE_EXEC},
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

const struct etw_kernel_shared_map etw_kernel_shared_maps[ETW_KERNEL_SHARED_MAPS] = {
	{"etw_contexts", "contexts"},         {"etw_works", "works"},
	{"etw_transfers", "transfers"},       {"etw_disk_askers", "disk-askers"},
	{"etw_disk_parts", "disk-parts"},     {"etw_named_files", "named-files"},
	{"etw_opened_files", "opened-files"}, {"etw_connections", "connections"},
	{"etw_renames", "renames"},           {"etw_transfer_stacks", "transfer-stacks"},
};

void etw_kernel_link_name(size_t place, char name[ETW_KERNEL_KEPT_NAME])
{
	(void)snprintf(name, ETW_KERNEL_KEPT_NAME, "link-%s", etw_kernel_programs[place].program);
}

void etw_kernel_ring_name(uint32_t cpu, char name[ETW_KERNEL_KEPT_NAME])
{
	(void)snprintf(name, ETW_KERNEL_KEPT_NAME, "cpu-ring-%u", cpu);
}

bool etw_kernel_program_is_wanted(size_t place, uint32_t kinds)
{
	const struct etw_kernel_program *program = &etw_kernel_programs[place];

	if (kinds & program->kinds)
		return true;
	return kinds & program->helps && etw_kernel_probe_features()->has[program->feature];
}

/* Each program is needed by a kind or helps one. */
static uint64_t *count_of(struct etw_kernel_missed *missed, size_t place)
{
	const struct etw_kernel_program *program = &etw_kernel_programs[place];
	unsigned kind = (unsigned)__builtin_ctz(program->kinds ? program->kinds : program->helps);

	if (place == ETW_KERNEL_PROGRAM_NEW_THREAD)
		return &missed->threads;
	if (program->object == etw_kernel_contexts_object || kind >= ETW_KERNEL_CPU_KINDS)
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

#else

void etw_kernel_cpu_bpf_missed(const struct etw_kernel_cpu_bpf *cpu_bpf,
			       struct etw_kernel_missed *ret)
{
	(void)cpu_bpf;
	*ret = (struct etw_kernel_missed){0};
}

#endif
