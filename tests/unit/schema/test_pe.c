/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/compiled/pe.h"
#include "synthetic/made_wevt.h"
#include "wire/pe.h"

static struct etw_arena arena;
static struct made_pe made;

static const uint8_t template[] = {'C', 'R', 'I', 'M'};
static const uint8_t messages[] = {1, 2, 3};
static const struct made_resource resources[] = {
	{0, 1, 0x409, template, sizeof(template)},
	{11, 1, 0x407, messages, sizeof(messages)},
	{11, 1, 0x409, messages, 2},
	{11, 2, 0, messages, 1},
};

static int begin(void **state)
{
	(void)state;
	etw_arena_init(&arena);
	made_pe_init(&made, true, resources, ARRAY_SIZE(resources));
	return 0;
}

static int end(void **state)
{
	(void)state;
	etw_arena_done(&arena);
	return 0;
}

static void parse(struct etw_pe *ret)
{
	struct etw_fault fault = {0};

	if (etw_pe_parse(&arena, (struct etw_bytes){made.at, made.bytes}, ret, &fault) < 0)
		fail_msg("%s at %u", fault.sentence, (unsigned)fault.offset);
}

/* Also makes the file whole again. */
static void refuse(const char *sentence)
{
	struct etw_fault fault = {0};
	struct etw_pe pe;

	assert_int_equal(etw_pe_parse(&arena, (struct etw_bytes){made.at, made.bytes}, &pe, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, sentence);
	assert_string_equal(fault.structure, "PE file");
	assert_int_equal(etw_arena_bytes(&arena), 0);
	made_pe_init(&made, true, resources, ARRAY_SIZE(resources));
}

static void check(const struct etw_pe *pe)
{
	assert_int_equal(pe->template_count, 1);
	assert_int_equal(pe->templates[0].name, 1);
	assert_int_equal(pe->templates[0].language, 0x409);
	assert_int_equal(pe->templates[0].bytes, sizeof(template));
	assert_memory_equal(made.at + pe->templates[0].offset, template, sizeof(template));
	assert_int_equal(pe->table_count, 3);
	assert_int_equal(pe->tables[0].language, 0x407);
	assert_int_equal(pe->tables[1].bytes, 2);
	assert_int_equal(pe->tables[2].name, 2);
	assert_int_equal(pe->tables[2].language, 0);
	assert_memory_equal(made.at + pe->tables[0].offset, messages, sizeof(messages));
}

static void test_pe__64bit(void **state)
{
	struct etw_pe pe;

	(void)state;
	parse(&pe);
	assert_int_equal(pe.machine, 0x8664);
	assert_true(pe.is_64bit);
	check(&pe);
}

static void test_pe__32bit(void **state)
{
	struct etw_pe pe;

	(void)state;
	made_pe_init(&made, false, resources, ARRAY_SIZE(resources));
	parse(&pe);
	assert_int_equal(pe.machine, 0x14c);
	assert_false(pe.is_64bit);
	check(&pe);
}

static void test_pe__without_resources(void **state)
{
	struct etw_pe pe;

	(void)state;
	made_pe_init(&made, true, NULL, 0);
	parse(&pe);
	assert_int_equal(pe.template_count, 0);
	assert_int_equal(pe.table_count, 0);
	made_pe_init(&made, true, resources, ARRAY_SIZE(resources));
	/* Fewer directories than the one of resources. */
	etw_store32(made.at + made.optional + WIRE_PE_64_DIRECTORIES - 4, 2);
	parse(&pe);
	assert_int_equal(pe.template_count, 0);
}

static void test_pe__other_types_are_passed_over(void **state)
{
	struct etw_pe pe;

	(void)state;
	/* Another name, a name beyond the section, another number. */
	made.at[made.data + 16 * ARRAY_SIZE(resources) + 2] = 'X';
	parse(&pe);
	assert_int_equal(pe.template_count, 0);
	assert_int_equal(pe.table_count, 3);
	etw_store32(made.at + made.directory + 16, UINT32_MAX);
	etw_store32(made.at + made.directory + 24, 12);
	parse(&pe);
	assert_int_equal(pe.template_count, 0);
	assert_int_equal(pe.table_count, 0);
}

static void test_pe__section_from_the_first_bytes(void **state)
{
	size_t offset = 1, bytes = 1;

	(void)state;
	assert_int_equal(etw_pe_section((struct etw_bytes){made.at, 0x300}, made.bytes, &offset,
					&bytes, NULL),
			 0);
	assert_int_equal(offset, made.directory);
	assert_int_equal(bytes, made.bytes - made.directory);
	assert_int_equal(etw_pe_section((struct etw_bytes){made.at, 0x100}, made.bytes, &offset,
					&bytes, NULL),
			 -EBADMSG);
	made_pe_init(&made, false, NULL, 0);
	assert_int_equal(etw_pe_section((struct etw_bytes){made.at, 0x300}, made.bytes, &offset,
					&bytes, NULL),
			 0);
	assert_int_equal(bytes, 0);
}

static void test_pe__refuses_damaged_headers(void **state)
{
	(void)state;
	made.at[0] = 'X';
	refuse("the bytes are not a PE file");
	made.bytes = 1;
	refuse("the bytes are not a PE file");
	made.bytes = 63;
	refuse("the file ends within its headers");
	etw_store32(made.at + 0x3c, UINT32_MAX);
	refuse("the PE header lies outside the file");
	made.at[made.head + 1] = 'X';
	refuse("the file is a DOS program without PE header");
	made.bytes = made.optional + 10;
	refuse("the optional header goes beyond the file");
	etw_store16(made.at + made.head + 20, 1);
	refuse("the optional header is too short");
	etw_store16(made.at + made.head + 20, 111);
	refuse("the optional header is too short");
	etw_store16(made.at + made.optional, 0x107);
	refuse("the kind of the optional header is unknown");
	etw_store16(made.at + made.head + 6, 1025);
	refuse("the file has more sections than the limit");
	etw_store16(made.at + made.head + 6, 1024);
	refuse("the section table goes beyond the file");
	etw_store32(made.at + made.optional + WIRE_PE_64_DIRECTORIES + 16, 0x20);
	refuse("the resource directory lies in no section");
	etw_store32(made.at + made.sections + 20, UINT32_MAX);
	refuse("the resource directory lies in no section");
}

static void test_pe__refuses_damaged_directories(void **state)
{
	uint8_t *types = made.at + made.directory;
	uint8_t *names = types + etw_load16(types + 20);

	(void)state;
	etw_store16(types + 12, UINT16_MAX);
	refuse("a resource directory goes beyond its section");
	etw_store32(types + 20, 0xffffffff);
	refuse("a resource directory goes beyond its section");
	etw_store32(types + 20, 5);
	refuse("a type of resources has no directory");
	/* A directory whose entry is that directory: a language that has languages. */
	etw_store32(names + 20, etw_load32(types + 20));
	refuse("resource directories are nested too deeply");
	etw_store32(names + 20, 0x00ffffff);
	refuse("the place of a resource lies beyond its section");
	etw_store32(made.at + made.data, 0x20);
	refuse("a resource lies in no section");
	etw_store32(made.at + made.data + 4, 0x10000);
	refuse("a resource goes beyond its section");
}

/* Many types that are all the same directory, with itself in every name. */
static void test_pe__overlapping_directories(void **state)
{
	uint8_t *types;
	size_t room;

	(void)state;
	made.bytes = sizeof(made.at);
	etw_store32(made.at + made.sections + 16, (uint32_t)(made.bytes - made.directory));
	types = made.at + made.directory;
	room = (made.bytes - made.directory - 16) / 8;
	memset(types, 0, made.bytes - made.directory);
	etw_store16(types + 14, (uint16_t)room);
	for (size_t i = 0; i < room; i++) {
		etw_store32(types + 16 + 8 * i, 11);
		etw_store32(types + 16 + 8 * i + 4, 0x80000000);
	}
	refuse("the resource directories overlap too much");
}

static void test_pe__number_of_resources_is_limited(void **state)
{
	static uint8_t big[131072];
	struct etw_fault fault = {0};
	struct etw_pe pe;
	uint8_t *types;

	(void)state;
	memcpy(big, made.at, made.directory);
	etw_store32(big + made.sections + 16, (uint32_t)(sizeof(big) - made.directory));
	types = big + made.directory;
	etw_store16(types + 14, 1);
	etw_store32(types + 16, 11);
	etw_store32(types + 20, 0x80000020);
	etw_store16(types + 32 + 14, 4097);
	/* Resources without a level of languages, all of them the same. */
	for (size_t i = 0; i < 4097; i++)
		etw_store32(types + 32 + 16 + 8 * i + 4, 40000);
	etw_store32(types + 40000, 0x1000);
	assert_int_equal(etw_pe_parse(&arena, (struct etw_bytes){big, sizeof(big)}, &pe, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, "the file has more resources than the limit");
	etw_store16(types + 32 + 14, 4096);
	assert_int_equal(etw_pe_parse(&arena, (struct etw_bytes){big, sizeof(big)}, &pe, &fault),
			 0);
	assert_int_equal(pe.table_count, 4096);
}

static void test_pe__any_byte_may_be_wrong(void **state)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xff};

	(void)state;
	for (size_t at = 0; at < made.bytes; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			struct etw_fault fault = {0};
			struct etw_pe pe;
			int r;

			made.at[at] ^= changes[i];
			r = etw_pe_parse(&arena, (struct etw_bytes){made.at, made.bytes}, &pe,
					 &fault);
			made.at[at] ^= changes[i];
			assert_true(r == 0 || (r == -EBADMSG && fault.sentence));
			etw_arena_done(&arena);
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_pe__##name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(64bit),
		TEST(32bit),
		TEST(without_resources),
		TEST(other_types_are_passed_over),
		TEST(section_from_the_first_bytes),
		TEST(refuses_damaged_headers),
		TEST(refuses_damaged_directories),
		TEST(overlapping_directories),
		TEST(number_of_resources_is_limited),
		TEST(any_byte_may_be_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
