/* SPDX-License-Identifier: MIT */
/* See hostile_seen.h. */
#include "recording/hostile_seen.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "recording/support.h"

/* The instance is what readers make of a header of that kind. */
static bool is_item_of_a_writer(USHORT type)
{
	return type == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO ||
	       type == EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID ||
	       type == EVENT_HEADER_EXT_TYPE_PROV_TRAITS ||
	       type == EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL;
}

/* The first of them, to find out by which way they came. */
static void note_forged(const EVENT_RECORD *record, uint64_t last, uint64_t number)
{
	static int count;

	if (count++ < 5)
		printf("forged: process %u, thread %u, processor %u, %u bytes, id %u, flags %#x, "
		       "%u items, time %lld, number %" PRIu64 " after %" PRIu64 "\n",
		       (unsigned)record->EventHeader.ProcessId,
		       (unsigned)record->EventHeader.ThreadId,
		       (unsigned)record->BufferContext.ProcessorNumber,
		       (unsigned)record->UserDataLength,
		       (unsigned)record->EventHeader.EventDescriptor.Id,
		       (unsigned)record->EventHeader.Flags, (unsigned)record->ExtendedDataCount,
		       (long long)record->EventHeader.TimeStamp.QuadPart, number, last);
}

/* No event is there twice, also not in two files of a series. */
static bool is_first(struct hostile_seen *seen, uint32_t index, uint64_t number)
{
	uint8_t *byte, bit = (uint8_t)(1u << number % 8);

	if (number >= HOSTILE_NUMBERS)
		fail("a writer has written too much for this test");
	byte = &seen->is_there[index][number / 8];
	if (*byte & bit)
		return false;
	*byte |= bit;
	return true;
}

static void see_honest(struct hostile_seen *seen, uint32_t index, const EVENT_RECORD *record)
{
	struct storm_payload payload;

	if (record->UserDataLength != sizeof(payload)) {
		note_forged(record, seen->last[index], 0);
		seen->forged_honest++;
		return;
	}
	memcpy(&payload, record->UserData, sizeof(payload));
	if (payload.writer != seen->first_place + index || payload.number <= seen->last[index] ||
	    record->ExtendedDataCount || !is_first(seen, index, payload.number)) {
		note_forged(record, seen->last[index], payload.number);
		seen->forged_honest++;
		return;
	}
	seen->last[index] = payload.number;
	seen->count[index]++;
}

void WINAPI hostile_see_event(PEVENT_RECORD record)
{
	struct hostile_seen *seen = record->UserContext;
	GUID forged = storm_provider;

	forged.Data1 ^= 1;
	for (uint32_t i = 0; i < HOSTILE_HONEST; i++) {
		if (record->EventHeader.ProcessId == load_acquire(&seen->pids[i])) {
			see_honest(seen, i, record);
			return;
		}
	}
	seen->forged_provider += IsEqualGUID(&record->EventHeader.ProviderId, &forged);
	if (!IsEqualGUID(&record->EventHeader.ProviderId, &storm_provider))
		return;
	seen->others++;
	for (uint32_t i = 0; i < record->ExtendedDataCount; i++)
		seen->forged_items += !is_item_of_a_writer(record->ExtendedData[i].ExtType);
	seen->forged_pid += record->EventHeader.ProcessId == 0;
}

void hostile_judge(const struct hostile_seen *seen, const struct storm_writer *writers,
		   const char *where, uint64_t lost, bool has_all)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < HOSTILE_HONEST; i++) {
		const uint64_t written = load_acquire(&writers[i].succeeded);

		printf("%s: honest writer %u: %" PRIu64 " written, %" PRIu64 " refused, %" PRIu64
		       " there\n",
		       where, i, written, load_acquire(&writers[i].refused), seen->count[i]);
		if (seen->count[i] > written)
			fail("more is there than was written");
		missing += written - seen->count[i] + load_acquire(&writers[i].refused);
	}
	printf("%s: %" PRIu64 " events of attackers; %" PRIu64
	       " of the honest are not there, %" PRIu64 " are reported lost\n",
	       where, seen->others, missing, lost);
	if (seen->forged_honest || seen->forged_provider || seen->forged_items || seen->forged_pid)
		fail("forged events are there: %" PRIu64 " of honest processes, %" PRIu64
		     " of a provider that there is not, %" PRIu64 " items, %" PRIu64
		     " of no process",
		     seen->forged_honest, seen->forged_provider, seen->forged_items,
		     seen->forged_pid);
	if (has_all && missing > lost)
		fail("%" PRIu64 " events were lost in silence", missing - lost);
}
