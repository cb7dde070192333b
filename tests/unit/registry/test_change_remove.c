/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "fixture.h"

static struct etw_registry_change *begin(void)
{
	struct etw_registry_change *change;

	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	return change;
}

static uint32_t commit(struct etw_registry_change *change)
{
	struct etw_registry_index index;
	uint32_t count;

	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), 0);
	count = index.file_count;
	etw_registry_index_close(&index);
	return count;
}

/* A manifest of a provider that was imported from @from. */
static void make_item(unsigned number, const char *word, const char *from,
		      struct etw_registry_item *ret)
{
	assert_int_equal(fixture_item(number, word, ret), 0);
	ret->from = from;
}

static void add_manifest(struct etw_registry_change *change, unsigned number, const char *word,
			 const char *from)
{
	struct etw_registry_item item;

	make_item(number, word, from, &item);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	etw_registry_item_done(&item);
}

static size_t remove_manifest(struct etw_registry_change *change, unsigned number, const char *word,
			      const char *from)
{
	struct etw_registry_item item;
	size_t count;

	make_item(number, word, from, &item);
	count = etw_registry_change_remove_item(change, &item);
	etw_registry_item_done(&item);
	return count;
}

/*
 * Messages as a PDB gives them: those of a source file, and the row of a control GUID that other PDBs have
 * too. @source: tells the files apart
 */
static void make_messages(unsigned source, unsigned control, const char *from,
			  struct etw_registry_item *ret)
{
	static struct etw_registry_row rows[2];
	char text[64], guid[ETW_GUID_BRACED_BYTES];
	const GUID id = fixture_guid(1000 + source);
	int bytes;

	etw_guid_format(&id, guid);
	bytes = snprintf(text, sizeof(text), "%s mod%u // SRC=a.c\n", guid, source);
	memset(ret, 0, sizeof(*ret));
	ret->kind = WIRE_REGISTRY_TMF;
	ret->stored.at = etw_arena_copy(&ret->arena, text, (size_t)bytes);
	ret->stored.left = (size_t)bytes;
	ret->sha1[0] = (uint8_t)source;
	ret->from = from;
	rows[0] = (struct etw_registry_row){.guid = id,
					    .name = "mod",
					    .source = DecodingSourceWPP,
					    .role = WIRE_REGISTRY_EVENTS};
	rows[1] = (struct etw_registry_row){.guid = fixture_guid(control),
					    .name = "Control",
					    .source = DecodingSourceWPP,
					    .role = WIRE_REGISTRY_PROVIDER};
	ret->rows = rows;
	ret->row_count = 2;
}

static void add_messages(struct etw_registry_change *change, unsigned source, unsigned control,
			 const char *from)
{
	struct etw_registry_item item;

	make_messages(source, control, from, &item);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	etw_registry_item_done(&item);
}

static void test_change_remove__a_file_leaves_others_with_its_control_guid(void **state)
{
	struct etw_registry_change *change = begin();
	struct etw_registry_defined defined;
	struct etw_registry_item item;
	const GUID control = fixture_guid(7);

	(void)state;
	add_messages(change, 1, 7, "/a.pdb");
	add_messages(change, 2, 7, "/b.pdb");
	add_manifest(change, 7, "A", "/a.man");
	make_messages(1, 7, "/elsewhere/a.pdb", &item);
	assert_int_equal(etw_registry_change_remove_item(change, &item), 2);
	assert_int_equal(etw_registry_change_remove_item(change, &item), 0);
	etw_registry_item_done(&item);
	assert_true(etw_registry_change_find(change, &control, &defined));
	assert_string_equal(defined.name, "P7");
	assert_int_equal(remove_manifest(change, 7, "B", "/other.man"), 1);
	assert_true(etw_registry_change_find(change, &control, &defined));
	assert_string_equal(defined.name, "Control");
	assert_string_equal(defined.from, "/b.pdb");
	assert_int_equal(commit(change), 1);
}

static void test_change_remove__a_file_means_what_came_from_its_path(void **state)
{
	struct etw_registry_change *change = begin();
	struct etw_registry_item item;

	(void)state;
	add_messages(change, 1, 7, "/a.pdb");
	add_manifest(change, 1, "A", "/a.man");
	add_manifest(change, 1, "B", "/b.man");
	make_messages(9, 7, "/a.pdb", &item);
	assert_int_equal(etw_registry_change_remove_item(change, &item), 2);
	etw_registry_item_done(&item);
	assert_int_equal(remove_manifest(change, 1, "C", "/a.man"), 1);
	assert_int_equal(commit(change), 1);
}

/* As on Windows: another version of the file takes the provider out. */
static void test_change_remove__else_a_file_means_its_providers(void **state)
{
	struct etw_registry_change *change = begin();

	(void)state;
	add_manifest(change, 1, "A", "/a.man");
	add_manifest(change, 1, "B", "/b.man");
	add_manifest(change, 2, "B", "/c.man");
	assert_int_equal(remove_manifest(change, 1, "C", "/d.man"), 2);
	assert_int_equal(remove_manifest(change, 3, "C", "/e.man"), 0);
	assert_int_equal(commit(change), 1);
}

static void test_change_remove__messages_go_by_control_guid_and_by_their_own(void **state)
{
	const GUID control = fixture_guid(7), own = fixture_guid(1003);
	struct etw_registry_change *change = begin();

	(void)state;
	add_messages(change, 1, 7, "/a.pdb");
	add_messages(change, 2, 7, "/b.pdb");
	add_messages(change, 3, 8, "/c.pdb");
	add_messages(change, 4, 8, "/d.pdb");
	assert_int_equal(etw_registry_change_remove(change, &control), 4);
	assert_int_equal(etw_registry_change_remove(change, &own), 2);
	assert_int_equal(commit(change), 1);
}

static void test_change_remove__all_from_below_a_folder(void **state)
{
	struct etw_registry_change *change = begin();
	size_t definitions = 0;

	(void)state;
	add_manifest(change, 1, "A", "/in/a.man");
	add_manifest(change, 2, "A", "/in/below/b.man");
	add_manifest(change, 3, "A", "/inner/c.man");
	add_messages(change, 1, 7, "/in/a.pdb");
	assert_int_equal(etw_registry_change_remove_from(change, "/none", &definitions), 0);
	assert_int_equal(definitions, 0);
	assert_int_equal(etw_registry_change_remove_from(change, "/in", &definitions), 4);
	assert_int_equal(definitions, 3);
	assert_int_equal(etw_registry_change_remove_from(change, "/in", NULL), 0);
	assert_int_equal(etw_registry_change_remove_from(change, "/inner/c.man", NULL), 1);
	assert_int_equal(commit(change), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_change_remove__a_file_leaves_others_with_its_control_guid,
			fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(
			test_change_remove__a_file_means_what_came_from_its_path, fixture_begin,
			fixture_end),
		cmocka_unit_test_setup_teardown(test_change_remove__else_a_file_means_its_providers,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(
			test_change_remove__messages_go_by_control_guid_and_by_their_own,
			fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change_remove__all_from_below_a_folder,
						fixture_begin, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
