/* SPDX-License-Identifier: MIT */
#include "source/kernel/named/named_enabled.h"

#include <errno.h>
#include <string.h>

#include <evntcons.h>

#include "base/guid.h"
#include "base/macros.h"

const struct etw_kernel_named_provider *etw_kernel_named_find(const GUID *guid)
{
	const struct etw_kernel_named_provider *const *all = etw_kernel_named_providers();

	for (size_t i = 0; i < ETW_KERNEL_NAMED_PROVIDERS; i++) {
		if (etw_guid_equal(&all[i]->guid, guid))
			return all[i];
	}
	return NULL;
}

static int refuse(const struct etw_source_provider *wanted, const char *sentence,
		  struct etw_fault *reterr)
{
	const struct etw_kernel_named_provider *provider = etw_kernel_named_find(&wanted->guid);

	return etw_fault_set(reterr, -EOPNOTSUPP, 0, "provider", provider ? provider->name : NULL,
			     sentence);
}

int etw_kernel_named_check(const struct etw_source_provider *wanted, struct etw_fault *reterr)
{
	struct etw_bytes list = {wanted->filters, wanted->filter_bytes};
	struct wire_event_filter filter;
	struct wire_filter one;

	if (wanted->property & EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING)
		return refuse(wanted, "its events do not tell containers", reterr);
	while (wire_filter_next(&list, &one)) {
		enum wire_filter_use use = wire_filter_use_of(one.type);

		if (use == WIRE_FILTER_CALLBACK)
			return refuse(wanted,
				      "the kernel has no callback that such a filter is for",
				      reterr);
		if (use == WIRE_FILTER_SCOPE && one.type != EVENT_FILTER_TYPE_PID)
			return refuse(wanted,
				      "filters by executable or package do not apply to it: the "
				      "kernel writes its events",
				      reterr);
	}
	return wire_event_filter_read((struct etw_bytes){wanted->filters, wanted->filter_bytes},
				      &filter);
}

void etw_kernel_named_enabled_set(struct etw_kernel_named_enabled *enabled,
				  const struct etw_source_request *request)
{
	enabled->count = 0;
	for (uint32_t i = 0; i < request->provider_count; i++) {
		const struct etw_kernel_named_provider *provider =
			etw_kernel_named_find(&request->providers[i].guid);
		struct etw_kernel_named_enabled_one *one = &enabled->all[enabled->count];

		if (!provider || enabled->count == ETW_KERNEL_NAMED_PROVIDERS)
			continue;
		one->provider = provider;
		one->wanted = request->providers[i];
		one->filter = (struct wire_event_filter){0};
		(void)wire_event_filter_read(
			(struct etw_bytes){one->wanted.filters, one->wanted.filter_bytes},
			&one->filter);
		enabled->count++;
	}
}

static void ask_masks(const struct etw_kernel_named_enabled_one *one,
		      struct etw_source_request *ret)
{
	for (size_t i = 0; i < one->provider->need_count; i++) {
		const struct etw_kernel_named_need *need = &one->provider->needs[i];

		if (etw_source_provider_wants(&one->wanted, ETW_KERNEL_NAMED_LEVEL, need->keyword))
			ret->group_masks[need->word] |= need->bits;
	}
}

static bool is_built(const struct etw_source_ops *beneath, uint16_t hook)
{
	for (uint32_t i = 0; i < beneath->stack_hook_count; i++) {
		if (beneath->stack_hooks[i] == hook)
			return true;
	}
	return false;
}

/* Returns whether any of the provider's events can have a stack. */
static bool ask_stacks(const struct etw_kernel_named_enabled_one *one,
		       const struct etw_source_ops *beneath, struct etw_source_request *ret)
{
	bool result = false;

	for (size_t i = 0; i < one->provider->stack_hook_count; i++) {
		uint16_t hook = one->provider->stack_hooks[i];

		if (!is_built(beneath, hook) || ret->stack_hook_count == ETW_SOURCE_STACK_HOOKS_MAX)
			continue;
		ret->stack_hooks[ret->stack_hook_count++] = hook;
		result = true;
	}
	return result;
}

int etw_kernel_named_enabled_ask(const struct etw_kernel_named_enabled *enabled,
				 const struct etw_source_ops *beneath,
				 struct etw_source_request *ret, struct etw_fault *reterr)
{
	int result = 0;

	*ret = (struct etw_source_request){0};
	for (uint32_t i = 0; i < enabled->count; i++) {
		const struct etw_kernel_named_enabled_one *one = &enabled->all[i];
		struct etw_source_request own = {0};

		ask_masks(one, &own);
		for (size_t j = 0; j < ARRAY_SIZE(own.group_masks); j++) {
			ret->group_masks[j] |= own.group_masks[j];
			if (own.group_masks[j] & ~beneath->masks[j] && !result)
				result = refuse(&one->wanted,
						"not all that its keywords ask for is recorded yet",
						reterr);
		}
		if (one->wanted.property & EVENT_ENABLE_PROPERTY_STACK_TRACE &&
		    !ask_stacks(one, beneath, ret) && !result)
			result = refuse(&one->wanted, "its events have no stacks", reterr);
	}
	return result;
}

bool etw_kernel_named_enabled_wants(const struct etw_kernel_named_enabled_one *one,
				    const struct etw_kernel_named_event *event, bool *ret_stack)
{
	const EVENT_DATA_DESCRIPTOR data = {.Ptr = (uintptr_t)event->payload,
					    .Size = event->byte_count};
	const struct wire_event_subject subject = {
		.provider = &one->provider->guid,
		.descriptor = &event->descriptor,
		.data = &data,
		.data_count = 1,
		.process_id = event->pid,
	};

	*ret_stack = false;
	if (!etw_source_provider_wants(&one->wanted, event->descriptor.Level,
				       event->descriptor.Keyword) ||
	    (one->filter.kinds && !wire_event_filter_passes(&one->filter, &subject)))
		return false;
	*ret_stack = one->wanted.property & EVENT_ENABLE_PROPERTY_STACK_TRACE &&
		     (!one->filter.kinds || wire_event_filter_takes_stack(&one->filter, &subject));
	return true;
}
