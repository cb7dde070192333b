/* SPDX-License-Identifier: MIT */
/* Named made-up traces: each is something that a reader must cope with. Deterministic byte for byte. */
#ifndef ETW_TESTS_SYNTHETIC_PRESETS_H
#define ETW_TESTS_SYNTHETIC_PRESETS_H

#include <stdbool.h>

#include "synthetic/maker.h"

struct preset {
	const char *name;
	const char *sentence;                          /* what is special about it */
	void (*adjust)(struct maker_options *options); /* NULL for the defaults */
	void (*fill)(struct maker *maker);             /* NULL for a file without events */
	bool is_whole; /* the walker's check finds nothing to complain about */
};

/* The tables of presets_*.c, joined. */
extern const struct preset presets_session[], presets_event[], presets_file[];
extern const unsigned presets_session_count, presets_event_count, presets_file_count;

/* preset_at() - all presets in order; NULL behind the last. */
const struct preset *preset_at(unsigned index);

/* preset_find() - NULL when there is none of that name. */
const struct preset *preset_find(const char *name);

/* preset_make() - makes it in memory; owned. */
uint8_t *preset_make(const struct preset *preset, size_t *ret_bytes);

/* preset_write() - makes it into @file, which is left open. */
void preset_write(const struct preset *preset, FILE *file);

/* Small helpers that the tables share. */

#define PRESET_TICKS_PER_US 10 /* of the default clock */

/* preset_event() - a modern event of the synthetic manifest provider with a u32 payload. */
void preset_event(struct made_event *event, int64_t time_raw, uint16_t id, uint32_t value);

/* preset_stream() - @count such events, @step ticks apart, processors in turn. */
void preset_stream(struct maker *maker, unsigned processors, int64_t from_raw, int64_t step,
		   unsigned count);

extern const GUID
	preset_provider; /* "Synthetic-Build", whose manifest the preset "session" holds */
extern const GUID preset_tracelogging; /* "Synthetic.TraceLogging" */
extern const GUID preset_class;        /* a classic (MOF) class */

#endif
