/* SPDX-License-Identifier: MIT */
/* The findings of `etw doctor`. */
#include "tools/etw/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct doctor_row *find(const struct doctor *doctor, const char *what)
{
	for (size_t i = 0; i < doctor->count; i++) {
		if (!strcmp(doctor->rows[i].what, what))
			return &doctor->rows[i];
	}
	return NULL;
}

static void test_doctor__rows_are_copied(void **state)
{
	char fix[] = "do this";
	struct doctor doctor = {0};

	(void)state;
	doctor_row_add(&doctor, "first", DOCTOR_NOTE, fix, "%d of %s", 2, "them");
	doctor_row_add(&doctor, "second", DOCTOR_OK, NULL, "fine");
	fix[0] = 'X';
	assert_int_equal(doctor.count, 2);
	assert_int_equal(doctor.error, 0);
	assert_string_equal(doctor.rows[0].text, "2 of them");
	assert_string_equal(doctor.rows[0].fix, "do this");
	assert_null(doctor.rows[1].fix);
	doctor_done(&doctor);
	assert_int_equal(doctor.count, 0);
}

static void test_doctor__program_that_is_not_there_is_missing(void **state)
{
	struct doctor doctor = {0};

	(void)state;
	assert_int_equal(setenv("ETW_ETWD", "/nowhere/etwd", 1), 0);
	assert_int_equal(setenv("ETW_RUNTIME_DIR", "/nowhere/run", 1), 0);
	doctor_look_at_hosts(&doctor);
	doctor_look_at_kernel(&doctor);
	assert_int_equal(find(&doctor, "program")->state, DOCTOR_MISSING);
	assert_non_null(find(&doctor, "program")->fix);
	assert_non_null(find(&doctor, "rights"));
	assert_null(find(&doctor, "kernel"));
	doctor_done(&doctor);
}

/* One that says nothing of the kernel is of another version. */
static void test_doctor__silent_program_is_told(void **state)
{
	struct doctor doctor = {0};

	(void)state;
	assert_int_equal(setenv("ETW_ETWD", "/bin/true", 1), 0);
	doctor_look_at_kernel(&doctor);
	assert_int_equal(find(&doctor, "kernel")->state, DOCTOR_NOTE);
	assert_non_null(strstr(find(&doctor, "kernel")->text, "/bin/true"));
	doctor_done(&doctor);
}

static void test_doctor__machine_is_described(void **state)
{
	struct doctor doctor = {0};

	(void)state;
	doctor_look_at_machine(&doctor);
	assert_non_null(find(&doctor, "clock"));
	assert_non_null(find(&doctor, "membarrier"));
	assert_non_null(find(&doctor, "open files"));
	doctor_done(&doctor);
}

/* Nothing is read where the folder is not one. Where there is none, nothing is configured. */
static void test_doctor__configuration_that_cannot_be_read_is_missing(void **state)
{
	struct doctor doctor = {0};

	(void)state;
	assert_int_equal(setenv("ETW_AUTOLOGGER_STATE", "/nowhere", 1), 0);
	assert_int_equal(setenv("ETW_AUTOLOGGER_DIR", "/nowhere", 1), 0);
	doctor_look_at_autologgers(&doctor);
	assert_null(find(&doctor, "autologger"));
	assert_int_equal(setenv("ETW_AUTOLOGGER_DIR", "/dev/null", 1), 0);
	doctor_look_at_autologgers(&doctor);
	assert_non_null(find(&doctor, "autologger"));
	assert_int_equal(find(&doctor, "autologger")->state, DOCTOR_MISSING);
	assert_string_equal(find(&doctor, "autologger")->text,
			    "/dev/null cannot be read: Not a directory");
	doctor_done(&doctor);
}

static void write_setting(const char *folder, const char *name, const char *value)
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(value, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_doctor__settings_are_told_with_what_follows(void **state)
{
	static const struct {
		const char *restricted, *paranoid, *part;
		enum doctor_state state;
	} cases[] = {
		{"0\n", "-1\n", "every host sees", DOCTOR_OK},
		{"0\n", "1\n", "every host sees", DOCTOR_OK},
		{"0\n", "2\n", "a host with CAP_SYSLOG", DOCTOR_OK},
		{"1\n", "-1\n", "a host with CAP_SYSLOG", DOCTOR_OK},
		{"2\n", "3\n", "nobody sees", DOCTOR_NOTE},
		{"what\n", "3\n", "cannot be read", DOCTOR_NOTE},
		{"2\n", "", "cannot be read", DOCTOR_NOTE},
	};
	char folder[] = "/tmp/etw-doctor-XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct doctor doctor = {0};

		write_setting(folder, "kptr_restrict", cases[i].restricted);
		write_setting(folder, "perf_event_paranoid", cases[i].paranoid);
		doctor_look_at_settings(&doctor, folder);
		assert_non_null(strstr(find(&doctor, "symbols")->text, cases[i].part));
		assert_int_equal(find(&doctor, "symbols")->state, cases[i].state);
		assert_int_equal(find(&doctor, "symbols")->fix != NULL, i == 4);
		assert_int_equal(find(&doctor, "perf") != NULL, i < 5);
		doctor_done(&doctor);
	}
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doctor__rows_are_copied),
		cmocka_unit_test(test_doctor__program_that_is_not_there_is_missing),
		cmocka_unit_test(test_doctor__silent_program_is_told),
		cmocka_unit_test(test_doctor__machine_is_described),
		cmocka_unit_test(test_doctor__settings_are_told_with_what_follows),
		cmocka_unit_test(test_doctor__configuration_that_cannot_be_read_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
