/* SPDX-License-Identifier: MIT */
/*
 * Named points right behind every step that another thread or process can see. In test builds
 * (ETW_SCHED_POINTS) a program may install a function that is called there: to yield, to stop or to die.
 * In other builds they are nothing.
 */
#ifndef ETW_BASE_SCHED_POINT_H
#define ETW_BASE_SCHED_POINT_H

#ifdef ETW_SCHED_POINTS
/* Set by tests before any thread runs; NULL: nothing happens. Must be async-signal-safe. */
extern void (*etw_sched_point_hook)(const char *name);

#define SCHED_POINT(name)                              \
	do {                                           \
		if (etw_sched_point_hook)              \
			etw_sched_point_hook("" name); \
	} while (0)
#else
#define SCHED_POINT(name) ((void)0)
#endif

#endif
