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

static bool say_whose(const void *context, uint32_t pid, uint32_t *ret)
{
	(void)pid;
	*ret = *(const uint32_t *)context;
	return true;
}

/* Anybody may make a file in /tmp with the number of another's process: it tells nothing of that. */
static void test_code__believes_owners_alone(UNUSED_STATE)
{
	static const uint32_t nobody = 65534, other = 65533;
	const struct etw_symbols_options theirs = {.find_uid = say_whose, .uid_context = &nobody};
	const struct etw_symbols_options others = {.find_uid = say_whose, .uid_context = &other};
	const struct etw_symbols_options unknown = {0};
	const struct etw_symbols_options *const all[] = {&theirs, &others, &unknown};
	const uint32_t pid = (uint32_t)getpid();
	char path[PATH_BYTES];
	FILE *file;

	if (geteuid() != 0) {
		print_message("SKIP: needs root, to give a file away\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	(void)unlink(path); /* of an earlier process with this number */
	file = fopen(path, "wxe");
	assert_non_null(file);
	assert_true(fputs("7000 20 forged\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chown(path, nobody, nobody), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct etw_symbols *symbols = fixture_symbols(all[i]);
		struct etw_symbol_frame frame;

		assert_int_equal(etw_symbols_resolve(symbols, pid, 20, 0x7000, false, &frame, 1),
				 1);
		assert_non_null(frame.module);
		if (all[i] == &theirs) {
			assert_string_equal(frame.function, "forged");
		} else {
			assert_null(frame.function);
			assert_int_equal(frame.module->reason, ETW_SYMBOL_OTHER_OWNER);
		}
		etw_symbols_free(symbols);
	}
	assert_int_equal(unlink(path), 0);
}

/* One map has no more than its share of what all may have. */
static void test_code__takes_so_much_of_a_perf_map(UNUSED_STATE)
{
	static const char line[] = "1 1 a\n";
	const size_t bytes = sizeof(line) - 1, count = ETW_SYMBOL_PERF_MAP_SYMBOLS_MAX + 1;
	char *map = malloc(bytes * count);
	struct etw_symbol_table table;
	size_t left = ETW_SYMBOL_MADE_MAX;

	assert_non_null(map);
	for (size_t i = 0; i < count; i++)
		memcpy(map + i * bytes, line, bytes);
	etw_symbol_table_init(&table, &left);
	assert_int_equal(etw_symbol_perf_map_parse(map, bytes * count, &table), -E2BIG);
	assert_int_equal(table.count, ETW_SYMBOL_PERF_MAP_SYMBOLS_MAX);
	etw_symbol_table_done(&table);
	free(map);
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
	(void)unlink(path); /* of an earlier process with this number */
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

#define SECOND_NS UINT64_C(1000000000)
#define HEADER    "DTiJ\1\0\0\0\50\0\0\0\76\0\0\0\0\0\0\0\50\0\0\0"

/* A function of 16 bytes at 0x7000, that came at a time of CLOCK_MONOTONIC; its name has 4 letters. */
static void write_load(FILE *file, uint64_t time_ns, uint64_t index, const char *name)
{
	const uint32_t head[2] = {0, 16 + 40 + 5 + 16}, ids[2] = {PID, PID};
	const uint64_t places[4] = {0x7000, 0x7000, 16, index};
	static const uint8_t code[16];

	assert_int_equal(fwrite(head, sizeof(head), 1, file), 1);
	assert_int_equal(fwrite(&time_ns, sizeof(time_ns), 1, file), 1);
	assert_int_equal(fwrite(ids, sizeof(ids), 1, file), 1);
	assert_int_equal(fwrite(places, sizeof(places), 1, file), 1);
	assert_int_equal(fwrite(name, 5, 1, file), 1);
	assert_int_equal(fwrite(code, sizeof(code), 1, file), 1);
}

/* Two functions, one after the other at the same address, 20 seconds apart. */
static void write_jitdump(const char *path)
{
	static const uint64_t time_and_flags[2];
	char full[PATH_BYTES];
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s/%s", fixture_folder, path);
	file = fopen(full, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(HEADER, sizeof(HEADER) - 1, 1, file), 1);
	assert_int_equal(fwrite(time_and_flags, sizeof(time_and_flags), 1, file), 1);
	write_load(file, 10 * SECOND_NS, 1, "made");
	write_load(file, 30 * SECOND_NS, 2, "more");
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
	assert_string_equal(frame.function,
			    "more"); /* times of another machine mean nothing here */
	assert_int_equal(frame.offset, 4);
	assert_string_equal(frame.module->name, "jit-1.dump");
	assert_null(frame_of(symbols, 0x7010).function);
	etw_symbols_free(symbols);
}

static void test_code__names_by_what_was_there_at_the_time(UNUSED_STATE)
{
	struct etw_symbols *symbols = fixture_symbols(&(struct etw_symbols_options){0});
	int64_t boot_ft = etw_filetime_now() - (int64_t)(etw_monotonic_ns() / ETW_NS_PER_FT);
	struct etw_symbol_frame frame;
	char path[PATH_BYTES];
	const struct etw_symbol_image image = {PID, BASE, 0x1000, path};

	(void)snprintf(path, sizeof(path), "%s/jit-40.dump", fixture_folder);
	write_jitdump("jit-40.dump");
	assert_int_equal(etw_symbols_tell_image(symbols, ETW_SYMBOL_WAS_LOADED, &image, 0), 0);
	assert_int_equal(etw_symbols_resolve(symbols, PID, boot_ft + 20 * ETW_FILETIME_PER_SECOND,
					     0x7004, false, &frame, 1),
			 1);
	assert_string_equal(frame.function, "made");
	assert_int_equal(etw_symbols_resolve(symbols, PID, boot_ft + 40 * ETW_FILETIME_PER_SECOND,
					     0x7004, false, &frame, 1),
			 1);
	assert_string_equal(frame.function, "more");
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
		cmocka_unit_test(test_code__believes_owners_alone),
		cmocka_unit_test(test_code__takes_so_much_of_a_perf_map),
		IN_FOLDER(test_code__follows_no_link_to_a_perf_map),
		cmocka_unit_test(test_code__finds_the_perf_map_of_a_process_that_lives),
		IN_FOLDER(test_code__names_by_the_jitdump_that_a_process_maps),
		IN_FOLDER(test_code__names_by_what_was_there_at_the_time),
		cmocka_unit_test(test_code__asks_nobody_for_code_of_another_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
