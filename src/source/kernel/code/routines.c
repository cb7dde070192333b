/* SPDX-License-Identifier: MIT */
/* Functions that serve calls and soft interrupts, by number. See routines.h. */
#include "source/kernel/code/routines.h"

#include <stddef.h>
#include <string.h>
#include <sys/param.h>

#include "base/kallsyms.h"
#include "base/macros.h"
#include "source/kernel/code/syscall_names.inc"

#if defined(__x86_64__)
#define NATIVE_PREFIX "__x64_sys_"
#elif defined(__aarch64__)
#define NATIVE_PREFIX "__arm64_sys_"
#endif
#define PLAIN_COMPAT_PREFIX "__ia32_sys_"
#define COMPAT_PREFIX       "__ia32_compat_sys_"

/* Linux' HI_SOFTIRQ to RCU_SOFTIRQ. */
static const char *const soft_names[ETW_KERNEL_SOFT_NUMBERS] = {
	"tasklet_hi_action",   "run_timer_softirq", "net_tx_action",  "net_rx_action",
	"blk_done_softirq",    "irq_poll_softirq",  "tasklet_action", "sched_balance_softirq",
	"hrtimer_run_softirq", "rcu_core_si",
};
#define SOFT_SCHED     7
#define OLD_SCHED_NAME "run_rebalance_domains" /* before 6.10 */

/* Vectors are the same on all x86 machines. */
static const struct {
	const char *name;
	uint32_t vector;
} vector_names[] = {
	{"sysvec_apic_timer_interrupt", 0xEC}, {"sysvec_irq_work", 0xF6},
	{"sysvec_call_function_single", 0xFB}, {"sysvec_call_function", 0xFC},
	{"sysvec_reschedule_ipi", 0xFD},
};

/* The name behind a prefix; NULL: it has another. */
static const char *cut_prefix(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static void take_interrupt(struct etw_kernel_routines *routines, const char *name, uint64_t address)
{
	for (size_t i = 0; i < ETW_KERNEL_SOFT_NUMBERS; i++)
		if (strcmp(name, soft_names[i]) == 0)
			routines->soft[i] = address;
	for (size_t i = 0; i < ARRAY_SIZE(vector_names); i++)
		if (strcmp(name, vector_names[i].name) == 0)
			routines->vectors[vector_names[i].vector] = address;
	if (strcmp(name, OLD_SCHED_NAME) == 0 && !routines->soft[SOFT_SCHED])
		routines->soft[SOFT_SCHED] = address;
}

#ifdef NATIVE_PREFIX

static void take_native(struct etw_kernel_routines *routines, const char *name, uint64_t address)
{
	for (size_t i = 0; i < MIN(ARRAY_SIZE(native_calls), (size_t)ETW_KERNEL_CALLS); i++)
		if (native_calls[i] && strcmp(native_calls[i], name) == 0)
			routines->native[i] = address;
}

/* The kernel serves a call by the function for 32-bit programs where it has one. */
static void take_compat(struct etw_kernel_routines *routines, const char *name, uint64_t address,
			bool is_plain)
{
#if defined(__x86_64__)
	for (size_t i = 0; i < MIN(ARRAY_SIZE(compat_calls), (size_t)ETW_KERNEL_CALLS); i++) {
		bool only_plain;

		if (!compat_calls[i])
			continue;
		only_plain = compat_calls[i][0] == '=';
		if (strcmp(compat_calls[i] + only_plain, name) != 0)
			continue;
		if (is_plain ? only_plain || !routines->compat[i] : !only_plain)
			routines->compat[i] = address;
	}
#else
	(void)routines;
	(void)name;
	(void)address;
	(void)is_plain;
#endif
}

static void take_call(struct etw_kernel_routines *routines, const char *name, uint64_t address)
{
	const char *rest = cut_prefix(name, NATIVE_PREFIX);

	if (rest) {
		take_native(routines, rest, address);
		return;
	}
	rest = cut_prefix(name, PLAIN_COMPAT_PREFIX);
	if (rest) {
		take_compat(routines, rest, address, true);
		return;
	}
	rest = cut_prefix(name, COMPAT_PREFIX);
	if (rest)
		take_compat(routines, rest, address, false);
}

#else

static void take_call(struct etw_kernel_routines *routines, const char *name, uint64_t address)
{
	(void)routines;
	(void)name;
	(void)address;
}

#endif

/* Tracepoints with stacks. Two functions of each lead to a program: the compiler may have made a jump of either's call. */
static const char *const traced[ETW_KERNEL_TRACED] = {
	"sched_switch",
	"sched_waking",
	"sched_wakeup_new",
	"sys_enter",
	"task_newtask",
	"sched_process_exec",
	"sched_process_exit",
	"irq_handler_exit",
	"softirq_exit",
	"local_timer_exit",
	"reschedule_exit",
	"call_function_exit",
	"call_function_single_exit",
	"irq_work_exit",
	"module_load",
	"module_free",
};

static bool is_tracer_name(const char *name, size_t tracer)
{
	const char *rest = cut_prefix(name, tracer % 2 ? "__bpf_trace_" : "__traceiter_");

	return rest && strcmp(rest, traced[tracer / 2]) == 0;
}

/* The list is in the order of addresses: a function ends where the next one begins. */
static void take_tracer(struct etw_kernel_routines *routines, const char *name, uint64_t address)
{
	for (size_t i = 0; i < ETW_KERNEL_TRACERS; i++) {
		struct etw_kernel_tracer *tracer = &routines->tracers[i];

		if (tracer->start && !tracer->end && address > tracer->start)
			tracer->end = address;
		if (name[0] == '_' && is_tracer_name(name, i))
			*tracer = (struct etw_kernel_tracer){.start = address};
	}
}

/* Functions of modules serve nothing of this. */
static int take_line(void *context, const struct etw_kallsyms_line *line)
{
	struct etw_kernel_routines *routines = context;

	if (!line->address || line->owner)
		return 0;
	take_tracer(routines, line->name, line->address);
	if (line->name[0] == '_')
		take_call(routines, line->name, line->address);
	else
		take_interrupt(routines, line->name, line->address);
	return 0;
}

/* Not by functions.h: of the names of one address it keeps the best, and a call without arguments has one function for all. */
int etw_kernel_routines_read(struct etw_kernel_routines *routines, const char *path)
{
	if (routines->is_read)
		return 0;
	TRY(etw_kallsyms_read(path, take_line, routines));
	routines->is_read = true;
	return 0;
}

const char *etw_kernel_routines_call_name(uint32_t number, bool is_compat)
{
	const char *name = NULL;

#ifdef NATIVE_PREFIX
	if (!is_compat && number < ARRAY_SIZE(native_calls))
		name = native_calls[number];
#endif
#if defined(__x86_64__)
	if (is_compat && number < ARRAY_SIZE(compat_calls))
		name = compat_calls[number];
#endif
	(void)is_compat;
	return name && name[0] == '=' ? name + 1 : name;
}

uint64_t etw_kernel_routines_call(const struct etw_kernel_routines *routines, uint32_t number,
				  bool is_compat)
{
	uint64_t address = 0;

	if (number < ETW_KERNEL_CALLS)
		address = is_compat ? routines->compat[number] : routines->native[number];
	if (address)
		return address;
	if (is_compat && number < ETW_KERNEL_CALLS_END)
		return (uint64_t)number + ETW_KERNEL_CALLS_END;
	/* What would look like a call of a 32-bit program is the number of none. */
	return number >= ETW_KERNEL_CALLS_END && number < 2 * ETW_KERNEL_CALLS_END ? UINT32_MAX
										   : number;
}

uint64_t etw_kernel_routines_vector(const struct etw_kernel_routines *routines, uint32_t vector)
{
	if (vector < ETW_KERNEL_VECTORS && routines->vectors[vector])
		return routines->vectors[vector];
	return vector;
}

uint64_t etw_kernel_routines_soft(const struct etw_kernel_routines *routines, uint32_t number)
{
	if (number < ETW_KERNEL_SOFT_NUMBERS && routines->soft[number])
		return routines->soft[number];
	return number;
}

bool etw_kernel_routines_is_tracer(const struct etw_kernel_routines *routines, uint64_t address)
{
	for (size_t i = 0; i < ETW_KERNEL_TRACERS; i++)
		if (address >= routines->tracers[i].start && address < routines->tracers[i].end)
			return true;
	return false;
}
