/* SPDX-License-Identifier: MIT */
/* Where the files of AutoLoggers lie, which of them are believed, and where their traces go. */
#include "autologger/folder.h"

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

#include <evntrace.h>

#include "base/macros.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/etw-autologger-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void put(const char *name, const char *text, mode_t mode)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void set(const char *name, const char *value)
{
	if (value)
		assert_int_equal(setenv(name, value, 1), 0);
	else
		assert_int_equal(unsetenv(name), 0);
}

static void test_folder__places_follow_the_instance(void **state)
{
	char *config = NULL, *status = NULL;

	(void)state;
	set("ETW_RUNTIME_DIR", NULL);
	set("HOME", "/home/somebody");
	assert_int_equal(etw_autologger_folders(true, &config, &status), 0);
	assert_string_equal(config, "/etc/etw/autologger.d");
	assert_string_equal(status, "/var/lib/etw/autologger");
	free(config);
	free(status);
	assert_int_equal(etw_autologger_folders(false, &config, &status), 0);
	assert_string_equal(config, "/home/somebody/.config/etw/autologger.d");
	assert_string_equal(status, "/home/somebody/.local/state/etw/autologger");
	free(config);
	free(status);
	set("XDG_CONFIG_HOME", "/c");
	set("XDG_STATE_HOME", "/s");
	assert_int_equal(etw_autologger_folders(false, &config, &status), 0);
	assert_string_equal(config, "/c/etw/autologger.d");
	assert_string_equal(status, "/s/etw/autologger");
	free(config);
	free(status);
	/* An instance of its own starts nothing that was configured for another one. */
	set("ETW_RUNTIME_DIR", "/tmp/x");
	assert_int_equal(etw_autologger_folders(true, &config, &status), -ENOENT);
	set("ETW_AUTOLOGGER_DIR", "/a");
	set("ETW_AUTOLOGGER_STATE", "/b");
	assert_int_equal(etw_autologger_folders(true, &config, &status), 0);
	assert_string_equal(config, "/a");
	assert_string_equal(status, "/b");
	free(config);
	free(status);
	set("ETW_AUTOLOGGER_DIR", NULL);
	set("ETW_AUTOLOGGER_STATE", NULL);
	set("XDG_CONFIG_HOME", NULL);
	set("XDG_STATE_HOME", NULL);
	set("ETW_RUNTIME_DIR", NULL);
	set("HOME", NULL);
	assert_int_equal(etw_autologger_folders(false, &config, &status), -ENOENT);
}

static void test_folder__names_are_sorted(void **state)
{
	char missing[96];
	char **names = NULL;
	size_t count = 1;

	(void)state;
	snprintf(missing, sizeof(missing), "%s/none", folder);
	assert_int_equal(etw_autologger_names(missing, &names, &count), 0);
	assert_int_equal(count, 0);
	etw_autologger_names_free(names, count);
	put("b.conf", "", 0600);
	put("a b.conf", "", 0600);
	put(".conf", "", 0600);
	put(".x.conf", "", 0600);
	put("c.conf~", "", 0600);
	assert_int_equal(etw_autologger_names(folder, &names, &count), 0);
	assert_int_equal(count, 2);
	assert_string_equal(names[0], "a b");
	assert_string_equal(names[1], "b");
	etw_autologger_names_free(names, count);
}

static void test_folder__a_file_of_others_is_not_believed(void **state)
{
	static struct etw_autologger read;
	struct etw_fault fault = {0};

	(void)state;
	put("s.conf", "Guid = {11111111-2222-3333-4444-555555555555}\n", 0644);
	assert_int_equal(etw_autologger_read(folder, "s", &read, NULL), 0);
	etw_autologger_done(&read);
	put("s.conf", "", 0664);
	assert_int_equal(etw_autologger_read(folder, "s", &read, &fault), -EPERM);
	assert_non_null(strstr(fault.sentence, "other users"));
	assert_int_equal(etw_autologger_read(folder, "none", &read, NULL), -ENOENT);
	if (geteuid() == 0) {
		char path[128];

		put("s.conf", "", 0644);
		snprintf(path, sizeof(path), "%s/s.conf", folder);
		assert_int_equal(chown(path, 1234, 1234), 0);
		assert_int_equal(etw_autologger_read(folder, "s", &read, NULL), -EPERM);
	}
}

static void test_folder__traces_have_a_place(void **state)
{
	static struct etw_autologger one;

	(void)state;
	set("ETW_DRIVE_C", "/drive");
	strcpy(one.config.name, "s");
	one.config.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL;
	assert_int_equal(etw_autologger_place("/state", 0, &one, NULL), 0);
	assert_string_equal(one.config.log_file, "/state/s.etl");
	strcpy(one.config.log_file, "%systemroot%\\System32\\LogFiles\\WMI\\s.etl");
	one.file_max = 3;
	assert_int_equal(etw_autologger_place("/state", 5, &one, NULL), 0);
	assert_string_equal(one.config.log_file, "/drive/Windows/System32/LogFiles/WMI/s.etl.0003");
	assert_string_equal(one.config.log_file_shown,
			    "C:\\Windows\\System32\\LogFiles\\WMI\\s.etl.0003");
	strcpy(one.config.log_file, "relative.etl");
	assert_int_equal(etw_autologger_place("/state", 0, &one, NULL), -EINVAL);
	/* Real-time alone needs none. */
	memset(&one, 0, sizeof(one));
	one.config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	one.config.maximum_file_size = 100;
	assert_int_equal(etw_autologger_place("/state", 0, &one, NULL), 0);
	assert_string_equal(one.config.log_file, "");
	assert_int_equal(one.config.maximum_file_size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folder__places_follow_the_instance),
		cmocka_unit_test_setup_teardown(test_folder__names_are_sorted, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_folder__a_file_of_others_is_not_believed,
						make_folder, remove_folder),
		cmocka_unit_test(test_folder__traces_have_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
