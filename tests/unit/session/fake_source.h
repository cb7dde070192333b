/* SPDX-License-Identifier: MIT */
/*
 * A source for tests whose "kernel buffers" lie in shared memory, so that they outlive a host as the real
 * ones do. One producer a processor; the session reads behind it.
 */
#ifndef TESTS_UNIT_SESSION_FAKE_SOURCE_H
#define TESTS_UNIT_SESSION_FAKE_SOURCE_H

#include <sys/mman.h>

#include <evntrace.h>

#include "fixture.h"

#define FAKE_SOURCE_CPUS   64
#define FAKE_SOURCE_FLAGS  (EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD)
#define FAKE_SOURCE_EVENTS (64 * 1024)
#define FAKE_SOURCE_BYTES  (sizeof(struct wire_system_header) + sizeof(struct fixture_payload))

struct fake_source_memory {
	uint32_t is_standing;
	int open_error;   /* what open fails with */
	int enable_error; /* what enabling fails with, in part */
	uint32_t opened, rundowns[2], enabled_flags;
	struct etw_source_request request; /* the last one, but for its pointers */
	struct etw_source_provider provider,
		captured; /* the first that was enabled last; asked for its state */
	uint32_t captures;
	uint32_t releases;       /* atomic */
	uint64_t lost;           /* atomic: of no known processor */
	uint64_t lost_by_host;   /* atomic: on processor 0, as this host counts it */
	uint64_t without_fields; /* atomic: on processor 0, no loss */
	uint32_t described;      /* events of a description */
	struct fake_source_cpu {
		uint32_t is_busy;
		uint64_t written; /* events, from 0; atomic */
		int64_t times[FAKE_SOURCE_EVENTS];
	} cpus[FAKE_SOURCE_CPUS];
};

struct etw_source {
	const struct etw_source_ops *ops;
	const struct etw_source_host *host;
	uint64_t taken[FAKE_SOURCE_CPUS], readable[FAKE_SOURCE_CPUS];
	uint8_t event[FAKE_SOURCE_BYTES];
	bool goes_on;
};

static struct fake_source_memory *fake_source_memory;

static int fake_source_open(const struct etw_source_host *host, const struct etw_source_mark *marks,
			    struct etw_source **ret, struct etw_fault *reterr)
{
	struct etw_source *source;

	if (fake_source_memory->open_error)
		return etw_fault_set(reterr, fake_source_memory->open_error, 0, "kernel", "probe",
				     "the fake is told to fail");
	source = calloc(1, sizeof(*source));
	source->host = host;
	source->goes_on = fake_source_memory->opened++ > 0;
	for (uint32_t i = 0; marks && i < host->cpu_count; i++)
		source->taken[i] = marks[i].number;
	*ret = source;
	return 0;
}

static void fake_source_close(struct etw_source *source)
{
	free(source);
}

static int fake_source_enable(struct etw_source *source, const struct etw_source_request *request,
			      struct etw_fault *reterr)
{
	(void)source;
	fake_source_memory->enabled_flags = request->group_masks[0];
	fake_source_memory->request = *request;
	fake_source_memory->request.providers = NULL;
	if (request->provider_count)
		fake_source_memory->provider = request->providers[0];
	if (fake_source_memory->enable_error)
		return etw_fault_set(reterr, fake_source_memory->enable_error, 0, "kernel", "probe",
				     "the fake cannot collect it");
	return 0;
}

static void fake_source_lay_out(struct etw_source *source, uint32_t number, int64_t time_raw)
{
	struct fixture_payload payload = {0, number};

	memset(source->event, 0, sizeof(source->event));
	etw_store16(source->event, 2);
	source->event[2] = WIRE_HEADER_SYSTEM64;
	source->event[3] = WIRE_EVENT_FLAG_TRACE;
	etw_store16(source->event + 4, FAKE_SOURCE_BYTES);
	source->event[6] = 0x0A;
	source->event[7] = 0x03;
	etw_store64(source->event + 0x10, (uint64_t)time_raw);
	memcpy(source->event + sizeof(struct wire_system_header), &payload, sizeof(payload));
}

static int fake_source_rundown(struct etw_source *source, bool is_end)
{
	if (is_end || !source->goes_on)
		fake_source_memory->rundowns[is_end]++;
	return 0;
}

/* Numbered as if they came behind those that were taken. */
static int fake_source_describe(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
				void *context)
{
	const struct etw_source_event event = {source->event, FAKE_SOURCE_BYTES, time_raw};

	for (uint32_t i = 0; i < fake_source_memory->described; i++) {
		fake_source_lay_out(source, (uint32_t)source->taken[0] + i, time_raw);
		put(context, 0, &event);
	}
	return 0;
}

static int fake_source_collect(struct etw_source *source, int64_t *ret_watermark_raw)
{
	int64_t now_raw = source->host->now_raw(source->host->context);
	bool is_busy = false;

	for (uint32_t i = 0; i < source->host->cpu_count; i++) {
		if (load_seq_cst(&fake_source_memory->cpus[i].is_busy))
			is_busy = true;
		source->readable[i] = load_acquire(&fake_source_memory->cpus[i].written);
	}
	if (fake_source_memory->is_standing)
		return 0; /* its clock does not move: the watermark stays */
	if (is_busy)
		return 1;
	*ret_watermark_raw = now_raw;
	return 0;
}

static bool fake_source_peek(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret)
{
	int64_t time_raw;

	if (source->taken[cpu] >= source->readable[cpu])
		return false;
	time_raw = fake_source_memory->cpus[cpu].times[source->taken[cpu] % FAKE_SOURCE_EVENTS];
	fake_source_lay_out(source, (uint32_t)source->taken[cpu], time_raw);
	*ret = (struct etw_source_event){source->event, FAKE_SOURCE_BYTES, time_raw};
	return true;
}

static void fake_source_pop(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret)
{
	ret->moment = 0;
	ret->number = ++source->taken[cpu];
}

static void fake_source_release(struct etw_source *source)
{
	(void)source;
	(void)add_relaxed(&fake_source_memory->releases, 1u);
}

static void fake_source_loss(struct etw_source *source, struct etw_source_loss *ret)
{
	(void)source;
	memset(ret, 0, (source->host->cpu_count + 1) * sizeof(*ret));
	ret[source->host->cpu_count].events[ETW_LOSS_RING_FULL][ETW_LOSS_OF_TASKS] =
		load_relaxed(&fake_source_memory->lost);
	ret[0].events[ETW_LOSS_NO_MEMORY][ETW_LOSS_OF_ANY] =
		load_relaxed(&fake_source_memory->lost_by_host);
	ret[0].events[ETW_LOSS_NO_FIELDS][ETW_LOSS_OF_SAMPLES] =
		load_relaxed(&fake_source_memory->without_fields);
}

static const GUID fake_source_guid = {
	0x5f0c1c6a, 0x7d2e, 0x4e0b, {0x91, 0x0d, 0x3a, 0x55, 0x10, 0x2f, 0x6e, 0x71}};

static bool fake_source_has_provider(const GUID *guid)
{
	return etw_guid_equal(guid, &fake_source_guid);
}

static int fake_source_check_provider(const struct etw_source_provider *wanted,
				      struct etw_fault *reterr)
{
	if (!wanted->filter_bytes)
		return 0;
	return etw_fault_set(reterr, -EOPNOTSUPP, 0, "test", "filters", "the fake has none");
}

static int fake_source_capture(struct etw_source *source, const struct etw_source_provider *wanted)
{
	(void)source;
	fake_source_memory->captured = *wanted;
	fake_source_memory->captures++;
	return 0;
}

static const uint16_t fake_source_stacks[] = {0x0501}; /* ThreadCreate */

static const struct etw_source_ops fake_source_ops = {
	.name = "kernel",
	.masks = {FAKE_SOURCE_FLAGS},
	.stack_hooks = fake_source_stacks,
	.stack_hook_count = 1,
	.open = fake_source_open,
	.close = fake_source_close,
	.enable = fake_source_enable,
	.rundown = fake_source_rundown,
	.describe = fake_source_describe,
	.collect = fake_source_collect,
	.peek = fake_source_peek,
	.pop = fake_source_pop,
	.release = fake_source_release,
	.loss = fake_source_loss,
};

/* A source beside the kernel's, with a provider of its own. */
static const struct etw_source_ops fake_source_provider_ops = {
	.name = "test",
	.has_provider = fake_source_has_provider,
	.check_provider = fake_source_check_provider,
	.capture = fake_source_capture,
	.open = fake_source_open,
	.close = fake_source_close,
	.enable = fake_source_enable,
	.rundown = fake_source_rundown,
	.describe = fake_source_describe,
	.collect = fake_source_collect,
	.peek = fake_source_peek,
	.pop = fake_source_pop,
	.release = fake_source_release,
	.loss = fake_source_loss,
};

static inline void fake_source_attach(struct fixture *fixture)
{
	fake_source_memory = mmap(NULL, sizeof(*fake_source_memory), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(fake_source_memory != MAP_FAILED);
	fixture->host.kernel = &fake_source_ops;
}

static inline void fake_source_detach(void)
{
	munmap(fake_source_memory, sizeof(*fake_source_memory));
}

/* One producer a processor; there must be room. */
static inline void fake_source_produce(const struct etw_clock_page *clock, uint32_t cpu)
{
	struct fake_source_cpu *ring = &fake_source_memory->cpus[cpu];
	uint64_t number = load_relaxed(&ring->written);

	store_seq_cst(&ring->is_busy, 1u);
	ring->times[number % FAKE_SOURCE_EVENTS] = etw_clock_now(clock, ETW_CLOCK_QPC);
	store_release(&ring->written, number + 1);
	store_seq_cst(&ring->is_busy, 0u);
}

#endif
