/* SPDX-License-Identifier: MIT */
/*
 * What is there before the records tell anything: a walk over procfs. It is compared with the records
 * that came meanwhile, so that nobody is both "there at the start" and "started".
 */
#ifndef ETW_SOURCE_KERNEL_TRACKER_SCAN_H
#define ETW_SOURCE_KERNEL_TRACKER_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "source/kernel/out/items.h"
#include "source/kernel/tracker/tracker.h"

/* What a walk found. */
struct etw_kernel_scan;

/*
 * etw_kernel_scan_take() - walks over procfs; who vanishes meanwhile is left out.
 *
 * @root:        "/proc"
 * @want_images: also reads what is mapped
 *
 * Returns 0 with an owned scan; -ENOMEM; what opening @root said.
 */
int etw_kernel_scan_take(const char *root, bool want_images, struct etw_kernel_scan **ret);

/* etw_kernel_scan_free() - takes NULL. */
void etw_kernel_scan_free(struct etw_kernel_scan *scan);

/* What etw_kernel_scan_apply() is to do. */
struct etw_kernel_scan_wish {
	bool describe; /* also DCStart, at the moment that etw_kernel_out_begin() set */
	bool is_other; /* another host collected before: what pending records map is not there yet */
	uint64_t
		until_ns; /* CLOCK_BOOTTIME: of each that started before this; UINT64_MAX: of all */
};

/*
 * etw_kernel_scan_apply() - puts into the tracker what neither it nor a pending record knows.
 *
 * @heap: records that were read after the walk and not applied yet
 *
 * Returns 0 or -ENOMEM.
 */
int etw_kernel_scan_apply(struct etw_kernel_scan *scan, struct etw_kernel_tracker *tracker,
			  const struct etw_kernel_heap *heap,
			  const struct etw_kernel_scan_wish *wish);

/*
 * etw_kernel_scan_correct() - after lost records: takes processes out of the tracker that are not there any
 * more. Threads and images of the others stay as the records told them.
 */
void etw_kernel_scan_correct(const struct etw_kernel_scan *scan,
			     struct etw_kernel_tracker *tracker);

#endif
