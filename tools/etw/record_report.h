/* SPDX-License-Identifier: MIT */
/* What `etw record` says at its end: the command's processes, where the CPU time went, what is in the file and what is not. */
#ifndef ETW_TOOLS_ETW_RECORD_REPORT_H
#define ETW_TOOLS_ETW_RECORD_REPORT_H

#include <stdint.h>

#include "tools/etw/page.h"
#include "tools/etw/record_options.h"
#include "tools/etw/recorder.h"

/* Borrowed, all of it. */
struct record_report {
	const struct record_options *options;
	const struct recorder *recorder;
	struct page *page; /* of the file, gathered */
	uint32_t child;    /* the command's process; 0: there is none */
};

/* record_report_print() - on standard output, or, with a command, on standard error. Returns 0, or negative errno, told. */
int record_report_print(const struct record_report *report);

#endif
