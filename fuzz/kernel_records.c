/* SPDX-License-Identifier: MIT */
/*
 * What the BPF programs of frequent events hand over: any records in a processor's ring are passed over and counted, or make
 * an event and a stack of the sizes that their headers say, from their own bytes alone, and the same each time.
 *
 * Input: records, each behind two bytes of its length.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "source/kernel/collector/cpu_out.h"
#include "source/kernel/events/cpu_events.h"
#include "source/kernel/events/file_names.h"
#include "source/kernel/rings/cpu_rings.h"
#include "target.h"
#include "wire/etl_event.h"

#define RING_BYTES (UINT32_C(1) << 17)

struct memory {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[2 * RING_BYTES];
};

static int to_raw(void *context, uint64_t monotonic_ns, int64_t *ret)
{
	(void)context;
	*ret = (int64_t)monotonic_ns;
	return 0;
}

static const struct etw_source_host host = {.cpu_count = 1, .clock_type = 1, .to_raw = to_raw};

/* A copied stack is told with as many bytes as it says. */
static void copied(void *context, uint32_t cpu, const struct etw_kernel_cpu_record *record)
{
	const struct etw_kernel_stack_copy *copy = (const void *)(record + 1);
	const uint8_t *bytes = (const uint8_t *)(copy + 1);
	unsigned *sum = context;

	CHECK(cpu == 0);
	for (uint32_t i = 0; i < copy->byte_count; i++)
		*sum += bytes[i];
}

/* As the kernel does; the data are seen twice. Returns whether there is room. */
static bool put_record(struct memory *memory, const uint8_t *bytes, uint32_t count)
{
	uint64_t at = memory->producer;

	if (at + 8 + count + 8 > RING_BYTES)
		return false;
	etw_store32(memory->data + at, count);
	memcpy(memory->data + at + 8, bytes, count);
	memcpy(memory->data + RING_BYTES + at, memory->data + at, 8 + (size_t)count);
	memory->producer += (8 + (uint64_t)count + 7) & ~UINT64_C(7);
	return true;
}

static void check_event(const uint8_t *event, uint32_t bytes, uint32_t room)
{
	CHECK(bytes <= room && bytes >= sizeof(struct wire_perfinfo_header));
	CHECK(etw_load16(event + offsetof(struct wire_perfinfo_header, bytes)) == bytes ||
	      event[2] != WIRE_HEADER_PERFINFO64);
}

/* A copy of the record, with nothing behind it, makes the same event. */
static void check_record(const struct etw_kernel_cpu_maker *maker,
			 const struct etw_kernel_cpu_record *record)
{
	size_t frames = (size_t)record->kernel_frames + record->user_frames;
	size_t bytes = sizeof(*record) + record->payload_bytes + frames * sizeof(uint64_t);
	static uint8_t one[ETW_KERNEL_CPU_EVENT_MAX], two[ETW_KERNEL_CPU_EVENT_MAX];
	struct etw_kernel_cpu_record *alone = malloc(bytes);
	uint32_t made = etw_kernel_cpu_event(maker, record, 5, one);

	CHECK(alone);
	memcpy(alone, record, bytes);
	CHECK(etw_kernel_cpu_event(maker, alone, 5, two) == made);
	CHECK(!made || memcmp(one, two, made) == 0);
	if (made)
		check_event(one, made, sizeof(one));
	free(alone);
}

/* Takes everything in the order in which it goes out. */
static void take_all(struct etw_kernel_cpu_out *cpu_out)
{
	struct etw_source_event event;
	struct etw_source_mark mark;
	uint64_t last_ns = 0, next_ns;

	while ((next_ns = etw_kernel_cpu_out_next_ns(cpu_out, 0, UINT64_MAX - 1)) != UINT64_MAX) {
		CHECK(next_ns >= last_ns);
		last_ns = next_ns;
		CHECK(etw_kernel_cpu_out_peek(cpu_out, 0, &event));
		if (event.byte_count)
			check_event(event.bytes, event.byte_count,
				    ETW_KERNEL_CPU_EVENT_MAX + ETW_KERNEL_STACK_MAX);
		etw_kernel_cpu_out_pop(cpu_out, 0, &mark);
	}
}

static void read_all(struct memory *memory, unsigned *sum)
{
	static struct etw_kernel_routines routines;
	struct etw_kernel_file_names names = {.points = {.root = "/nowhere"}};
	struct etw_kernel_cpu_ring ring = {0};
	struct etw_kernel_cpu_rings rings = {
		.at = &ring, .count = 1, .copied = copied, .context = sum};
	uint64_t until_ns = UINT64_MAX;
	struct etw_kernel_cpu_out cpu_out;
	struct etw_kernel_out out;
	const struct etw_kernel_cpu_place *place;

	etw_kernel_ring_init(&ring.ring, &memory->consumer, &memory->producer, memory->data,
			     RING_BYTES);
	CHECK(!etw_kernel_out_init(&out, &host, NULL));
	CHECK(!etw_kernel_cpu_out_init(&cpu_out, &host, &rings, &out));
	cpu_out.maker.routines = &routines;
	cpu_out.maker.file_names = &names;
	CHECK(etw_kernel_cpu_rings_read(&rings, &until_ns) >= 0);
	for (size_t i = 0; (place = etw_kernel_cpu_rings_waiting(&rings, 0, i)); i++)
		check_record(&cpu_out.maker, place->at);
	etw_kernel_cpu_out_look_ahead(&cpu_out);
	take_all(&cpu_out);
	etw_kernel_cpu_rings_release(&rings);
	etw_kernel_cpu_out_done(&cpu_out);
	etw_kernel_out_done(&out);
	etw_kernel_file_names_done(&names);
	free(ring.places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct memory memory;
	unsigned sum = 0;

	memory.consumer = memory.producer = 0;
	while (bytes >= 2) {
		uint32_t length = etw_load16(data);

		data += 2;
		bytes -= 2;
		if (length > bytes)
			length = (uint32_t)bytes;
		if (!put_record(&memory, data, length))
			break;
		data += length;
		bytes -= length;
	}
	read_all(&memory, &sum);
	return 0;
}
