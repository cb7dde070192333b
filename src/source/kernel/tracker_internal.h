/* SPDX-License-Identifier: MIT */
/* What tracker.c and tracker_records.c share. */
#ifndef ETW_SOURCE_KERNEL_TRACKER_INTERNAL_H
#define ETW_SOURCE_KERNEL_TRACKER_INTERNAL_H

#include "source/kernel/tracker.h"

/* etw_kernel_tracker_remove_thread() - a thread, without any event. */
void etw_kernel_tracker_remove_thread(struct etw_kernel_tracker *tracker,
				      struct etw_kernel_thread *thread);

#endif
