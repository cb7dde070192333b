/* SPDX-License-Identifier: MIT */
/* Files in memory and on disk; the latter in a folder of this test's own. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "schema/compiled/binary.h"
#include "schema/compiled/binary_file.h"
#include "synthetic/made_wevt.h"
#include "wire/pe.h"

static struct etw_arena arena;
static struct made_wevt made;
static struct made_messages english, german;
static struct made_pe pe;
static char folder[64];

static int begin(void **state)
{
	static const struct made_message german_texts[] = {{0x50000002, "Fehler\r\n", false},
							   {0x90000001, "Anbieter\r\n", true}};

	(void)state;
	etw_arena_init(&arena);
	made_wevt_init(&made, 5);
	made_messages_of_wevt(&english);
	made_messages_init(&german, german_texts, ARRAY_SIZE(german_texts));
	(void)strcpy(folder, "/tmp/etw-binary-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	etw_arena_done(&arena);
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static struct etw_bytes bytes_of_pe(void)
{
	return (struct etw_bytes){pe.at, pe.bytes};
}

static void make_pe(bool has_template, bool has_english, bool has_german)
{
	struct made_resource resources[3];
	size_t count = 0;

	if (has_template)
		resources[count++] = (struct made_resource){0, 1, 0x409, made.at, made.bytes};
	if (has_german)
		resources[count++] = (struct made_resource){11, 1, 0x407, german.at, german.bytes};
	if (has_english)
		resources[count++] = (struct made_resource){11, 1, 0x409, english.at,
							    english.bytes};
	made_pe_init(&pe, true, resources, count);
}

static void parse(struct etw_bytes file, struct etw_bytes messages, const char *const *languages,
		  const struct etw_provider_schema **ret)
{
	struct etw_definition *definition;
	struct etw_fault fault = {0};

	if (etw_binary_parse(&arena, file, messages, languages, &definition, &fault) < 0)
		fail_msg("%s", fault.sentence);
	assert_int_equal(definition->provider_count, 1);
	*ret = definition->providers;
}

static const char *path_of(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void save(const char *name, const uint8_t *at, size_t bytes)
{
	FILE *file = fopen(path_of(name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void save_pe(const char *name)
{
	save(name, pe.at, pe.bytes);
}

static const struct etw_provider_schema *read_path(const char *path, const char *messages,
						   const char *const *languages)
{
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	int r = etw_binary_read(&arena, path, messages, languages, &definition, &fault);

	if (r < 0)
		fail_msg("%s: %s", path, fault.sentence ? fault.sentence : strerror(-r));
	return definition->providers;
}

static void test_binary__is(void **state)
{
	(void)state;
	make_pe(true, true, true);
	assert_true(etw_binary_is(bytes_of_pe()));
	assert_true(etw_binary_is((struct etw_bytes){made.at, 4}));
	assert_false(etw_binary_is((struct etw_bytes){made.at, 3}));
	assert_false(etw_binary_is((struct etw_bytes){(const uint8_t *)"<?xm", 4}));
	assert_false(etw_binary_is((struct etw_bytes){NULL, 0}));
}

static void test_binary__language_of_choice(void **state)
{
	static const char *const wanted[] = {"de-AT", "de-DE", NULL};
	const struct etw_provider_schema *provider;

	(void)state;
	make_pe(true, true, true);
	parse(bytes_of_pe(), (struct etw_bytes){0}, NULL, &provider);
	assert_string_equal(provider->message, "Provider text");
	parse(bytes_of_pe(), (struct etw_bytes){0}, wanted, &provider);
	assert_string_equal(provider->message, "Anbieter");
	assert_string_equal(provider->levels[0].message, "Fehler");
	assert_string_equal(provider->tasks[0].named.message, "Task text");
}

static void test_binary__messages_of_the_caller_go_first(void **state)
{
	const struct etw_provider_schema *provider;

	(void)state;
	make_pe(true, true, false);
	parse(bytes_of_pe(), (struct etw_bytes){german.at, german.bytes}, NULL, &provider);
	assert_string_equal(provider->message, "Anbieter");
	assert_string_equal(provider->tasks[0].named.message, "Task text");
	make_pe(false, true, false);
	parse((struct etw_bytes){made.at, made.bytes}, bytes_of_pe(), NULL, &provider);
	assert_string_equal(provider->message, "Provider text");
}

static void test_binary__file_without_schemas(void **state)
{
	struct etw_definition *definition;

	(void)state;
	make_pe(false, true, false);
	assert_int_equal(etw_binary_parse(&arena, bytes_of_pe(), (struct etw_bytes){0}, NULL,
					  &definition, NULL),
			 -ENODATA);
	made_pe_init(&pe, false, NULL, 0);
	assert_int_equal(etw_binary_parse(&arena, bytes_of_pe(), (struct etw_bytes){0}, NULL,
					  &definition, NULL),
			 -ENODATA);
}

/* The place that is told is one in the file. */
static void test_binary__damage_is_found_in_the_file(void **state)
{
	struct etw_definition *definition;
	struct etw_fault fault = {0};
	size_t start;

	(void)state;
	make_pe(true, true, false);
	start = etw_load32(pe.at + pe.data) - 0x1000 + pe.directory;
	pe.at[start + made.provider] = 'X';
	assert_int_equal(etw_binary_parse(&arena, bytes_of_pe(), (struct etw_bytes){0}, NULL,
					  &definition, &fault),
			 -EBADMSG);
	assert_int_equal(fault.offset, start + made.provider);
	make_pe(true, true, false);
	start = etw_load32(pe.at + pe.data + 16) - 0x1000 + pe.directory;
	etw_store32(pe.at + start + 8, 0);
	assert_int_equal(etw_binary_parse(&arena, bytes_of_pe(), (struct etw_bytes){0}, NULL,
					  &definition, &fault),
			 -EBADMSG);
	assert_int_equal(fault.offset, start + 4);
	assert_string_equal(fault.sentence, "a block ends before it begins");
	assert_int_equal(etw_binary_parse(&arena, (struct etw_bytes){NULL, 0},
					  (struct etw_bytes){0}, NULL, &definition, &fault),
			 -EBADMSG);
	assert_string_equal(fault.sentence, "the bytes are not a PE file");
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_binary__reads_files(void **state)
{
	const struct etw_provider_schema *provider;

	(void)state;
	make_pe(true, true, false);
	save_pe("own.dll");
	provider = read_path(path_of("own.dll"), NULL, NULL);
	assert_string_equal(provider->message, "Provider text");
	save("alone.bin", made.at, made.bytes);
	provider = read_path(path_of("alone.bin"), NULL, NULL);
	assert_null(provider->message);
	save("table.bin", german.at, german.bytes);
	provider = read_path(path_of("alone.bin"), path_of("table.bin"), NULL);
	assert_string_equal(provider->message, "Anbieter");
	provider = read_path(path_of("alone.bin"), path_of("own.dll"), NULL);
	assert_string_equal(provider->message, "Provider text");
}

static void test_binary__language_files_beside(void **state)
{
	static const char *const german_first[] = {"../x", "", ".", "de-DE", NULL};
	const struct etw_provider_schema *provider;

	(void)state;
	make_pe(true, false, false);
	save_pe("some.dll");
	provider = read_path(path_of("some.dll"), NULL, german_first);
	assert_null(provider->message);
	assert_int_equal(mkdir(path_of("en-US"), 0700), 0);
	assert_int_equal(mkdir(path_of("de-DE"), 0700), 0);
	make_pe(false, true, false);
	save_pe("en-US/some.dll.mui");
	provider = read_path(path_of("some.dll"), NULL, german_first);
	assert_string_equal(provider->message, "Provider text");
	make_pe(false, false, true);
	save_pe("de-DE/some.dll.mui");
	provider = read_path(path_of("some.dll"), NULL, german_first);
	assert_string_equal(provider->message, "Anbieter");
	provider = read_path(path_of("some.dll"), NULL, NULL);
	assert_string_equal(provider->message, "Provider text");
	/* The same of another file that has the messages. */
	save("alone.bin", made.at, made.bytes);
	provider = read_path(path_of("alone.bin"), path_of("some.dll"), german_first);
	assert_string_equal(provider->message, "Anbieter");
}

static void test_binary__large_files(void **state)
{
	const struct etw_provider_schema *provider;
	struct wire_pe_section section;
	size_t where, bytes;

	(void)state;
	make_pe(true, true, false);
	save_pe("large.dll");
	assert_int_equal(truncate(path_of("large.dll"), 3 << 20), 0);
	provider = read_path(path_of("large.dll"), NULL, NULL);
	assert_string_equal(provider->message, "Provider text");
	/* The template lies in a second section, far away from the directory. */
	where = etw_load32(pe.at + pe.data) - 0x1000 + pe.directory;
	bytes = etw_load32(pe.at + pe.data + 4);
	etw_store16(pe.at + pe.head + 6, 2);
	memset(&section, 0, sizeof(section));
	section.address = le32_of(0x100000);
	section.file_offset = le32_of(1 << 20);
	section.file_bytes = le32_of(0x10000);
	memcpy(pe.at + pe.sections + sizeof(section), &section, sizeof(section));
	etw_store32(pe.at + pe.data, 0x100000);
	save_pe("two.dll");
	assert_int_equal(truncate(path_of("two.dll"), 1 << 20), 0);
	{
		FILE *file = fopen(path_of("two.dll"), "ab");

		assert_non_null(file);
		assert_int_equal(fwrite(pe.at + where, 1, bytes, file), bytes);
		assert_int_equal(fclose(file), 0);
	}
	assert_int_equal(truncate(path_of("two.dll"), 2 << 20), 0);
	provider = read_path(path_of("two.dll"), NULL, NULL);
	assert_string_equal(provider->message, "Provider text");
	assert_int_equal(provider->schema_count, 3);
}

static void refuse_path(const char *path, const char *messages, int error)
{
	struct etw_definition *definition;
	struct etw_fault fault = {0};

	assert_int_equal(etw_binary_read(&arena, path, messages, NULL, &definition, &fault), error);
	assert_int_equal(etw_arena_bytes(&arena), 0);
}

static void test_binary__files_that_cannot_be_read(void **state)
{
	(void)state;
	make_pe(true, true, false);
	save_pe("own.dll");
	refuse_path(path_of("none.dll"), NULL, -ENOENT);
	refuse_path(path_of("own.dll"), path_of("none.dll"), -ENOENT);
	refuse_path(folder, NULL, -EISDIR);
	refuse_path("/dev/null", NULL, -EINVAL);
	save("empty.dll", pe.at, 0);
	refuse_path(path_of("empty.dll"), NULL, -EBADMSG);
	assert_int_equal(truncate(path_of("empty.dll"), (off_t)ETW_BINARY_BYTES_MAX + 1), 0);
	refuse_path(path_of("empty.dll"), NULL, -EFBIG);
	make_pe(false, true, false);
	save_pe("none.exe");
	refuse_path(path_of("none.exe"), NULL, -ENODATA);
	make_pe(true, true, false);
	pe.at[pe.head] = 'X';
	save_pe("dos.exe");
	refuse_path(path_of("dos.exe"), NULL, -EBADMSG);
	assert_int_equal(truncate(path_of("dos.exe"), 1 << 20), 0);
	refuse_path(path_of("dos.exe"), NULL, -EBADMSG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_binary__##name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(is),
		TEST(language_of_choice),
		TEST(messages_of_the_caller_go_first),
		TEST(file_without_schemas),
		TEST(damage_is_found_in_the_file),
		TEST(reads_files),
		TEST(language_files_beside),
		TEST(large_files),
		TEST(files_that_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
