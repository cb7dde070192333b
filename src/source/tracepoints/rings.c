/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/rings.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"

/* Of all rings of a kind together, and of one. */
#define ALL_BYTES        (UINT64_C(64) << 20)
#define RING_BYTES_MAX   (UINT64_C(16) << 20)
#define RING_BYTES_MIN   (UINT64_C(2) << 20)
#define RING_BYTES_LEAST (UINT64_C(128) << 10) /* where the kernel allows no more */
#define RECORDS_AT_ONCE  32768                 /* of each ring */
/* An interrupt's record comes before that of what it interrupted, which is older by less than this. */
#define NESTED_NS UINT64_C(1000000)

void etw_tracepoint_rings_init(struct etw_tracepoint_rings *rings, uint32_t cpu)
{
	*rings = (struct etw_tracepoint_rings){.cpu = cpu};
	for (size_t i = 0; i < ARRAY_SIZE(rings->rings); i++)
		rings->rings[i].fd = -1;
}

/* An event that never counts anything, whose ring others write to. */
static int open_event(uint32_t cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = ETW_TRACEPOINT_SAMPLE_TYPE,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static uint64_t ring_bytes(uint32_t cpu_count)
{
	uint64_t bytes = RING_BYTES_MAX;

	while (bytes > RING_BYTES_MIN && bytes * cpu_count > ALL_BYTES)
		bytes /= 2;
	return bytes;
}

int etw_tracepoint_rings_open(struct etw_tracepoint_rings *rings, uint32_t cpu_count,
			      bool has_stack)
{
	struct etw_kernel_perf_ring *ring = &rings->rings[has_stack];
	int r;

	if (ring->fd >= 0)
		return ring->fd;
	*ring = (struct etw_kernel_perf_ring){.fd = open_event(rings->cpu), .cpu = rings->cpu};
	r = ring->fd < 0 ? ring->fd
			 : etw_kernel_perf_ring_map(ring, ring_bytes(cpu_count), RING_BYTES_LEAST);
	if (r < 0) {
		etw_kernel_perf_ring_close(ring);
		return r == -EPERM ? -EACCES : r;
	}
	return ring->fd;
}

struct reading {
	struct etw_tracepoint_rings *rings;
	struct etw_tracepoint_sample *sample;
	etw_tracepoint_sample_fn *take;
	void *context;
	uint64_t last_ns;
};

static int take_record(struct reading *reading, const uint8_t *at, uint32_t bytes, bool has_stack)
{
	struct etw_tracepoint_rings *rings = reading->rings;
	int r = etw_tracepoint_sample_parse(at, bytes, has_stack, reading->sample);

	if (r < 0) {
		rings->unreadable++;
		return 0;
	}
	if (r == 0)
		return 0;
	if (reading->sample->is_lost) {
		rings->told_lost += reading->sample->lost_count;
		rings->lost = MAX(rings->lost, rings->told_lost);
		return 0;
	}
	reading->last_ns = reading->sample->time_ns;
	return reading->take(reading->context, rings->cpu, reading->sample);
}

/* Returns 0 at the end, 1 when there is more. */
static int read_ring(struct reading *reading, struct etw_kernel_perf_ring *ring, bool has_stack,
		     uint8_t *buffer)
{
	const uint64_t end = etw_kernel_perf_ring_end(ring);
	int r = 0;

	for (unsigned i = 0; i < RECORDS_AT_ONCE; i++) {
		int bytes = etw_kernel_perf_ring_next(ring, end, buffer);

		if (bytes < 0) {
			/* Nothing behind it can be found. */
			reading->rings->unreadable++;
			ring->position = end;
		}
		if (bytes <= 0)
			break;
		r = take_record(reading, buffer, (uint32_t)bytes, has_stack);
		if (r < 0)
			break;
	}
	etw_kernel_perf_ring_release(ring, ring->position);
	return r < 0 ? r : ring->position != end;
}

int etw_tracepoint_rings_read(struct etw_tracepoint_rings *rings, uint8_t *buffer,
			      struct etw_tracepoint_sample *sample, etw_tracepoint_sample_fn *take,
			      void *context, uint64_t *ret_last_ns)
{
	struct reading reading = {rings, sample, take, context, 0};
	uint64_t last_ns = UINT64_MAX;
	int more = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rings->rings); i++) {
		int r;

		if (rings->rings[i].fd < 0)
			continue;
		reading.last_ns = 0;
		r = read_ring(&reading, &rings->rings[i], i == 1, buffer);
		TRY(r);
		if (r > 0)
			last_ns = MIN(last_ns, reading.last_ns);
		more |= r;
	}
	*ret_last_ns = last_ns > NESTED_NS ? last_ns - NESTED_NS : 0;
	return more;
}

void etw_tracepoint_rings_settle(struct etw_tracepoint_rings *rings, uint64_t lost)
{
	rings->lost = MAX(rings->lost, rings->closed_lost + lost);
}

void etw_tracepoint_rings_close(struct etw_tracepoint_rings *rings)
{
	for (size_t i = 0; i < ARRAY_SIZE(rings->rings); i++)
		etw_kernel_perf_ring_close(&rings->rings[i]);
}
