/* SPDX-License-Identifier: MIT */
/*
 * The ring's records carry times read behind their reservation, so whatever lies behind the producer's position
 * that was read after a look at the clock is later than that look. perf reads the clock before it reserves, so its
 * streams are trusted up to ETW_KERNEL_PERF_SLACK_NS less.
 */
#include "source/kernel/rings/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/macros.h"
#include "base/time.h"
#include "source/kernel/bpf/records.h"

#define CPU_LIST        "/sys/devices/system/cpu/online"
#define PERF_BYTES      (UINT64_C(2) << 20) /* of each CPU, for code */
#define PERF_DATA_BYTES (UINT64_C(2) << 20) /* likewise for what may not be executed */
#define RECORDS_AT_ONCE 16384               /* of each stream */

static size_t stream_count(const struct etw_kernel_streams *streams)
{
	return 2 + 2 * (size_t)streams->cpu_count;
}

/* Of perf's rings: those of code, and as many of data. */
static uint32_t perf_count(const struct etw_kernel_streams *streams)
{
	return streams->perfs ? 2 * streams->cpu_count : 0;
}

/* The stream of a ring by its number. Copied stacks are between the two kinds. */
static struct etw_kernel_stream *stream_of(const struct etw_kernel_streams *streams,
					   uint32_t number)
{
	return &streams->streams[(number < streams->cpu_count ? 1 : 2) + number];
}

int etw_kernel_streams_init(struct etw_kernel_streams *streams, uint32_t cpu_count)
{
	*streams = (struct etw_kernel_streams){.cpu_count = cpu_count, .cpus.fd = -1};
	streams->streams = calloc(stream_count(streams), sizeof(*streams->streams));
	streams->lost_mappings = calloc((size_t)cpu_count + 1, sizeof(*streams->lost_mappings));
	streams->lost_pieces = calloc((size_t)cpu_count + 1, sizeof(*streams->lost_pieces));
	return streams->streams && streams->lost_mappings && streams->lost_pieces ? 0 : -ENOMEM;
}

static void close_mappings(struct etw_kernel_streams *streams)
{
	for (uint32_t i = 0; i < perf_count(streams); i++)
		etw_kernel_perf_ring_close(&streams->perfs[i]);
	if (streams->perfs)
		etw_kernel_cpus_close(&streams->cpus);
	free(streams->perfs);
	free(streams->perf_record);
	streams->perfs = NULL;
	streams->perf_record = NULL;
}

void etw_kernel_streams_done(struct etw_kernel_streams *streams)
{
	/* Kept copies would go on recording. */
	etw_kernel_streams_enable_mappings(streams, false);
	close_mappings(streams);
	for (size_t i = 0; streams->streams && i < stream_count(streams); i++)
		etw_kernel_stream_done(&streams->streams[i]);
	etw_kernel_heap_done(&streams->heap);
	etw_kernel_ring_close(&streams->ring);
	etw_kernel_cpu_rings_close(&streams->cpu_rings);
	free(streams->lost_mappings);
	free(streams->lost_pieces);
	free(streams->streams);
}

static enum etw_kernel_perf_what what_of(const struct etw_kernel_streams *streams, uint32_t number)
{
	return number < streams->cpu_count ? ETW_KERNEL_PERF_CODE : ETW_KERNEL_PERF_DATA;
}

/* Returns 0 also when the processor is offline, and when the host may lock no memory for the ring of data any more. */
static int open_ring(struct etw_kernel_streams *streams, const struct etw_source_host *host,
		     uint32_t number, struct etw_fault *reterr)
{
	struct etw_kernel_perf_ring *perf = &streams->perfs[number];
	int r;

	if (number < streams->cpu_count)
		r = etw_kernel_perf_open(perf, host, number, ETW_KERNEL_PERF_CODE, PERF_BYTES,
					 reterr);
	else
		r = etw_kernel_perf_open(perf, host, number - streams->cpu_count,
					 ETW_KERNEL_PERF_DATA, PERF_DATA_BYTES, NULL);
	if (r == -ENODEV || (r == -EACCES && number >= streams->cpu_count))
		return 0;
	return r;
}

int etw_kernel_streams_open_mappings(struct etw_kernel_streams *streams,
				     const struct etw_source_host *host, struct etw_fault *reterr)
{
	struct etw_kernel_perf_ring *perfs;
	int r = 0;

	if (streams->perfs)
		return 0;
	streams->perf_record = aligned_alloc(8, ETW_KERNEL_PERF_RECORD_MAX);
	perfs = calloc((size_t)streams->cpu_count * 2, sizeof(*perfs));
	if (!streams->perf_record || !perfs) {
		free(perfs);
		free(streams->perf_record);
		streams->perf_record = NULL;
		return -ENOMEM;
	}
	streams->perfs = perfs;
	for (uint32_t i = 0; i < perf_count(streams); i++)
		perfs[i].fd = -1;
	/* Before the rings are opened: who goes meanwhile is seen to have changed. */
	etw_kernel_cpus_open(&streams->cpus, CPU_LIST);
	(void)etw_kernel_cpus_look(&streams->cpus, etw_monotonic_ns());
	for (uint32_t i = 0; i < perf_count(streams); i++) {
		r = open_ring(streams, host, i, reterr);
		if (r) {
			/* All or none: the mappings of a processor without a ring would be lost, and not counted. */
			close_mappings(streams);
			return r;
		}
	}
	return 0;
}

void etw_kernel_streams_enable_mappings(struct etw_kernel_streams *streams, bool is_on)
{
	streams->is_mapping = is_on;
	for (uint32_t i = 0; i < perf_count(streams); i++)
		(void)etw_kernel_perf_ring_enable(&streams->perfs[i], is_on);
}

/*
 * An event ends with its processor, and does not come back with it; its ring can still be read. Another one takes its
 * place when everything of the first is safe, because positions of the one mean nothing in the other.
 */
static void follow_cpu(struct etw_kernel_streams *streams, const struct etw_source_host *host,
		       uint32_t number)
{
	const enum etw_kernel_perf_what what = what_of(streams, number);
	const uint32_t cpu = number % streams->cpu_count;
	struct etw_kernel_perf_ring *perf = &streams->perfs[number];

	if (!etw_kernel_cpus_is_online(&streams->cpus, cpu)) {
		perf->is_gone = perf->fd >= 0;
		return;
	}
	if (perf->fd >= 0 && !perf->is_gone)
		return;
	if (perf->fd >= 0 && (stream_of(streams, number)->first ||
			      perf->position != etw_kernel_perf_ring_end(perf))) {
		streams->is_waiting = true;
		return;
	}
	etw_kernel_perf_ring_close(perf);
	if (etw_kernel_perf_open_anew(perf, host, cpu, what,
				      what == ETW_KERNEL_PERF_CODE ? PERF_BYTES
								   : PERF_DATA_BYTES) == 0)
		(void)etw_kernel_perf_ring_enable(perf, streams->is_mapping);
}

void etw_kernel_streams_follow_cpus(struct etw_kernel_streams *streams,
				    const struct etw_source_host *host)
{
	if (!streams->perfs)
		return;
	if (!etw_kernel_cpus_look(&streams->cpus, etw_monotonic_ns()) && !streams->is_waiting)
		return;
	streams->is_waiting = false;
	for (uint32_t i = 0; i < perf_count(streams); i++)
		follow_cpu(streams, host, i);
}

/* One record of the BPF ring on its way. It stays where it is until it is given back. */
static int add_ring_record(struct etw_kernel_streams *streams,
			   const struct etw_kernel_ring_record *from)
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
	r = etw_kernel_heap_add(&streams->heap, &streams->streams[0], item);
	if (r)
		free(item);
	return r;
}

/*
 * Reads the ring up to @end. Returns 0 when it got there, 1 when it stopped before (a record is still
 * being written, or the bound is reached), negative errno.
 */
static int read_ring(struct etw_kernel_streams *streams, uint64_t end, uint32_t record_max)
{
	struct etw_kernel_ring_record record;

	for (uint32_t i = 0; i < record_max; i++) {
		uint64_t before = streams->ring.position;
		int r = etw_kernel_ring_next(&streams->ring, end, &record);

		if (r == -EBADMSG) {
			/* No record can be told from the next any more; other streams must not wait for it. */
			streams->is_broken = true;
			return 0;
		}
		if (r <= 0)
			return r == -EAGAIN;
		r = add_ring_record(streams, &record);
		if (r) {
			streams->ring.position = before;
			return r;
		}
	}
	return streams->ring.position < end;
}

static int add_perf_record(struct etw_kernel_streams *streams, uint32_t number, uint32_t byte_count)
{
	const struct etw_kernel_perf_ring *perf = &streams->perfs[number];
	struct etw_kernel_perf_record record = {0};
	struct etw_kernel_item *item;
	int r;

	if (etw_kernel_perf_parse(streams->perf_record, byte_count, &record))
		record.kind = ETW_KERNEL_PERF_OTHER;
	if (record.kind == ETW_KERNEL_PERF_LOST)
		(what_of(streams, number) == ETW_KERNEL_PERF_CODE
			 ? streams->lost_mappings
			 : streams->lost_pieces)[perf->cpu] += record.lost_count;
	if (record.kind != ETW_KERNEL_PERF_MAP && record.kind != ETW_KERNEL_PERF_EXEC &&
	    record.kind != ETW_KERNEL_PERF_SYMBOL)
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
	memcpy(item->bytes, streams->perf_record, byte_count);
	r = etw_kernel_heap_add(&streams->heap, stream_of(streams, number), item);
	if (r)
		free(item);
	return r;
}

static int read_perf(struct etw_kernel_streams *streams, uint32_t number, uint32_t record_max)
{
	struct etw_kernel_perf_ring *perf = &streams->perfs[number];
	uint64_t end = etw_kernel_perf_ring_end(perf);

	for (uint32_t i = 0; i < record_max; i++) {
		uint64_t before = perf->position;
		int r = etw_kernel_perf_ring_next(perf, end, streams->perf_record);

		if (r == -EBADMSG)
			perf->position = end; /* nothing in between can be told apart */
		if (r <= 0)
			return 0;
		r = add_perf_record(streams, number, (uint32_t)r);
		if (r) {
			perf->position = before;
			return r;
		}
	}
	return perf->position < end;
}

static void add_copy(void *context, uint32_t cpu, const struct etw_kernel_cpu_record *record)
{
	struct etw_kernel_streams *streams = context;
	const struct etw_kernel_stack_copy *copy = (const void *)(record + 1);
	uint32_t byte_count = (uint32_t)sizeof(*copy) + copy->byte_count;
	struct etw_kernel_item *item = calloc(1, sizeof(*item) + byte_count);

	/* The stack is counted as missing when the event asks for it. */
	if (!item)
		return;
	item->record = item->bytes;
	item->byte_count = byte_count;
	item->is_stack = true;
	item->cpu = cpu;
	item->time_ns = copy->key_ns;
	memcpy(item->bytes, copy, byte_count);
	if (etw_kernel_heap_add(&streams->heap, &streams->streams[1 + streams->cpu_count], item))
		free(item);
}

void etw_kernel_streams_take_copies(struct etw_kernel_streams *streams)
{
	streams->cpu_rings.copied = add_copy;
	streams->cpu_rings.context = streams;
}

int etw_kernel_streams_read(struct etw_kernel_streams *streams)
{
	uint64_t now_ns = etw_monotonic_ns(), until_ns = now_ns;
	uint64_t end = etw_kernel_ring_end(&streams->ring);
	int is_more = 0, r;

	if (streams->is_broken)
		streams->ring.position = end;
	r = read_ring(streams, end, RECORDS_AT_ONCE);
	if (r < 0)
		return r;
	is_more |= r;
	for (uint32_t i = 0; i < perf_count(streams); i++) {
		if (streams->perfs[i].fd < 0)
			continue;
		r = read_perf(streams, i, RECORDS_AT_ONCE);
		if (r < 0)
			return r;
		is_more |= r;
	}
	r = etw_kernel_cpu_rings_read(&streams->cpu_rings, &until_ns);
	if (r < 0)
		return r;
	if (streams->perfs)
		until_ns = MIN(until_ns, now_ns - ETW_KERNEL_PERF_SLACK_NS);
	if (!is_more && until_ns > streams->read_ns)
		streams->read_ns = until_ns;
	return is_more | r;
}

void etw_kernel_streams_release(struct etw_kernel_streams *streams)
{
	uint64_t position;

	if (etw_kernel_stream_release(&streams->streams[0], &position))
		etw_kernel_ring_release(&streams->ring, position);
	etw_kernel_cpu_rings_release(&streams->cpu_rings);
	(void)etw_kernel_stream_release(&streams->streams[1 + streams->cpu_count], &position);
	for (uint32_t i = 0; i < perf_count(streams); i++)
		if (etw_kernel_stream_release(stream_of(streams, i), &position))
			etw_kernel_perf_ring_release(&streams->perfs[i], position);
}
