/* SPDX-License-Identifier: MIT */
/* What a user means by a provider. Values: docs/format/tracelogging.md; Windows' registry. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/guid.h"
#include "base/guid_name.h"
#include "schema/provider_id.h"
#include "wire/image_symbols.h"
#include "wire/kernel_account.h"
#include "wire/session_note.h"

static void assert_finds(const char *text, const char *guid)
{
	char found_text[ETW_GUID_BARE_BYTES];
	GUID found;

	assert_int_equal(etw_provider_id_find(text, &found), 0);
	etw_guid_format(&found, found_text);
	assert_string_equal(found_text, guid);
}

static void test_provider_id__a_name_is_hashed_in_upper_case(void **state)
{
	static const GUID note_provider = WIRE_SESSION_NOTE_PROVIDER;
	static const GUID symbols_provider = WIRE_IMAGE_SYMBOLS_PROVIDER;
	static const GUID account_provider = WIRE_KERNEL_ACCOUNT_PROVIDER;
	char note_text[ETW_GUID_BARE_BYTES], symbols_text[ETW_GUID_BARE_BYTES];
	char account_text[ETW_GUID_BARE_BYTES];

	(void)state;
	assert_finds("MyProvider", "b3864c38-4273-58c5-545b-8b3608343471");
	assert_finds("MYPROVIDER", "b3864c38-4273-58c5-545b-8b3608343471");
	assert_finds("*MyProvider", "b3864c38-4273-58c5-545b-8b3608343471");
	etw_guid_format(&note_provider, note_text);
	assert_finds(WIRE_SESSION_NOTE_PROVIDER_NAME, note_text);
	etw_guid_format(&symbols_provider, symbols_text);
	assert_finds(WIRE_IMAGE_SYMBOLS_PROVIDER_NAME, symbols_text);
	etw_guid_format(&account_provider, account_text);
	assert_finds(WIRE_KERNEL_ACCOUNT_PROVIDER_NAME, account_text);
}

static void test_provider_id__a_guid_is_itself(void **state)
{
	(void)state;
	assert_finds("{B3864C38-4273-58C5-545B-8B3608343471}",
		     "b3864c38-4273-58c5-545b-8b3608343471");
	assert_finds("b3864c38-4273-58c5-545b-8b3608343471",
		     "b3864c38-4273-58c5-545b-8b3608343471");
}

static void test_provider_id__names_of_windows_are_known(void **state)
{
	GUID hashed, found;

	(void)state;
	assert_finds("microsoft-windows-kernel-process", "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716");
	assert_int_equal(etw_provider_id_find("*Microsoft-Windows-Kernel-Process", &hashed), 0);
	assert_int_equal(etw_provider_id_find("Microsoft-Windows-Kernel-Process", &found), 0);
	assert_memory_not_equal(&hashed, &found, sizeof(found));
}

static void test_provider_id__what_is_no_name_is_refused(void **state)
{
	GUID guid;

	(void)state;
	assert_int_equal(etw_provider_id_find("", &guid), -EINVAL);
	assert_int_equal(etw_provider_id_find("*", &guid), -EINVAL);
	assert_int_equal(etw_provider_id_find("{22fb2cd6-0e7b-422b-a0c7-2fad1fd0e71}", &guid),
			 -EINVAL);
	assert_int_equal(etw_provider_id_find("\xFF", &guid), -EILSEQ);
	assert_int_equal(etw_guid_of_name("a\xC0", &guid), -EILSEQ);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_provider_id__a_name_is_hashed_in_upper_case),
		cmocka_unit_test(test_provider_id__a_guid_is_itself),
		cmocka_unit_test(test_provider_id__names_of_windows_are_known),
		cmocka_unit_test(test_provider_id__what_is_no_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
