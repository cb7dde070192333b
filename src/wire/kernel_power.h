/* SPDX-License-Identifier: MIT */
/*
 * What a recording tells of the processors' power beside the classic events: which idle states there are, which frequencies,
 * and each change of one. Of these there is no layout of Windows that is known, so they are TraceLogging events "IdleState",
 * "ProcessorFrequency" and "FrequencyChange" of the provider "Libetw-Kernel" (wire/kernel_account.h), which describe
 * themselves.
 * Source: docs/kernel-events/power.md.
 */
#ifndef ETW_WIRE_KERNEL_POWER_H
#define ETW_WIRE_KERNEL_POWER_H

#include <stdint.h>

#define WIRE_KERNEL_POWER_BYTES_MAX 640 /* of one event */
#define WIRE_FREQUENCY_BYTES_MAX    192 /* of a FrequencyChange */
#define WIRE_POWER_TEXT_BYTES       64  /* of a name, with the NUL */

/* A state that some processors, one behind the other, have alike. */
struct wire_idle_state {
	uint32_t first_processor, last_processor;
	uint32_t state; /* number; 0 is the lightest */
	uint32_t latency_us, residency_us;
	char driver[WIRE_POWER_TEXT_BYTES];
	char name[WIRE_POWER_TEXT_BYTES];
	char description[WIRE_POWER_TEXT_BYTES];
};

struct wire_processor_frequency {
	uint32_t processor;
	uint32_t current_khz, least_khz, most_khz;
	char driver[WIRE_POWER_TEXT_BYTES];
	char governor[WIRE_POWER_TEXT_BYTES];
};

/*
 * wire_idle_state_encode(), wire_processor_frequency_encode() - the whole event, header included, but for the time.
 *
 * @room: WIRE_KERNEL_POWER_BYTES_MAX bytes, all zeroed or written
 *
 * Return its exact bytes, not padded.
 */
uint32_t wire_idle_state_encode(const struct wire_idle_state *state, uint8_t *room);
uint32_t wire_processor_frequency_encode(const struct wire_processor_frequency *frequency,
					 uint8_t *room);

/* wire_frequency_encode() - a FrequencyChange, likewise. @room: WIRE_FREQUENCY_BYTES_MAX bytes */
uint32_t wire_frequency_encode(uint32_t processor, uint32_t khz, uint8_t *room);

#endif
