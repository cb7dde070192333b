/* SPDX-License-Identifier: MIT */
/* A made-up file in memory, opened; and the parts of it that tests change. */
#ifndef ETW_TESTS_UNIT_ETL_SAMPLE_H
#define ETW_TESTS_UNIT_ETL_SAMPLE_H

#include <stdlib.h>

#include "etl/walk.h"
#include "synthetic/presets.h"

struct sample {
	uint8_t *bytes; /* owned */
	size_t count;
	struct etw_etl_file file;
};

static inline struct sample sample_make(const char *preset)
{
	struct sample sample = {0};

	sample.bytes = preset_make(preset_find(preset), &sample.count);
	etw_etl_file_memory(sample.bytes, sample.count, &sample.file);
	return sample;
}

static inline void sample_done(struct sample *sample)
{
	free(sample->bytes);
}

/* The buffer header at @offset, its own place and number 0. */
static inline struct etw_etl_buffer sample_buffer(const struct sample *sample, uint64_t offset)
{
	struct etw_etl_buffer buffer;

	etw_etl_buffer_read(sample->bytes + offset, &buffer);
	buffer.offset = offset;
	return buffer;
}

static inline void sample_set32(struct sample *sample, uint64_t offset, uint32_t value)
{
	etw_store32(sample->bytes + offset, value);
}

static inline void sample_set16(struct sample *sample, uint64_t offset, uint16_t value)
{
	etw_store16(sample->bytes + offset, value);
}

/* Fields of a buffer header. */
enum {
	AT_SIZE = 0x00,
	AT_SAVED = 0x04,
	AT_STATE = 0x2C,
	AT_VALID = 0x30,
	AT_FLAGS = 0x34,
	AT_TYPE = 0x36
};

/* Fields of the header event, from the start of the file. */
enum {
	AT_TOLD_SIZE = 0x68,
	AT_TOLD_MODE = 0x88,
	AT_TOLD_BUFFERS = 0x8C
};

#endif
