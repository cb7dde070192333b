/* SPDX-License-Identifier: MIT */
/* Names of code that was made while a process ran: perf maps and jitdumps, through etw_symbols_resolve(). */
#include "symbol/code.h"

#include <unistd.h>

#include "fixture.h"
#include "symbol/perf_map.h"

static void test_code__reads_perf_maps(UNUSED_STATE)
{
	static const char map[] = "1000 20 plain\n"
				  "0x2000 0x10 with blanks in it\n"
				  "3000 10 windows line\r\n"
				  "no line\n"
				  "4000 10\n"
				  "4000 10 \n"
				  "\n"
				  "11112222333344445 10 too long\n"
				  "1000 20 again\n"
				  "5000 10 still written";
	struct etw_symbol_table table;

	etw_symbol_table_init(&table, NULL);
	assert_int_equal(etw_symbol_perf_map_parse(map, strlen(map), &table), 0);
	assert_int_equal(table.count, 4);
	assert_string_equal(etw_symbol_table_find(&table, 0x1010)->name, "again");
	assert_string_equal(etw_symbol_table_find(&table, 0x2000)->name, "with blanks in it");
	assert_string_equal(etw_symbol_table_find(&table, 0x3000)->name, "windows line");
	assert_null(etw_symbol_table_find(&table, 0x5000));
	etw_symbol_table_done(&table);
}

static void test_code__names_by_the_perf_map_of_a_process(UNUSED_STATE)
{
	struct etw_symbols_options options = {.root = fixture_folder};
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;

	assert_true(run("mkdir tmp"));
	write_text("tmp/perf-40.map", "7000 20 Made::function\n");
	symbols = fixture_symbols(&options);
	frame = frame_of(symbols, 0x7010);
	assert_string_equal(frame.function, "Made::function");
	assert_int_equal(frame.offset, 0x10);
	assert_string_equal(frame.module->name, "perf-40.map");
	assert_int_equal(frame.module->named, 1);
	assert_null(frame_of(symbols, 0x7020).module);
	etw_symbols_free(symbols);
}

static void test_code__follows_no_link_to_a_perf_map(UNUSED_STATE)
{
	struct etw_symbols_options options = {.root = fixture_folder};
	struct etw_symbols *symbols;

	assert_true(run("mkdir tmp && ln -s ../aside tmp/perf-40.map"));
	write_text("aside", "7000 20 function\n");
	symbols = fixture_symbols(&options);
	assert_null(frame_of(symbols, 0x7010).function);
	etw_symbols_free(symbols);
}

static void test_code__finds_the_perf_map_of_a_process_that_lives(UNUSED_STATE)
{
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
	struct etw_symbol_frame frame;
	uint32_t pid = (uint32_t)getpid();
	char path[PATH_BYTES];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	file = fopen(path, "wxe");
	assert_non_null(file);
	assert_true(fputs("7000 20 mine\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(etw_symbols_resolve(symbols, pid, 20, 0x7000, false, &frame, 1), 1);
	assert_int_equal(unlink(path), 0);
	assert_non_null(frame.function);
	assert_string_equal(frame.function, "mine");
	etw_symbols_free(symbols);
}

/* A header, and one function "made" of 16 bytes at 0x7000 that came at second 1 of CLOCK_MONOTONIC. */
static void write_jitdump(const char *path)
{
	static const uint8_t bytes[] = {
		0x44, 0x54, 0x69, 0x4A, 1,  0, 0, 0, 40,  0,    0,    0,    62,
		0,    0,    0, /* magic ... */
		0,    0,    0,    0,    1,  0, 0, 0, 0,   0,    0,    0,    0,
		0,    0,    0,                       /* pad, pid, time */
		0,    0,    0,    0,    0,  0, 0, 0, /* flags */
		0,    0,    0,    0,    77, 0, 0, 0, 0,   0xCA, 0x9A, 0x3B, 0,
		0,    0,    0, /* load, 1 s */
		1,    0,    0,    0,    1,  0, 0, 0, 0,   0x70, 0,    0,    0,
		0,    0,    0, /* pid, vma */
		0,    0x70, 0,    0,    0,  0, 0, 0, 16,  0,    0,    0,    0,
		0,    0,    0,                                                 /* at, bytes */
		1,    0,    0,    0,    0,  0, 0, 0, 'm', 'a',  'd',  'e',  0, /* index, name */
		0,    0,    0,    0,    0,  0, 0, 0, 0,   0,    0,    0,    0,
		0,    0,    0,
	};
	char full[PATH_BYTES];
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s/%s", fixture_folder, path);
	file = fopen(full, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	assert_int_equal(fclose(file), 0);
}

static void test_code__names_by_the_jitdump_that_a_process_maps(UNUSED_STATE)
{
	struct etw_symbols_options options = {.root = fixture_folder, .is_elsewhere = true};
	const struct etw_symbol_image image = {PID, BASE, 0x1000, "/home/jit-1.dump"};
	struct etw_symbol_frame frame;
	struct etw_symbols *symbols;

	assert_true(run("mkdir home"));
	write_jitdump("home/jit-1.dump");
	symbols = fixture_symbols(&options);
	assert_null(frame_of(symbols, 0x7004).function);
	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, 10), 0);
	frame = frame_of(symbols, 0x7004);
	assert_non_null(frame.function);
	assert_string_equal(frame.function, "made");
	assert_int_equal(frame.offset, 4);
	assert_string_equal(frame.module->name, "jit-1.dump");
	assert_null(frame_of(symbols, 0x7010).function);
	etw_symbols_free(symbols);
}

static void test_code__asks_nobody_for_code_of_another_machine(UNUSED_STATE)
{
	struct etw_symbols_options options = {.is_elsewhere = true};
	struct etw_symbols *symbols = fixture_symbols(&options);
	const struct etw_symbol_image image = {PID, BASE, 0x1000, "/jit-1.dump"};

	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_LOAD, &image, 10), 0);
	assert_null(frame_of(symbols, 0x7004).module);
	assert_int_equal(etw_symbols_module_count(symbols), 0);
	etw_symbols_free(symbols);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, fixture_begin, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code__reads_perf_maps),
		IN_FOLDER(test_code__names_by_the_perf_map_of_a_process),
		IN_FOLDER(test_code__follows_no_link_to_a_perf_map),
		cmocka_unit_test(test_code__finds_the_perf_map_of_a_process_that_lives),
		IN_FOLDER(test_code__names_by_the_jitdump_that_a_process_maps),
		cmocka_unit_test(test_code__asks_nobody_for_code_of_another_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
