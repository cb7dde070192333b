/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/store/store_binary.h"
#include "synthetic/made_wevt.h"

static struct etw_schema_store *store;
static struct made_wevt made;
static struct made_messages messages;

static int begin(void **state)
{
	(void)state;
	made_wevt_init(&made, 5);
	made_messages_of_wevt(&messages);
	return etw_schema_store_create(&store);
}

static int end(void **state)
{
	(void)state;
	etw_schema_store_free(store);
	return 0;
}

static const struct etw_schema *find(uint16_t id, uint8_t version, enum etw_schema_miss *ret_why)
{
	EVENT_RECORD record = {0};

	record.EventHeader.ProviderId = made_wevt_guid;
	record.EventHeader.EventDescriptor.Id = id;
	record.EventHeader.EventDescriptor.Version = version;
	return etw_schema_store_find(store, &record, ret_why);
}

static int add(void)
{
	return etw_schema_store_add_binary_bytes(store, (struct etw_bytes){made.at, made.bytes},
						 (struct etw_bytes){messages.at, messages.bytes},
						 NULL, NULL);
}

static void test_store_binary__events_are_found(void **state)
{
	const struct etw_provider_schema *provider;
	enum etw_schema_miss why;
	const struct etw_schema *schema;

	(void)state;
	assert_null(find(1, 0, &why));
	assert_int_equal(why, ETW_SCHEMA_NO_PROVIDER);
	assert_int_equal(add(), 0);
	schema = find(1, 0, &why);
	assert_non_null(schema);
	assert_string_equal(schema->task_name, "Task");
	assert_string_equal(schema->message, "First %1\r\nsecond third");
	assert_non_null(find(2, 1, NULL));
	assert_null(find(2, 0, &why));
	assert_int_equal(why, ETW_SCHEMA_NO_EVENT);
	provider = etw_schema_store_provider(store, &made_wevt_guid);
	assert_non_null(provider);
	assert_int_equal(provider->keyword_count, 2);
	assert_string_equal(etw_schema_store_provider_name(store, &made_wevt_guid),
			    "Some-Provider");
}

static void test_store_binary__richer_counts_then_the_latest(void **state)
{
	const struct etw_schema *first, *second;
	size_t message_bytes = messages.bytes;

	(void)state;
	assert_int_equal(add(), 0);
	first = find(1, 0, NULL);
	assert_string_equal(first->message, "First %1\r\nsecond third");
	messages.bytes = 0;
	assert_int_equal(add(), 0);
	assert_ptr_equal(find(1, 0, NULL), first);
	messages.bytes = message_bytes;
	assert_int_equal(add(), 0);
	second = find(1, 0, NULL);
	assert_ptr_not_equal(second, first);
	assert_string_equal(second->message, "First %1\r\nsecond third");
}

static void test_store_binary__failure_changes_nothing(void **state)
{
	struct etw_fault fault = {0};
	enum etw_schema_miss why;
	struct made_pe pe;

	(void)state;
	made.at[0] = 'X';
	assert_int_equal(etw_schema_store_add_binary_bytes(store,
							   (struct etw_bytes){made.at, made.bytes},
							   (struct etw_bytes){0}, NULL, &fault),
			 -EBADMSG);
	assert_non_null(fault.sentence);
	made_pe_init(&pe, true, NULL, 0);
	assert_int_equal(etw_schema_store_add_binary_bytes(store,
							   (struct etw_bytes){pe.at, pe.bytes},
							   (struct etw_bytes){0}, NULL, &fault),
			 -ENODATA);
	assert_null(find(1, 0, &why));
	assert_int_equal(why, ETW_SCHEMA_NO_PROVIDER);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_store_binary__##name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(events_are_found),
		TEST(richer_counts_then_the_latest),
		TEST(failure_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
