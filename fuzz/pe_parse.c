/* SPDX-License-Identifier: MIT */
/*
 * A file of any bytes gives places of resources that lie in it, and schemas, or a fault, and takes memory in
 * proportion. Input: the file, a PE file or a WEVT_TEMPLATE resource by itself.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "offsets.h"
#include "schema/compiled/binary.h"
#include "schema/compiled/language.h"
#include "schema/compiled/pe.h"
#include "schema/types.h"
#include "target.h"

#define MEMORY_FACTOR 128u
#define MEMORY_MIN    (512u * 1024)

#define LANGUAGES_TRIED 64 /* more than have names */

static uint32_t check_resources(const struct etw_pe_resource *resources, size_t count,
				struct etw_bytes file)
{
	uint32_t sum = 0;

	CHECK(count <= ETW_PE_RESOURCES_MAX);
	for (size_t i = 0; i < count; i++) {
		CHECK(resources[i].offset <= file.left);
		CHECK(resources[i].bytes <= file.left - resources[i].offset);
		for (size_t j = 0; j < resources[i].bytes && j < 16; j++)
			sum += file.at[resources[i].offset + j];
	}
	return sum;
}

static void check_places(struct etw_bytes file)
{
	struct etw_fault fault = {0};
	struct etw_arena arena;
	size_t offset, bytes;
	struct etw_pe pe;
	int r;

	etw_arena_init(&arena);
	r = etw_pe_parse(&arena, file, &pe, &fault);
	if (r == 0) {
		(void)check_resources(pe.templates, pe.template_count, file);
		(void)check_resources(pe.tables, pe.table_count, file);
	} else {
		CHECK(r == -EBADMSG && fault.sentence && fault.structure);
	}
	CHECK(etw_arena_bytes(&arena) <= MEMORY_FACTOR * file.left + MEMORY_MIN);
	etw_arena_done(&arena);
	if (etw_pe_section(file, file.left, &offset, &bytes, NULL) == 0)
		CHECK(offset <= file.left && bytes <= file.left - offset);
}

/* A language is the first choice of whoever asks for it and for nothing else. */
static void check_language(uint32_t number)
{
	const char *const wanted[] = {etw_language_name(number % LANGUAGES_TRIED), NULL};
	size_t rank = etw_language_rank(number, wanted);

	CHECK(rank <= (wanted[0] ? 4 : 2));
	CHECK(!wanted[0] || (rank == 0) == (number == etw_language_number(wanted[0])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const char *const choices[][3] = {{"de-DE", "en-GB"}, {"xx-XX", "fr-FR"}, {NULL}};
	const char *const *languages = choices[bytes % ARRAY_SIZE(choices)];
	struct etw_bytes file = {data, bytes};
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	check_places(file);
	check_language(bytes < 2 ? 0 : etw_load16(data + bytes - 2));
	etw_arena_init(&arena);
	r = etw_binary_parse(&arena, file, (struct etw_bytes){0}, languages, &definition, &fault);
	CHECK(r == 0 || r == -ENODATA || (r == -EBADMSG && fault.sentence));
	CHECK(r == 0 || !etw_arena_bytes(&arena));
	for (size_t i = 0; r == 0 && i < definition->provider_count; i++) {
		for (size_t j = 0; j < definition->providers[i].schema_count; j++)
			CHECK(!etw_schema_fields_check(&definition->providers[i].schemas[j]));
	}
	CHECK(etw_arena_bytes(&arena) <= MEMORY_FACTOR * bytes + MEMORY_MIN);
	etw_arena_done(&arena);
	return 0;
}

/* Made-up files have their one section at these places: offsets count from it, addresses too. */
#define SECTION 0x400u
#define ADDRESS 0x1000u

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned int seed)
{
	uint32_t state = seed | 1;

	if (bytes < SECTION + 64 || offsets_random(&state) % 4 == 0)
		return LLVMFuzzerMutate(data, bytes, max_bytes);
	/* Directories use the upper bit of offsets, which are left to chance. */
	return SECTION + offsets_mutate(data + SECTION, bytes - SECTION, max_bytes - SECTION,
					&state, offsets_random(&state) % 2 ? ADDRESS : 0);
}
