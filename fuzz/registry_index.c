/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the index of a registry, or as a stored resource. What is accepted can be read to the end:
 * every row is found by its GUID, every string ends. Input: one byte, odd for a stored resource, then the
 * bytes; the check value of an index is made right first, since it would stop all else.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "registry/definition.h"
#include "registry/index.h"
#include "target.h"

static void check_rows(const struct etw_registry_index *index)
{
	size_t total = 0;

	for (uint32_t i = 0; i < index->row_count; i++) {
		const struct etw_registry_row row = etw_registry_index_row(index, i);
		uint32_t first, count = etw_registry_index_find(index, &row.guid, &first);

		CHECK(first <= i && i - first < count);
		CHECK(row.file < index->file_count);
		total += length_of(row.name);
	}
	for (uint32_t i = 0; i < index->file_count; i++) {
		const struct etw_registry_file file = etw_registry_index_file(index, i);

		total += length_of(file.from) + length_of(file.resource_file);
		total += length_of(file.message_file) + length_of(file.parameter_file);
	}
	CHECK(total <=
	      ((size_t)index->row_count + 4 * (size_t)index->file_count) * index->string_bytes);
}

static void check_index(struct etw_bytes bytes)
{
	const size_t head = sizeof(struct wire_registry_head);
	struct etw_registry_index index;
	struct etw_fault fault = {0};
	uint8_t *copy = malloc(bytes.left + 1);

	CHECK(copy);
	memcpy(copy, bytes.at, bytes.left);
	if (bytes.left >= head) {
		etw_store64(copy + 0x10, bytes.left);
		etw_store64(copy + 0x18, etw_registry_check(copy + head, bytes.left - head));
	}
	if (etw_registry_index_read((struct etw_bytes){copy, bytes.left}, &index, &fault) < 0)
		CHECK(fault.sentence);
	else
		check_rows(&index);
	free(copy);
}

static void check_resource(struct etw_bytes bytes)
{
	struct etw_registry_definition definition;
	struct etw_fault fault = {0};
	struct etw_arena arena;

	etw_arena_init(&arena);
	if (etw_registry_definition_parse(&arena, WIRE_REGISTRY_BINARY, bytes, &definition,
					  &fault) < 0)
		CHECK(fault.sentence);
	CHECK(etw_arena_bytes(&arena) <= 256 * bytes.left + 65536);
	etw_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct etw_bytes rest = {data, bytes};
	uint8_t kind;

	if (!etw_bytes_u8(&rest, &kind))
		return 0;
	if (kind & 1)
		check_resource(rest);
	else
		check_index(rest);
	return 0;
}
