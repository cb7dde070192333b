/* SPDX-License-Identifier: MIT */
/* What classes of events need, and whether the kernel has it. See probe_class.h. */
#include "source/kernel/probe/probe_class.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/kallsyms.h"
#include "base/macros.h"

#define BTF_FILE   "/sys/kernel/btf/vmlinux"
#define CLASS_ROOM 10 /* features of one class */

#define NO_TRACEPOINT(name) "the kernel has no tracepoint " name
#define ONLY_OWN_THREADS    ": what the kernel does for its threads elsewhere is not told"
#define ONLY_ON_X86(name, who) \
	NO_TRACEPOINT(name) ", as on x86 alone: interrupts " who " are missing"
#define OLDER_THAN(version) ", as before Linux " version

/* Of features that a class is refused without. */
static const char *const sentences[ETW_KERNEL_FEATURES] = {
	[ETW_KERNEL_HAS_RING] = "the kernel has no BPF ring buffer" OLDER_THAN("5.8"),
	[ETW_KERNEL_HAS_RING_IN_INTERRUPT] = "this real-time kernel's BPF ring may sleep where "
					     "these events happen; that of Linux "
					     "6.12 does not, nor that of Debian's 6.1.192",
	[ETW_KERNEL_HAS_TASK_STORAGE] =
		"the kernel's BPF keeps nothing with a thread" OLDER_THAN("5.11"),
	[ETW_KERNEL_HAS_TASK_WALK] =
		"the kernel's BPF cannot walk over threads (iter/task)" OLDER_THAN("5.8"),
	[ETW_KERNEL_HAS_LOOP] = "the kernel's BPF has no loops (bpf_loop)" OLDER_THAN("5.17"),
	[ETW_KERNEL_HAS_FIND_VMA] =
		"the kernel's BPF cannot look at mappings (bpf_find_vma)" OLDER_THAN("5.17"),
	[ETW_KERNEL_HAS_COOKIE] = "the kernel's BPF does not tell one perf event from another "
				  "(bpf_get_attach_cookie)" OLDER_THAN("5.15"),
	[ETW_KERNEL_HAS_TASK_NEWTASK] = NO_TRACEPOINT("task_newtask"),
	[ETW_KERNEL_HAS_PROCESS_EXEC] = NO_TRACEPOINT("sched_process_exec"),
	[ETW_KERNEL_HAS_PROCESS_EXIT] = NO_TRACEPOINT("sched_process_exit"),
	[ETW_KERNEL_HAS_SWITCH] = NO_TRACEPOINT("sched_switch"),
	[ETW_KERNEL_HAS_WAKING] = NO_TRACEPOINT("sched_waking"),
	[ETW_KERNEL_HAS_SYSCALL_ENTER] = NO_TRACEPOINT(
		"sys_enter") ", as without CONFIG_FTRACE_SYSCALLS: it tells of no system calls",
	[ETW_KERNEL_HAS_SYSCALL_EXIT] = NO_TRACEPOINT(
		"sys_exit") ", as without CONFIG_FTRACE_SYSCALLS: it tells no end of system calls",
	[ETW_KERNEL_HAS_IRQ] = NO_TRACEPOINT("irq_handler_entry") " or irq_handler_exit",
	[ETW_KERNEL_HAS_SOFTIRQ] = NO_TRACEPOINT("softirq_entry") " or softirq_exit",
	[ETW_KERNEL_HAS_IDLE] = NO_TRACEPOINT("cpu_idle"),
	[ETW_KERNEL_HAS_REQUESTS] =
		NO_TRACEPOINT("block_rq_issue") " or block_rq_complete, as without CONFIG_BLOCK",
	[ETW_KERNEL_HAS_SPLITS] = NO_TRACEPOINT("block_split"),
	[ETW_KERNEL_HAS_MAPLE_TREE] =
		"the kernel keeps mappings in no maple tree" OLDER_THAN("6.1"),
	[ETW_KERNEL_HAS_SOCKET_STATE] = NO_TRACEPOINT("inet_sock_set_state") " or tcp_destroy_sock",
	[ETW_KERNEL_HAS_CPU_CLOCK] =
		"perf gives no samples by the CPU clock (perf_event_open): CAP_PERFMON is missing, "
		"which root's etwd has, or the kernel lacks CONFIG_PERF_EVENTS",
};

struct class_need {
	uint8_t feature;
	const char *loss; /* the class goes on without it, and this is told; NULL: it is refused */
};

static const struct {
	const char *name;
	uint32_t count;
	struct class_need needs[CLASS_ROOM];
} classes[ETW_KERNEL_CLASSES] = {
	[ETW_KERNEL_CLASS_TASKS] =
		{"processes and threads",
		 6,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_LOOP, NULL},
		  {ETW_KERNEL_HAS_TASK_NEWTASK, NULL},
		  {ETW_KERNEL_HAS_PROCESS_EXEC, NULL},
		  {ETW_KERNEL_HAS_PROCESS_EXIT, NULL},
		  {ETW_KERNEL_HAS_RENAME,
		   NO_TRACEPOINT("task_rename") ": no event says that a thread gets a name"}}},
	[ETW_KERNEL_CLASS_IMAGES] =
		{"images",
		 4,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_FIND_VMA, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_ENTER, NULL},
		  {ETW_KERNEL_HAS_MODULES,
		   NO_TRACEPOINT("module_load") " or module_free: the kernel's modules that come "
						"and go are noticed at the end"}}},
	[ETW_KERNEL_CLASS_SWITCHES] = {"context switches",
				       6,
				       {{ETW_KERNEL_HAS_RING, NULL},
					{ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
					{ETW_KERNEL_HAS_TASK_STORAGE, NULL},
					{ETW_KERNEL_HAS_TASK_WALK, NULL},
					{ETW_KERNEL_HAS_SWITCH, NULL},
					{ETW_KERNEL_HAS_IDLE,
					 NO_TRACEPOINT("cpu_idle") ": PreviousCState is 0"}}},
	[ETW_KERNEL_CLASS_READY] =
		{"ready threads",
		 9,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_WAKING, NULL},
		  {ETW_KERNEL_HAS_WAKEUP_NEW,
		   NO_TRACEPOINT("sched_wakeup_new") ": that a new thread is ready is not told"},
		  {ETW_KERNEL_HAS_SOFTIRQ, NO_TRACEPOINT("softirq_entry") " or softirq_exit: a "
									  "thread that a soft "
									  "interrupt wakes seems "
									  "woken by the one that "
									  "ran"},
		  {ETW_KERNEL_HAS_IRQ, NO_TRACEPOINT("irq_handler_entry") " or irq_handler_exit: "
									  "a thread that an "
									  "interrupt wakes seems "
									  "woken by the one that "
									  "ran"},
		  {ETW_KERNEL_HAS_HRTIMER, NO_TRACEPOINT("hrtimer_expire_entry") " or "
										 "hrtimer_expire_"
										 "exit: a thread "
										 "that a timer "
										 "wakes seems "
										 "woken by the "
										 "one that "
										 "ran"}}},
	[ETW_KERNEL_CLASS_SAMPLES] = {"samples",
				      6,
				      {{ETW_KERNEL_HAS_RING, NULL},
				       {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
				       {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
				       {ETW_KERNEL_HAS_TASK_WALK, NULL},
				       {ETW_KERNEL_HAS_CPU_CLOCK, NULL},
				       {ETW_KERNEL_HAS_SOFTIRQ,
					NO_TRACEPOINT(
						"softirq_entry") " or softirq_exit: no sample "
								 "says that a soft interrupt "
								 "ran"}}},
	[ETW_KERNEL_CLASS_SYSTEM_CALLS] = {"system calls",
					   5,
					   {{ETW_KERNEL_HAS_RING, NULL},
					    {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
					    {ETW_KERNEL_HAS_TASK_WALK, NULL},
					    {ETW_KERNEL_HAS_SYSCALL_ENTER, NULL},
					    {ETW_KERNEL_HAS_SYSCALL_EXIT, NULL}}},
	[ETW_KERNEL_CLASS_INTERRUPTS] =
		{"interrupts",
		 9,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_IRQ, NULL},
		  {ETW_KERNEL_HAS_TIMER_VECTOR, ONLY_ON_X86("local_timer_entry or local_timer_exit",
							    "of the processor's timer")},
		  {ETW_KERNEL_HAS_CPU_VECTORS,
		   ONLY_ON_X86("reschedule_entry, call_function_entry, call_function_single_entry "
			       "or one of their exits",
			       "between processors")},
		  {ETW_KERNEL_HAS_WORK_VECTOR,
		   ONLY_ON_X86("irq_work_entry or irq_work_exit",
			       "that a processor sends itself for deferred work")},
		  {ETW_KERNEL_HAS_OWN_INTERRUPTS,
		   "this real-time kernel moves handlers of interrupts into threads: an event "
		   "spans what is left of the handler, the rest shows as switches to threads "
		   "irq/..."}}},
	[ETW_KERNEL_CLASS_DPCS] = {"deferred calls",
				   5,
				   {{ETW_KERNEL_HAS_RING, NULL},
				    {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
				    {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
				    {ETW_KERNEL_HAS_TASK_WALK, NULL},
				    {ETW_KERNEL_HAS_SOFTIRQ, NULL}}},
	[ETW_KERNEL_CLASS_PRIORITIES] =
		{"thread priorities",
		 7,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_SWITCH, NULL},
		  {ETW_KERNEL_HAS_WAKING,
		   NO_TRACEPOINT("sched_waking") ": a change is told when the thread is switched"},
		  {ETW_KERNEL_HAS_LENDING,
		   NO_TRACEPOINT("sched_pi_setprio") ": a priority that is lent is told when the "
						     "thread next runs, if it still has it"}}},
	[ETW_KERNEL_CLASS_POWER] =
		{"power",
		 8,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_IDLE, NULL},
		  {ETW_KERNEL_HAS_IDLE_DRIVER,
		   "this machine's Linux has no idle states to choose from (no cpuidle driver; "
		   "many "
		   "virtual machines have none): all that comes is state 1, whatever the processor "
		   "does then"},
		  {ETW_KERNEL_HAS_FREQUENCY, NO_TRACEPOINT("cpu_frequency")},
		  {ETW_KERNEL_HAS_FREQUENCY_DRIVER,
		   "no frequencies come: this machine's Linux sets none (no cpufreq driver; most "
		   "virtual machines have none)"}}},
	[ETW_KERNEL_CLASS_COUNTERS] = {"samples by counters",
				       5,
				       {{ETW_KERNEL_HAS_RING, NULL},
					{ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
					{ETW_KERNEL_HAS_TASK_STORAGE, NULL},
					{ETW_KERNEL_HAS_TASK_WALK, NULL},
					{ETW_KERNEL_HAS_COOKIE, NULL}}},
	[ETW_KERNEL_CLASS_FILE_NAMES] =
		{"names of files",
		 6,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_EXT4_ENDS,
		   NO_TRACEPOINT("ext4_evict_inode") ": that an empty file of ext4 is gone is told "
						     "where it is closed alone"},
		  {ETW_KERNEL_HAS_CACHE_DELETE,
		   NO_TRACEPOINT(
			   "mm_filemap_delete_from_page_cache") ": that a file is gone is told "
								"where it is closed alone"}}},
	[ETW_KERNEL_CLASS_DISKS] =
		{"disk transfers",
		 8,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_REQUESTS, NULL},
		  {ETW_KERNEL_HAS_QUEUED,
		   NO_TRACEPOINT("block_rq_insert") ", block_rq_merge or block_rq_requeue: a "
						    "transfer begins when the disk's driver gets "
						    "it, and a kernel worker may seem to ask"},
		  {ETW_KERNEL_HAS_FLUSHES,
		   NO_TRACEPOINT("block_getrq") ": a kernel worker seems to ask for flushes of a "
						"disk's cache, and for writes that wait for one"},
		  {ETW_KERNEL_HAS_BIOS,
		   NO_TRACEPOINT("block_bio_queue") " or block_bio_complete: transfers of RAM "
						    "disks and of volumes are missing, those of "
						    "the disks below are there"}}},
	[ETW_KERNEL_CLASS_SPLITS] = {"split disk transfers",
				     6,
				     {{ETW_KERNEL_HAS_RING, NULL},
				      {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
				      {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
				      {ETW_KERNEL_HAS_TASK_WALK, NULL},
				      {ETW_KERNEL_HAS_REQUESTS, NULL},
				      {ETW_KERNEL_HAS_SPLITS, NULL}}},
	[ETW_KERNEL_CLASS_FAULTS] =
		{"page faults",
		 9,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_MAPLE_TREE, NULL},
		  {ETW_KERNEL_HAS_CPU_CLOCK, NULL},
		  {ETW_KERNEL_HAS_PAGE_FAULT,
		   NO_TRACEPOINT("page_fault_user or page_fault_kernel") ", as on x86 alone: "
									 "CopyOnWrite and "
									 "GuardPageFault show "
									 "as other faults, and "
									 "hard faults have no "
									 "duration"},
		  {ETW_KERNEL_HAS_SIGNAL,
		   NO_TRACEPOINT("signal_generate") ": no AccessViolation is told"},
		  {ETW_KERNEL_HAS_CACHE_ADD,
		   NO_TRACEPOINT("mm_filemap_add_to_page_cache") ": every hard fault reads one "
								 "page, as its event says"}}},
	[ETW_KERNEL_CLASS_NETWORK] =
		{"network",
		 10,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_EXIT, NULL},
		  {ETW_KERNEL_HAS_SOCKET_STATE, NULL},
		  {ETW_KERNEL_HAS_SOCKET_LENGTHS,
		   NO_TRACEPOINT(
			   "sock_send_length") " or sock_recv_length, as before Linux 6.5: "
					       "what io_uring sends and receives is not told"},
		  {ETW_KERNEL_HAS_RETRANSMIT,
		   NO_TRACEPOINT("tcp_retransmit_skb") ": retransmissions are not told"},
		  {ETW_KERNEL_HAS_RETRANSMIT_ANSWER,
		   NO_TRACEPOINT("tcp_retransmit_synack") ": an answer to a new connection that is "
							  "sent again is not told"},
		  {ETW_KERNEL_HAS_FILE_WALK,
		   "the kernel's BPF cannot walk over open files (iter/task_file): connections "
		   "that are there before the recording have an owner once they are used"}}},
	[ETW_KERNEL_CLASS_FILES] =
		{"operations of files",
		 10,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_LOOP, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_ENTER, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_EXIT, NULL},
		  {ETW_KERNEL_HAS_URING,
		   NO_TRACEPOINT(
			   "io_uring_submit_req") " or io_uring_complete, as before Linux 6.0: "
						  "what io_uring does with files is not told"},
		  {ETW_KERNEL_HAS_DIRTY_FOLIO,
		   NO_TRACEPOINT("writeback_dirty_folio") ": writes to files through memory are "
							  "not told"},
		  {ETW_KERNEL_HAS_PREPARE_EXEC,
		   NO_TRACEPOINT(
			   "sched_prepare_exec") ", as before Linux 6.10: what execve closes is "
						 "not told"}}},
	[ETW_KERNEL_CLASS_MEMORY] =
		{"memory and views of files",
		 8,
		 {{ETW_KERNEL_HAS_RING, NULL},
		  {ETW_KERNEL_HAS_RING_IN_INTERRUPT, NULL},
		  {ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_MAPLE_TREE, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_ENTER, NULL},
		  {ETW_KERNEL_HAS_SYSCALL_EXIT, NULL},
		  {ETW_KERNEL_HAS_PREPARE_EXEC,
		   NO_TRACEPOINT("sched_prepare_exec") ", as before Linux 6.10: what a process "
						       "loses when it takes another program is "
						       "not told"}}},
	[ETW_KERNEL_CLASS_TREE] =
		{"one process tree alone",
		 7,
		 {{ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_TASK_WALK, NULL},
		  {ETW_KERNEL_HAS_SOFTIRQ,
		   NO_TRACEPOINT("softirq_entry") " or softirq_exit" ONLY_OWN_THREADS},
		  {ETW_KERNEL_HAS_IRQ,
		   NO_TRACEPOINT("irq_handler_entry") " or irq_handler_exit" ONLY_OWN_THREADS},
		  {ETW_KERNEL_HAS_HRTIMER,
		   NO_TRACEPOINT(
			   "hrtimer_expire_entry") " or hrtimer_expire_exit" ONLY_OWN_THREADS},
		  {ETW_KERNEL_HAS_RAISE, NO_TRACEPOINT("softirq_raise") ONLY_OWN_THREADS},
		  {ETW_KERNEL_HAS_WORKQUEUE,
		   NO_TRACEPOINT(
			   "workqueue_queue_work") ", workqueue_execute_start or "
						   "workqueue_execute_end" ONLY_OWN_THREADS}}},
	[ETW_KERNEL_CLASS_STACKS] =
		{"stacks",
		 2,
		 {{ETW_KERNEL_HAS_TASK_STORAGE, NULL},
		  {ETW_KERNEL_HAS_SYMBOLS,
		   "the kernel hides the addresses of its functions, which stay without names: "
		   "`sudo sysctl kernel.kptr_restrict=1`, and a host with CAP_SYSLOG, as the one "
		   "that `sudo etw record` starts"}}},
};

const char *etw_kernel_probe_class_name(enum etw_kernel_class class)
{
	return classes[class].name;
}

int etw_kernel_class_check(const struct etw_kernel_features *features, enum etw_kernel_class class,
			   struct etw_fault *reterr)
{
	for (uint32_t i = 0; i < classes[class].count; i++) {
		const struct class_need *need = &classes[class].needs[i];

		if (!need->loss && !features->has[need->feature])
			return etw_fault_set(reterr, -EOPNOTSUPP, 0, "kernel source",
					     classes[class].name, sentences[need->feature]);
	}
	return 0;
}

size_t etw_kernel_class_loses(const struct etw_kernel_features *features,
			      enum etw_kernel_class class, const char **ret, size_t room)
{
	size_t count = 0;

	for (uint32_t i = 0; i < classes[class].count; i++) {
		const struct class_need *need = &classes[class].needs[i];

		if (!need->loss || features->has[need->feature])
			continue;
		if (count < room)
			ret[count] = need->loss;
		count++;
	}
	return count;
}

const char *etw_kernel_class_loss(enum etw_kernel_class class, enum etw_kernel_feature feature)
{
	for (uint32_t i = 0; i < classes[class].count; i++)
		if (classes[class].needs[i].feature == feature)
			return classes[class].needs[i].loss;
	return NULL;
}

static bool is_real_time(void)
{
	struct utsname name;

	return uname(&name) == 0 && strstr(name.version, "PREEMPT_RT") != NULL;
}

static bool opens_cpu_clock(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = UINT64_C(1000000000),
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

void etw_kernel_features_try(struct etw_kernel_features *ret)
{
	ret->has[ETW_KERNEL_HAS_CPU_CLOCK] = opens_cpu_clock();
	ret->has[ETW_KERNEL_HAS_IDLE_DRIVER] = access("/sys/devices/system/cpu/cpu0/cpuidle/state0",
						      F_OK) == 0;
	ret->has[ETW_KERNEL_HAS_FREQUENCY_DRIVER] = access("/sys/devices/system/cpu/cpu0/cpufreq",
							   F_OK) == 0;
	ret->has[ETW_KERNEL_HAS_OWN_INTERRUPTS] = !is_real_time();
	/* A kernel that takes no modules has none to tell of. */
	if (access("/proc/modules", F_OK))
		ret->has[ETW_KERNEL_HAS_MODULES] = true;
	ret->has[ETW_KERNEL_HAS_SYMBOLS] = etw_kallsyms_shows_addresses(ETW_KALLSYMS_PATH) > 0;
	/* Elsewhere a lock of either type spins. */
	if (!is_real_time())
		ret->has[ETW_KERNEL_HAS_RING_IN_INTERRUPT] = ret->has[ETW_KERNEL_HAS_RING];
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct etw_kernel_features machine; /* written once, under the lock */
static int machine_result = -EAGAIN;       /* under the lock; -EAGAIN: nobody has looked */

/* Once; again where there was no memory for it, which says nothing of the machine. */
static int look_at_machine(void)
{
	int r;

	(void)pthread_mutex_lock(&lock);
	if (machine_result == -EAGAIN || machine_result == -ENOMEM) {
		machine_result = etw_kernel_features_read(BTF_FILE, &machine);
		if (!machine_result)
			etw_kernel_features_try(&machine);
	}
	r = machine_result;
	(void)pthread_mutex_unlock(&lock);
	return r;
}

int etw_kernel_probe_types(void)
{
	return look_at_machine();
}

const struct etw_kernel_features *etw_kernel_probe_features(void)
{
	(void)look_at_machine();
	return &machine;
}

int etw_kernel_probe_class(enum etw_kernel_class class, struct etw_fault *reterr)
{
	return etw_kernel_class_check(etw_kernel_probe_features(), class, reterr);
}
