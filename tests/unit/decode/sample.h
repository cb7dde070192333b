/* SPDX-License-Identifier: MIT */
/*
 * Tiny schemas and events for the decoder's tests. Payloads are copied into memory of exactly their
 * size, so that a sanitizer sees a read beyond them.
 */
#ifndef ETW_TESTS_DECODE_SAMPLE_H
#define ETW_TESTS_DECODE_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "decode/program.h"

#define SCHEMA(all_fields, top)                                                                    \
	{                                                                                          \
		.field_count = ARRAY_SIZE(all_fields), .top_count = (top), .fields = (all_fields), \
	}

/* One decoded event and everything it stands on. */
struct sample {
	struct etw_program *program;
	struct etw_walk walk;
	uint8_t *payload;
	EVENT_RECORD record;
	struct etw_decoding decoding;
};

static inline void sample_done(struct sample *sample)
{
	etw_program_free(sample->program);
	etw_walk_done(&sample->walk);
	free(sample->payload);
}

static inline void sample_run(struct sample *sample, const struct etw_schema *schema,
			      unsigned pointer_bytes, const void *payload, size_t bytes)
{
	*sample = (struct sample){0};
	sample->payload = malloc(bytes ? bytes : 1);
	assert_non_null(sample->payload);
	if (bytes)
		memcpy(sample->payload, payload, bytes);
	if (!bytes) {
		/* Memory of size 0 that may not be read at all. */
		free(sample->payload);
		sample->payload = NULL;
	}
	sample->record.UserData = sample->payload;
	sample->record.UserDataLength = (USHORT)bytes;
	sample->decoding.record = &sample->record;
	sample->decoding.schema = schema;
	assert_int_equal(etw_program_compile(schema, pointer_bytes, &sample->program), 0);
	assert_int_equal(etw_program_run(sample->program, &sample->walk, sample->payload,
					 (uint32_t)bytes, &sample->decoding),
			 0);
}

/* The items form a tree that lies in the payload, in order. */
static inline void sample_check_items(const struct etw_decoding *decoding, uint32_t bytes)
{
	for (size_t i = 0; i < decoding->item_count; i++) {
		const struct etw_item *item = &decoding->items[i];

		assert_true(item->end > i);
		assert_true(item->end <= decoding->item_count);
		assert_true(item->offset <= bytes);
		assert_true(item->bytes <= bytes - item->offset);
		assert_true(item->taken >= item->bytes);
		assert_true(item->field < decoding->schema->field_count);
		if (item->kind == ETW_ITEM_VALUE)
			assert_int_equal(item->end, i + 1);
		uint32_t children = 0;

		for (size_t k = i + 1; k < item->end; k = decoding->items[k].end) {
			assert_int_equal(decoding->items[k].depth, item->depth + 1);
			assert_true(decoding->items[k].end <= item->end);
			children++;
		}
		if (item->kind == ETW_ITEM_ARRAY)
			assert_int_equal(item->count, children);
	}
	assert_true(decoding->consumed <= bytes);
}

#endif
