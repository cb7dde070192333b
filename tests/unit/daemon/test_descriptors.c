/* SPDX-License-Identifier: MIT */
#include "daemon/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <wmistr.h>

#include "base/guid.h"
#include "daemon/log.h"
#include "wire/well_known.h"

static const GUID one = {.Data1 = 1}, two = {.Data1 = 2};
static const GUID all = WIRE_DEFAULT_SECURITY_GUID;
static char folder[] = "/tmp/etwd-security-XXXXXX";
static char kept[64]; /* made by the first descriptor */
static struct etwd_descriptors security;

static int set_up(void **state)
{
	(void)state;
	(void)etwd_log_open("/dev/null");
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(kept, sizeof(kept), "%s/a/b", folder);
	etwd_descriptors_init(&security, kept);
	return etwd_descriptors_load(&security);
}

static const char *path_of(const GUID *guid)
{
	static char path[160];
	char text[ETW_GUID_BARE_BYTES];

	etw_guid_format(guid, text);
	(void)snprintf(path, sizeof(path), "%s/%s", kept, text);
	return path;
}

static int tear_down(void **state)
{
	(void)state;
	etwd_descriptors_done(&security);
	(void)unlink(path_of(&one));
	(void)unlink(path_of(&two));
	(void)unlink(path_of(&all));
	(void)rmdir(kept);
	*strrchr(kept, '/') = '\0';
	(void)rmdir(kept);
	return rmdir(folder);
}

static uint32_t rights(const GUID *guid, uint32_t uid)
{
	const struct wire_sid sids[] = {etw_sid_of_kind(WIRE_SID_EVERYONE), etw_sid_of_uid(uid)};

	return etw_security_rights(etwd_descriptors_find(&security, guid), sids, 2);
}

static int grant(const GUID *guid, uint32_t uid, uint32_t mask)
{
	const struct wire_security_entry entry = {etw_sid_of_uid(uid), mask, true};

	return etwd_descriptors_change(&security, guid, WIRE_SECURITY_ADD_DACL, &entry);
}

/* What the next host has. */
static void load_anew(void)
{
	etwd_descriptors_done(&security);
	etwd_descriptors_init(&security, kept);
	assert_int_equal(etwd_descriptors_load(&security), 0);
}

static void test_descriptors__holds_for_its_guid_and_later_hosts(void **state)
{
	struct stat info;

	(void)state;
	assert_int_equal(rights(&one, 5), 0x1800);
	assert_int_equal(grant(&one, 5, WMIGUID_QUERY), 0);
	assert_int_equal(rights(&one, 5), 0x1801);
	assert_int_equal(rights(&two, 5), 0x1800);
	assert_int_equal(stat(path_of(&one), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	load_anew();
	assert_int_equal(rights(&one, 5), 0x1801);
	assert_int_equal(security.count, 1);
	assert_int_equal(etwd_descriptors_remove(&security, &one), 0);
	assert_int_equal(etwd_descriptors_remove(&security, &one), -ENOENT);
	assert_int_equal(rights(&one, 5), 0x1800);
	load_anew();
	assert_int_equal(security.count, 0);
}

static void test_descriptors__the_default_guid_holds_for_all_others(void **state)
{
	(void)state;
	assert_int_equal(grant(&all, 5, WMIGUID_QUERY), 0);
	assert_int_equal(rights(&one, 5), 0x1801);
	/* A descriptor of one's own begins with what held before, and is its own from then on. */
	assert_int_equal(grant(&one, 6, WMIGUID_SET), 0);
	assert_int_equal(rights(&one, 5), 0x1801);
	assert_int_equal(etwd_descriptors_remove(&security, &all), 0);
	assert_int_equal(rights(&one, 5), 0x1801);
	assert_int_equal(rights(&two, 5), 0x1800);
}

static void test_descriptors__what_cannot_be_trusted_closes(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(grant(&one, 5, WMIGUID_QUERY), 0);
	assert_int_equal(grant(&two, 5, WMIGUID_QUERY), 0);
	fd = open(path_of(&one), O_WRONLY | O_TRUNC);
	assert_true(fd >= 0 && write(fd, "nonsense", 8) == 8);
	close(fd);
	assert_int_equal(chmod(path_of(&two), 0622), 0);
	load_anew();
	assert_int_equal(rights(&one, 5), 0);
	assert_int_equal(rights(&two, 5), 0);
	assert_int_equal(rights(&all, 5), 0x1800);
}

static void test_descriptors__without_a_place_it_is_not_changed(void **state)
{
	int fd;

	(void)state;
	/* A file where the folder should be. */
	*strrchr(kept, '/') = '\0';
	fd = open(kept, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(grant(&one, 5, WMIGUID_QUERY), -ENOTDIR);
	assert_int_equal(rights(&one, 5), 0x1800);
	assert_int_equal(unlink(kept), 0);
	kept[strlen(kept)] = '/';
}

static void test_descriptors__has_a_limit(void **state)
{
	GUID guid = {0};

	(void)state;
	etwd_descriptors_init(&security, ""); /* in memory: nothing is kept */
	for (guid.Data1 = 1; guid.Data1 <= ETWD_DESCRIPTORS_MAX; guid.Data1++)
		assert_int_equal(grant(&guid, 5, WMIGUID_QUERY), 0);
	assert_int_equal(grant(&guid, 5, WMIGUID_QUERY), -ENOSPC);
	assert_int_equal(grant(&one, 6, WMIGUID_QUERY), 0); /* it has one */
}

static void test_descriptors__folder(void **state)
{
	char path[PATH_MAX];

	(void)state;
	unsetenv("ETWD_SECURITY_DIR");
	unsetenv("ETW_RUNTIME_DIR");
	assert_int_equal(etwd_descriptors_folder("/run/etw", true, path), 0);
	assert_string_equal(path, "/var/lib/etw/security");
	setenv("XDG_DATA_HOME", "/data", 1);
	assert_int_equal(etwd_descriptors_folder("/run/user/5/etw", false, path), 0);
	assert_string_equal(path, "/data/etw/security");
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", "/home/somebody", 1);
	assert_int_equal(etwd_descriptors_folder("/run/user/5/etw", false, path), 0);
	assert_string_equal(path, "/home/somebody/.local/share/etw/security");
	setenv("ETW_RUNTIME_DIR", "/tmp/x", 1);
	assert_int_equal(etwd_descriptors_folder("/tmp/x", true, path), 0);
	assert_string_equal(path, "/tmp/x/security");
	setenv("ETWD_SECURITY_DIR", "/elsewhere", 1);
	assert_int_equal(etwd_descriptors_folder("/tmp/x", true, path), 0);
	assert_string_equal(path, "/elsewhere");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_descriptors__holds_for_its_guid_and_later_hosts),
		TEST(test_descriptors__the_default_guid_holds_for_all_others),
		TEST(test_descriptors__what_cannot_be_trusted_closes),
		TEST(test_descriptors__without_a_place_it_is_not_changed),
		TEST(test_descriptors__has_a_limit),
		cmocka_unit_test(test_descriptors__folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
