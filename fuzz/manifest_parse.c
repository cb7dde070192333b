/* SPDX-License-Identifier: MIT */
/* A manifest of any text gives schemas that hang together, or a fault with a line. Input: the text. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "schema/manifest.h"
#include "schema/types.h"

/* Checked in every build, unlike assert(). */
#define CHECK(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_definition *manifest = NULL;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	etw_arena_init(&arena);
	r = etw_manifest_parse(&arena, (const char *)data, bytes, &manifest, &fault);
	if (r < 0) {
		CHECK(r == -EBADMSG && fault.sentence && fault.offset);
		CHECK(!etw_arena_bytes(&arena));
		return 0;
	}
	for (size_t i = 0; i < manifest->provider_count; i++) {
		const struct etw_provider_schema *provider = &manifest->providers[i];

		for (size_t j = 0; j < provider->schema_count; j++)
			CHECK(!etw_schema_fields_check(&provider->schemas[j]));
	}
	etw_arena_done(&arena);
	return 0;
}
