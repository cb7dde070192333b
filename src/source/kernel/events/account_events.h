/* SPDX-License-Identifier: MIT */
/* What a recording tells of itself, as events: wire/kernel_account.h. */
#ifndef ETW_SOURCE_KERNEL_EVENTS_ACCOUNT_EVENTS_H
#define ETW_SOURCE_KERNEL_EVENTS_ACCOUNT_EVENTS_H

#include "base/source.h"
#include "source/kernel/out/out.h"
#include "source/kernel/out/stack_account.h"

/*
 * etw_kernel_processor_time_read() - how the processors' time was spent.
 *
 * @root: "/proc", or another one for tests
 *
 * Returns 0, -ENOENT, or -EBADMSG for a file in which the numbers are not found.
 */
int etw_kernel_processor_time_read(const char *root, struct wire_processor_time *ret);

/* etw_kernel_write_processor_time() - at the start, of the moment that etw_kernel_out_begin() set; none where it is not known. */
void etw_kernel_write_processor_time(struct etw_kernel_out *out, const char *root);

/* etw_kernel_tell_processor_time() - at the end, handed out. @time_raw: of the event */
void etw_kernel_tell_processor_time(const char *root, int64_t time_raw, etw_source_put_fn *put,
				    void *context);

/* etw_kernel_tell_stack_account() - one event for each kind of events whose stacks were asked for, handed out. */
void etw_kernel_tell_stack_account(const struct etw_kernel_stack_account *account, int64_t time_raw,
				   etw_source_put_fn *put, void *context);

#endif
