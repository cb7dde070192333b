/* SPDX-License-Identifier: MIT */
/* What `etw summary` and the end of `etw record` have in common: reading traces, and the page that comes of it. */
#ifndef ETW_TOOLS_ETW_PAGE_H
#define ETW_TOOLS_ETW_PAGE_H

#include "tools/common/inputs.h"
#include "tools/common/options.h"
#include "tools/etw/filter_options.h"
#include "tools/etw/report.h"

struct page {
	struct etw_inputs inputs;
	struct etw_schema_store *store;
	struct etw_decoder *decoder;
	struct etw_manifests manifests;
	struct etw_progress progress;
	struct report report;
	uint64_t loss_marks;
	int64_t start_ft;
	struct filter *filter; /* borrowed; which events are counted; NULL: all */
};

/* page_load() - reads the manifests. Returns 0 or -1, told; call page_done() in both cases. */
int page_load(struct page *page, const struct etw_shared_options *shared);

/*
 * page_open() - opens the files, and reads the manifests unless page_load() did before.
 *
 * Tells what is wrong on standard error. Returns 0 or -1; call page_done() in both cases.
 */
int page_open(struct page *page, char *const *files, size_t count,
	      const struct etw_shared_options *shared);
void page_done(struct page *page);

/*
 * page_gather() - both passes, then what follows from them.
 *
 * Tells of manifests that were of no use. Returns 0 or a negative errno, told.
 */
int page_gather(struct page *page);

#endif
