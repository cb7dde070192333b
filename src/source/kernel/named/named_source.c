/* SPDX-License-Identifier: MIT */
#include "source/kernel/named/named_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "base/process_facts.h"
#include "base/time.h"
#include "source/kernel/kept.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/named/named_enabled.h"
#include "source/kernel/named/named_event.h"
#include "wire/etl_event.h"

#define STACKWALK_HEAD_BYTES (sizeof(struct wire_perfinfo_header) + 16)
#define OPCODE_DC_START      3
#define OPCODE_DC_END        4
#define GROUP_PROCESS        0x03

/* What was captured and waits at most. */
#define CAPTURED_BYTES_MAX (UINT64_C(16) << 20)

/* The next event of a processor. */
struct front {
	struct etw_source_mark mark; /* of what was taken last */
	int64_t time_raw;
	uint32_t byte_count;
	bool is_made;   /* of what the source beneath shows */
	bool has_stack; /* the event behind it is its stack, and is taken with it */
	uint8_t bytes[ETW_KERNEL_NAMED_EVENT_MAX] __attribute__((aligned(8)));
};

/* An event that somebody asked for with EVENT_CONTROL_CODE_CAPTURE_STATE; all are of processor 0. */
struct captured {
	struct captured *next;
	int64_t time_raw;
	uint32_t byte_count;
	uint8_t bytes[] __attribute__((aligned(8)));
};

/* This source; the one beneath has a struct of its own, which nobody sees here. */
struct etw_source {
	const struct etw_source_ops *ops;
	struct etw_source_host host;
	struct etw_source *beneath; /* owned; of etw_kernel_source */
	struct etw_kernel_named_enabled enabled;
	struct etw_kernel_named_maker maker;
	struct front *fronts;          /* owned; host.cpu_count */
	struct captured *first, *last; /* owned */
	uint64_t captured_bytes, no_memory;
	bool shows_captured; /* the last peek at processor 0 did */
	int64_t watermark_raw;
	struct etw_kernel_named_event event; /* that is being made */
	uint8_t described[ETW_KERNEL_NAMED_EVENT_MAX] __attribute__((aligned(8)));
};

static const struct etw_source_ops *const kernel = &etw_kernel_source;

static int64_t clock_difference(clockid_t from)
{
	return (int64_t)etw_time_read_ns(CLOCK_REALTIME) - (int64_t)etw_time_read_ns(from);
}

static void close_source(struct etw_source *source)
{
	if (!source)
		return;
	if (source->beneath)
		kernel->close(source->beneath);
	while (source->first) {
		struct captured *next = source->first->next;

		free(source->first);
		source->first = next;
	}
	free(source->fronts);
	free(source);
}

static void closep_source(struct etw_source **source)
{
	close_source(*source);
}

static int open_source(const struct etw_source_host *host, const struct etw_source_mark *marks,
		       struct etw_source **ret, struct etw_fault *reterr)
{
	CLEANUP(closep_source) struct etw_source *source = calloc(1, sizeof(*source));
	const long ticks = sysconf(_SC_CLK_TCK);

	if (!source)
		return -ENOMEM;
	source->ops = &etw_kernel_named_source;
	source->host = *host;
	source->fronts = calloc(host->cpu_count ? host->cpu_count : 1, sizeof(*source->fronts));
	if (!source->fronts)
		return -ENOMEM;
	for (uint32_t i = 0; marks && i < host->cpu_count; i++)
		source->fronts[i].mark = marks[i];
	TRY(kernel->open(&source->host, marks, &source->beneath, reterr));
	source->maker.tasks = etw_kernel_source_tasks(source->beneath);
	source->maker.ns_per_tick = ETW_NS_PER_S / (ticks > 0 ? (uint64_t)ticks : 100);
	source->maker.realtime_ns = clock_difference(CLOCK_MONOTONIC);
	source->maker.boot_realtime_ns = clock_difference(CLOCK_BOOTTIME);
	*ret = TAKE(source);
	return 0;
}

static bool has_provider(const GUID *guid)
{
	return etw_kernel_named_find(guid) != NULL;
}

static void forget_fronts(struct etw_source *source)
{
	for (uint32_t i = 0; i < source->host.cpu_count; i++)
		source->fronts[i].is_made = false;
}

static int enable(struct etw_source *source, const struct etw_source_request *request,
		  struct etw_fault *reterr)
{
	struct etw_source_request own;
	int r, result;

	etw_kernel_named_enabled_set(&source->enabled, request);
	forget_fronts(source);
	result = etw_kernel_named_enabled_ask(&source->enabled, kernel, &own, reterr);
	own.only_pid = request->only_pid;
	r = kernel->enable(source->beneath, &own, result ? NULL : reterr);
	return result ? result : r;
}

/* The start's fills what is known of processes; the end's would tell nothing that these providers have. */
static int run_down(struct etw_source *source, bool is_end)
{
	return is_end ? 0 : kernel->rundown(source->beneath, false);
}

/* Whose the event is, as far as it is known. */
static void describe_process(const struct etw_source *source, uint32_t pid,
			     struct etw_kernel_named_items *ret)
{
	struct etw_kernel_process_facts facts;

	ret->session_id = ETW_SESSION_ID_UNKNOWN;
	if (!etw_kernel_tasks_facts(source->maker.tasks, pid, &facts))
		return;
	ret->uid = facts.uid;
	ret->session_id = facts.session_id;
	ret->start_key = facts.start_ticks << 22 | pid;
}

/*
 * The event of a classic one, in @to.
 *
 * @stack: the StackWalk event behind it, or one of no bytes
 *
 * Returns its bytes; 0: nobody wants it.
 */
static uint32_t make(struct etw_source *source, const struct etw_kernel_named_classic *from,
		     const struct etw_source_event *stack, uint32_t cpu, int64_t time_raw,
		     uint8_t *to)
{
	struct etw_kernel_named_event *event = &source->event;
	struct etw_kernel_named_items items = {0};
	const struct etw_kernel_named_enabled_one *one = NULL;
	bool has_stack = false;

	event->tid = from->tid;
	event->pid = from->pid;
	event->kernel_ticks = from->kernel_ticks;
	event->user_ticks = from->user_ticks;
	for (uint32_t i = 0; !one && i < source->enabled.count; i++) {
		if (source->enabled.all[i].provider->make(&source->maker, from, event))
			one = &source->enabled.all[i];
	}
	if (!one || !etw_kernel_named_enabled_wants(one, event, &has_stack))
		return 0;
	items.property = one->wanted.property;
	describe_process(source, event->pid, &items);
	/* The same in all sessions: a processor has one event at a moment. */
	items.event_key = from->moment_ns << 12 | (cpu & 0xFFF);
	if (has_stack && stack->byte_count > STACKWALK_HEAD_BYTES) {
		items.frames = stack->bytes + STACKWALK_HEAD_BYTES;
		items.frame_count = (uint32_t)(stack->byte_count - STACKWALK_HEAD_BYTES) / 8;
	}
	return etw_kernel_named_write(&one->provider->guid, event, &items, time_raw, to);
}

/* Descriptions of what is there are asked for, and not part of the stream. */
static bool is_description(const struct etw_kernel_named_classic *from)
{
	return from->group != 0 && (from->type == OPCODE_DC_START || from->type == OPCODE_DC_END) &&
	       (from->group == GROUP_PROCESS || from->group == 0x05 || from->group == 0x14);
}

/* Looks for the next event of the processor that somebody wants; those before it are dropped. */
static void find_next(struct etw_source *source, uint32_t cpu)
{
	struct front *front = &source->fronts[cpu];
	struct etw_kernel_named_classic from;
	struct etw_source_event next, stack;

	while (!front->is_made && kernel->peek(source->beneath, cpu, &next)) {
		front->byte_count = 0;
		if (etw_kernel_named_read(next.bytes, next.byte_count, &from) &&
		    !is_description(&from)) {
			etw_kernel_source_look(source->beneath, cpu, &from.moment_ns, &stack);
			front->has_stack = stack.byte_count != 0;
			front->byte_count = make(source, &from, &stack, cpu, next.time_raw,
						 front->bytes);
		}
		front->time_raw = next.time_raw;
		front->is_made = front->byte_count != 0;
		if (!front->is_made)
			kernel->pop(source->beneath, cpu, &front->mark);
	}
}

/* What was captured waits until nothing earlier can come: a later event is there, or the watermark is behind it. */
static bool is_captured_next(const struct etw_source *source, uint32_t cpu)
{
	const struct front *front = &source->fronts[cpu];

	return cpu == 0 && source->first &&
	       source->first->time_raw <=
		       (front->is_made ? front->time_raw : source->watermark_raw);
}

static bool peek(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret)
{
	const struct front *front = &source->fronts[cpu];

	find_next(source, cpu);
	if (cpu == 0)
		source->shows_captured = is_captured_next(source, cpu);
	if (cpu == 0 && source->shows_captured)
		*ret = (struct etw_source_event){source->first->bytes, source->first->byte_count,
						 source->first->time_raw};
	else if (front->is_made)
		*ret = (struct etw_source_event){front->bytes, front->byte_count, front->time_raw};
	else
		return false;
	return true;
}

static void pop_captured(struct etw_source *source)
{
	struct captured *first = source->first;

	source->first = first->next;
	if (!source->first)
		source->last = NULL;
	source->captured_bytes -= first->byte_count;
	source->shows_captured = false;
	free(first);
}

static void pop(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret_mark)
{
	struct front *front = &source->fronts[cpu];
	struct etw_source_event event;

	if (cpu == 0 && source->shows_captured) {
		pop_captured(source);
	} else {
		for (int i = 0; i < 1 + front->has_stack; i++) {
			if (kernel->peek(source->beneath, cpu, &event))
				kernel->pop(source->beneath, cpu, &front->mark);
		}
		front->is_made = false;
	}
	*ret_mark = front->mark;
}

static int collect(struct etw_source *source, int64_t *ret_watermark_raw)
{
	int r;

	source->maker.realtime_ns = clock_difference(CLOCK_MONOTONIC);
	forget_fronts(source);
	r = kernel->collect(source->beneath, ret_watermark_raw);
	if (r >= 0)
		source->watermark_raw = *ret_watermark_raw;
	return r;
}

static void release(struct etw_source *source)
{
	kernel->release(source->beneath);
}

static void get_loss(struct etw_source *source, struct etw_source_loss *ret)
{
	kernel->loss(source->beneath, ret);
	ret[source->host.cpu_count].events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_TASKS] +=
		source->no_memory;
}

/* What the source beneath describes, made into events of the providers. */
struct description {
	struct etw_source *source;
	etw_source_put_fn *put; /* NULL: they are queued */
	void *context;
};

static void keep_captured(struct etw_source *source, const struct etw_source_event *event)
{
	struct captured *captured = NULL;

	if (source->captured_bytes < CAPTURED_BYTES_MAX)
		captured = malloc(sizeof(*captured) + event->byte_count);
	if (!captured) {
		source->no_memory++;
		return;
	}
	captured->next = NULL;
	captured->time_raw = event->time_raw;
	captured->byte_count = event->byte_count;
	memcpy(captured->bytes, event->bytes, event->byte_count);
	if (source->last)
		source->last->next = captured;
	else
		source->first = captured;
	source->last = captured;
	source->captured_bytes += event->byte_count;
}

static void take_described(void *context, uint32_t cpu, const struct etw_source_event *event)
{
	const struct description *description = context;
	struct etw_source *source = description->source;
	const struct etw_source_event no_stack = {0};
	struct etw_source_event ready = {.bytes = source->described, .time_raw = event->time_raw};
	struct etw_kernel_named_classic from;

	if (!etw_kernel_named_read(event->bytes, event->byte_count, &from) ||
	    from.group != GROUP_PROCESS || from.type != OPCODE_DC_END)
		return;
	from.tid = (uint32_t)syscall(SYS_gettid);
	from.pid = (uint32_t)getpid();
	ready.byte_count = make(source, &from, &no_stack, cpu, event->time_raw, source->described);
	if (!ready.byte_count)
		return;
	if (description->put)
		description->put(description->context, 0, &ready);
	else
		keep_captured(source, &ready);
}

static int describe(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
		    void *context)
{
	struct description description = {source, put, context};

	return kernel->describe(source->beneath, time_raw, take_described, &description);
}

/* Level and keywords are those of the request, filters and properties those that hold. */
static int capture(struct etw_source *source, const struct etw_source_provider *wanted)
{
	struct description description = {.source = source};
	struct etw_kernel_named_enabled_one *one = NULL;
	struct etw_source_provider before;
	int r;

	for (uint32_t i = 0; i < source->enabled.count; i++) {
		if (source->enabled.all[i].provider == etw_kernel_named_find(&wanted->guid))
			one = &source->enabled.all[i];
	}
	if (!one)
		return 0;
	before = one->wanted;
	one->wanted.level = wanted->level;
	one->wanted.match_any = wanted->match_any;
	one->wanted.match_all = wanted->match_all;
	r = kernel->describe(source->beneath, source->host.now_raw(source->host.context),
			     take_described, &description);
	one->wanted = before;
	return r;
}

const struct etw_source_ops etw_kernel_named_source = {
	.name = "kernel-provider",
	.kept_fds = ETW_KERNEL_KEPT_FDS,
	.kept_fds_per_cpu = ETW_KERNEL_KEPT_FDS_PER_CPU,
	.has_provider = has_provider,
	.check_provider = etw_kernel_named_check,
	.capture = capture,
	.open = open_source,
	.close = close_source,
	.enable = enable,
	.rundown = run_down,
	.describe = describe,
	.collect = collect,
	.peek = peek,
	.pop = pop,
	.release = release,
	.loss = get_loss,
};
