/* SPDX-License-Identifier: MIT */
#include "relog/clock.h"

#include "base/guid.h"
#include "base/macros.h"
#include "etl/event.h"
#include "wire/class_guids.h"

bool etw_relog_clock_is_same(const struct etw_etl_header *left, const struct etw_etl_header *right)
{
	int64_t apart = etw_filetime_between(left->boot_ft, right->boot_ft);

	if (left->clock.type != right->clock.type)
		return false;
	switch (left->clock.type) {
	case ETW_CLOCK_SYSTEM:
		return true;
	case ETW_CLOCK_CYCLE:
		if (left->cpu_mhz != right->cpu_mhz)
			return false;
		break;
	default:
		if (left->perf_frequency != right->perf_frequency)
			return false;
	}
	if (left->boot_ft <= 0 || right->boot_ft <= 0)
		return left == right; /* which boot, nobody can say */
	/* What is read of one boot differs by how far the system's time was set meanwhile. */
	return apart > -ETW_FILETIME_PER_SECOND && apart < ETW_FILETIME_PER_SECOND;
}

int64_t etw_relog_clock_convert(const struct etw_clock *from, const struct etw_clock *to,
				int64_t time_raw)
{
	return etw_clock_from_filetime(to, etw_clock_to_filetime(from, time_raw));
}

/* Events of the kernel whose payload begins with a time of the session's clock. */
struct timed {
	GUID class_;
	uint8_t opcode;
};
static const struct timed timed[] = {
	{WIRE_CLASS_STACK_WALK, 32}, /* frames, and the two kinds of keys */
	{WIRE_CLASS_STACK_WALK, 37}, {WIRE_CLASS_STACK_WALK, 38},
	{WIRE_CLASS_PERF_INFO, 50}, /* message-signalled ISR */
	{WIRE_CLASS_PERF_INFO, 66}, /* DPC of a thread, ISR, DPC, DPC of a timer */
	{WIRE_CLASS_PERF_INFO, 67},  {WIRE_CLASS_PERF_INFO, 68},
	{WIRE_CLASS_PERF_INFO, 69},  {WIRE_CLASS_PAGE_FAULT, 32}, /* hard fault */
};

static bool is_timed(const EVENT_HEADER *header)
{
	if (!(header->Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(timed); i++) {
		if (timed[i].opcode == header->EventDescriptor.Opcode &&
		    etw_guid_equal(&timed[i].class_, &header->ProviderId))
			return true;
	}
	return false;
}

static void patch(const struct etw_clock *from, const struct etw_clock *to, uint8_t *at)
{
	etw_store64(at, (uint64_t)etw_relog_clock_convert(from, to, (int64_t)etw_load64(at)));
}

void etw_relog_clock_patch(const struct etw_clock *from, const struct etw_clock *to,
			   const struct etw_relog_event *event, uint8_t *bytes, uint32_t byte_count)
{
	const EVENT_RECORD *record = &event->record;
	struct etw_etl_event found;

	/* What was encoded may have another header than before. */
	if (etw_etl_event_peek(bytes, byte_count, &found))
		return;
	if (found.header_type == WIRE_HEADER_MESSAGE) {
		uint16_t options =
			etw_load16(bytes + offsetof(struct wire_message_header, options));

		if (found.has_time)
			patch(from, to, bytes + wire_message_layout(options).time);
		return;
	}
	patch(from, to, bytes + wire_event_shapes[found.header_type].time_at);
	if (is_timed(&record->EventHeader) && record->UserDataLength >= 8)
		patch(from, to, bytes + byte_count - record->UserDataLength);
}
