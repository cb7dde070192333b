/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/wanted.h"

#include <string.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/pattern.h"

int etw_tracepoint_wish_read(struct etw_tracepoint_wish *wish)
{
	TRY(wire_event_filter_read(
		(struct etw_bytes){wish->provider.filters, wish->provider.filter_bytes},
		&wish->filter));
	wish->rest = wish->filter;
	wish->rest.kinds &= WIRE_EVENT_FILTER_PID | WIRE_EVENT_FILTER_PAYLOAD;
	return 0;
}

static bool takes_category(uint8_t level, uint64_t any, uint64_t all,
			   const EVENT_DESCRIPTOR *descriptor)
{
	if (level && descriptor->Level > level)
		return false;
	return (!any || descriptor->Keyword & any) && !(all & ~descriptor->Keyword);
}

static bool is_named(const struct wire_filter_category *category, const char *name)
{
	const char *at = (const char *)category->names.at;

	for (unsigned i = 0; i < category->name_count; i++, at += strlen(at) + 1)
		if (etw_pattern_matches(at, name, strlen(name)))
			return true;
	return false;
}

static bool is_listed(const struct wire_filter_ids *ids, uint16_t id)
{
	for (unsigned i = 0; i < ids->count; i++)
		if (etw_load16(ids->at + 2 * (size_t)i) == id)
			return true;
	return false;
}

/* What names choose is of the category that they come with; the others go by nothing. */
static bool takes_names(const struct wire_filter_category *category, const char *name,
			const EVENT_DESCRIPTOR *descriptor)
{
	const bool is_there = is_named(category, name) &&
			      takes_category(category->level, category->match_any,
					     category->match_all, descriptor);

	return is_there == category->is_in;
}

bool etw_tracepoint_wish_takes(const struct etw_tracepoint_wish *wish, const char *name,
			       const EVENT_DESCRIPTOR *descriptor)
{
	const struct wire_event_filter *filter = &wish->filter;

	if (!takes_category(wish->provider.level, wish->provider.match_any,
			    wish->provider.match_all, descriptor))
		return false;
	if (filter->kinds & WIRE_EVENT_FILTER_ID &&
	    is_listed(&filter->ids, descriptor->Id) != filter->ids.is_in)
		return false;
	return !(filter->kinds & WIRE_EVENT_FILTER_NAME) ||
	       takes_names(&filter->names, name, descriptor);
}

bool etw_tracepoint_wish_takes_stack(const struct etw_tracepoint_wish *wish, const char *name,
				     const EVENT_DESCRIPTOR *descriptor)
{
	const struct wire_event_filter *filter = &wish->filter;

	if (!(wish->provider.property & EVENT_ENABLE_PROPERTY_STACK_TRACE))
		return false;
	if (filter->kinds & WIRE_EVENT_FILTER_STACK_ID &&
	    is_listed(&filter->stack_ids, descriptor->Id) != filter->stack_ids.is_in)
		return false;
	if (filter->kinds & WIRE_EVENT_FILTER_STACK_NAME &&
	    !takes_names(&filter->stack_names, name, descriptor))
		return false;
	return !(filter->kinds & WIRE_EVENT_FILTER_STACK_LEVEL) ||
	       takes_category(filter->stack_level.level, filter->stack_level.match_any,
			      filter->stack_level.match_all,
			      descriptor) == filter->stack_level.is_in;
}
