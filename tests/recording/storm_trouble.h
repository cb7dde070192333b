/* SPDX-License-Identifier: MIT */
/* What is done to whom in a round of the storm. */
#ifndef ETW_TESTS_RECORDING_STORM_TROUBLE_H
#define ETW_TESTS_RECORDING_STORM_TROUBLE_H

#include <stdbool.h>

#include "recording/points.h"
#include "recording/storm_run.h"

/* storm_trouble_init() - @orders: to programs with points */
void storm_trouble_init(struct points_order *orders);

/* storm_trouble() - one of them, by chance. Prints what it does. */
void storm_trouble(struct storm_run *run);

/* storm_trouble_absence() - no host for seconds. */
void storm_trouble_absence(struct storm_run *run);

/* storm_trouble_print() - how often what was done. */
void storm_trouble_print(void);

#endif
