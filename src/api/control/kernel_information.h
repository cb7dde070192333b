/* SPDX-License-Identifier: MIT */
/*
 * Those classes of TraceQueryInformation and TraceSetInformation that are about the kernel's events: what a system logger
 * records, which of it has stacks, how often samples are taken and by what.
 */
#ifndef ETW_API_CONTROL_KERNEL_INFORMATION_H
#define ETW_API_CONTROL_KERNEL_INFORMATION_H

#include <stdbool.h>
#include <stddef.h>

#include <evntrace.h>

/* A call's memory. */
struct etw_kernel_information {
	TRACEHANDLE handle;
	ULONG class_;
	const void *from; /* of a setting; of a question that says in it what it asks for */
	ULONG from_bytes;
	void *to; /* of a question; NULL: a setting */
	ULONG room;
	ULONG *ret_bytes; /* what was written, or what it takes */
};

/* etw_kernel_information_is() - whether a class is one of these. */
bool etw_kernel_information_is(ULONG class_, bool is_set);

/*
 * etw_kernel_information_query(), _set() - answers, or changes.
 *
 * Returns as TraceQueryInformation() and TraceSetInformation(), for a class that is one of these.
 */
ULONG etw_kernel_information_query(const struct etw_kernel_information *call);
ULONG etw_kernel_information_set(const struct etw_kernel_information *call);

#endif
