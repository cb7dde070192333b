/* SPDX-License-Identifier: MIT */
/* Enumerations whose names only the type stream of a PDB has. */
#include <stdio.h>

#include "base/macros.h"
#include "unit/schema/made_pdb.h"

#define STRUCTURE "the names of an enumeration cannot be read"

static const char *const message[] = {"TMF:",
				      SECTION,
				      "#typev File_c7 10 \"%0 a=%10!s! b=%11!s! c=%12!s!\"",
				      "{",
				      "a, ItemEnum(_STATE) -- 10",
				      "b, ItemFlagsEnum(enum FLAGS ) -- 11",
				      "c, ItemEnum(STATE) -- 12",
				      "}",
				      NULL};
static uint8_t list[4096];

static const struct etw_map *read_map(unsigned argument)
{
	pdb_end_types(&maker);
	add_annotated("DriverEntry", message);
	read_modules();
	assert_int_equal(pdb.messages.count, 1);
	return pdb.messages.at[0]->arguments[argument].names;
}

static void check_entry(const struct etw_map *map, uint32_t index, uint32_t value, const char *text)
{
	assert_int_equal(map->entries[index].value, value);
	assert_string_equal(map->entries[index].text, text);
}

static void test_pdb_types__names_come_from_the_enumeration(void **state)
{
	size_t bytes = pdb_enumerator(list, 0, "Stopped", 0);
	const struct etw_map *map;
	uint32_t number;

	(void)state;
	bytes = pdb_enumerator(list, bytes, "Running", 7);
	number = pdb_type(&maker, 0x1203, list, bytes);
	(void)pdb_enum(&maker, "_STATE", 0, 0x80);
	(void)pdb_enum(&maker, "_STATES", number, 0);
	(void)pdb_enum(&maker, "_STATE", number, 0);
	map = read_map(0);
	assert_non_null(map);
	assert_string_equal(map->name, "_STATE");
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP);
	assert_int_equal(map->count, 2);
	check_entry(map, 0, 0, "Stopped");
	check_entry(map, 1, 7, "Running");
	assert_int_equal(pdb.damage_count, 0);
	assert_null(pdb.messages.at[0]->arguments[1].names);
	assert_null(pdb.messages.at[0]->arguments[2].names);
}

/* The keyword and blanks do not belong to the name. */
static void test_pdb_types__flags_are_bits(void **state)
{
	const size_t bytes = pdb_enumerator(list, 0, "One", 1);
	const struct etw_map *map;

	(void)state;
	(void)pdb_enum(&maker, "FLAGS", pdb_type(&maker, 0x1203, list, bytes), 0);
	map = read_map(1);
	assert_non_null(map);
	assert_int_equal(map->flags, EVENTMAP_INFO_FLAG_MANIFEST_BITMAP);
	check_entry(map, 0, 1, "One");
}

static void test_pdb_types__typedefs_lead_to_enumerations(void **state)
{
	const size_t bytes = pdb_enumerator(list, 0, "On", 1);
	uint32_t number = pdb_type(&maker, 0x1203, list, bytes);
	const struct etw_map *map;

	(void)state;
	number = pdb_enum(&maker, "<unnamed-tag>", number, 0);
	pdb_typedef(&maker, "OTHER", number);
	pdb_typedef(&maker, "STATE", number);
	map = read_map(2);
	assert_non_null(map);
	check_entry(map, 0, 1, "On");
}

/* Values that do not fit 15 bits have a form before them; 32 bits count. */
static void test_pdb_types__numbers_of_every_form(void **state)
{
	static const struct {
		uint8_t bytes[11];
		uint8_t count;
		uint32_t value;
	} rows[] = {
		{{0xFF, 0x7F}, 2, 0x7FFF},
		{{0x00, 0x80, 0xFE}, 3, UINT32_MAX - 1},
		{{0x01, 0x80, 0xFE, 0xFF}, 4, UINT32_MAX - 1},
		{{0x02, 0x80, 0xFE, 0xFF}, 4, 0xFFFE},
		{{0x03, 0x80, 1, 2, 3, 0x84}, 6, 0x84030201},
		{{0x04, 0x80, 1, 2, 3, 0x84}, 6, 0x84030201},
		{{0x09, 0x80, 1, 2, 3, 0x84, 5}, 10, 0x84030201},
		{{0x0A, 0x80, 1, 2, 3, 0x84, 5}, 10, 0x84030201},
	};
	const struct etw_map *map;
	size_t bytes = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		etw_store32(list + bytes, 0x00031502);
		memcpy(list + bytes + 4, rows[i].bytes, rows[i].count);
		bytes += 4u + rows[i].count;
		memcpy(list + bytes, "N", 2);
		bytes += 2;
	}
	(void)pdb_enum(&maker, "_STATE", pdb_type(&maker, 0x1203, list, bytes), 0);
	map = read_map(0);
	assert_non_null(map);
	assert_int_equal(map->count, ARRAY_SIZE(rows));
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_entry(map, i, rows[i].value, "N");
}

/* Long lists are continued in an earlier type. */
static void test_pdb_types__lists_are_continued(void **state)
{
	size_t bytes = pdb_enumerator(list, 0, "Last", 2);
	uint32_t number = pdb_type(&maker, 0x1203, list, bytes);
	const struct etw_map *map;

	(void)state;
	bytes = pdb_enumerator(list, 0, "First", 1);
	etw_store32(list + bytes, 0x1404);
	etw_store32(list + bytes + 4, number);
	(void)pdb_enum(&maker, "_STATE", pdb_type(&maker, 0x1203, list, bytes + 8), 0);
	map = read_map(0);
	assert_non_null(map);
	assert_int_equal(map->count, 2);
	check_entry(map, 0, 1, "First");
	check_entry(map, 1, 2, "Last");
}

/* Each list leaves the enumeration without names, and says so; the message stays. */
static void test_pdb_types__bad_lists_cost_themselves(void **state)
{
	static const struct {
		uint8_t bytes[12];
		uint8_t count;
	} rows[] = {
		{{0}, 0},
		{{0x02, 0x15}, 2},
		{{0x02, 0x15, 3, 0, 1}, 5},
		{{0x02, 0x15, 3, 0, 0x04, 0x80, 1, 2}, 8},
		{{0x02, 0x15, 3, 0, 0x05, 0x80, 1, 2}, 8},
		{{0x02, 0x15, 3, 0, 1, 0, 'a', 'b'}, 8},
		{{0x0D, 0x15, 3, 0, 1, 0, 'a', 0}, 8},
		{{0x04, 0x14, 0, 0, 1, 2}, 6},
		/* Itself, and no type at all. */
		{{0x04, 0x14, 0, 0, 0x00, 0x10, 0, 0}, 8},
		{{0x04, 0x14, 0, 0, 1, 0, 0, 0}, 8},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(begin(state), 0);
		(void)pdb_enum(&maker, "_STATE",
			       pdb_type(&maker, 0x1203, rows[i].bytes, rows[i].count), 0);
		assert_null(read_map(0));
		check_damage(1, STRUCTURE);
		etw_arena_done(&arena);
	}
	/* The list is of another kind, or there is none of that number. */
	assert_int_equal(begin(state), 0);
	(void)pdb_enum(&maker, "_STATE", pdb_type(&maker, 0x1204, list, 8), 0);
	assert_null(read_map(0));
	check_damage(1, STRUCTURE);
	etw_arena_done(&arena);
	assert_int_equal(begin(state), 0);
	(void)pdb_enum(&maker, "_STATE", PDB_FIRST_TYPE + 1, 0);
	assert_null(read_map(0));
	check_damage(1, STRUCTURE);
}

/* A list that many enumerations share is not copied for each without end. */
static void test_pdb_types__shared_lists_have_a_limit(void **state)
{
	static char lines[100][40];
	const char *strings[106] = {"TMF:", SECTION, "#typev File_c7 10 \"%0\"", "{"};
	size_t bytes = 0, named = 0;
	uint32_t number;

	(void)state;
	while (bytes < sizeof(list) - 12)
		bytes = pdb_enumerator(list, bytes, "N", 1);
	number = pdb_type(&maker, 0x1203, list, bytes);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		char name[8];

		(void)snprintf(name, sizeof(name), "E%u", i);
		(void)snprintf(lines[i], sizeof(lines[i]), "a, ItemEnum(%s) -- %u", name, i + 10);
		(void)pdb_enum(&maker, name, number, 0);
		strings[4 + i] = lines[i];
	}
	strings[4 + ARRAY_SIZE(lines)] = "}";
	pdb_end_types(&maker);
	pdb_add_module(&maker);
	pdb_add_annotation(&maker, strings);
	read_modules();
	assert_int_equal(pdb.messages.count, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++)
		named += pdb.messages.at[0]->arguments[i].names != NULL;
	assert_in_range(named, 1, 20);
	check_damage(ARRAY_SIZE(lines) - named, STRUCTURE);
}

static void check_bad_stream(size_t offset, uint32_t value, const char *sentence)
{
	(void)pdb_enum(&maker, "_STATE",
		       pdb_type(&maker, 0x1203, list, pdb_enumerator(list, 0, "On", 1)), 0);
	pdb_end_types(&maker);
	etw_store32(maker.streams[2].at + offset, value);
	add_annotated("DriverEntry", message);
	read_modules();
	assert_int_equal(pdb.messages.count, 1);
	assert_null(pdb.messages.at[0]->arguments[0].names);
	check_damage(1, sentence);
	assert_string_equal(pdb.first_damage.structure, "type stream");
	etw_arena_done(&arena);
}

static void test_pdb_types__bad_streams(void **state)
{
	static const char head[] = "the head of the types is malformed";
	static const char cut[] = "a type is shorter than its head or reaches beyond the stream";
	static const struct {
		size_t offset;
		uint32_t value;
		const char *sentence;
	} rows[] = {
		{0, 20040204, head}, {4, 55, head},         {4, 10000, head},
		{16, 10000, head},   {56, 0x12030001, cut}, {56, 0x12034000, cut},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(begin(state), 0);
		check_bad_stream(rows[i].offset, rows[i].value, rows[i].sentence);
	}
	/* One that is too short for a head is none. */
	assert_int_equal(begin(state), 0);
	pdb_fill(&maker, 2, 55);
	add_annotated("DriverEntry", message);
	read_modules();
	assert_int_equal(pdb.damage_count, 0);
}

/* Damage among the global symbols ends the search. */
static void test_pdb_types__bad_typedefs(void **state)
{
	static const uint8_t cut[] = {0x40, 0, 0x08, 0x11, 0, 0x10, 0, 0};
	static const uint8_t open[] = {8, 0, 0x08, 0x11, 0x00, 0x10, 0, 0, 'S', 'T'};
	const size_t bytes = pdb_enumerator(list, 0, "On", 1);
	uint32_t number = pdb_enum(&maker, "_S", pdb_type(&maker, 0x1203, list, bytes), 0);

	(void)state;
	pdb_typedef(&maker, "_STATE", 1);
	pdb_typedef(&maker, "FLAGS", number - 1);
	pdb_put(&maker, PDB_GLOBALS, open, sizeof(open));
	pdb_put(&maker, PDB_GLOBALS, cut, sizeof(cut));
	pdb_typedef(&maker, "STATE", number);
	assert_null(read_map(2));
	assert_null(pdb.messages.at[0]->arguments[0].names);
	assert_null(pdb.messages.at[0]->arguments[1].names);
	assert_int_equal(pdb.damage_count, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pdb_types__names_come_from_the_enumeration),
		TEST(test_pdb_types__flags_are_bits),
		TEST(test_pdb_types__typedefs_lead_to_enumerations),
		TEST(test_pdb_types__numbers_of_every_form),
		TEST(test_pdb_types__lists_are_continued),
		TEST(test_pdb_types__bad_lists_cost_themselves),
		TEST(test_pdb_types__shared_lists_have_a_limit),
		TEST(test_pdb_types__bad_streams),
		TEST(test_pdb_types__bad_typedefs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
