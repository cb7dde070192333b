/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/macros.h"
#include "fixture.h"

/* Files below definitions/. */
static int count_definitions(void)
{
	char path[128];
	struct dirent *entry;
	int count = 0;
	DIR *folder;

	(void)snprintf(path, sizeof(path), "%s/definitions", fixture_folder);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += *entry->d_name != '.';
	(void)closedir(folder);
	return count;
}

static bool exists(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture_folder, name);
	return !access(path, F_OK);
}

static uint32_t count_rows(void)
{
	struct etw_registry_index index;
	uint32_t count;

	assert_int_equal(etw_registry_index_open(fixture_folder, &index, NULL), 0);
	count = index.row_count;
	etw_registry_index_close(&index);
	return count;
}

static void test_change__importing_twice_is_no_second_copy(void **state)
{
	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(fixture_import(1, "A"), ETW_REGISTRY_SAME);
	assert_int_equal(fixture_import(1, "B"), 0);
	assert_int_equal(count_definitions(), 2);
	assert_int_equal(count_rows(), 2);
	assert_false(exists("index.new"));
}

static void test_change__what_is_not_committed_leaves_nothing(void **state)
{
	struct etw_registry_change *change;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(fixture_add(change, 2, "A"), 0);
	assert_int_equal(count_definitions(), 2);
	etw_registry_change_end(change);
	assert_int_equal(count_definitions(), 1);
	assert_int_equal(count_rows(), 1);
	assert_false(exists("index.new"));
}

/* A process that dies when it has done @steps of: begin, add, write. */
static void crash_after(int steps)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		struct etw_registry_change *change;

		if (etw_registry_change_begin(fixture_folder, &change, NULL) < 0)
			_exit(1);
		if (steps > 1 && fixture_add(change, 2, "A") < 0)
			_exit(1);
		if (steps > 2 && etw_registry_change_write(change) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_change__a_crash_leaves_the_old_state(void **state)
{
	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	for (int steps = 1; steps <= 3; steps++) {
		crash_after(steps);
		assert_true(exists("index.new"));
		assert_int_equal(count_rows(), 1);
		/* The next change sweeps. */
		assert_int_equal(fixture_import(1, "A"), ETW_REGISTRY_SAME);
		assert_int_equal(count_definitions(), 1);
		assert_false(exists("index.new"));
	}
	assert_int_equal(fixture_import(2, "A"), 0);
	assert_int_equal(count_rows(), 2);
}

static void test_change__two_importers_at_once_both_succeed(void **state)
{
	enum {
		IMPORTERS = 2,
		EACH = 25
	};
	pid_t children[IMPORTERS];

	(void)state;
	for (unsigned i = 0; i < IMPORTERS; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		for (unsigned j = 0; !children[i] && j < EACH; j++) {
			if (fixture_import(100 * i + j, "A") != 0)
				_exit(1);
		}
		if (!children[i])
			_exit(0);
	}
	for (unsigned i = 0; i < IMPORTERS; i++) {
		int status;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_rows(), IMPORTERS * EACH);
	assert_int_equal(count_definitions(), IMPORTERS * EACH);
}

static void test_change__removes_a_provider_and_its_definitions(void **state)
{
	struct etw_registry_change *change;
	const GUID one = fixture_guid(1), two = fixture_guid(2), three = fixture_guid(3);
	struct etw_registry_defined defined;

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(fixture_import(1, "B"), 0);
	assert_int_equal(fixture_import(2, "A"), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_true(etw_registry_change_find(change, &one, &defined));
	assert_string_equal(defined.name, "P1");
	assert_string_equal(defined.from, "/from/here.man");
	assert_false(defined.is_new);
	assert_false(etw_registry_change_find(change, &three, &defined));
	assert_int_equal(etw_registry_change_remove(change, &one), 2);
	assert_int_equal(etw_registry_change_remove(change, &three), 0);
	assert_false(etw_registry_change_find(change, &one, &defined));
	assert_true(etw_registry_change_find(change, &two, &defined));
	assert_string_equal(defined.name, "P2");
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	assert_int_equal(count_rows(), 1);
	assert_int_equal(count_definitions(), 1);
}

static void test_change__what_was_removed_can_come_again_at_once(void **state)
{
	struct etw_registry_change *change;
	const GUID one = fixture_guid(1);

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_remove(change, &one), 1);
	assert_int_equal(fixture_add(change, 1, "A"), 0);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	assert_int_equal(count_rows(), 1);
	assert_int_equal(count_definitions(), 1);
}

/* The second addition finds the first one, not what was removed. */
static void test_change__added_twice_after_a_removal_is_one(void **state)
{
	struct etw_registry_change *change;
	const GUID one = fixture_guid(1);

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_remove(change, &one), 1);
	assert_int_equal(fixture_add(change, 1, "A"), 0);
	assert_int_equal(fixture_add(change, 1, "A"), ETW_REGISTRY_SAME);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_change_end(change);
	assert_int_equal(count_rows(), 1);
	assert_int_equal(count_definitions(), 1);
}

/* Whether provider 1 as "A" says it is lost. */
static bool is_lost(void)
{
	struct etw_registry_change *change;
	struct etw_registry_item item;
	bool result;

	assert_int_equal(fixture_item(1, "A", &item), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, NULL), 0);
	result = etw_registry_change_is_lost(change, &item);
	etw_registry_change_end(change);
	etw_registry_item_done(&item);
	return result;
}

static void test_change__a_lost_definition_is_stored_again(void **state)
{
	char command[128];

	(void)state;
	assert_false(is_lost());
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(command, sizeof(command), "rm %s/definitions/*", fixture_folder);
	assert_false(is_lost());
	assert_int_equal(system(command), 0);
	assert_true(is_lost());
	assert_int_equal(fixture_import(1, "A"), 0);
	assert_false(is_lost());
	assert_int_equal(count_definitions(), 1);
	assert_int_equal(count_rows(), 1);
	assert_int_equal(fixture_import(1, "A"), ETW_REGISTRY_SAME);
}

static void test_change__a_crash_leaves_no_strange_files(void **state)
{
	char command[256];

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(command, sizeof(command),
		       "cd %s && touch index.new definitions/new definitions/0123.man "
		       "definitions/$(printf %%040d 7).man definitions/$(printf %%040d 7).xyz",
		       fixture_folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(count_definitions(), 5);
	assert_int_equal(fixture_import(2, "A"), 0);
	assert_int_equal(count_definitions(), 2);
}

static void check_modes(const char *folder, mode_t folders, mode_t files)
{
	struct etw_registry_file file;
	struct etw_registry_index index;
	struct stat info;
	char path[256], name[ETW_REGISTRY_NAME_BYTES];

	assert_int_equal(etw_registry_index_open(folder, &index, NULL), 0);
	file = etw_registry_index_file(&index, 0);
	etw_registry_index_close(&index);
	etw_registry_definition_name(&file, name);
	assert_int_equal(stat(folder, &info), 0);
	assert_int_equal(info.st_mode & 0777, folders);
	(void)snprintf(path, sizeof(path), "%s/definitions", folder);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, folders);
	(void)snprintf(path, sizeof(path), "%s/index", folder);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, files);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, files);
}

static void import_under(const char *folder, mode_t mask)
{
	struct etw_registry_change *change;
	mode_t old = umask(mask);
	int r = etw_registry_change_begin(folder, &change, NULL);

	(void)umask(old);
	assert_int_equal(r, 0);
	(void)umask(mask);
	r = fixture_add(change, 1, "A");
	r = r ? r : etw_registry_change_commit(change);
	(void)umask(old);
	assert_int_equal(r, 0);
	etw_registry_change_end(change);
}

/* Root's registry is everybody's to read, a user's the user's alone. */
static void test_change__the_umask_decides_nothing(void **state)
{
	static const mode_t masks[] = {0, 022, 077, 0777};
	uid_t own = geteuid();
	char folder[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		(void)snprintf(folder, sizeof(folder), "%s/own%zu/below", fixture_folder, i);
		import_under(folder, masks[i]);
		check_modes(folder, own ? 0700 : 0755, own ? 0600 : 0644);
	}
	if (own)
		return;
	assert_int_equal(chmod(fixture_folder, 0777), 0);
	assert_int_equal(seteuid(65534), 0);
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		(void)snprintf(folder, sizeof(folder), "%s/user%zu/below", fixture_folder, i);
		import_under(folder, masks[i]);
		check_modes(folder, 0700, 0600);
	}
	assert_int_equal(seteuid(0), 0);
}

static void test_change__a_damaged_index_is_not_overwritten(void **state)
{
	struct etw_registry_change *change;
	struct etw_fault fault = {0};
	char path[128];

	(void)state;
	assert_int_equal(fixture_import(1, "A"), 0);
	(void)snprintf(path, sizeof(path), "%s/index", fixture_folder);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(etw_registry_change_begin(fixture_folder, &change, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, "the index was cut or has grown");
	assert_int_equal(count_definitions(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_change__importing_twice_is_no_second_copy,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__what_is_not_committed_leaves_nothing,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__a_crash_leaves_the_old_state,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__two_importers_at_once_both_succeed,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__removes_a_provider_and_its_definitions,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(
			test_change__what_was_removed_can_come_again_at_once, fixture_begin,
			fixture_end),
		cmocka_unit_test_setup_teardown(test_change__added_twice_after_a_removal_is_one,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__a_lost_definition_is_stored_again,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__a_crash_leaves_no_strange_files,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__the_umask_decides_nothing,
						fixture_begin, fixture_end),
		cmocka_unit_test_setup_teardown(test_change__a_damaged_index_is_not_overwritten,
						fixture_begin, fixture_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
