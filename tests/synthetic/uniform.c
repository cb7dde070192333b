/* SPDX-License-Identifier: MIT */
#include "synthetic/uniform.h"

#include "base/macros.h"
#include "synthetic/presets.h"
#include "wire/etl_buffer.h"

#define T0 1000000

static uint32_t events_per_buffer(const struct uniform *uniform)
{
	uint32_t whole =
		ALIGN_UP((uint32_t)sizeof(struct wire_event_header) + uniform->payload_bytes,
			 WIRE_EVENT_ALIGNMENT);
	uint32_t fit = (uniform->buffer_bytes - WIRE_BUFFER_HEADER_BYTES) / whole;

	return uniform->events_per_buffer && uniform->events_per_buffer < fit
		       ? uniform->events_per_buffer
		       : fit;
}

uint64_t uniform_events(const struct uniform *uniform)
{
	return uniform->buffers * events_per_buffer(uniform);
}

/*
 * Processors fill their buffers side by side: rounds of one buffer each, in which the events of the
 * processors take turns. Times within a round follow from that.
 */
void uniform_write(const struct uniform *uniform, FILE *file)
{
	static struct made_event event;
	struct maker_options options = {
		.buffer_bytes = uniform->buffer_bytes,
		.processors = uniform->processors,
		.frequency = uniform->frequency,
		.packing = uniform->packing,
	};
	struct maker *maker = maker_open(&options, file);
	uint32_t count = events_per_buffer(uniform);

	preset_event(&event, T0, 1, 0);
	made_fill(&event, 0x5A, uniform->payload_bytes > 4 ? uniform->payload_bytes - 4 : 0);
	for (uint64_t done = 0; done < uniform->buffers;) {
		uint32_t lanes = uniform->processors;
		int64_t from = T0 + (int64_t)(done * count) * uniform->step;

		if (uniform->buffers - done < lanes)
			lanes = (uint32_t)(uniform->buffers - done);
		for (uint32_t cpu = 0; cpu < lanes; cpu++) {
			for (uint32_t i = 0; i < count; i++) {
				int64_t time = from + uniform->step * ((int64_t)i * lanes + cpu);

				event.time_raw = time;
				etw_store64(event.bytes + 0x10, (uint64_t)time);
				etw_store32(event.bytes + 0x50, i);
				maker_add(maker, cpu, &event);
			}
		}
		for (uint32_t cpu = 0; cpu + 1 < lanes; cpu++)
			maker_flush(maker, cpu);
		done += lanes;
		if (done >= uniform->buffers)
			maker_flush_all(maker);
		else
			maker_flush(maker, lanes - 1);
	}
	(void)maker_close(maker, NULL);
}
