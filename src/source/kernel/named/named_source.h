/* SPDX-License-Identifier: MIT */
/*
 * The kernel's manifest providers as a source: one that owns them, so that EnableTraceEx2 enables them in any session. It
 * has a source of the NT Kernel Logger's events of its own (kernel_source.h), asked for what the keywords of the enabled
 * providers need, and makes each event into the provider's as the engine looks at it; what nobody wants is dropped. So the
 * two say the same of one fact, whichever a session records; marks and accounts are those of that source.
 *
 * A session that wants both has two sources, and pays twice.
 * Source: docs/kernel-events/named.md.
 */
#ifndef ETW_SOURCE_KERNEL_NAMED_NAMED_SOURCE_H
#define ETW_SOURCE_KERNEL_NAMED_NAMED_SOURCE_H

#include "base/source.h"

extern const struct etw_source_ops etw_kernel_named_source;

#endif
