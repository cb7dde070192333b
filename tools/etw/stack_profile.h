/* SPDX-License-Identifier: MIT */
/*
 * Stacks of events, summed up: which events, by what weight, of which processes; in one pass over traces that were opened
 * and learnt (tools/common/inputs.h). Addresses are kept until the end, when all images are known, and each of
 * them is then looked up once.
 */
#ifndef ETW_TOOLS_ETW_STACK_PROFILE_H
#define ETW_TOOLS_ETW_STACK_PROFILE_H

#include "tools/etw/stack_data.h"

/* stack_profile_done() - takes a zeroed one. */
void stack_profile_done(struct stack_profile *profile);

/*
 * stack_profile_gather() - the pass, and what follows from it.
 *
 * @profile: with query, inputs, store and decoder set, the rest zeroed
 *
 * Returns 0 or a negative errno, not told.
 */
int stack_profile_gather(struct stack_profile *profile);

#endif
