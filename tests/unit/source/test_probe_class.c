/* SPDX-License-Identifier: MIT */
/* Each class names what it misses: of types made by hand, with one taken away at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <errno.h>

#include "base/macros.h"
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/probe/classes.h"
#include "source/kernel/probe/probe_class.h"
#include "unit/source/fake_btf.h"

static const char *const tracepoints[] = {
	"task_newtask",
	"sched_process_exec",
	"sched_process_exit",
	"task_rename",
	"sched_switch",
	"sched_waking",
	"sched_wakeup_new",
	"module_load",
	"module_free",
	"sys_enter",
	"sys_exit",
	"irq_handler_entry",
	"irq_handler_exit",
	"local_timer_entry",
	"local_timer_exit",
	"reschedule_entry",
	"reschedule_exit",
	"call_function_entry",
	"call_function_exit",
	"call_function_single_entry",
	"call_function_single_exit",
	"irq_work_entry",
	"irq_work_exit",
	"softirq_entry",
	"softirq_exit",
	"hrtimer_expire_entry",
	"hrtimer_expire_exit",
	"sched_pi_setprio",
	"softirq_raise",
	"workqueue_queue_work",
	"workqueue_execute_start",
	"workqueue_execute_end",
	"cpu_idle",
	"cpu_frequency",
	"block_rq_issue",
	"block_rq_complete",
	"block_rq_insert",
	"block_rq_merge",
	"block_rq_requeue",
	"block_getrq",
	"io_uring_submit_req",
	"io_uring_complete",
	"ext4_evict_inode",
	"writeback_dirty_folio",
	"mm_filemap_delete_from_page_cache",
	"block_bio_queue",
	"block_bio_complete",
	"block_split",
	"page_fault_user",
	"page_fault_kernel",
	"mm_filemap_add_to_page_cache",
	"signal_generate",
	"inet_sock_set_state",
	"tcp_destroy_sock",
	"sock_send_length",
	"sock_recv_length",
	"tcp_retransmit_skb",
	"tcp_retransmit_synack",
	"sched_prepare_exec",
};
static const char *const map_types[] = {"BPF_MAP_TYPE_RINGBUF", "BPF_MAP_TYPE_TASK_STORAGE"};

/* The types of a kernel that has all but the tracepoint @without; NULL: none is missing. */
static void make_types(struct fake_btf *btf, const char *without)
{
	static const char *const helpers[] = {"BPF_FUNC_loop", "BPF_FUNC_find_vma",
					      "BPF_FUNC_get_attach_cookie"};
	char name[64];

	fake_btf_init(btf);
	for (size_t i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		if (without && strcmp(tracepoints[i], without) == 0)
			continue;
		snprintf(name, sizeof(name), "btf_trace_%s", tracepoints[i]);
		fake_btf_tracepoint(btf, name, 4);
	}
	if (!without)
		fake_btf_tracepoint(btf, "btf_trace_io_uring_submit_sqe", 2);
	fake_btf_value(btf, "bpf_map_type", map_types, ARRAY_SIZE(map_types));
	fake_btf_value(btf, "bpf_func_id", helpers, ARRAY_SIZE(helpers));
	fake_btf_struct(btf, "bpf_ringbuf", "spinlock", "raw_spinlock_t");
	if (!without || strcmp(without, "maple_range_64") != 0)
		fake_btf_struct(btf, "maple_range_64", "pivot", "long_pivot");
	if (!without || strcmp(without, "iter/task") != 0)
		fake_btf_function(btf, "bpf_iter_task");
	if (!without || strcmp(without, "iter/task_file") != 0)
		fake_btf_function(btf, "bpf_iter_task_file");
	if (!without || strcmp(without, "splice_to_socket") != 0)
		fake_btf_function(btf, "splice_to_socket");
}

/* Reads the types into features of a machine where every try succeeds. Skips where this build cannot. */
static struct etw_kernel_features read_types(const struct fake_btf *btf)
{
	char path[] = "/tmp/etw-btf-XXXXXX";
	struct etw_kernel_features features = {0};
	int fd = mkstemp(path);
	int r;

	assert_true(fd >= 0);
	close(fd);
	for (int i = ETW_KERNEL_HAS_CPU_CLOCK; i < ETW_KERNEL_FEATURES; i++)
		features.has[i] = true;
	assert_int_equal(fake_btf_write(btf, path), 0);
	r = etw_kernel_features_read(path, &features);
	unlink(path);
	if (r == -ENOSYS && etw_kernel_features_read("/sys/kernel/btf/vmlinux", &features) == r)
		skip();
	assert_int_equal(r, 0);
	return features;
}

static void test_probe_class__all_is_there(void **state)
{
	static struct fake_btf btf;
	struct etw_kernel_features features;
	struct etw_fault fault = {0};

	(void)state;
	make_types(&btf, NULL);
	features = read_types(&btf);
	for (int i = 0; i < ETW_KERNEL_FEATURES; i++)
		assert_true(features.has[i]);
	for (int i = 0; i < ETW_KERNEL_CLASSES; i++) {
		assert_int_equal(
			etw_kernel_class_check(&features, (enum etw_kernel_class)i, &fault), 0);
		assert_int_equal(
			etw_kernel_class_loses(&features, (enum etw_kernel_class)i, NULL, 0), 0);
	}
	assert_null(fault.sentence);
}

#define CLASS(name) (1u << ETW_KERNEL_CLASS_##name)
#define FREQUENT                                                                                \
	(CLASS(SWITCHES) | CLASS(READY) | CLASS(SAMPLES) | CLASS(SYSTEM_CALLS) |                \
	 CLASS(INTERRUPTS) | CLASS(DPCS) | CLASS(PRIORITIES) | CLASS(POWER) | CLASS(COUNTERS) | \
	 CLASS(FILE_NAMES) | CLASS(FILES) | CLASS(DISKS) | CLASS(SPLITS) | CLASS(FAULTS) |      \
	 CLASS(MEMORY) | CLASS(NETWORK))

/* Of each tracepoint: which classes are refused without it, and which go on with a loss. */
static const struct {
	const char *without;
	uint32_t refused, lessened;
} cases[] = {
	{"task_newtask", CLASS(TASKS), 0},
	{"sched_process_exec", CLASS(TASKS), 0},
	{"sched_process_exit", CLASS(TASKS), 0},
	{"task_rename", 0, CLASS(TASKS)},
	{"iter/task", FREQUENT | CLASS(TREE), 0},
	{"block_rq_issue", CLASS(DISKS) | CLASS(SPLITS), 0},
	{"block_rq_complete", CLASS(DISKS) | CLASS(SPLITS), 0},
	{"block_rq_insert", 0, CLASS(DISKS)},
	{"block_rq_merge", 0, CLASS(DISKS)},
	{"block_rq_requeue", 0, CLASS(DISKS)},
	{"block_getrq", 0, CLASS(DISKS)},
	{"io_uring_submit_req", 0, CLASS(FILES)},
	{"io_uring_complete", 0, CLASS(FILES)},
	{"ext4_evict_inode", 0, CLASS(FILE_NAMES)},
	{"writeback_dirty_folio", 0, CLASS(FILES)},
	{"mm_filemap_delete_from_page_cache", 0, CLASS(FILE_NAMES)},
	{"block_bio_queue", 0, CLASS(DISKS)},
	{"block_bio_complete", 0, CLASS(DISKS)},
	{"block_split", CLASS(SPLITS), 0},
	{"sched_switch", CLASS(SWITCHES) | CLASS(PRIORITIES), 0},
	{"sched_pi_setprio", 0, CLASS(PRIORITIES)},
	{"sched_waking", CLASS(READY), CLASS(PRIORITIES)},
	{"sched_wakeup_new", 0, CLASS(READY)},
	{"module_load", 0, CLASS(IMAGES)},
	{"module_free", 0, CLASS(IMAGES)},
	{"sys_enter", CLASS(IMAGES) | CLASS(SYSTEM_CALLS) | CLASS(FILES) | CLASS(MEMORY), 0},
	{"sys_exit", CLASS(SYSTEM_CALLS) | CLASS(FILES) | CLASS(NETWORK) | CLASS(MEMORY), 0},
	{"irq_handler_entry", CLASS(INTERRUPTS), CLASS(READY) | CLASS(TREE)},
	{"irq_handler_exit", CLASS(INTERRUPTS), CLASS(READY) | CLASS(TREE)},
	{"local_timer_entry", 0, CLASS(INTERRUPTS)},
	{"local_timer_exit", 0, CLASS(INTERRUPTS)},
	{"reschedule_entry", 0, CLASS(INTERRUPTS)},
	{"reschedule_exit", 0, CLASS(INTERRUPTS)},
	{"call_function_entry", 0, CLASS(INTERRUPTS)},
	{"call_function_exit", 0, CLASS(INTERRUPTS)},
	{"call_function_single_entry", 0, CLASS(INTERRUPTS)},
	{"call_function_single_exit", 0, CLASS(INTERRUPTS)},
	{"irq_work_entry", 0, CLASS(INTERRUPTS)},
	{"irq_work_exit", 0, CLASS(INTERRUPTS)},
	{"softirq_entry", CLASS(DPCS), CLASS(READY) | CLASS(SAMPLES) | CLASS(TREE)},
	{"softirq_exit", CLASS(DPCS), CLASS(READY) | CLASS(SAMPLES) | CLASS(TREE)},
	{"hrtimer_expire_entry", 0, CLASS(READY) | CLASS(TREE)},
	{"hrtimer_expire_exit", 0, CLASS(READY) | CLASS(TREE)},
	{"softirq_raise", 0, CLASS(TREE)},
	{"workqueue_queue_work", 0, CLASS(TREE)},
	{"workqueue_execute_start", 0, CLASS(TREE)},
	{"workqueue_execute_end", 0, CLASS(TREE)},
	{"cpu_idle", CLASS(POWER), CLASS(SWITCHES)},
	{"cpu_frequency", 0, CLASS(POWER)},
	{"page_fault_user", 0, CLASS(FAULTS)},
	{"page_fault_kernel", 0, CLASS(FAULTS)},
	{"mm_filemap_add_to_page_cache", 0, CLASS(FAULTS)},
	{"signal_generate", 0, CLASS(FAULTS)},
	{"maple_range_64", CLASS(FAULTS) | CLASS(MEMORY), 0},
	{"inet_sock_set_state", CLASS(NETWORK), 0},
	{"tcp_destroy_sock", CLASS(NETWORK), 0},
	{"sock_send_length", 0, CLASS(NETWORK)},
	{"sock_recv_length", 0, CLASS(NETWORK)},
	{"splice_to_socket", 0, CLASS(NETWORK)},
	{"tcp_retransmit_skb", 0, CLASS(NETWORK)},
	{"tcp_retransmit_synack", 0, CLASS(NETWORK)},
	{"iter/task_file", 0, CLASS(NETWORK)},
	{"sched_prepare_exec", 0, CLASS(MEMORY) | CLASS(FILES)},
};

static void check_class(const struct etw_kernel_features *features, enum etw_kernel_class class,
			bool is_refused, bool is_lessened)
{
	struct etw_fault fault = {0};
	const char *losses[4] = {NULL};
	int r = etw_kernel_class_check(features, class, &fault);
	size_t count = etw_kernel_class_loses(features, class, losses, ARRAY_SIZE(losses));

	assert_int_equal(r, is_refused ? -EOPNOTSUPP : 0);
	assert_int_equal(fault.sentence != NULL, is_refused);
	if (fault.sentence)
		assert_string_equal(fault.field, etw_kernel_probe_class_name(class));
	assert_int_equal(count, is_lessened);
	assert_int_equal(losses[0] != NULL, is_lessened);
}

static void test_probe_class__a_tracepoint_is_missing(void **state)
{
	static struct fake_btf btf;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct etw_kernel_features features;

		make_types(&btf, cases[i].without);
		features = read_types(&btf);
		for (int class = 0; class < ETW_KERNEL_CLASSES; class ++)
			check_class(&features, (enum etw_kernel_class) class,
				    cases[i].refused >> class & 1, cases[i].lessened >> class & 1);
	}
}

/* io_uring_submit_req had another name, and before that one other arguments. */
static void test_probe_class__a_tracepoint_is_called_otherwise(void **state)
{
	static struct fake_btf btf;
	struct etw_kernel_features features;

	(void)state;
	make_types(&btf, "io_uring_submit_req");
	fake_btf_tracepoint(&btf, "btf_trace_io_uring_submit_sqe", 2);
	features = read_types(&btf);
	assert_true(features.has[ETW_KERNEL_HAS_URING]);
	assert_false(features.has[ETW_KERNEL_HAS_URING_REQUEST]);
	check_class(&features, ETW_KERNEL_CLASS_FILES, false, false);
	make_types(&btf, "io_uring_submit_req");
	fake_btf_tracepoint(&btf, "btf_trace_io_uring_submit_sqe", 7);
	features = read_types(&btf);
	assert_false(features.has[ETW_KERNEL_HAS_URING]);
	check_class(&features, ETW_KERNEL_CLASS_FILES, false, true);
}

/* Before Linux 6.16 and 5.18 tracepoints tell less. */
static void test_probe_class__a_tracepoint_tells_less(void **state)
{
	static struct fake_btf btf;
	struct etw_kernel_features features;

	(void)state;
	fake_btf_init(&btf);
	fake_btf_tracepoint(&btf, "btf_trace_sched_process_exit", 1);
	fake_btf_tracepoint(&btf, "btf_trace_sched_switch", 3);
	features = read_types(&btf);
	assert_false(features.has[ETW_KERNEL_HAS_LAST_EXIT]);
	assert_false(features.has[ETW_KERNEL_HAS_SWITCH_STATE]);
}

/* A real-time kernel whose ring sleeps: what happens in interrupts and in the scheduler is refused. */
static void test_probe_class__a_ring_that_sleeps(void **state)
{
	static struct fake_btf btf;
	struct etw_kernel_features features;
	struct etw_fault fault = {0};

	(void)state;
	fake_btf_init(&btf);
	fake_btf_struct(&btf, "bpf_ringbuf", "spinlock", "spinlock_t");
	fake_btf_value(&btf, "bpf_map_type", map_types, ARRAY_SIZE(map_types));
	fake_btf_typedef(&btf, "btf_trace_sched_switch");
	features = read_types(&btf);
	assert_false(features.has[ETW_KERNEL_HAS_RING_IN_INTERRUPT]);
	assert_int_equal(etw_kernel_class_check(&features, ETW_KERNEL_CLASS_SWITCHES, &fault),
			 -EOPNOTSUPP);
	assert_non_null(strstr(fault.sentence, "real-time"));
}

static void test_probe_class__no_types(void **state)
{
	struct etw_kernel_features features = {0};
	struct etw_fault fault = {0};

	(void)state;
	assert_int_equal(etw_kernel_features_read("/dev/null", &features), -ENOSYS);
	assert_int_equal(etw_kernel_features_read("/nowhere/btf", &features), -ENOSYS);
	for (int i = 0; i < ETW_KERNEL_CLASSES; i++)
		assert_int_equal(
			etw_kernel_class_check(&features, (enum etw_kernel_class)i, &fault),
			-EOPNOTSUPP);
}

/* Every feature has a sentence, and every class a name of its own. */
static void test_probe_class__words(void **state)
{
	struct etw_kernel_features features;
	struct etw_fault fault;

	(void)state;
	for (int feature = 0; feature < ETW_KERNEL_TOLD_FEATURES; feature++) {
		int users = 0;

		memset(&features, 1, sizeof(features));
		features.has[feature] = false;
		for (int class = 0; class < ETW_KERNEL_CLASSES; class ++) {
			const char *loss = NULL;

			fault.sentence = NULL;
			if (etw_kernel_class_check(&features, (enum etw_kernel_class) class,
						   &fault))
				loss = fault.sentence;
			else if (!etw_kernel_class_loses(&features, (enum etw_kernel_class) class,
							 &loss, 1))
				continue;
			users++;
			assert_non_null(loss);
			assert_true(strlen(loss) > 20);
		}
		assert_true(users > 0);
	}
	for (int i = 0; i < ETW_KERNEL_CLASSES; i++)
		for (int j = 0; j < i; j++)
			assert_string_not_equal(
				etw_kernel_probe_class_name((enum etw_kernel_class)i),
				etw_kernel_probe_class_name((enum etw_kernel_class)j));
}

/* On the live kernel both ways to ask agree. */
static void test_probe_class__this_machine(void **state)
{
	const struct etw_kernel_features *features = etw_kernel_probe_features();

	(void)state;
	for (int i = 0; i < ETW_KERNEL_CLASSES; i++)
		assert_int_equal(etw_kernel_probe_class((enum etw_kernel_class)i, NULL),
				 etw_kernel_class_check(features, (enum etw_kernel_class)i, NULL));
	assert_ptr_equal(features, etw_kernel_probe_features());
}

static uint32_t memory_stacks_of(uint16_t hook)
{
	const struct etw_source_request request = {.stack_hooks = {hook}, .stack_hook_count = 1};

	return etw_kernel_class_memory_stacks(&request);
}

/* Events that one kind of records makes have stacks each by themselves. */
static void test_probe_class__stacks_of_memory(void **state)
{
	const struct etw_source_request both = {.stack_hooks = {0x020A, 0x0426},
						.stack_hook_count = 2};

	(void)state;
	for (uint16_t type = 10; type <= 15; type++)
		assert_int_equal(memory_stacks_of(0x0200 | type), UINT32_C(1) << (type - 10));
	assert_int_equal(memory_stacks_of(0x0262), ETW_KERNEL_STACK_ALLOC);
	assert_int_equal(memory_stacks_of(0x0263), ETW_KERNEL_STACK_FREE);
	assert_int_equal(memory_stacks_of(0x0425), ETW_KERNEL_STACK_MAP_VIEW);
	assert_int_equal(memory_stacks_of(0x0426), ETW_KERNEL_STACK_UNMAP_VIEW);
	assert_int_equal(etw_kernel_class_memory_stacks(&both), 1 | ETW_KERNEL_STACK_UNMAP_VIEW);
	/* Other groups, and a hard fault, which is a kind of its own. */
	assert_int_equal(memory_stacks_of(0x060A), 0);
	assert_int_equal(memory_stacks_of(0x0220), 0);
	assert_int_equal(memory_stacks_of(0x0209), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe_class__all_is_there),
		cmocka_unit_test(test_probe_class__a_tracepoint_is_missing),
		cmocka_unit_test(test_probe_class__a_tracepoint_is_called_otherwise),
		cmocka_unit_test(test_probe_class__a_tracepoint_tells_less),
		cmocka_unit_test(test_probe_class__a_ring_that_sleeps),
		cmocka_unit_test(test_probe_class__no_types),
		cmocka_unit_test(test_probe_class__words),
		cmocka_unit_test(test_probe_class__stacks_of_memory),
		cmocka_unit_test(test_probe_class__this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
