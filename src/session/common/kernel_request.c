/* SPDX-License-Identifier: MIT */
#include "session/common/kernel_request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static_assert(WIRE_STACK_HOOKS_MAX == ETW_SOURCE_STACK_HOOKS_MAX, "one limit");

int etw_kernel_request_check(const struct wire_kernel_request *request, struct etw_fault *reterr)
{
	uint32_t interval_ft = request->profile_interval_ft;

	if (!(request->parts & WIRE_KERNEL_INTERVAL) || !interval_ft ||
	    (interval_ft >= ETW_KERNEL_INTERVAL_MIN_FT &&
	     interval_ft <= ETW_KERNEL_INTERVAL_MAX_FT))
		return 0;
	return etw_fault_set(reterr, -EINVAL, 0, "session configuration", "ProfileInterval",
			     "samples are 122.1 us to 1 s apart");
}

static void take_stacks(struct wire_kernel_request *to, const struct wire_kernel_request *from)
{
	memset(to->stack_hooks, 0, sizeof(to->stack_hooks));
	to->stack_hook_count = from->stack_hook_count;
	memcpy(to->stack_hooks, from->stack_hooks,
	       from->stack_hook_count * sizeof(from->stack_hooks[0]));
}

static void take_rest(struct wire_kernel_request *to, const struct wire_kernel_request *from)
{
	if (from->parts & WIRE_KERNEL_STACKS)
		take_stacks(to, from);
	if (from->parts & WIRE_KERNEL_INTERVAL)
		to->profile_interval_ft = from->profile_interval_ft;
	if (from->parts & WIRE_KERNEL_ONLY_PID)
		to->only_pid = from->only_pid;
	if (from->parts & WIRE_KERNEL_OPTIONS)
		to->options = from->options;
	to->parts = WIRE_KERNEL_PARTS;
}

static void take_masks(struct wire_session_config *config,
		       const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	memcpy(config->kernel.group_masks, masks, sizeof(config->kernel.group_masks));
	config->enable_flags = etw_group_masks_to_flags(masks);
}

void etw_kernel_request_settle(struct wire_session_config *config)
{
	const struct wire_kernel_request wanted = config->kernel;

	config->kernel = (struct wire_kernel_request){0};
	if (wanted.parts & WIRE_KERNEL_MASKS)
		take_masks(config, wanted.group_masks);
	else
		etw_group_masks_of_flags(config->enable_flags, config->kernel.group_masks);
	take_rest(&config->kernel, &wanted);
}

void etw_kernel_request_update(struct wire_session_config *config,
			       const struct wire_session_config *wanted)
{
	if (wanted->kernel.parts & WIRE_KERNEL_MASKS) {
		take_masks(config, wanted->kernel.group_masks);
	} else if (wanted->enable_flags != config->enable_flags) {
		config->enable_flags = wanted->enable_flags;
		etw_group_masks_of_flags(wanted->enable_flags, config->kernel.group_masks);
	}
	take_rest(&config->kernel, &wanted->kernel);
}

bool etw_kernel_request_is_same(const struct wire_kernel_request *left,
				const struct wire_kernel_request *right)
{
	return !memcmp(left->group_masks, right->group_masks, sizeof(left->group_masks)) &&
	       left->profile_interval_ft == right->profile_interval_ft &&
	       left->only_pid == right->only_pid && left->options == right->options &&
	       left->stack_hook_count == right->stack_hook_count &&
	       !memcmp(left->stack_hooks, right->stack_hooks,
		       left->stack_hook_count * sizeof(left->stack_hooks[0]));
}

void etw_kernel_request_translate(const struct wire_kernel_request *request,
				  struct etw_source_request *ret)
{
	*ret = (struct etw_source_request){
		.profile_interval_ft = request->profile_interval_ft,
		.only_pid = request->only_pid,
		.options = request->options & WIRE_KERNEL_UNWIND ? ETW_SOURCE_UNWIND : 0,
		.stack_hook_count = request->stack_hook_count,
	};
	memcpy(ret->group_masks, request->group_masks, sizeof(ret->group_masks));
	memcpy(ret->stack_hooks, request->stack_hooks,
	       request->stack_hook_count * sizeof(ret->stack_hooks[0]));
}
