/* SPDX-License-Identifier: MIT */
/*
 * The kernel's source: streams in, one order of time, events out. The BPF ring is stream 0, the mapping
 * records of CPU i are stream 1 + i.
 *
 * Watermark: the ring's records carry times read behind their reservation, so whatever lies behind the
 * producer's position that was read after a look at the clock is later than that look. perf reads the
 * clock before it reserves, so its streams are trusted up to PERF_SLACK_NS less; what is later still is
 * raised to the watermark.
 */
#include "source/kernel/kernel_source.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/time.h"

#include "base/macros.h"
#include "source/kernel/bpf_objects.h"
#include "source/kernel/config.h"
#include "source/kernel/events.h"
#include "source/kernel/items.h"
#include "source/kernel/mappings.h"
#include "source/kernel/out.h"
#include "source/kernel/probe.h"
#include "source/kernel/ring.h"
#include "source/kernel/scan.h"
#include "source/kernel/tracker.h"
#include "wire/group_masks.h"

#define BUILT_FLAGS \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD)
#define RING_BYTES      (UINT32_C(8) << 20)
#define PERF_BYTES      (UINT64_C(512) << 10) /* of each CPU */
#define PERF_SLACK_NS   UINT64_C(1000000)
#define RECORDS_AT_ONCE 16384
#define HELD_BYTES_MAX  (UINT64_C(64) << 20)
#define MOMENTS         64 /* watermarks that wait for the clock's next sample */

struct etw_source {
	const struct etw_source_ops *ops;
	struct etw_source_host host;
	uint32_t flags;      /* what is wanted and built */
	uint32_t told_flags; /* what the group masks in the trace say */
	bool wants_config;
	struct etw_kernel_bpf bpf;
	struct etw_kernel_ring ring;
	struct etw_kernel_perf *perfs; /* owned; host.cpu_count; NULL: images were never wanted */
	uint8_t *perf_record;          /* owned; room of one */
	struct etw_kernel_stream *streams; /* owned; 1 + host.cpu_count */
	struct etw_kernel_heap heap;
	struct etw_kernel_out out;
	struct etw_kernel_tracker *tracker;
	uint64_t enabled_ns; /* before the first record */
	uint64_t read_ns;    /* every record before is in the heap */
	uint64_t applied_ns; /* and before this applied */
	uint64_t lost_mappings;
	uint64_t moments[MOMENTS]; /* candidates for the watermark, oldest first */
	uint32_t moment_count;
	int64_t watermark_raw;
	struct etw_kernel_control control; /* as the switch map has it */
	struct etw_kernel_item *rundown;   /* owned; outstanding: its events that are not safe */
	bool is_broken;                    /* the ring made no sense */
	bool is_filled;                    /* the tracker knows what was there before */
	bool goes_on;                      /* another host collected before */
};

static void close_source(struct etw_source *source)
{
	if (!source)
		return;
	source->control = (struct etw_kernel_control){0};
	if (source->bpf.switch_fd >= 0)
		(void)etw_kernel_bpf_switch(&source->bpf, &source->control);
	for (uint32_t i = 0; source->perfs && i < source->host.cpu_count; i++) {
		/* Kept copies would go on recording. */
		(void)etw_kernel_perf_enable(&source->perfs[i], false);
		etw_kernel_perf_close(&source->perfs[i]);
	}
	for (uint32_t i = 0; source->streams && i < source->host.cpu_count + 1; i++)
		etw_kernel_stream_done(&source->streams[i]);
	etw_kernel_tracker_free(source->tracker);
	if (source->out.queues)
		etw_kernel_out_done(&source->out);
	etw_kernel_heap_done(&source->heap);
	etw_kernel_ring_close(&source->ring);
	etw_kernel_bpf_close(&source->bpf);
	free(source->perfs);
	free(source->perf_record);
	free(source->streams);
	free(source->rundown);
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
	int r;

	if (!source)
		return -ENOMEM;
	source->ops = &etw_kernel_source;
	source->host = *host;
	source->bpf.switch_fd = -1;
	source->bpf.ring_fd = source->bpf.drops_fd = -1;
	for (size_t i = 0; i < ETW_KERNEL_LINKS; i++)
		source->bpf.link_fds[i] = -1;
	TRY(etw_kernel_probe_check(reterr));
	source->streams = calloc((size_t)host->cpu_count + 1, sizeof(*source->streams));
	source->rundown = calloc(1, sizeof(*source->rundown));
	if (!source->streams || !source->rundown)
		return -ENOMEM;
	TRY(etw_kernel_out_init(&source->out, &source->host, marks));
	source->tracker = etw_kernel_tracker_new(&source->out);
	if (!source->tracker)
		return -ENOMEM;
	TRY(etw_kernel_bpf_open(&source->bpf, &source->host, RING_BYTES, reterr));
	r = etw_kernel_ring_open(&source->ring, source->bpf.ring_fd, source->bpf.ring_bytes);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "ring",
				     "the ring of the BPF programs cannot be mapped");
	*ret = TAKE(source);
	return 0;
}

/* One record of the BPF ring on its way. It stays where it is until it is given back. */
static int add_ring_record(struct etw_source *source, const struct etw_kernel_ring_record *from)
{
	const struct etw_kernel_record *record = (const void *)from->at;
	struct etw_kernel_item *item = calloc(1, sizeof(*item));
	int r;

	if (!item)
		return -ENOMEM;
	item->end = from->end;
	item->record = from->at;
	item->byte_count = from->byte_count;
	if (from->byte_count >= sizeof(*record)) {
		item->time_ns = record->time_ns;
		item->cpu = record->cpu;
	}
	r = etw_kernel_heap_add(&source->heap, &source->streams[0], item);
	if (r)
		free(item);
	return r;
}

/*
 * Reads the ring up to @end. Returns 0 when it got there, 1 when it stopped before (a record is still
 * being written, or the bound is reached), negative errno.
 */
static int read_ring(struct etw_source *source, uint64_t end, uint32_t record_max)
{
	struct etw_kernel_ring_record record;

	for (uint32_t i = 0; i < record_max; i++) {
		uint64_t before = source->ring.position;
		int r = etw_kernel_ring_next(&source->ring, end, &record);

		if (r == -EBADMSG) {
			/* No record can be told from the next any more; other streams must not wait for it. */
			source->is_broken = true;
			return 0;
		}
		if (r <= 0)
			return r == -EAGAIN;
		r = add_ring_record(source, &record);
		if (r) {
			source->ring.position = before;
			return r;
		}
	}
	return source->ring.position < end;
}

static int add_perf_record(struct etw_source *source, const struct etw_kernel_perf *perf,
			   uint32_t byte_count)
{
	struct etw_kernel_perf_record record = {0};
	struct etw_kernel_item *item;
	int r;

	if (etw_kernel_perf_parse(source->perf_record, byte_count, &record))
		record.kind = ETW_KERNEL_PERF_OTHER;
	if (record.kind == ETW_KERNEL_PERF_LOST)
		source->lost_mappings += record.lost_count;
	if (record.kind != ETW_KERNEL_PERF_MAP && record.kind != ETW_KERNEL_PERF_EXEC)
		byte_count = 0; /* holds its place, and says nothing */
	item = calloc(1, sizeof(*item) + byte_count);
	if (!item)
		return -ENOMEM;
	item->end = perf->position;
	item->record = item->bytes;
	item->byte_count = byte_count;
	item->is_mapping = true;
	item->cpu = perf->cpu;
	item->time_ns = record.time_ns;
	memcpy(item->bytes, source->perf_record, byte_count);
	r = etw_kernel_heap_add(&source->heap, &source->streams[1 + perf->cpu], item);
	if (r)
		free(item);
	return r;
}

static int read_perf(struct etw_source *source, struct etw_kernel_perf *perf, uint32_t record_max)
{
	uint64_t end = etw_kernel_perf_end(perf);

	for (uint32_t i = 0; i < record_max; i++) {
		uint64_t before = perf->position;
		int r = etw_kernel_perf_next(perf, end, source->perf_record);

		if (r == -EBADMSG)
			perf->position = end; /* nothing in between can be told apart */
		if (r <= 0)
			return 0;
		r = add_perf_record(source, perf, (uint32_t)r);
		if (r) {
			perf->position = before;
			return r;
		}
	}
	return perf->position < end;
}

/* Reads every stream. Returns 0 when all of them were read up to now, 1 when there is more. */
static int read_streams(struct etw_source *source, uint32_t record_max)
{
	uint64_t now_ns = etw_monotonic_ns();
	uint64_t end = etw_kernel_ring_end(&source->ring);
	int is_more = 0, r;

	if (source->out.held_bytes > HELD_BYTES_MAX)
		return 0; /* the kernel's rings hold what comes, as long as they can */
	if (source->is_broken)
		source->ring.position = end;
	r = read_ring(source, end, record_max);
	if (r < 0)
		return r;
	is_more |= r;
	for (uint32_t i = 0; source->perfs && i < source->host.cpu_count; i++) {
		if (source->perfs[i].fd < 0)
			continue;
		r = read_perf(source, &source->perfs[i], record_max);
		if (r < 0)
			return r;
		is_more |= r;
	}
	if (!is_more)
		source->read_ns = source->perfs ? now_ns - PERF_SLACK_NS : now_ns;
	return is_more;
}

static void apply_item(struct etw_source *source, struct etw_kernel_item *item)
{
	struct etw_kernel_perf_record record;

	/* Later than it may be: a perf record whose CPU stood still before it reserved. */
	if (item->time_ns < source->applied_ns)
		item->time_ns = source->applied_ns;
	source->applied_ns = item->time_ns;
	etw_kernel_out_begin(&source->out, item->time_ns, item->cpu, item);
	item->is_applied = true;
	if (!item->is_mapping) {
		etw_kernel_tracker_apply(source->tracker, item->record, item->byte_count);
		return;
	}
	if (!item->byte_count || etw_kernel_perf_parse(item->bytes, item->byte_count, &record))
		return;
	if (record.kind == ETW_KERNEL_PERF_MAP)
		etw_kernel_tracker_map(source->tracker, record.tid, record.pid, &record.mapping);
	else
		etw_kernel_tracker_begin_exec(source->tracker, record.pid);
}

static void apply_until(struct etw_source *source, uint64_t until_ns)
{
	struct etw_kernel_item *item;

	while ((item = etw_kernel_heap_peek(&source->heap)) && item->time_ns <= until_ns)
		apply_item(source, etw_kernel_heap_take(&source->heap));
	if (until_ns > source->applied_ns)
		source->applied_ns = until_ns;
}

/* The watermark is the latest moment that the clock can convert already. */
static void move_watermark(struct etw_source *source)
{
	uint32_t known = 0;

	if (source->moment_count == MOMENTS) {
		/* The newest counts; one in the middle waits no longer than that. */
		memmove(&source->moments[MOMENTS / 2], &source->moments[MOMENTS / 2 + 1],
			(MOMENTS / 2 - 1) * sizeof(source->moments[0]));
		source->moment_count--;
	}
	source->moments[source->moment_count++] = source->applied_ns;
	while (known < source->moment_count &&
	       source->host.to_raw(source->host.context, source->moments[known],
				   &source->watermark_raw) == 0)
		known++;
	source->moment_count -= known;
	memmove(source->moments, source->moments + known,
		source->moment_count * sizeof(source->moments[0]));
}

static int collect(struct etw_source *source, int64_t *ret_watermark_raw)
{
	int r = read_streams(source, RECORDS_AT_ONCE);

	if (r < 0 && r != -ENOMEM)
		return r;
	apply_until(source, source->read_ns);
	move_watermark(source);
	*ret_watermark_raw = source->watermark_raw;
	return r > 0;
}

/* Everything up to now into the heap. A record that is being written holds it up for a moment. */
static void read_all(struct etw_source *source)
{
	for (int i = 0; i < 1000; i++) {
		if (read_streams(source, RECORDS_AT_ONCE) <= 0)
			return;
		sched_yield();
	}
}

static int walk(struct etw_source *source, struct etw_kernel_scan **ret)
{
	return etw_kernel_scan_take("/proc", source->flags & EVENT_TRACE_FLAG_IMAGE_LOAD, ret);
}

/* Group masks as they were and as they are, now. */
static void tell_flags(struct etw_source *source, struct etw_kernel_item *item)
{
	etw_kernel_out_begin(&source->out, source->applied_ns, (uint32_t)sched_getcpu(), item);
	etw_kernel_out_slot(&source->out, ETW_KERNEL_SLOT_RUNDOWN);
	etw_kernel_write_masks(&source->out, WIRE_HOOK_GROUP_MASKS_OLD, source->told_flags);
	source->told_flags = source->flags;
	etw_kernel_write_masks(&source->out, WIRE_HOOK_GROUP_MASKS_NEW, source->told_flags);
}

/*
 * Who is there. When a host dies before the events of its rundown are safe the next one does it again, for
 * what was there at the time of the first: rather twice than never.
 */
static int run_down_start(struct etw_source *source, bool describe, bool is_other)
{
	struct etw_kernel_scan_wish wish = {.describe = describe, .is_other = is_other};
	uint64_t moment_ns = etw_monotonic_ns();
	struct etw_kernel_scan *scan;
	int r;

	wish.until_ns = is_other ? source->control.rundown_ns : UINT64_MAX;
	TRY(walk(source, &scan));
	read_all(source);
	if (describe) {
		/* In front of every record, unless those of another host's time come first. */
		if (!is_other) {
			source->applied_ns = MAX(source->applied_ns, source->enabled_ns);
			tell_flags(source, source->rundown);
		}
		apply_until(source, moment_ns);
		if (is_other)
			tell_flags(source, source->rundown);
		etw_kernel_out_begin(&source->out, source->applied_ns, (uint32_t)sched_getcpu(),
				     source->rundown);
	}
	r = etw_kernel_scan_apply(scan, source->tracker, &source->heap, &wish);
	etw_kernel_scan_free(scan);
	source->is_filled = true;
	if (describe && !r) {
		etw_kernel_out_slot(&source->out, ETW_KERNEL_SLOT_RUNDOWN);
		etw_kernel_write_rundown_complete(&source->out);
	}
	return r;
}

static void get_loss(struct etw_source *source, struct etw_source_loss *ret)
{
	uint64_t drops[ETW_KERNEL_DROPS];

	etw_kernel_bpf_drops(&source->bpf, drops);
	*ret = (struct etw_source_loss){
		.no_buffer = drops[ETW_KERNEL_DROP_RING_FULL] + source->lost_mappings +
			     source->is_broken,
		.no_memory = source->out.no_memory,
		.incomplete = drops[ETW_KERNEL_DROP_INCOMPLETE] + source->tracker->incomplete,
	};
}

static void tell_config(struct etw_source *source)
{
	struct etw_kernel_actor actor = {.tid = (uint32_t)gettid(), .pid = (uint32_t)getpid()};
	struct etw_kernel_config config;

	etw_kernel_config_gather("", &config);
	etw_kernel_write_config(&source->out, actor, &config);
}

/* Without loss the tracker knows who is there, to the record. After a loss procfs corrects it. */
static int run_down_end(struct etw_source *source)
{
	uint64_t moment_ns = etw_monotonic_ns();
	struct etw_kernel_scan_wish wish = {0};
	struct etw_source_loss loss;
	struct etw_kernel_scan *scan;

	read_all(source);
	get_loss(source, &loss);
	if (loss.no_buffer || loss.no_memory || !source->is_filled) {
		TRY(walk(source, &scan));
		read_all(source);
		apply_until(source, moment_ns);
		etw_kernel_scan_correct(scan, source->tracker);
		(void)etw_kernel_scan_apply(scan, source->tracker, &source->heap, &wish);
		etw_kernel_scan_free(scan);
	}
	apply_until(source, moment_ns);
	etw_kernel_out_begin(&source->out, source->applied_ns, (uint32_t)sched_getcpu(), NULL);
	etw_kernel_out_slot(&source->out, ETW_KERNEL_SLOT_RUNDOWN);
	if (source->wants_config)
		tell_config(source);
	etw_kernel_write_masks(&source->out, WIRE_HOOK_GROUP_MASKS_OLD, source->flags);
	for (size_t i = 0; i < ETW_KERNEL_BUCKETS; i++)
		for (struct etw_kernel_process *process = source->tracker->tasks.processes[i];
		     process; process = process->next_in_bucket)
			etw_kernel_tracker_describe(source->tracker, process, true);
	etw_kernel_write_masks(&source->out, WIRE_HOOK_GROUP_MASKS_NEW, 0);
	etw_kernel_write_rundown_complete(&source->out);
	return 0;
}

static int run_down(struct etw_source *source, bool is_end)
{
	if (!source->flags)
		return 0;
	if (is_end)
		return run_down_end(source);
	return source->goes_on ? 0 : run_down_start(source, true, false);
}

static int open_mappings(struct etw_source *source, struct etw_fault *reterr)
{
	struct etw_kernel_perf *perfs;
	int r = 0;

	if (source->perfs)
		return 0;
	source->perf_record = aligned_alloc(8, ETW_KERNEL_PERF_RECORD_MAX);
	perfs = calloc(source->host.cpu_count, sizeof(*perfs));
	if (!source->perf_record || !perfs) {
		free(perfs);
		free(source->perf_record);
		source->perf_record = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < source->host.cpu_count; i++)
		perfs[i].fd = -1;
	source->perfs = perfs;
	for (uint32_t i = 0; i < source->host.cpu_count; i++) {
		r = etw_kernel_perf_open(&perfs[i], &source->host, i, PERF_BYTES, reterr);
		if (r && r != -ENODEV)
			return r;
	}
	return 0;
}

/* Images are one part of what is wanted: when they cannot be had, the fault says so, and the rest goes on. */
static int enable_images(struct etw_source *source, bool is_on, struct etw_fault *reterr)
{
	int r = 0;

	if (is_on) {
		r = open_mappings(source, reterr);
		if (!r)
			r = etw_kernel_bpf_attach_unmaps(&source->bpf, &source->host, reterr);
	}
	for (uint32_t i = 0; source->perfs && i < source->host.cpu_count; i++)
		(void)etw_kernel_perf_enable(&source->perfs[i], is_on && !r);
	return r;
}

/*
 * With the first record the next host knows that nobody was described yet. It describes who started before the
 * switch was on: nobody may start after the moment that is noted and before the first record. Until the moment is
 * known it is any time.
 */
static int switch_on(struct etw_source *source)
{
	bool is_first = source->flags && !source->is_filled && !source->goes_on;

	if (is_first) {
		source->control.rundown_ns = UINT64_MAX;
		TRY(etw_kernel_bpf_switch(&source->bpf, &source->control));
		source->control.rundown_ns = etw_time_read_ns(CLOCK_BOOTTIME);
	}
	return etw_kernel_bpf_switch(&source->bpf, &source->control);
}

static int enable(struct etw_source *source, const struct etw_source_request *request,
		  struct etw_fault *reterr)
{
	uint32_t wanted = request->group_masks[0], collected = 0;
	int r, result = 0;

	source->enabled_ns = etw_monotonic_ns();
	source->flags = wanted & BUILT_FLAGS;
	source->wants_config = !(wanted & EVENT_TRACE_FLAG_NO_SYSCONFIG);
	r = enable_images(source, source->flags & EVENT_TRACE_FLAG_IMAGE_LOAD, reterr);
	if (r) {
		result = r;
		source->flags &= ~(uint32_t)EVENT_TRACE_FLAG_IMAGE_LOAD;
	}
	source->tracker->flags = source->flags;
	if (source->flags)
		collected |= ETW_KERNEL_COLLECT_TASKS;
	if (source->flags & EVENT_TRACE_FLAG_IMAGE_LOAD)
		collected |= ETW_KERNEL_COLLECT_UNMAPS;
	if (source->bpf.is_adopted && !source->is_filled) {
		(void)etw_kernel_bpf_control(&source->bpf, &source->control);
		source->goes_on = source->control.collected != 0;
	}
	source->control.collected = collected;
	r = switch_on(source);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "BPF",
				     "the BPF programs cannot be switched");
	if (source->flags && source->goes_on && !source->is_filled)
		TRY(run_down_start(source, source->control.rundown_ns != 0, true));
	return result;
}

static bool peek(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret)
{
	return etw_kernel_out_peek(&source->out, cpu, ret);
}

static void pop(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret_mark)
{
	etw_kernel_out_pop(&source->out, cpu, ret_mark);
}

static void release(struct etw_source *source)
{
	uint64_t position;

	if (source->control.rundown_ns && !source->rundown->outstanding) {
		source->control.rundown_ns = 0;
		(void)etw_kernel_bpf_switch(&source->bpf, &source->control);
	}
	if (etw_kernel_stream_release(&source->streams[0], &position))
		etw_kernel_ring_release(&source->ring, position);
	for (uint32_t i = 0; source->perfs && i < source->host.cpu_count; i++)
		if (etw_kernel_stream_release(&source->streams[1 + i], &position))
			etw_kernel_perf_release(&source->perfs[i], position);
}

const struct etw_source_ops etw_kernel_source = {
	.name = "kernel",
	.flags = BUILT_FLAGS,
	.open = open_source,
	.close = close_source,
	.enable = enable,
	.rundown = run_down,
	.collect = collect,
	.peek = peek,
	.pop = pop,
	.release = release,
	.loss = get_loss,
};
