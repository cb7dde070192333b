/* SPDX-License-Identifier: MIT */
/*
 * The kernel as a source: opened, asked, closed; kernel_source_enable.c switches it. What is read is streams.h, what becomes of
 * it collector.h, and what is told at the start and at the end rundown.h.
 */
#include "source/kernel/kernel_source_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <time.h>

#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/collector/losses.h"
#include "source/kernel/events/account_events.h"
#include "source/kernel/kept.h"
#include "source/kernel/probe/classes.h"
#include "source/kernel/probe/probe.h"
#include "source/kernel/probe/probe_class.h"

#define RING_BYTES (UINT32_C(8) << 20)

static const uint16_t stack_hooks[] = ETW_KERNEL_STACK_HOOKS;

bool etw_kernel_source_wants_any(const struct etw_source *source)
{
	for (size_t i = 0; i < ARRAY_SIZE(source->masks); i++)
		if (source->masks[i])
			return true;
	return false;
}

static void close_source(struct etw_source *source)
{
	if (!source)
		return;
	source->control = (struct etw_kernel_control){0};
	if (source->bpf.control_fd >= 0)
		(void)etw_kernel_bpf_set_control(&source->bpf, &source->control);
	etw_kernel_samplers_done(&source->samplers);
	etw_kernel_faults_done(&source->faults);
	etw_kernel_stack_account_close(&source->collector.cpu_out.account);
	etw_kernel_collector_done(&source->collector);
	etw_kernel_cpu_bpf_close(&source->cpu_bpf);
	etw_kernel_bpf_close(&source->bpf);
	etw_kernel_rundown_done(&source->rundown);
	etw_kernel_file_names_done(&source->file_names);
	etw_kernel_disks_done(&source->disks);
	free(source);
}

static void closep_source(struct etw_source **source)
{
	close_source(*source);
}

int etw_kernel_source_map_cpu_rings(struct etw_source *source, struct etw_fault *reterr)
{
	struct etw_kernel_cpu_rings *rings = &source->collector.streams.cpu_rings;
	const struct etw_kernel_cpu_bpf *cpu_bpf = &source->cpu_bpf;
	int r;

	if (rings->count || !cpu_bpf->ring_count)
		return 0;
	r = etw_kernel_cpu_rings_open(rings, cpu_bpf->ring_fds,
				      MIN(cpu_bpf->ring_count, source->host.cpu_count),
				      cpu_bpf->ring_bytes);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "ring",
				     "the rings of frequent events cannot be mapped");
	return 0;
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
	source->bpf.control_fd = -1;
	source->bpf.ring_fd = source->bpf.drops_fd = -1;
	etw_kernel_cpu_bpf_reset(&source->cpu_bpf);
	for (size_t i = 0; i < ETW_KERNEL_LINKS; i++)
		source->bpf.link_fds[i] = -1;
	TRY(etw_kernel_probe_check(reterr));
	TRY(etw_kernel_probe_types());
	TRY(etw_kernel_probe_class(ETW_KERNEL_CLASS_TASKS, reterr));
	TRY(etw_kernel_collector_init(&source->collector, &source->host, marks));
	TRY(etw_kernel_rundown_init(&source->rundown, "/proc"));
	source->rundown.own.root = "";
	source->rundown.cpu_bpf = &source->cpu_bpf;
	source->memory_info.root = source->rundown.root;
	etw_kernel_stack_account_open(&source->collector.cpu_out.account, &source->host);
	source->collector.own = &source->rundown.own;
	source->collector.cpu_out.maker.routines = &source->routines;
	source->messages.root = "/sys/kernel/irq";
	source->collector.cpu_out.maker.messages = &source->messages;
	source->collector.cpu_out.maker.disks = &source->disks;
	source->collector.cpu_out.maker.seen = &source->rundown.own.seen;
	source->file_names.points.root = "";
	source->collector.cpu_out.maker.file_names = &source->file_names;
	TRY(etw_kernel_bpf_open(&source->bpf, &source->host, RING_BYTES, reterr));
	r = etw_kernel_ring_open(&source->collector.streams.ring, source->bpf.ring_fd,
				 source->bpf.ring_bytes);
	if (r)
		return etw_fault_set(reterr, r, 0, "kernel source", "ring",
				     "the ring of the BPF programs cannot be mapped");
	if (source->bpf.is_adopted)
		etw_kernel_cpu_bpf_adopt(&source->cpu_bpf, &source->host);
	TRY(etw_kernel_source_map_cpu_rings(source, reterr));
	*ret = TAKE(source);
	return 0;
}

static int collect(struct etw_source *source, int64_t *ret_watermark_raw)
{
	int r;

	etw_kernel_samplers_follow_cpus(&source->samplers);
	etw_kernel_faults_follow_cpus(&source->faults);
	r = etw_kernel_collector_collect(&source->collector, ret_watermark_raw);
	if (r >= 0)
		etw_kernel_memory_info_tell(&source->memory_info, &source->collector, source->masks,
					    etw_monotonic_ns());
	return r;
}

static void get_loss(struct etw_source *source, struct etw_source_loss *ret)
{
	const struct etw_kernel_losses_of from = {
		.bpf = &source->bpf,
		.cpu_bpf = &source->cpu_bpf,
		.samplers = &source->samplers,
		.collector = &source->collector,
		.cpu_count = source->host.cpu_count,
	};

	etw_kernel_losses_read(&from, ret);
}

/* Without memory to look, something may have been lost. */
static bool has_loss(struct etw_source *source)
{
	CLEANUP(freep)
	struct etw_source_loss *losses = calloc(source->host.cpu_count + 1, sizeof(*losses));

	if (!losses)
		return true;
	get_loss(source, losses);
	return etw_kernel_losses_any(losses, source->host.cpu_count);
}

int etw_kernel_source_run_down_change(struct etw_source *source, uint32_t flags_before)
{
	struct etw_kernel_rundown_start start = {
		.describe = true,
		.enabled_ns = source->enabled_ns,
		.until_ns = UINT64_MAX,
	};

	etw_kernel_samplers_intervals(&source->samplers, start.intervals);
	if (memcmp(source->masks, source->rundown.told_masks, sizeof(source->masks)) == 0 &&
	    memcmp(start.intervals, source->rundown.told_intervals, sizeof(start.intervals)) == 0)
		return 0;
	memcpy(start.masks, source->masks, sizeof(start.masks));
	if (source->masks[0] & ~flags_before) {
		source->control.rundown_ns = etw_time_read_ns(CLOCK_BOOTTIME);
		TRY(etw_kernel_bpf_set_control(&source->bpf, &source->control));
	}
	return etw_kernel_rundown_change(&source->rundown, &source->collector, &start,
					 flags_before);
}

int etw_kernel_source_run_down_start(struct etw_source *source, bool describe, bool is_other)
{
	struct etw_kernel_rundown_start start = {
		.describe = describe,
		.is_other = is_other,
		.enabled_ns = source->enabled_ns,
		.until_ns = is_other ? source->control.rundown_ns : UINT64_MAX,
	};

	etw_kernel_samplers_intervals(&source->samplers, start.intervals);
	memcpy(start.masks, source->masks, sizeof(start.masks));
	return etw_kernel_rundown_start(&source->rundown, &source->collector, &start);
}

static struct etw_kernel_rundown_end prepare_end(struct etw_source *source)
{
	struct etw_kernel_rundown_end end = {
		.config_groups = source->config_groups,
		.read_ns = etw_monotonic_ns(),
	};

	memcpy(end.masks, source->masks, sizeof(end.masks));
	/* Before the loss is asked for: reading finds some of it. */
	etw_kernel_collector_read_all(&source->collector);
	end.has_loss = has_loss(source);
	return end;
}

/*
 * Frequent events end with the session, as on Windows: describing the machine takes a while, in which the recorder's own calls
 * would be most of what is recorded, and would replace the description in a circular file. The rest goes on, for a next
 * host that has to finish the session.
 */
static void silence_frequent(struct etw_source *source)
{
	source->control.cpu_kinds = 0;
	source->control.stack_kinds = 0;
	(void)etw_kernel_bpf_set_control(&source->bpf, &source->control);
	etw_kernel_samplers_stop(&source->samplers);
	etw_kernel_faults_stop(&source->faults);
}

static int run_down_end(struct etw_source *source)
{
	struct etw_kernel_rundown_end end;

	silence_frequent(source);
	end = prepare_end(source);
	return etw_kernel_rundown_end(&source->rundown, &source->collector, &end);
}

static int describe(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
		    void *context)
{
	struct etw_kernel_rundown_end end;

	if (!etw_kernel_source_wants_any(source))
		return 0;
	end = prepare_end(source);
	etw_kernel_tell_processor_time(source->rundown.root, time_raw, put, context);
	return etw_kernel_rundown_describe(&source->rundown, &source->collector, &end, time_raw,
					   put, context);
}

static void tell_account(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
			 void *context)
{
	if (!etw_kernel_source_wants_any(source))
		return;
	etw_kernel_tell_processor_time(source->rundown.root, time_raw, put, context);
	etw_kernel_tell_stack_account(&source->collector.cpu_out.account, time_raw, put, context);
}

static int run_down(struct etw_source *source, bool is_end)
{
	if (!etw_kernel_source_wants_any(source))
		return 0;
	if (is_end)
		return run_down_end(source);
	return source->goes_on ? 0 : etw_kernel_source_run_down_start(source, true, false);
}

static void get_missing(const struct etw_source *source, uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	memcpy(ret, source->missing, sizeof(source->missing));
}

static void announce(struct etw_source *source, struct etw_announced_queue *queue,
		     uint64_t until_ns)
{
	etw_kernel_collector_announce(&source->collector, queue, until_ns);
}

static bool peek(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret)
{
	return etw_kernel_collector_peek(&source->collector, cpu, ret);
}

static void pop(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret_mark)
{
	etw_kernel_collector_pop(&source->collector, cpu, ret_mark);
}

static void release(struct etw_source *source)
{
	if (source->control.rundown_ns && etw_kernel_rundown_is_safe(&source->rundown)) {
		source->control.rundown_ns = 0;
		(void)etw_kernel_bpf_set_control(&source->bpf, &source->control);
	}
	etw_kernel_streams_release(&source->collector.streams);
	etw_kernel_stack_account_save(&source->collector.cpu_out.account);
}

void etw_kernel_source_look(struct etw_source *source, uint32_t cpu, uint64_t *ret_moment_ns,
			    struct etw_source_event *ret_stack)
{
	etw_kernel_collector_look(&source->collector, cpu, ret_moment_ns, ret_stack);
}

struct etw_kernel_tasks *etw_kernel_source_tasks(struct etw_source *source)
{
	return &source->collector.tracker->tasks;
}

const struct etw_source_ops etw_kernel_source = {
	.name = "kernel",
	.masks = ETW_KERNEL_BUILT_MASKS,
	.stack_hooks = stack_hooks,
	.stack_hook_count = ARRAY_SIZE(stack_hooks),
	.options = ETW_SOURCE_ONLY_PID | ETW_SOURCE_UNWIND,
	.kept_fds = ETW_KERNEL_KEPT_FDS,
	.kept_fds_per_cpu = ETW_KERNEL_KEPT_FDS_PER_CPU,
	.open = open_source,
	.close = close_source,
	.enable = etw_kernel_source_enable,
	.missing = get_missing,
	.rundown = run_down,
	.describe = describe,
	.account = tell_account,
	.announce = announce,
	.collect = collect,
	.peek = peek,
	.pop = pop,
	.release = release,
	.loss = get_loss,
};
