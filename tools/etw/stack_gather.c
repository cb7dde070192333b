/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define DEFAULT_SAMPLE 10000 /* 1 ms */
#define PLACES_MAX     ((size_t)1 << 20)
#define OUTER_LEVELS   2 /* place, thread */

#define PAGE_OF_NOTHING 4096

/* How many images of a process are gone. */
struct gone {
	uint32_t pid;
	uint64_t count;
};

/* Of a process of Linux, the last that had the number: S-1-22-1-UID. */
static bool find_uid(const void *context, uint32_t pid, uint32_t *ret)
{
	static const char head[] = "S-1-22-1-";
	const struct etw_process *process = etw_processes_find(context, pid, INT64_MAX);

	if (!process || !process->user_sid ||
	    strncmp(process->user_sid, head, sizeof(head) - 1) != 0)
		return false;
	*ret = (uint32_t)strtoul(process->user_sid + sizeof(head) - 1, NULL, 10);
	return true;
}

static int create_symbols(struct stack_profile *profile, size_t machine, size_t trace)
{
	const struct etw_etl_header *header = etw_trace_header(profile->inputs->traces[trace]);
	const struct stack_query *query = &profile->query;
	const struct etw_symbols_options options = {
		.root = query->root,
		.search_path = query->symbol_path,
		.is_elsewhere = !etw_symbols_is_this_boot(header->boot_ft),
		.find_uid = find_uid,
		.uid_context = profile->inputs->processes.machines[machine],
		.want_lines = query->lines,
		.want_inlines = query->inlines,
		.keep_mangled = query->mangled,
	};

	return etw_symbols_create(&options, &profile->symbols[machine]);
}

static int create_parts(struct stack_gather *gather)
{
	struct stack_profile *profile = gather->profile;
	const struct etw_machine_processes *processes = &profile->inputs->processes;
	const size_t traces = profile->inputs->count;

	profile->machines = processes->count;
	profile->symbols = calloc(processes->count, sizeof(struct etw_symbols *));
	gather->machines = calloc(processes->count, sizeof(*gather->machines));
	gather->traces = calloc(traces, sizeof(*gather->traces));
	gather->machine_of = calloc(traces, sizeof(*gather->machine_of));
	profile->accounts = calloc(traces, sizeof(*profile->accounts));
	if (!profile->symbols || !gather->machines || !gather->traces || !gather->machine_of ||
	    !profile->accounts)
		return -ENOMEM;
	return 0;
}

static int finish_event(void *context, uint64_t token, enum etw_stack_fate fate,
			const struct etw_callstack *stack);

int stack_gather_create(struct stack_profile *profile, struct stack_gather **ret)
{
	struct stack_gather *gather = *ret = calloc(1, sizeof(*gather));

	if (!gather)
		return -ENOMEM;
	gather->profile = profile;
	TRY(create_parts(gather));
	for (size_t i = 0; i < profile->inputs->count; i++) {
		const struct etw_machine_processes *processes = &profile->inputs->processes;
		uint32_t machine = 0;

		while (processes->machines[machine] != processes->of_trace[i])
			machine++;
		gather->machine_of[i] = machine;
		gather->machines[machine].processes = processes->of_trace[i];
		gather->machines[machine].sample_ft = DEFAULT_SAMPLE;
		if (!profile->symbols[machine])
			TRY(create_symbols(profile, machine, i));
		gather->machines[machine].images.symbols = profile->symbols[machine];
		gather->traces[i].gather = gather;
		TRY(etw_stacks_create(etw_trace_header(profile->inputs->traces[i])->pointer_bytes,
				      finish_event, &gather->traces[i], &gather->traces[i].stacks));
	}
	return 0;
}

void stack_gather_free(struct stack_gather *gather)
{
	if (!gather)
		return;
	for (size_t i = 0; gather->traces && i < gather->profile->inputs->count; i++)
		etw_stacks_free(gather->traces[i].stacks);
	for (size_t i = 0; gather->machines && i < gather->profile->machines; i++) {
		etw_table_done(&gather->machines[i].switched);
		etw_table_done(&gather->machines[i].gone);
	}
	etw_table_done(&gather->places);
	etw_calls_done(&gather->raw);
	etw_arena_done(&gather->arena);
	free(gather->machines);
	free(gather->traces);
	free(gather->machine_of);
	free(gather->events);
	free(gather->path);
	free(gather);
}

static bool is_gone(const void *item, const void *pid)
{
	return ((const struct gone *)item)->pid == *(const uint32_t *)pid;
}

int stack_gather_forget(struct stack_gather *gather, size_t machine, uint32_t pid)
{
	struct stack_machine *at = &gather->machines[machine];
	const uint64_t hash = etw_hash_mix(etw_hash_seed(), pid);
	struct gone *gone = etw_table_find(&at->gone, hash, is_gone, &pid);

	if (!pid)
		at->kernel_gone++;
	if (!gone && at->gone.count < PLACES_MAX) {
		gone = etw_arena_alloc(&gather->arena, sizeof(*gone));
		if (!gone || etw_table_insert(&at->gone, hash, gone))
			return -ENOMEM;
		gone->pid = pid;
	}
	if (gone)
		gone->count++;
	return 0;
}

static bool is_place(const void *item, const void *wanted_at)
{
	const struct stack_place *place = item, *wanted = wanted_at;

	return place->machine == wanted->machine && place->pid == wanted->pid &&
	       place->gone == wanted->gone && place->program == wanted->program;
}

static int find_place(struct stack_gather *gather, const struct stack_pending *event,
		      const struct stack_place **ret)
{
	const struct stack_machine *machine = &gather->machines[event->machine];
	const struct gone *gone = etw_table_find(
		&machine->gone, etw_hash_mix(etw_hash_seed(), event->pid), is_gone, &event->pid);
	const struct stack_place wanted = {
		.machine = event->machine,
		.pid = event->pid,
		.gone = machine->kernel_gone + (gone ? gone->count : 0),
		.program = etw_processes_program(machine->processes, event->pid, event->time_ft),
		.time_ft = event->time_ft,
		.number = (uint32_t)gather->places.count,
	};
	uint64_t hash = etw_hash_mix(etw_hash_seed(), (uint64_t)wanted.machine << 32 | wanted.pid);
	struct stack_place *place;

	hash = etw_hash_mix(etw_hash_mix(hash, wanted.gone), (uintptr_t)wanted.program);
	place = etw_table_find(&gather->places, hash, is_place, &wanted);
	if (!place) {
		place = etw_arena_copy(&gather->arena, &wanted, sizeof(wanted));
		if (!place || etw_table_insert(&gather->places, hash, place))
			return -ENOMEM;
	}
	if (place->time_ft < event->time_ft)
		place->time_ft = event->time_ft;
	*ret = place;
	return 0;
}

static int make_room(struct stack_gather *gather)
{
	const uint32_t room = gather->event_room ? 2 * gather->event_room : 256;
	struct stack_pending *grown;

	if (gather->event_count < gather->event_room)
		return 0;
	grown = realloc(gather->events, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	gather->events = grown;
	gather->event_room = room;
	return 0;
}

int stack_gather_hold(struct stack_gather *gather, const struct stack_pending *event, uint32_t *ret)
{
	uint32_t index;

	if (gather->first_free) {
		index = gather->first_free - 1;
		gather->first_free = gather->events[index].next_free;
	} else {
		TRY(make_room(gather));
		index = gather->event_count++;
	}
	gather->events[index] = *event;
	*ret = index;
	return find_place(gather, event, &gather->events[index].place);
}

static int make_path(struct stack_gather *gather, size_t levels)
{
	struct etw_call **grown;

	if (levels <= gather->path_room)
		return 0;
	grown = realloc(gather->path, 2 * levels * sizeof(struct etw_call *));
	if (!grown)
		return -ENOMEM;
	gather->path = grown;
	gather->path_room = 2 * levels;
	return 0;
}

static int push(struct stack_gather *gather, size_t *levels, uint32_t kind, uint64_t number)
{
	const struct etw_call_name name = {.kind = kind, .number = number};

	return etw_calls_name(&gather->raw, &name, &gather->path[(*levels)++]);
}

/* Where a thread was is an exact place: innermost, and where it entered the kernel. */
static bool is_exact(const struct etw_callstack *stack, uint32_t index)
{
	return !index || index == stack->kernel_count;
}

/*
 * Where code has no frame pointers, a chain of frames leads into what else lies on the stack. An address in the page where
 * nothing ever is shows it: that one and all further out are none.
 */
static uint32_t sound_frames(const struct etw_callstack *stack)
{
	uint32_t count = stack->kernel_count;

	while (count < stack->count && stack->frames[count] >= PAGE_OF_NOTHING)
		count++;
	return count;
}

static int add_stack(struct stack_gather *gather, const struct stack_pending *event,
		     const struct etw_callstack *stack)
{
	const uint32_t count = sound_frames(stack);
	size_t levels = 0;

	TRY(make_path(gather, (size_t)stack->count + OUTER_LEVELS + 1));
	TRY(push(gather, &levels, STACK_RAW_PLACE, (uintptr_t)event->place));
	if (gather->profile->query.threads)
		TRY(push(gather, &levels, STACK_RAW_THREAD, event->tid));
	for (uint32_t i = count; i-- > 0;)
		TRY(push(gather, &levels, is_exact(stack, i) ? STACK_RAW_EXACT : STACK_RAW_RETURN,
			 stack->frames[i]));
	/* Without a stack there is still the place where the processor was. */
	if (!count && event->address)
		TRY(push(gather, &levels, STACK_RAW_ALONE, event->address));
	return etw_calls_add(&gather->raw, gather->path, levels, event->weight, 1);
}

static int finish_event(void *context, uint64_t token, enum etw_stack_fate fate,
			const struct etw_callstack *stack)
{
	const struct stack_trace *trace = context;
	struct stack_gather *gather = trace->gather;
	struct stack_pending event = gather->events[token];

	gather->events[token].next_free = gather->first_free;
	gather->first_free = (uint32_t)token + 1;
	gather->profile->counts.fates[fate]++;
	if (event.pid == ETW_PROCESS_NONE && stack->count) {
		event.pid = stack->pid;
		TRY(find_place(gather, &event, &event.place));
	}
	return add_stack(gather, &event, stack);
}
