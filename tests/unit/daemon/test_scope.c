/* SPDX-License-Identifier: MIT */
/* Which processes the filters of an enable choose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include <evntprov.h>

#include "daemon/scope.h"

#define HAS(text, path) \
	etwd_scope_names((struct etw_bytes){(const uint8_t *)(text), sizeof(text)}, path, false)

static void test_scope__names(void **state)
{
	static const char short_list[] = "a\0v\0e\0r\0y\0l\0o\0n\0g\0n\0a\0m\0e\0i\0n\0d\0e\0e\0d";

	(void)state;
	assert_true(HAS(u"reader", "/usr/bin/reader"));
	assert_true(HAS(u"READER.exe", "/usr/bin/reader"));
	assert_true(HAS(u"reader.exe", "/home/one/Reader.EXE"));
	assert_true(HAS(u"other;;reader", "/usr/bin/reader"));
	assert_true(HAS(u"/usr/bin/reader", "/usr/bin/reader"));
	assert_false(HAS(u"/bin/reader", "/usr/bin/reader"));
	assert_false(HAS(u"read", "/usr/bin/reader"));
	assert_false(HAS(u"readers", "/usr/bin/reader"));
	assert_false(HAS(u".exe", "/usr/bin/reader"));
	assert_false(HAS(u"other;", "/usr/bin/reader"));
	/* Where only the short name is known its 15 bytes decide. */
	assert_true(etwd_scope_names(
		(struct etw_bytes){(const uint8_t *)short_list, sizeof(short_list)},
		"averylongnamein", true));
}

static void test_scope__processes(void **state)
{
	const uint32_t pids[] = {(uint32_t)getpid(), 0x7FFFFFFF};
	const struct wire_filter filter = {EVENT_FILTER_TYPE_PID,
					   {(const uint8_t *)pids, sizeof(pids)}};
	struct etwd_scope_process here = {.pid = getpid()}, init = {.pid = 1};
	struct etwd_scope scope;
	uint8_t list[64];
	struct etw_bytes filters = {list, wire_filter_put(list, sizeof(list), &filter)};

	(void)state;
	etwd_scope_begin(filters, &scope);
	assert_true(etwd_scope_has(filters, &scope, &here));
	assert_false(etwd_scope_has(filters, &scope, &init));
	assert_int_equal(scope.gone, 2);
	/* Who got the number later is not meant. */
	scope.started[0]++;
	assert_false(etwd_scope_has(filters, &scope, &here));
	/* No filter chooses everybody. */
	assert_true(etwd_scope_has((struct etw_bytes){0}, &scope, &init));
	etwd_scope_process_done(&here);
	etwd_scope_process_done(&init);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scope__names),
		cmocka_unit_test(test_scope__processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
