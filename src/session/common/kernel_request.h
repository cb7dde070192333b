/* SPDX-License-Identifier: MIT */
/*
 * What of the kernel's events a session wants, in its configuration: `kernel` says all of it, and `enable_flags` what
 * EVENT_TRACE_PROPERTIES can say of that.
 */
#ifndef ETW_SESSION_COMMON_KERNEL_REQUEST_H
#define ETW_SESSION_COMMON_KERNEL_REQUEST_H

#include <stdbool.h>

#include "base/fault.h"
#include "base/source.h"
#include "wire/message.h"

/* Of a sample, in units of 100 ns. Source: Microsoft's page of tracelog, -SetProfInt. */
#define ETW_KERNEL_INTERVAL_MIN_FT 1221
#define ETW_KERNEL_INTERVAL_MAX_FT 10000000

/*
 * etw_kernel_request_check() - whether it can be. Returns 0, or with @reterr -EINVAL: an interval out of range; -EOPNOTSUPP:
 * a source of samples that this machine lacks, whose name is the fault's field.
 */
int etw_kernel_request_check(const struct wire_kernel_request *request, struct etw_fault *reterr);

/*
 * etw_kernel_request_settle() - what a session starts with: members that nobody has named follow from EnableFlags, or are 0.
 */
void etw_kernel_request_settle(struct wire_session_config *config);

/*
 * etw_kernel_request_update() - what becomes of it when other things are wanted. Members that are not named stay; without
 * masks these follow from EnableFlags where those are others than before.
 */
void etw_kernel_request_update(struct wire_session_config *config,
			       const struct wire_session_config *wanted);

/* etw_kernel_request_is_same() - whether two settled ones want the same. */
bool etw_kernel_request_is_same(const struct wire_kernel_request *left,
				const struct wire_kernel_request *right);

/* etw_kernel_request_translate() - as a source is asked. */
void etw_kernel_request_translate(const struct wire_kernel_request *request,
				  struct etw_source_request *ret);

#endif
