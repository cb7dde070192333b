/* SPDX-License-Identifier: MIT */
/* Idle states and frequencies of the processors, as sysfs has them: cpuidle and cpufreq. */
#ifndef ETW_SOURCE_KERNEL_MACHINE_POWER_H
#define ETW_SOURCE_KERNEL_MACHINE_POWER_H

#include "wire/kernel_power.h"

/* Told of something, borrowed for the call. */
typedef void etw_kernel_idle_state_told(void *context, const struct wire_idle_state *state);
typedef void etw_kernel_frequency_told(void *context,
				       const struct wire_processor_frequency *frequency);

/*
 * etw_kernel_idle_states_tell() - of processors that follow each other and have the same states, each state once. Nothing
 * where Linux has no driver of idle states.
 */
void etw_kernel_idle_states_tell(const char *root, etw_kernel_idle_state_told *told, void *context);

/* etw_kernel_frequencies_tell() - of each processor. Nothing where Linux has no driver of frequencies. */
void etw_kernel_frequencies_tell(const char *root, etw_kernel_frequency_told *told, void *context);

#endif
