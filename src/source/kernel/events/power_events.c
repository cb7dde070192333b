/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/power_events.h"

#include <stddef.h>
#include <string.h>

#include "source/kernel/machine/power.h"
#include "source/kernel/probe/classes.h"
#include "wire/etl_event.h"

static bool wants(const uint32_t masks[WIRE_GROUP_MASKS_WORDS], uint32_t kind)
{
	return etw_kernel_class_kinds(masks) >> kind & 1;
}

static void put(struct etw_kernel_out *out, const uint8_t *event, uint32_t bytes)
{
	uint8_t *room = etw_kernel_out_add(out, bytes,
					   offsetof(struct wire_event_header, time_raw));

	if (room)
		memcpy(room, event, bytes);
}

static void put_state(void *context, const struct wire_idle_state *state)
{
	uint8_t event[WIRE_KERNEL_POWER_BYTES_MAX];

	put(context, event, wire_idle_state_encode(state, event));
}

static void put_frequency(void *context, const struct wire_processor_frequency *frequency)
{
	uint8_t event[WIRE_KERNEL_POWER_BYTES_MAX];

	put(context, event, wire_processor_frequency_encode(frequency, event));
}

bool etw_kernel_power_is_wanted(const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	return wants(masks, ETW_KERNEL_IDLE_STATE) || wants(masks, ETW_KERNEL_FREQUENCY);
}

void etw_kernel_write_power(struct etw_kernel_out *out, const char *root,
			    const uint32_t masks[WIRE_GROUP_MASKS_WORDS])
{
	if (wants(masks, ETW_KERNEL_IDLE_STATE))
		etw_kernel_idle_states_tell(root, put_state, out);
	if (wants(masks, ETW_KERNEL_FREQUENCY))
		etw_kernel_frequencies_tell(root, put_frequency, out);
}
