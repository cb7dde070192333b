/* SPDX-License-Identifier: MIT */
/* Traces of any size whose buffers are all alike, written as fast as the disk takes them. */
#ifndef ETW_TESTS_SYNTHETIC_UNIFORM_H
#define ETW_TESTS_SYNTHETIC_UNIFORM_H

#include "synthetic/maker.h"

struct uniform {
	uint64_t buffers;           /* the header's not counted */
	uint32_t events_per_buffer; /* 0 for as many as fit */
	uint32_t buffer_bytes;
	uint32_t processors; /* buffers of different processors overlap in time */
	uint32_t payload_bytes;
	int64_t step; /* ticks between two events of the whole trace */
	uint64_t frequency;
	enum maker_packing packing;
};

#define UNIFORM_DEFAULT                                                                      \
	(struct uniform)                                                                     \
	{                                                                                    \
		.buffers = 100, .buffer_bytes = 65536, .processors = 8, .payload_bytes = 20, \
		.step = 10, .frequency = 10000000                                            \
	}

/* uniform_write() - writes the trace into @file, which is left open. */
void uniform_write(const struct uniform *uniform, FILE *file);

/* uniform_events() - how many events that are, the header buffer's not counted. */
uint64_t uniform_events(const struct uniform *uniform);

#endif
