/* SPDX-License-Identifier: MIT */
/*
 * Deaths at scheduling points (base/sched_point.h). A program that has points and is linked with points.c takes orders from
 * the file that $ETW_TEST_POINTS names: when it comes by the point so and so often, it kills the other processes of
 * the order and itself. Whoever gives orders maps the same file.
 */
#ifndef ETW_TESTS_RECORDING_POINTS_H
#define ETW_TESTS_RECORDING_POINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define POINTS_VARIABLE "ETW_TEST_POINTS"
#define POINTS_NAME_MAX 48
#define POINTS_OTHERS   2

struct points_order {
	uint32_t is_armed;           /* atomic; whoever makes it 0 has taken the order */
	uint32_t visits_left;        /* atomic */
	uint32_t fired_by;           /* atomic; the process; 0: nobody yet */
	pid_t others[POINTS_OTHERS]; /* 0: none */
	char name[POINTS_NAME_MAX];
};

/* points_make() - an empty file of orders that programs started from now on find. Errors end the program. */
struct points_order *points_make(const char *path);

/* points_arm() - whoever comes by @name for the @visits-th time from now ends, and with it @others. */
void points_arm(struct points_order *order, const char *name, uint32_t visits,
		const pid_t others[POINTS_OTHERS]);

/* points_disarm() - returns the process that has taken the order; 0: none has or will. */
pid_t points_disarm(struct points_order *order);

#endif
