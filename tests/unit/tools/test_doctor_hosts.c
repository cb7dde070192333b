/* SPDX-License-Identifier: MIT */
/* What `etw doctor` makes of the answer of `etwd --probe`: programs of this test answer instead. */
#include "tools/etw/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folder[32], program[64];

static int set_up(void **state)
{
	(void)state;
	(void)strcpy(folder, "/tmp/etw-doctor-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(program, sizeof(program), "%s/etwd", folder);
	return setenv("ETW_ETWD", program, 1);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

/* Has a program say this, and looks at what is made of it. */
static void look(struct doctor *ret, const char *text)
{
	FILE *file = fopen(program, "w");

	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\nprintf '%s'\n", text) > 0);
	assert_int_equal(fchmod(fileno(file), 0755), 0);
	assert_int_equal(fclose(file), 0);
	*ret = (struct doctor){0};
	doctor_look_at_kernel(ret);
	assert_int_equal(ret->error, 0);
}

static void test_doctor_hosts__each_thing_that_is_missing_has_a_row(void **state)
{
	struct doctor doctor;

	(void)state;
	look(&doctor, "ok\\tbpf\\tfine\\nmissing\\tbtf\\tno BTF\\nmissing\\tcaps\\tno CAP_BPF\\n");
	assert_int_equal(doctor.count, 2);
	assert_int_equal(doctor.rows[0].state, DOCTOR_NOTE);
	assert_string_equal(doctor.rows[0].text, "no BTF");
	assert_string_equal(doctor.rows[1].text, "no CAP_BPF");
	doctor_done(&doctor);
}

static void test_doctor_hosts__nothing_is_missing(void **state)
{
	struct doctor doctor;

	(void)state;
	look(&doctor, "ok\\tbpf\\tfine\\nok\\tbtf\\tfine\\n");
	assert_int_equal(doctor.count, 1);
	assert_int_equal(doctor.rows[0].state, DOCTOR_OK);
	doctor_done(&doctor);
}

/* A class of events with something left out is noted, and all can be recorded. */
static void test_doctor_hosts__less_is_not_missing(void **state)
{
	struct doctor doctor;

	(void)state;
	look(&doctor, "ok\\tbpf\\tfine\\nless\\tpower\\tpower: no frequencies\\n");
	assert_int_equal(doctor.count, 2);
	assert_int_equal(doctor.rows[0].state, DOCTOR_NOTE);
	assert_string_equal(doctor.rows[0].text, "power: no frequencies");
	assert_int_equal(doctor.rows[1].state, DOCTOR_OK);
	doctor_done(&doctor);
}

/* Lines that are none do not count: what says nothing else is of another version. */
static void test_doctor_hosts__lines_that_are_none(void **state)
{
	static const char *const texts[] = {"", "\\n\\n", "ok\\n", "ok\\tbpf\\n", "usage: etwd"};
	struct doctor doctor;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		look(&doctor, texts[i]);
		assert_int_equal(doctor.count, 1);
		assert_int_equal(doctor.rows[0].state, DOCTOR_NOTE);
		assert_non_null(strstr(doctor.rows[0].text, "does not say"));
		doctor_done(&doctor);
	}
	look(&doctor, "warning: odd\\nok\\tbpf\\tfine");
	assert_int_equal(doctor.rows[0].state, DOCTOR_OK);
	doctor_done(&doctor);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_doctor_hosts__each_thing_that_is_missing_has_a_row),
		TEST(test_doctor_hosts__nothing_is_missing),
		TEST(test_doctor_hosts__less_is_not_missing),
		TEST(test_doctor_hosts__lines_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
