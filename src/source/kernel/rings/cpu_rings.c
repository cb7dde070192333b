/* SPDX-License-Identifier: MIT */
#include "source/kernel/rings/cpu_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "source/kernel/bpf/disk_records.h"
#include "source/kernel/bpf/file_records.h"
#include "source/kernel/bpf/memory_records.h"
#include "source/kernel/bpf/network_records.h"

#define RECORDS_AT_ONCE 16384 /* of each ring */
#define FIRST_ROOM      1024

void etw_kernel_cpu_rings_close(struct etw_kernel_cpu_rings *rings)
{
	for (uint32_t i = 0; i < rings->count; i++) {
		etw_kernel_ring_close(&rings->at[i].ring);
		free(rings->at[i].places);
	}
	free(rings->at);
	rings->at = NULL;
	rings->count = 0;
}

int etw_kernel_cpu_rings_open(struct etw_kernel_cpu_rings *rings, const int *fds, uint32_t count,
			      uint64_t byte_count)
{
	rings->count = 0;
	rings->at = calloc(count, sizeof(*rings->at));
	if (!rings->at)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		int r = etw_kernel_ring_open(&rings->at[i].ring, fds[i], byte_count);

		if (r) {
			etw_kernel_cpu_rings_close(rings);
			return r;
		}
		rings->count = i + 1;
	}
	return 0;
}

static struct etw_kernel_cpu_place *place_at(const struct etw_kernel_cpu_ring *ring, size_t number)
{
	return &ring->places[(ring->first + number) & (ring->room - 1)];
}

/* No bound of its own: there are no more places than records in the ring, which keeps what is not taken. */
static int make_room(struct etw_kernel_cpu_ring *ring)
{
	size_t room = ring->room ? ring->room * 2 : FIRST_ROOM;
	struct etw_kernel_cpu_place *places;

	if (ring->count < ring->room)
		return 0;
	places = calloc(room, sizeof(*places));
	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < ring->count; i++)
		places[i] = *place_at(ring, i);
	free(ring->places);
	ring->places = places;
	ring->first = 0;
	ring->room = room;
	return 0;
}

static const size_t payload_bytes[ETW_KERNEL_CPU_KINDS] = {
	[ETW_KERNEL_SWITCH] = sizeof(struct etw_kernel_switch),
	[ETW_KERNEL_READY] = sizeof(struct etw_kernel_ready),
	[ETW_KERNEL_SAMPLE] = sizeof(struct etw_kernel_sample),
	[ETW_KERNEL_SYSCALL_ENTER] = sizeof(struct etw_kernel_syscall_enter),
	[ETW_KERNEL_SYSCALL_EXIT] = sizeof(struct etw_kernel_syscall_exit),
	[ETW_KERNEL_INTERRUPT] = sizeof(struct etw_kernel_interrupt),
	[ETW_KERNEL_SOFT_INTERRUPT] = sizeof(struct etw_kernel_soft_interrupt),
	[ETW_KERNEL_PRIORITY] = sizeof(struct etw_kernel_priority),
	[ETW_KERNEL_IDLE_STATE] = sizeof(struct etw_kernel_idle_state),
	[ETW_KERNEL_FREQUENCY] = sizeof(struct etw_kernel_frequency),
	[ETW_KERNEL_COUNTER_SAMPLE] = sizeof(struct etw_kernel_counter_sample),
	[ETW_KERNEL_FILE_NAME] = sizeof(struct etw_kernel_file_name),
	[ETW_KERNEL_FILE_BEGIN] = sizeof(struct etw_kernel_file_begin),
	[ETW_KERNEL_FILE_END] = sizeof(struct etw_kernel_file_end),
	[ETW_KERNEL_DISK_BEGIN] = sizeof(struct etw_kernel_disk_begin),
	[ETW_KERNEL_DISK_END] = sizeof(struct etw_kernel_disk_end),
	[ETW_KERNEL_SPLIT] = sizeof(struct etw_kernel_split),
	[ETW_KERNEL_FAULT] = sizeof(struct etw_kernel_fault),
	[ETW_KERNEL_HARD_FAULT] = sizeof(struct etw_kernel_hard_fault),
	[ETW_KERNEL_MEMORY] = sizeof(struct etw_kernel_memory),
	[ETW_KERNEL_VIEW] = sizeof(struct etw_kernel_view),
	[ETW_KERNEL_NETWORK] = sizeof(struct etw_kernel_network),
};

static bool is_whole_copy(const struct etw_kernel_ring_record *from)
{
	const struct etw_kernel_cpu_record *record = (const void *)from->at;
	const struct etw_kernel_stack_copy *copy = (const void *)(record + 1);

	return from->byte_count >= sizeof(*record) + sizeof(*copy) &&
	       record->payload_bytes == sizeof(*copy) &&
	       copy->byte_count <= from->byte_count - sizeof(*record) - sizeof(*copy);
}

/* Whether the record is of a known kind, and holds what it says, which is no more than a program writes. */
static bool is_whole(const struct etw_kernel_ring_record *from)
{
	const struct etw_kernel_cpu_record *record = (const void *)from->at;

	if (from->byte_count < sizeof(*record) || record->kind >= ETW_KERNEL_CPU_KINDS ||
	    !payload_bytes[record->kind] || record->payload_bytes < payload_bytes[record->kind] ||
	    record->payload_bytes % sizeof(uint64_t))
		return false;
	if (record->kernel_frames > ETW_KERNEL_KERNEL_FRAMES ||
	    record->user_frames > ETW_KERNEL_USER_FRAMES)
		return false;
	if (record->stack_flags & ETW_KERNEL_STACK_COPIED && record->user_frames != 1)
		return false;
	return sizeof(*record) + record->payload_bytes +
		       ((size_t)record->kernel_frames + record->user_frames) * sizeof(uint64_t) <=
	       from->byte_count;
}

/* @low: where the record begins. Those that are later in time began before it, so they keep theirs. */
static void put_in_order(struct etw_kernel_cpu_ring *ring,
			 const struct etw_kernel_cpu_record *record, uint64_t low)
{
	uint64_t time_ns = MAX(record->time_ns, ring->taken_ns);
	size_t at = ring->count++;

	ring->last_ns[ring->read_count++ % ETW_KERNEL_CPU_DISORDER] = record->time_ns;
	while (at && place_at(ring, at - 1)->time_ns > time_ns) {
		*place_at(ring, at) = *place_at(ring, at - 1);
		at--;
	}
	if (at + 1 < ring->count)
		low = place_at(ring, at + 1)->low;
	*place_at(ring,
		  at) = (struct etw_kernel_cpu_place){.at = record, .time_ns = time_ns, .low = low};
}

/* Of a ring that was not read to its end: what is still to come is not earlier than this. */
static uint64_t bound_of(const struct etw_kernel_cpu_ring *ring)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < ETW_KERNEL_CPU_DISORDER; i++)
		least = MIN(least, ring->last_ns[i]);
	return least;
}

static bool is_copy(const struct etw_kernel_ring_record *from)
{
	const struct etw_kernel_cpu_record *record = (const void *)from->at;

	return from->byte_count >= sizeof(*record) && record->kind == ETW_KERNEL_STACK_COPY;
}

static void take_copy(struct etw_kernel_cpu_rings *rings, uint32_t cpu,
		      const struct etw_kernel_ring_record *from)
{
	if (!is_whole_copy(from))
		rings->at[cpu].malformed++;
	else if (rings->copied)
		rings->copied(rings->context, cpu, (const void *)from->at);
}

static void take_whole(const struct etw_kernel_cpu_rings *rings, struct etw_kernel_cpu_ring *ring,
		       const struct etw_kernel_cpu_record *record, uint64_t begin)
{
	if (record->kind == ETW_KERNEL_FILE_NAME && rings->named)
		rings->named(rings->naming, record);
	put_in_order(ring, record, begin);
}

static int read_one(struct etw_kernel_cpu_rings *rings, struct etw_kernel_cpu_ring *ring)
{
	uint64_t end = etw_kernel_ring_end(&ring->ring);
	struct etw_kernel_ring_record record;

	for (uint32_t i = 0; i < RECORDS_AT_ONCE; i++) {
		uint64_t begin;
		int r;

		TRY(make_room(ring));
		r = etw_kernel_ring_next(&ring->ring, end, &record);
		if (r == -EBADMSG) {
			/* No record can be told from the next any more; other rings must not wait for it. */
			ring->is_broken = true;
			return 0;
		}
		if (r <= 0)
			return r == -EAGAIN;
		begin = record.end - ALIGN_UP((uint64_t)record.byte_count, UINT64_C(8));
		if (is_copy(&record))
			take_copy(rings, (uint32_t)(ring - rings->at), &record);
		else if (is_whole(&record))
			take_whole(rings, ring, (const void *)record.at, begin);
		else
			ring->malformed++;
	}
	return ring->ring.position < end;
}

int etw_kernel_cpu_rings_read(struct etw_kernel_cpu_rings *rings, uint64_t *ret_until_ns)
{
	int is_more = 0;

	for (uint32_t i = 0; i < rings->count; i++) {
		int r = rings->at[i].is_broken ? 0 : read_one(rings, &rings->at[i]);

		if (r < 0)
			return r;
		if (r)
			*ret_until_ns = MIN(*ret_until_ns, bound_of(&rings->at[i]));
		is_more |= r;
	}
	return is_more;
}

const struct etw_kernel_cpu_place *etw_kernel_cpu_rings_peek(
	const struct etw_kernel_cpu_rings *rings, uint32_t cpu, uint64_t until_ns)
{
	const struct etw_kernel_cpu_ring *ring;

	if (cpu >= rings->count)
		return NULL;
	ring = &rings->at[cpu];
	if (!ring->count || place_at(ring, 0)->time_ns > until_ns)
		return NULL;
	return place_at(ring, 0);
}

const struct etw_kernel_cpu_place *etw_kernel_cpu_rings_waiting(
	const struct etw_kernel_cpu_rings *rings, uint32_t cpu, size_t number)
{
	const struct etw_kernel_cpu_ring *ring = &rings->at[cpu];

	return number < ring->count ? place_at(ring, number) : NULL;
}

bool etw_kernel_cpu_rings_has_unread(const struct etw_kernel_cpu_rings *rings, uint32_t cpu)
{
	const struct etw_kernel_cpu_ring *ring = &rings->at[cpu];

	return !ring->is_broken && ring->ring.position < etw_kernel_ring_end(&ring->ring);
}

void etw_kernel_cpu_rings_pop(struct etw_kernel_cpu_rings *rings, uint32_t cpu)
{
	struct etw_kernel_cpu_ring *ring = &rings->at[cpu];

	ring->taken_ns = place_at(ring, 0)->time_ns;
	ring->first = (ring->first + 1) & (ring->room - 1);
	ring->count--;
}

void etw_kernel_cpu_rings_release(struct etw_kernel_cpu_rings *rings)
{
	for (uint32_t i = 0; i < rings->count; i++) {
		struct etw_kernel_cpu_ring *ring = &rings->at[i];
		/* A record begins behind its header of 8 bytes, which the kernel may have with it. */
		uint64_t position = ring->count ? place_at(ring, 0)->low - 8 : ring->ring.position;

		/* Written by this thread alone. */
		if (position > load_relaxed(ring->ring.consumer))
			etw_kernel_ring_release(&ring->ring, position);
	}
}
