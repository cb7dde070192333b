/* SPDX-License-Identifier: MIT */
#include "registry/folder_walk.h"

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

#include "base/text.h"
#include "registry/item.h"

static void write_bytes(const char *path, const char *at, size_t bytes)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(at, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

static void write_file(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

static int enter_folder(void **state)
{
	static char folder[] = "/tmp/etw-walk-XXXXXX";

	*state = mkdtemp(folder);
	return !*state || chdir(folder) || mkdir("below", 0700) || mkdir("below/deep", 0700);
}

static int leave_folder(void **state)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", (const char *)*state);
	return chdir("/") || system(command);
}

static int take_file(void *context, const char *path)
{
	etw_text_printf(context, "%s ", path);
	return strstr(path, "stop") ? -ECANCELED : 0;
}

static void take_link(void *context)
{
	etw_text_puts(context, "link ");
}

static void take_complaint(void *context, const char *path, int error)
{
	etw_text_printf(context, "%s:%d ", path, error);
}

static void test_folder_walk__goes_down_in_the_order_of_names(void **state)
{
	struct etw_text text = {0};
	const struct etw_registry_walk walk = {&text, take_file, take_link, take_complaint};

	(void)state;
	write_file("b", "");
	write_file("below/deep/a.man", "");
	write_file("c", "");
	assert_int_equal(symlink("../b", "below/to_file"), 0);
	assert_int_equal(symlink("deep", "below/to_folder"), 0);
	assert_int_equal(symlink("nowhere", "below/to_nothing"), 0);
	assert_int_equal(etw_registry_walk(&walk, "."), 0);
	assert_string_equal(etw_text_string(&text),
			    "./b ./below/deep/a.man ./below/to_file link link ./c ");
	etw_text_clear(&text);
	assert_int_equal(etw_registry_walk(&walk, "gone"), 0);
	assert_string_equal(etw_text_string(&text), "gone:-2 ");
	etw_text_clear(&text);
	write_file("below/stop", "");
	assert_int_equal(etw_registry_walk(&walk, "."), -ECANCELED);
	assert_string_equal(etw_text_string(&text), "./b ./below/deep/a.man ./below/stop ");
	etw_text_done(&text);
}

static void assert_form(const char *path, const char *text, int result, unsigned form)
{
	enum etw_registry_form seen = ETW_REGISTRY_MANIFEST;

	write_file(path, text);
	assert_int_equal(etw_registry_look(path, &seen), result);
	if (!result)
		assert_int_equal(seen, form);
}

static void test_folder_walk__files_are_known_by_what_is_in_them(void **state)
{
	static const char msf[32] = "Microsoft C/C++ MSF 7.00\r\n\x1A"
				    "DS";
	enum etw_registry_form form;

	(void)state;
	assert_form("any.xml", "<instrumentationManifest/>", 0, ETW_REGISTRY_MANIFEST);
	assert_form("page.xml", "<page/>", -ENODATA, 0);
	assert_form("any.mof", "class A {};", 0, ETW_REGISTRY_MOF);
	assert_form("any.txt", "class A {};", -ENODATA, 0);
	assert_form("any.txt", "#typev a 10", 0, ETW_REGISTRY_TMF);
	assert_form("any.dat", "MZ and so on", 0, ETW_REGISTRY_BINARY);
	assert_form("any.dat",
		    "Microsoft C/C++ MSF 7.00\r\n\x1A"
		    "DS and so on",
		    -ENODATA, 0);
	write_bytes("any.dat", msf, sizeof(msf));
	assert_int_equal(etw_registry_look("any.dat", &form), 0);
	assert_int_equal(form, ETW_REGISTRY_PDB);
	assert_form("any.man", "", -ENODATA, 0);
	assert_int_equal(etw_registry_look(".", &form), -EISDIR);
	assert_int_equal(etw_registry_look("/dev/null", &form), -EINVAL);
	assert_int_equal(etw_registry_look("gone", &form), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folder_walk__goes_down_in_the_order_of_names),
		cmocka_unit_test(test_folder_walk__files_are_known_by_what_is_in_them),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
