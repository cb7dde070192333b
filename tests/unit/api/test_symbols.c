/* SPDX-License-Identifier: MIT */
/* What is remembered of GUIDs whose file was looked for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/tdh/symbols.h"
#include "base/guid.h"

static char folder[] = "/tmp/etw-symbols-XXXXXX";
static struct etw_symbols *symbols;

static int begin(void **state)
{
	const struct etw_symbol_paths paths = {.tmf_search_path = folder};

	(void)state;
	return etw_symbols_create(&paths, &symbols);
}

static GUID guid_of(uint32_t number)
{
	return (GUID){number, 0x1111, 0x2222, {1, 2, 3, 4, 5, 6, 7, 8}};
}

static const char *path_of(uint32_t number)
{
	static char path[128];
	const GUID guid = guid_of(number);
	char text[ETW_GUID_BARE_BYTES];

	etw_guid_format(&guid, text);
	(void)snprintf(path, sizeof(path), "%s/%s.tmf", folder, text);
	return path;
}

/* A file of one message, 10 or another. */
static void write_tmf(uint32_t guid, unsigned message)
{
	FILE *file = fopen(path_of(guid), "we");
	const GUID provider = guid_of(guid);
	char text[ETW_GUID_BARE_BYTES];

	assert_non_null(file);
	etw_guid_format(&provider, text);
	assert_true(fprintf(file, "%s Driver // SRC=a.c\n#typev a_c1 %u \"%%0text\"\n{\n}\n", text,
			    message) > 0);
	assert_int_equal(fclose(file), 0);
}

static int ask(uint32_t guid)
{
	struct etw_decoding decoding;
	EVENT_RECORD record = {0};
	int result;

	record.EventHeader.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE |
				   EVENT_HEADER_FLAG_64_BIT_HEADER;
	record.EventHeader.ProviderId = guid_of(guid);
	record.EventHeader.EventDescriptor.Id = 10;
	result = etw_symbols_lock(symbols, &record, &decoding);
	if (!result)
		etw_symbols_unlock(symbols);
	return result;
}

static int end(void **state)
{
	(void)state;
	etw_symbols_free(symbols);
	(void)unlink(path_of(1));
	return 0;
}

static int make_folder(void **state)
{
	static char no_folder[] = "TRACE_FORMAT_SEARCH_PATH";

	(void)state;
	(void)unsetenv(no_folder);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void test_symbols__a_guid_is_looked_for_once(void **state)
{
	(void)state;
	assert_int_equal(ask(1), -ESRCH);
	write_tmf(1, 10);
	assert_int_equal(ask(1), -ESRCH);
}

static void test_symbols__what_was_read_stays_without_its_file(void **state)
{
	(void)state;
	write_tmf(1, 10);
	assert_int_equal(ask(1), 0);
	assert_int_equal(unlink(path_of(1)), 0);
	assert_int_equal(ask(1), 0);
}

/* Whatever a trace makes up, a miss that is asked for again and again is not looked for anew. */
static void test_symbols__misses_in_use_survive_others(void **state)
{
	(void)state;
	assert_int_equal(ask(1), -ESRCH);
	write_tmf(1, 10);
	for (uint32_t i = 0; i < ETW_SYMBOLS_MISSES_MAX + 1000; i++) {
		assert_int_equal(ask(i + 2), -ESRCH);
		if (i % 1000 == 0)
			assert_int_equal(ask(1), -ESRCH);
	}
	assert_int_equal(ask(1), -ESRCH);
}

static void test_symbols__misses_out_of_use_are_forgotten(void **state)
{
	(void)state;
	assert_int_equal(ask(1), -ESRCH);
	write_tmf(1, 10);
	for (uint32_t i = 0; i <= ETW_SYMBOLS_MISSES_MAX; i++)
		assert_int_equal(ask(i + 2), -ESRCH);
	assert_int_equal(ask(1), 0);
}

/* Its messages are there still; were it read again, they would be there twice. */
static void test_symbols__a_file_is_read_once_for_good(void **state)
{
	(void)state;
	write_tmf(1, 11);
	assert_int_equal(ask(1), -ESRCH);
	write_tmf(1, 10);
	for (uint32_t i = 0; i <= ETW_SYMBOLS_MISSES_MAX; i++)
		assert_int_equal(ask(i + 2), -ESRCH);
	assert_int_equal(ask(1), -ESRCH);
}

static void test_symbols__a_shortage_is_not_remembered(void **state)
{
	struct rlimit limit, none;

	(void)state;
	write_tmf(1, 10);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(ask(1), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(ask(1), 0);
}

static void test_symbols__a_damaged_file_says_so_each_time(void **state)
{
	FILE *file = fopen(path_of(1), "we");

	(void)state;
	assert_non_null(file);
	assert_true(fputs("#typev", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ask(1), -EBADMSG);
	assert_int_equal(ask(1), -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_symbols__##name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guid_is_looked_for_once),        TEST(what_was_read_stays_without_its_file),
		TEST(misses_in_use_survive_others),     TEST(misses_out_of_use_are_forgotten),
		TEST(a_file_is_read_once_for_good),     TEST(a_shortage_is_not_remembered),
		TEST(a_damaged_file_says_so_each_time),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
