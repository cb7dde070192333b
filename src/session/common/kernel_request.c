/* SPDX-License-Identifier: MIT */
#include "session/common/kernel_request.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "base/profile_source.h"

static_assert(WIRE_STACK_HOOKS_MAX == ETW_SOURCE_STACK_HOOKS_MAX, "one limit");

static int refuse(int error, const char *field, const char *sentence, struct etw_fault *reterr)
{
	return etw_fault_set(reterr, error, 0, "session configuration", field, sentence);
}

/* What may not be tried here the source of events tries, and says what it lacks. */
static int check_source(uint32_t place, uint32_t interval, struct etw_fault *reterr)
{
	int r = etw_profile_source_probe(place, etw_perf_open);

	if (r && r != -EACCES)
		return refuse(-EOPNOTSUPP, etw_profile_source(place)->name,
			      "this machine has no such source of samples; `etw doctor` lists what "
			      "it has",
			      reterr);
	if (interval && !etw_profile_source_allows(place, interval))
		return refuse(-EINVAL, etw_profile_source(place)->name,
			      "samples by this source are not taken that often or that rarely",
			      reterr);
	return 0;
}

static int check_sources(const struct wire_kernel_request *request, struct etw_fault *reterr)
{
	uint32_t chosen = request->parts & WIRE_KERNEL_SOURCES ? request->profile_sources : 0;

	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		uint32_t interval = request->parts & WIRE_KERNEL_SOURCE_INTERVALS
					    ? request->source_intervals[i]
					    : 0;

		if (i == ETW_PROFILE_SOURCE_TIMER && (chosen >> i & 1 || interval))
			return refuse(-EINVAL, "Timer", "samples by the clock are those of PROFILE",
				      reterr);
		if (chosen >> i & 1 || interval)
			TRY(check_source(i, interval, reterr));
	}
	return 0;
}

int etw_kernel_request_check(const struct wire_kernel_request *request, struct etw_fault *reterr)
{
	uint32_t interval_ft = request->profile_interval_ft;

	if (!(request->parts & WIRE_KERNEL_INTERVAL) || !interval_ft ||
	    (interval_ft >= ETW_KERNEL_INTERVAL_MIN_FT &&
	     interval_ft <= ETW_KERNEL_INTERVAL_MAX_FT))
		return check_sources(request, reterr);
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
	if (from->parts & WIRE_KERNEL_SOURCES)
		to->profile_sources = from->profile_sources;
	for (uint32_t i = 0; from->parts & WIRE_KERNEL_SOURCE_INTERVALS && i < ETW_PROFILE_SOURCES;
	     i++)
		if (from->source_intervals[i])
			to->source_intervals[i] = from->source_intervals[i];
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
	       left->profile_sources == right->profile_sources &&
	       !memcmp(left->source_intervals, right->source_intervals,
		       sizeof(left->source_intervals)) &&
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
		.profile_sources = request->profile_sources,
		.only_pid = request->only_pid,
		.options = request->options & WIRE_KERNEL_UNWIND ? ETW_SOURCE_UNWIND : 0,
		.stack_hook_count = request->stack_hook_count,
	};
	memcpy(ret->group_masks, request->group_masks, sizeof(ret->group_masks));
	memcpy(ret->source_intervals, request->source_intervals, sizeof(ret->source_intervals));
	memcpy(ret->stack_hooks, request->stack_hooks,
	       request->stack_hook_count * sizeof(ret->stack_hooks[0]));
}
