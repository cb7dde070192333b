/* SPDX-License-Identifier: MIT */
/*
 * The tracepoints of Linux as a source of events: every system is a provider that the source owns. They are recorded by perf:
 * an event for each tracepoint and processor, which all write into a ring of the processor.
 * Source: docs/tracepoints.md.
 */
#ifndef ETW_SOURCE_TRACEPOINTS_TRACEPOINT_SOURCE_H
#define ETW_SOURCE_TRACEPOINTS_TRACEPOINT_SOURCE_H

#include "base/source.h"

extern const struct etw_source_ops etw_tracepoint_source_ops;

#endif
