/* SPDX-License-Identifier: MIT */
/* What the kernel's types say of its tracepoints, maps and helpers. See probe_class.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "source/kernel/probe/probe_class.h"

#ifdef ETW_KERNEL_BPF

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define NAMES_ROOM 6

/* A tracepoint's arguments are the type btf_trace_<name>. Of more than one, all are needed. */
static const struct {
	uint8_t feature;
	const char *names[NAMES_ROOM];
} tracepoints[] = {
	{ETW_KERNEL_HAS_TASK_NEWTASK, {"task_newtask"}},
	{ETW_KERNEL_HAS_PROCESS_EXEC, {"sched_process_exec"}},
	{ETW_KERNEL_HAS_PROCESS_EXIT, {"sched_process_exit"}},
	{ETW_KERNEL_HAS_RENAME, {"task_rename"}},
	{ETW_KERNEL_HAS_SWITCH, {"sched_switch"}},
	{ETW_KERNEL_HAS_WAKING, {"sched_waking"}},
	{ETW_KERNEL_HAS_WAKEUP_NEW, {"sched_wakeup_new"}},
	{ETW_KERNEL_HAS_LENDING, {"sched_pi_setprio"}},
	{ETW_KERNEL_HAS_MODULES, {"module_load", "module_free"}},
	{ETW_KERNEL_HAS_SYSCALL_ENTER, {"sys_enter"}},
	{ETW_KERNEL_HAS_SYSCALL_EXIT, {"sys_exit"}},
	{ETW_KERNEL_HAS_IRQ, {"irq_handler_entry", "irq_handler_exit"}},
	{ETW_KERNEL_HAS_TIMER_VECTOR, {"local_timer_entry", "local_timer_exit"}},
	{ETW_KERNEL_HAS_CPU_VECTORS,
	 {"reschedule_entry", "reschedule_exit", "call_function_entry", "call_function_exit",
	  "call_function_single_entry", "call_function_single_exit"}},
	{ETW_KERNEL_HAS_WORK_VECTOR, {"irq_work_entry", "irq_work_exit"}},
	{ETW_KERNEL_HAS_SOFTIRQ, {"softirq_entry", "softirq_exit"}},
	{ETW_KERNEL_HAS_HRTIMER, {"hrtimer_expire_entry", "hrtimer_expire_exit"}},
	{ETW_KERNEL_HAS_RAISE, {"softirq_raise"}},
	{ETW_KERNEL_HAS_WORKQUEUE,
	 {"workqueue_queue_work", "workqueue_execute_start", "workqueue_execute_end"}},
	{ETW_KERNEL_HAS_IDLE, {"cpu_idle"}},
	{ETW_KERNEL_HAS_FREQUENCY, {"cpu_frequency"}},
	{ETW_KERNEL_HAS_REQUESTS, {"block_rq_issue", "block_rq_complete"}},
	{ETW_KERNEL_HAS_QUEUED, {"block_rq_insert", "block_rq_merge", "block_rq_requeue"}},
	{ETW_KERNEL_HAS_URING, {"io_uring_complete"}},
	{ETW_KERNEL_HAS_URING_REQUEST, {"io_uring_submit_req"}},
	{ETW_KERNEL_HAS_DIRTY_FOLIO, {"writeback_dirty_folio"}},
	{ETW_KERNEL_HAS_EXT4_ENDS, {"ext4_evict_inode"}},
	{ETW_KERNEL_HAS_CACHE_DELETE, {"mm_filemap_delete_from_page_cache"}},
	{ETW_KERNEL_HAS_FLUSHES, {"block_getrq"}},
	{ETW_KERNEL_HAS_BIOS, {"block_bio_queue", "block_bio_complete"}},
	{ETW_KERNEL_HAS_SPLITS, {"block_split"}},
	{ETW_KERNEL_HAS_PAGE_FAULT, {"page_fault_user", "page_fault_kernel"}},
	{ETW_KERNEL_HAS_CACHE_ADD, {"mm_filemap_add_to_page_cache"}},
	{ETW_KERNEL_HAS_PREPARE_EXEC, {"sched_prepare_exec"}},
	{ETW_KERNEL_HAS_SIGNAL, {"signal_generate"}},
	{ETW_KERNEL_HAS_SOCKET_STATE, {"inet_sock_set_state", "tcp_destroy_sock"}},
	{ETW_KERNEL_HAS_SOCKET_LENGTHS, {"sock_send_length", "sock_recv_length"}},
	{ETW_KERNEL_HAS_RETRANSMIT, {"tcp_retransmit_skb"}},
	{ETW_KERNEL_HAS_RETRANSMIT_ANSWER, {"tcp_retransmit_synack"}},
};

static const struct {
	uint8_t feature;
	const char *list, *value;
} values[] = {
	{ETW_KERNEL_HAS_RING, "bpf_map_type", "BPF_MAP_TYPE_RINGBUF"},
	{ETW_KERNEL_HAS_TASK_STORAGE, "bpf_map_type", "BPF_MAP_TYPE_TASK_STORAGE"},
	{ETW_KERNEL_HAS_LOOP, "bpf_func_id", "BPF_FUNC_loop"},
	{ETW_KERNEL_HAS_FIND_VMA, "bpf_func_id", "BPF_FUNC_find_vma"},
	{ETW_KERNEL_HAS_COOKIE, "bpf_func_id", "BPF_FUNC_get_attach_cookie"},
};

static bool has_tracepoints(const struct btf *btf, const char *const *names)
{
	char type[64];

	for (size_t i = 0; i < NAMES_ROOM && names[i]; i++) {
		(void)snprintf(type, sizeof(type), "btf_trace_%s", names[i]);
		if (btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) < 0)
			return false;
	}
	return true;
}

/* How many a tracepoint has; 0: there is none of this name. Of its function's arguments the first is the program's context. */
static uint32_t arguments_of(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *type;
	char name[64];
	int id;

	(void)snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL; /* pointer */
	type = type ? btf__type_by_id(btf, type->type) : NULL; /* function */
	return type && btf_is_func_proto(type) && btf_vlen(type) ? btf_vlen(type) - 1U : 0;
}

static bool has_value(const struct btf *btf, const char *list, const char *value)
{
	int id = btf__find_by_name_kind(btf, list, BTF_KIND_ENUM);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (uint16_t i = 0; type && i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, btf_enum(type)[i].name_off);

		if (name && strcmp(name, value) == 0)
			return true;
	}
	return false;
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/* A spinlock_t sleeps on a real-time kernel; raw_spinlock_t and its successors do not. */
static bool has_spinning_ring(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "bpf_ringbuf", BTF_KIND_STRUCT);
	const struct btf_type *ring = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (uint16_t i = 0; ring && i < btf_vlen(ring); i++) {
		const struct btf_member *member = &btf_members(ring)[i];
		const char *name = btf__name_by_offset(btf, member->name_off);
		const struct btf_type *type = btf__type_by_id(btf, member->type);
		const char *type_name = type ? btf__name_by_offset(btf, type->name_off) : NULL;

		if (name && strcmp(name, "spinlock") == 0)
			return type_name && strcmp(type_name, "spinlock_t") != 0;
	}
	return false;
}

static int say_nothing(enum libbpf_print_level level, const char *format, va_list list)
{
	(void)level;
	(void)format;
	(void)list;
	return 0;
}

int etw_kernel_features_read(const char *btf_path, struct etw_kernel_features *ret)
{
	struct btf *btf;
	long error;

	libbpf_set_print(say_nothing);
	btf = btf__parse(btf_path, NULL);
	error = libbpf_get_error(btf);
	if (error)
		return error == -ENOMEM ? -ENOMEM : -ENOSYS;
	for (size_t i = 0; i < ARRAY_SIZE(tracepoints); i++)
		ret->has[tracepoints[i].feature] = has_tracepoints(btf, tracepoints[i].names);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		ret->has[values[i].feature] = has_value(btf, values[i].list, values[i].value);
	ret->has[ETW_KERNEL_HAS_RING_IN_INTERRUPT] = has_spinning_ring(btf);
	ret->has[ETW_KERNEL_HAS_TASK_WALK] = has_function(btf, "bpf_iter_task");
	ret->has[ETW_KERNEL_HAS_MAPLE_TREE] = btf__find_by_name_kind(btf, "maple_range_64",
								     BTF_KIND_STRUCT) > 0;
	ret->has[ETW_KERNEL_HAS_FILE_WALK] = has_function(btf, "bpf_iter_task_file");
	ret->has[ETW_KERNEL_HAS_LAST_EXIT] = arguments_of(btf, "sched_process_exit") >= 2;
	ret->has[ETW_KERNEL_HAS_SWITCH_STATE] = arguments_of(btf, "sched_switch") >= 4;
	/* Before Linux 6.0 it had others. */
	ret->has[ETW_KERNEL_HAS_URING_ENTRY] = arguments_of(btf, "io_uring_submit_sqe") == 2;
	ret->has[ETW_KERNEL_HAS_URING] &= ret->has[ETW_KERNEL_HAS_URING_REQUEST] ||
					  ret->has[ETW_KERNEL_HAS_URING_ENTRY];
	ret->has[ETW_KERNEL_HAS_URING_REQUEST] &= ret->has[ETW_KERNEL_HAS_URING];
	ret->has[ETW_KERNEL_HAS_URING_ENTRY] &= ret->has[ETW_KERNEL_HAS_URING];
	/* Before, what sendfile() sends passes by sock_send_length. */
	ret->has[ETW_KERNEL_HAS_SOCKET_LENGTHS] &= has_function(btf, "splice_to_socket");
	btf__free(btf);
	return 0;
}

#else

int etw_kernel_features_read(const char *btf_path, struct etw_kernel_features *ret)
{
	(void)btf_path;
	(void)ret;
	return -ENOSYS;
}

#endif
