/* SPDX-License-Identifier: MIT */
/* The hook that race tests install; see base/sched_point.h. */
#include "base/sched_point.h"

#ifdef ETW_SCHED_POINTS
void (*etw_sched_point_hook)(const char *name);
#endif
