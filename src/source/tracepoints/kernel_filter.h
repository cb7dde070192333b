/* SPDX-License-Identifier: MIT */
/*
 * Payload filters as the kernel's filter expressions of tracepoints, so that events that nobody wants are thrown away where they
 * are made. Numbers can be said so, also by ranges; text cannot, as the kernel compares it by the case of its letters. The
 * expression lets through whatever the payload filter does, and maybe more: the host applies the whole of it to what comes.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_KERNEL_FILTER_H
#define ETW_SOURCE_TRACEPOINTS_KERNEL_FILTER_H

#include "schema/tracepoint/layout.h"

/*
 * etw_tracepoint_kernel_filter() - of one tracepoint.
 *
 * @format:  of the tracepoint, whose names the expression has
 * @layout:  of the same
 * @checked: a blob that wire_payload_filter_check() took
 *
 * Returns owned text; NULL where nothing can be said to the kernel.
 */
char *etw_tracepoint_kernel_filter(const struct etw_tracepoint_format *format,
				   const struct etw_tracepoint_layout *layout,
				   const uint8_t *checked);

#endif
