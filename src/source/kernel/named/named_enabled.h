/* SPDX-License-Identifier: MIT */
/* What is enabled of the kernel's manifest providers, and what that needs of the source beneath. */
#ifndef ETW_SOURCE_KERNEL_NAMED_NAMED_ENABLED_H
#define ETW_SOURCE_KERNEL_NAMED_NAMED_ENABLED_H

#include "base/source.h"
#include "source/kernel/named/named.h"
#include "wire/event_filter.h"

struct etw_kernel_named_enabled_one {
	const struct etw_kernel_named_provider *provider;
	struct etw_source_provider wanted;
	struct wire_event_filter filter; /* of wanted.filters */
};

struct etw_kernel_named_enabled {
	uint32_t count;
	struct etw_kernel_named_enabled_one all[ETW_KERNEL_NAMED_PROVIDERS];
};

/* etw_kernel_named_find() - the provider of a GUID; NULL: there is none. */
const struct etw_kernel_named_provider *etw_kernel_named_find(const GUID *guid);

/* etw_kernel_named_check() - as `check_provider` of struct etw_source_ops. */
int etw_kernel_named_check(const struct etw_source_provider *wanted, struct etw_fault *reterr);

/* etw_kernel_named_enabled_set() - those of @request. */
void etw_kernel_named_enabled_set(struct etw_kernel_named_enabled *enabled,
				  const struct etw_source_request *request);

/*
 * etw_kernel_named_enabled_ask() - what the source beneath is to be asked for.
 *
 * @beneath: which masks and stacks are built
 *
 * Returns 0, or -EOPNOTSUPP with @reterr naming a provider of which something cannot be had.
 */
int etw_kernel_named_enabled_ask(const struct etw_kernel_named_enabled *enabled,
				 const struct etw_source_ops *beneath,
				 struct etw_source_request *ret, struct etw_fault *reterr);

/* etw_kernel_named_enabled_wants() - whether an event is wanted; *@ret_stack: with a stack. */
bool etw_kernel_named_enabled_wants(const struct etw_kernel_named_enabled_one *one,
				    const struct etw_kernel_named_event *event, bool *ret_stack);

#endif
