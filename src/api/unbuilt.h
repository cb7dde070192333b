/* SPDX-License-Identifier: MIT */
/* The marks of entry points that are not built yet, or not wholly. They fail, and say so; none pretends. */
#ifndef ETW_API_UNBUILT_H
#define ETW_API_UNBUILT_H

/*
 * ETW_UNBUILT(function, parameters...) - stands in the body of an exported function that does
 * nothing yet. scripts/gen_coverage looks for it, so docs/coverage.md cannot claim too much.
 */
#define ETW_UNBUILT(function, ...) etw_unbuilt_take_(#function, ##__VA_ARGS__)

/*
 * ETW_REFUSED(function) - stands in the body of an exported function that checks its arguments as
 * Windows does, and then always fails with ERROR_NOT_SUPPORTED. docs/coverage.md calls it refused.
 */
#define ETW_REFUSED(function) etw_unbuilt_take_(#function)

static inline void etw_unbuilt_take_(const char *function, ...)
{
	(void)function;
}

#endif
