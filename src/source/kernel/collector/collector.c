/* SPDX-License-Identifier: MIT */
#include "source/kernel/collector/collector.h"

#include <errno.h>
#include <sched.h>
#include <sys/param.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/macros.h"

#define HELD_BYTES_MAX (UINT64_C(64) << 20)
#define READ_YIELDS    100 /* before a look once in a millisecond */
#define READ_TRIES     2000

int etw_kernel_collector_init(struct etw_kernel_collector *collector,
			      const struct etw_source_host *host,
			      const struct etw_source_mark *marks)
{
	*collector = (struct etw_kernel_collector){.host = host};
	TRY(etw_kernel_streams_init(&collector->streams, host->cpu_count));
	TRY(etw_kernel_out_init(&collector->out, host, marks));
	TRY(etw_kernel_cpu_out_init(&collector->cpu_out, host, &collector->streams.cpu_rings,
				    &collector->out));
	collector->out.account = &collector->cpu_out.account;
	collector->tracker = etw_kernel_tracker_new(&collector->out);
	return collector->tracker ? 0 : -ENOMEM;
}

int etw_kernel_collector_unwind(struct etw_kernel_collector *collector)
{
	if (!collector->unwinder) {
		collector->unwinder = etw_kernel_unwinder_new("/proc");
		if (!collector->unwinder)
			return -ENOMEM;
	}
	collector->cpu_out.stacks = &collector->unwinder->stacks;
	etw_kernel_streams_take_copies(&collector->streams);
	return 0;
}

void etw_kernel_collector_done(struct etw_kernel_collector *collector)
{
	etw_kernel_cpu_out_done(&collector->cpu_out);
	etw_kernel_streams_done(&collector->streams);
	etw_kernel_tracker_free(collector->tracker);
	etw_kernel_unwinder_free(collector->unwinder);
	etw_announced_clear(&collector->announced);
	if (collector->out.queues)
		etw_kernel_out_done(&collector->out);
}

/* Returns as etw_kernel_streams_read(). */
static int read_streams(struct etw_kernel_collector *collector)
{
	int r = etw_kernel_streams_read(&collector->streams);

	collector->is_behind = r != 0;
	return r;
}

/* @process: NULL: it is not known */
static struct etw_kernel_stack_owner owner_of(uint32_t pid,
					      const struct etw_kernel_process *process)
{
	return (struct etw_kernel_stack_owner){
		.pid = pid,
		.uid = process ? process->uid : ETW_KERNEL_NO_UID,
		.start_ticks = process ? process->start_ticks : 0,
	};
}

static void unwind(struct etw_kernel_collector *collector, const struct etw_kernel_stack_copy *copy)
{
	const struct etw_kernel_process *process = etw_kernel_tasks_find(&collector->tracker->tasks,
									 copy->pid);
	const struct etw_kernel_stack_owner owner = owner_of(copy->pid, process);

	if (collector->unwinder)
		etw_kernel_unwinder_add(collector->unwinder, &owner,
					process ? process->images : NULL, copy);
}

/* Whether a record is of the kernel's own code, which is told where images are wanted. */
static bool apply_own(struct etw_kernel_collector *collector, const struct etw_kernel_item *item)
{
	const struct etw_kernel_module *module = item->record;

	if (item->byte_count < sizeof(*module) || module->head.kind != ETW_KERNEL_MODULE)
		return false;
	if (collector->own && collector->tracker->flags & EVENT_TRACE_FLAG_IMAGE_LOAD)
		etw_kernel_own_module(collector->own, &collector->out, module);
	return true;
}

/* Takes the stack off a record of the ring. Returns the bytes of the rest. */
static uint32_t take_stack(struct etw_kernel_collector *collector,
			   const struct etw_kernel_record *record, uint32_t byte_count)
{
	const struct etw_kernel_process *process;
	struct etw_kernel_stack_reader reader = {
		.routines = collector->cpu_out.maker.routines,
		.seen = collector->cpu_out.maker.seen,
		.tables = collector->unwinder ? &collector->unwinder->tables : NULL,
	};

	if (byte_count < sizeof(*record) || !record->stack_bytes ||
	    record->stack_bytes > byte_count - sizeof(*record))
		return byte_count;
	process = etw_kernel_tasks_find(&collector->tracker->tasks, record->pid);
	reader.owner = owner_of(record->pid, process);
	if (process) {
		/* A program that was just taken is where its own images say. */
		reader.images = record->kind == ETW_KERNEL_EXEC ? process->next_images
								: process->images;
	}
	if (etw_kernel_task_stack_read(&reader, record, byte_count, &collector->stack))
		collector->out.stack = &collector->stack;
	return byte_count - record->stack_bytes;
}

/* @time_ns: as the record itself says it */
static void apply_perf(struct etw_kernel_collector *collector, const struct etw_kernel_item *item,
		       uint64_t time_ns)
{
	struct etw_kernel_perf_record record;
	const struct etw_kernel_thread *thread;
	struct etw_kernel_actor actor;

	if (!item->byte_count || etw_kernel_perf_parse(item->bytes, item->byte_count, &record))
		return;
	if (record.kind == ETW_KERNEL_PERF_MAP) {
		thread = etw_kernel_tasks_find_thread(&collector->tracker->tasks, record.tid);
		if (thread && thread->map_stack)
			collector->out.stack = etw_kernel_map_stack_of(thread->map_stack,
								       &record.mapping, time_ns);
		etw_kernel_tracker_map(collector->tracker, record.tid, record.pid, &record.mapping);
		return;
	}
	if (record.kind == ETW_KERNEL_PERF_EXEC) {
		etw_kernel_tracker_begin_exec(collector->tracker, record.pid);
		return;
	}
	actor = (struct etw_kernel_actor){.tid = record.tid, .pid = record.pid};
	if (collector->own && collector->tracker->flags & EVENT_TRACE_FLAG_IMAGE_LOAD)
		etw_kernel_own_made(collector->own, &collector->out, actor, &record.made);
}

static void apply_item(struct etw_kernel_collector *collector, struct etw_kernel_item *item)
{
	const uint64_t said_ns = item->time_ns;
	uint32_t byte_count;

	/* Later than it may be: a perf record whose CPU stood still before it reserved. */
	if (item->time_ns < collector->applied_ns)
		item->time_ns = collector->applied_ns;
	collector->applied_ns = item->time_ns;
	etw_kernel_out_begin(&collector->out, item->time_ns, item->cpu, item);
	item->is_applied = true;
	if (item->is_stack) {
		unwind(collector, item->record);
		return;
	}
	if (item->is_mapping) {
		apply_perf(collector, item, said_ns);
		return;
	}
	byte_count = take_stack(collector, item->record, item->byte_count);
	if (!apply_own(collector, item))
		etw_kernel_tracker_apply(collector->tracker, item->record, byte_count);
}

/*
 * @held_max: bytes of events that wait; a record may make many
 *
 * Returns whether all were applied: what is left has the next turn, when some of these events have gone out.
 */
static bool apply_records(struct etw_kernel_collector *collector, uint64_t until_ns,
			  uint64_t held_max)
{
	struct etw_kernel_heap *heap = &collector->streams.heap;
	struct etw_kernel_item *item;

	while ((item = etw_kernel_heap_peek(heap)) && item->time_ns <= until_ns) {
		if (collector->out.held_bytes > held_max)
			return false;
		apply_item(collector, etw_kernel_heap_take(heap));
	}
	if (until_ns > collector->applied_ns)
		collector->applied_ns = until_ns;
	return true;
}

/* Behind all records of its time: numbers of events only rise. */
static void apply_announced(struct etw_kernel_collector *collector,
			    const struct etw_announced_news *news)
{
	etw_kernel_collector_begin(collector, NULL);
	etw_kernel_out_slot(&collector->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_tracker_announced(collector->tracker, news);
}

static void apply_until(struct etw_kernel_collector *collector, uint64_t until_ns,
			uint64_t held_max)
{
	struct etw_announced_queue *queue = &collector->announced;

	/* 0: no moment is known yet. Who has just taken over tells what there is behind its predecessor's marks. */
	if (collector->is_behind && collector->streams.read_ns)
		until_ns = MIN(until_ns, collector->streams.read_ns);
	while (queue->first && queue->first->time_ns <= until_ns) {
		if (!apply_records(collector, queue->first->time_ns, held_max))
			return;
		apply_announced(collector, queue->first);
		etw_announced_drop(queue);
	}
	(void)apply_records(collector, until_ns, held_max);
}

void etw_kernel_collector_apply(struct etw_kernel_collector *collector, uint64_t until_ns)
{
	apply_until(collector, until_ns, UINT64_MAX);
}

void etw_kernel_collector_announce(struct etw_kernel_collector *collector,
				   struct etw_announced_queue *queue, uint64_t until_ns)
{
	etw_announced_append(&collector->announced, queue);
	collector->announced_ns = until_ns;
}

int etw_kernel_collector_collect(struct etw_kernel_collector *collector, int64_t *ret_watermark_raw)
{
	uint64_t until_ns;
	int r;

	etw_kernel_streams_follow_cpus(&collector->streams, collector->host);
	/* The kernel's rings hold what comes, as long as they can. */
	collector->is_behind = collector->out.held_bytes > HELD_BYTES_MAX;
	r = collector->is_behind ? 0 : read_streams(collector);
	if (r < 0 && r != -ENOMEM)
		return r;
	until_ns = collector->streams.read_ns;
	if (collector->announced_ns)
		until_ns = MIN(until_ns, collector->announced_ns);
	apply_until(collector, until_ns, HELD_BYTES_MAX);
	*ret_watermark_raw = etw_kernel_watermark_move(&collector->watermark, collector->host,
						       collector->applied_ns);
	return r > 0;
}

/*
 * A BPF program that is writing a record holds up all that come behind it, for as long as its processor stands
 * still. Whoever reads on without them counts what they tell as told, and a host that takes over leaves it out.
 *
 * However much is held: what the rings have is bounded, and at the end nobody comes back for it.
 */
void etw_kernel_collector_read_all(struct etw_kernel_collector *collector)
{
	for (int i = 0; i < READ_TRIES; i++) {
		if (read_streams(collector) <= 0)
			return;
		if (i < READ_YIELDS)
			sched_yield();
		else
			usleep(1000);
	}
}

void etw_kernel_collector_begin(struct etw_kernel_collector *collector,
				struct etw_kernel_item *item)
{
	etw_kernel_out_begin(&collector->out, collector->applied_ns, (uint32_t)sched_getcpu(),
			     item);
}

/* Which of the two has the next event: those of tasks come first where both are of one moment. */
static bool is_frequent(struct etw_kernel_collector *collector, uint32_t cpu, uint64_t *ret_ns)
{
	uint64_t out_ns = etw_kernel_out_next_ns(&collector->out, cpu);
	uint64_t cpu_ns = etw_kernel_cpu_out_next_ns(&collector->cpu_out, cpu,
						     collector->applied_ns);

	*ret_ns = MIN(out_ns, cpu_ns);
	return cpu_ns < out_ns;
}

bool etw_kernel_collector_peek(struct etw_kernel_collector *collector, uint32_t cpu,
			       struct etw_source_event *ret)
{
	uint64_t next_ns;

	if (is_frequent(collector, cpu, &next_ns))
		return etw_kernel_cpu_out_peek(&collector->cpu_out, cpu, ret);
	return next_ns != UINT64_MAX && etw_kernel_out_peek(&collector->out, cpu, ret);
}

void etw_kernel_collector_look(struct etw_kernel_collector *collector, uint32_t cpu,
			       uint64_t *ret_moment_ns, struct etw_source_event *ret_stack)
{
	*ret_stack = (struct etw_source_event){0};
	if (is_frequent(collector, cpu, ret_moment_ns))
		etw_kernel_cpu_out_stack(&collector->cpu_out, cpu, ret_stack);
	else
		etw_kernel_out_stack(&collector->out, cpu, ret_stack);
}

void etw_kernel_collector_pop(struct etw_kernel_collector *collector, uint32_t cpu,
			      struct etw_source_mark *ret_mark)
{
	uint64_t next_ns;

	if (is_frequent(collector, cpu, &next_ns))
		etw_kernel_cpu_out_pop(&collector->cpu_out, cpu, ret_mark);
	else
		etw_kernel_out_pop(&collector->out, cpu, ret_mark);
}
