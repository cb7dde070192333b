/* SPDX-License-Identifier: MIT */
/* Asking a tree about an event: the tree itself, and what the header says as numbers, GUIDs and times. */
#include <string.h>

#include "base/guid.h"
#include "filter/filter_internal.h"

#define NO_ID 0xFFFFFFFFu /* process and thread of events whose header has no field for them */

static bool is_classic(const EVENT_RECORD *record)
{
	return record->EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER;
}

/* What an operand is as a number; false where the event has no such thing. */
static bool read_number(struct etw_filter_subject *subject, uint8_t id, bool shows, uint64_t *ret)
{
	const EVENT_HEADER *header = &subject->record->EventHeader;
	const EVENT_DESCRIPTOR *descriptor = &header->EventDescriptor;
	/* Of what classic events do not have, the header's zeros count as such only where nothing is shown. */
	const bool has_descriptor = !shows || !is_classic(subject->record);

	switch (id) {
	case ETW_FILTER_EVENT:
		*ret = is_classic(subject->record) ? descriptor->Opcode : descriptor->Id;
		return true;
	case ETW_FILTER_ID:
		*ret = descriptor->Id;
		return !is_classic(subject->record);
	case ETW_FILTER_VERSION:
		*ret = descriptor->Version;
		return true;
	case ETW_FILTER_LEVEL:
		*ret = descriptor->Level;
		return true;
	case ETW_FILTER_OPCODE:
		*ret = descriptor->Opcode;
		return true;
	case ETW_FILTER_TASK:
		*ret = descriptor->Task;
		return has_descriptor;
	case ETW_FILTER_KEYWORD:
		*ret = descriptor->Keyword;
		return has_descriptor;
	case ETW_FILTER_CHANNEL:
		*ret = descriptor->Channel;
		return has_descriptor;
	case ETW_FILTER_HEADER_PID:
		*ret = header->ProcessId;
		return !shows || header->ProcessId != NO_ID;
	case ETW_FILTER_HEADER_TID:
		*ret = header->ThreadId;
		return !shows || header->ThreadId != NO_ID;
	case ETW_FILTER_PID:
		*ret = etw_filter_ids(subject).pid;
		return *ret != NO_ID;
	case ETW_FILTER_TID:
		*ret = etw_filter_ids(subject).tid;
		return *ret != NO_ID;
	case ETW_FILTER_CPU:
		*ret = GetEventProcessorIndex(subject->record);
		return true;
	default:
		*ret = subject->record->UserDataLength;
		return true;
	}
}

static bool ask_number(struct etw_filter_asking *asking)
{
	struct etw_filter *filter = asking->filter;
	uint64_t number;

	if (read_number(asking->subject, filter->operand->id, filter->shows, &number)) {
		asking->is_there = true;
		for (size_t i = 0; i < filter->value_count; i++) {
			if (etw_filter_value_has_integer(&filter->values[i], number))
				return true;
		}
	}
	/* Classic events have names of things that they have no number of. */
	if (filter->readings & ETW_FILTER_TEXT ||
	    (filter->ask == ETW_FILTER_HAS && !asking->is_there &&
	     filter->operand->readings & ETW_FILTER_TEXT))
		return etw_filter_ask_names(asking);
	return false;
}

static bool ask_related_activity(struct etw_filter_asking *asking)
{
	const EVENT_RECORD *record = asking->subject->record;

	for (unsigned i = 0; i < record->ExtendedDataCount; i++) {
		const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
		GUID guid;

		if (item->ExtType != EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID ||
		    item->DataSize < sizeof(guid))
			continue;
		memcpy(&guid, (const void *)(uintptr_t)item->DataPtr, sizeof(guid));
		return etw_filter_take_guid(asking, &guid);
	}
	return false;
}

static bool ask_time(struct etw_filter_asking *asking)
{
	const struct etw_filter *filter = asking->filter;
	const struct etw_filter_subject *subject = asking->subject;

	asking->is_there = true;
	for (size_t i = 0; i < filter->value_count; i++) {
		if (etw_filter_value_has_time(&filter->values[i], subject->time_ft,
					      subject->start_ft))
			return true;
	}
	return false;
}

static bool ask_classic(struct etw_filter_asking *asking)
{
	const struct etw_filter *filter = asking->filter;

	asking->is_there = true;
	for (size_t i = 0; i < filter->value_count; i++) {
		if (filter->values[i].truth == is_classic(asking->subject->record))
			return true;
	}
	return false;
}

static bool ask_operand(struct etw_filter_asking *asking)
{
	const EVENT_HEADER *header = &asking->subject->record->EventHeader;

	switch (asking->filter->operand->id) {
	case ETW_FILTER_PROVIDER_ID:
		return etw_filter_take_guid(asking, &header->ProviderId);
	case ETW_FILTER_ACTIVITY:
		return !etw_guid_is_null(&header->ActivityId) &&
		       etw_filter_take_guid(asking, &header->ActivityId);
	case ETW_FILTER_RELATED_ACTIVITY:
		return ask_related_activity(asking);
	case ETW_FILTER_MOMENT:
		return ask_time(asking);
	case ETW_FILTER_CLASSIC:
		return ask_classic(asking);
	case ETW_FILTER_PROVIDER:
	case ETW_FILTER_PROCESS:
	case ETW_FILTER_USER:
	case ETW_FILTER_STATUS:
	case ETW_FILTER_MESSAGE:
		return etw_filter_ask_names(asking);
	default:
		return ask_number(asking);
	}
}

/* A comparison, or whether there is something to compare. */
static bool ask_leaf(struct etw_filter *filter, struct etw_filter_subject *subject)
{
	struct etw_filter_asking asking = {filter, subject, false};
	const bool fits = filter->kind == ETW_FILTER_FIELD ? etw_filter_ask_field(&asking)
							   : ask_operand(&asking);

	if (filter->ask == ETW_FILTER_HAS)
		return asking.is_there != filter->is_negated;
	return asking.is_there && fits != filter->is_negated;
}

static bool ask_or(struct etw_filter *filter, struct etw_filter_subject *subject)
{
	bool is_true = false;

	for (size_t i = 0; i < filter->part_count; i++) {
		struct etw_filter *part = filter->parts[i];

		if (is_true && part->was_true)
			continue;
		if (etw_filter_matches(part, subject)) {
			if (!filter->is_watched)
				return true;
			is_true = true;
		}
	}
	return is_true;
}

static bool ask(struct etw_filter *filter, struct etw_filter_subject *subject)
{
	switch (filter->kind) {
	case ETW_FILTER_ANY:
		return true;
	case ETW_FILTER_AND:
		for (size_t i = 0; i < filter->part_count; i++) {
			if (!etw_filter_matches(filter->parts[i], subject))
				return false;
		}
		return true;
	case ETW_FILTER_OR:
		return ask_or(filter, subject);
	case ETW_FILTER_NOT:
		return !etw_filter_matches(filter->parts[0], subject);
	case ETW_FILTER_FUNCTION:
		return filter->function(filter->context, subject->context);
	default:
		return ask_leaf(filter, subject);
	}
}

bool etw_filter_matches(struct etw_filter *filter, struct etw_filter_subject *subject)
{
	const bool is_true = ask(filter, subject);

	filter->was_true |= is_true;
	return is_true;
}
