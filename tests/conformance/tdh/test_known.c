/* SPDX-License-Identifier: MIT */
/*
 * The functions of tdh.h and the table of known providers. Sources: [HERE] a decision of this project:
 * docs/design/tdh.md "Known providers".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <etw/schemas.h>
#include <evntrace.h>
#include <tdh.h>
#include <winerror.h>

static GUID kernel_process = {
	0x22fb2cd6, 0x0e7b, 0x422b, {0xa0, 0xc7, 0x2f, 0xad, 0x1f, 0xd0, 0xe7, 0x16}};

static BYTE out[1 << 20];

static ULONG ask_event(void)
{
	static uint8_t payload[64];
	EVENT_RECORD record = {.UserData = payload, .UserDataLength = sizeof(payload)};
	ULONG size = sizeof(out);

	record.EventHeader.ProviderId = kernel_process;
	record.EventHeader.EventDescriptor.Id = 1;
	return TdhGetEventInformation(&record, 0, NULL, (void *)out, &size);
}

static ULONG ask_fields(void)
{
	ULONG size = sizeof(out);

	return TdhEnumerateProviderFieldInformation(&kernel_process, EventKeywordInformation,
						    (void *)out, &size);
}

static ULONG ask_events(void)
{
	ULONG size = sizeof(out);

	return TdhEnumerateManifestProviderEvents(&kernel_process, (void *)out, &size);
}

static ULONG ask_manifest_event(void)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1};
	ULONG size = sizeof(out);

	return TdhGetManifestEventInformation(&kernel_process, &descriptor, (void *)out, &size);
}

/* How many providers are listed; *ret_found: whether the known one is among them. */
static ULONG count_listed(DECODING_SOURCE source, int *ret_found)
{
	const PROVIDER_ENUMERATION_INFO *list = (const void *)out;
	ULONG size = sizeof(out);

	*ret_found = 0;
	if (source == DecodingSourceMax)
		assert_int_equal(TdhEnumerateProviders((void *)out, &size), ERROR_SUCCESS);
	else
		assert_int_equal(TdhEnumerateProvidersForDecodingSource(source, (void *)out,
									sizeof(out), &size),
				 ERROR_SUCCESS);
	for (ULONG i = 0; i < list->NumberOfProviders; i++)
		*ret_found |= !memcmp(&list->TraceProviderInfoArray[i].ProviderGuid,
				      &kernel_process, sizeof(kernel_process));
	return list->NumberOfProviders;
}

static void test_known__events_are_shown_as_installed_ones(void **state)
{
	const TRACE_EVENT_INFO *info = (const void *)out;

	(void)state;
	assert_int_equal(ask_event(), ERROR_SUCCESS);
	assert_int_equal(info->DecodingSource, DecodingSourceXMLFile);
	assert_true(info->TopLevelPropertyCount > 3);
	assert_true(info->ProviderNameOffset != 0);
	assert_int_equal(ask_fields(), ERROR_SUCCESS);
	assert_true(((const PROVIDER_FIELD_INFOARRAY *)(const void *)out)->NumberOfElements > 3);
	assert_int_equal(ask_events(), ERROR_SUCCESS);
	assert_int_equal(ask_manifest_event(), ERROR_SUCCESS);
}

static void test_known__are_listed_only_when_asked_to(void **state)
{
	int is_found;
	ULONG count;

	(void)state;
	count = count_listed(DecodingSourceMax, &is_found);
	assert_false(is_found);
	(void)count_listed(DecodingSourceXMLFile, &is_found);
	assert_false(is_found);
	assert_int_equal(libetw_tdh_use_known(LIBETW_TDH_KNOWN_LISTED), 0);
	assert_true(count_listed(DecodingSourceMax, &is_found) > count + 900);
	assert_true(is_found);
	(void)count_listed(DecodingSourceXMLFile, &is_found);
	assert_true(is_found);
	(void)count_listed(DecodingSourceWbem, &is_found);
	assert_false(is_found);
	assert_int_equal(libetw_tdh_use_known(LIBETW_TDH_KNOWN_EVENTS), 0);
	assert_int_equal(count_listed(DecodingSourceMax, &is_found), count);
}

/* Also for what was asked before. */
static void test_known__can_be_left_out(void **state)
{
	(void)state;
	assert_int_equal(libetw_tdh_use_known(3), -22 /* EINVAL */);
	assert_int_equal(ask_event(), ERROR_SUCCESS);
	assert_int_equal(libetw_tdh_use_known(LIBETW_TDH_KNOWN_OFF), 0);
	assert_int_equal(ask_event(), ERROR_NOT_FOUND);
	assert_int_equal(ask_fields(), ERROR_NOT_FOUND);
	assert_int_equal(ask_events(), ERROR_NOT_FOUND);
	assert_int_equal(ask_manifest_event(), ERROR_NOT_FOUND);
	assert_int_equal(libetw_tdh_use_known(LIBETW_TDH_KNOWN_EVENTS), 0);
	assert_int_equal(ask_event(), ERROR_SUCCESS);
	assert_int_equal(ask_fields(), ERROR_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known__events_are_shown_as_installed_ones),
		cmocka_unit_test(test_known__are_listed_only_when_asked_to),
		cmocka_unit_test(test_known__can_be_left_out),
	};

	/* Nothing is installed. */
	(void)setenv("ETW_PROVIDERS_DIR", "/nonexistent", 1);
	(void)setenv("ETW_TRACEFS", "", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
