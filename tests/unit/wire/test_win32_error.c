/* SPDX-License-Identifier: MIT */
/* One row per entry of the table from errno to Win32; the codes as numbers, from Microsoft's docs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macros.h"
#include "wire/win32_error.h"

struct row {
	int error;
	ULONG code;
};

static const struct row rows[] = {
	{EINVAL, 87},         {EFAULT, 998},    {EBADF, 6},        {ENAMETOOLONG, 206},
	{EILSEQ, 87},         {ERANGE, 534},    {EOVERFLOW, 534},  {EACCES, 5},
	{EPERM, 5},           {EROFS, 19},      {ENOMEM, 8},       {ENOBUFS, 8},
	{EMSGSIZE, 234},      {EMFILE, 4},      {ENFILE, 1450},    {EUSERS, 1450},
	{ETOOMANYREFS, 1450}, {EAGAIN, 170},    {EBUSY, 170},      {ETXTBSY, 32},
	{ENOENT, 2},          {ENOTDIR, 3},     {EISDIR, 5},       {ELOOP, 161},
	{EEXIST, 183},        {ENOTEMPTY, 145}, {ENOSPC, 112},     {EDQUOT, 112},
	{EFBIG, 223},         {EIO, 1117},      {ESTALE, 55},      {ENODEV, 55},
	{EBADMSG, 1392},      {EPROTO, 13},     {EPIPE, 109},      {ECONNRESET, 109},
	{ECONNREFUSED, 1225}, {ESRCH, 1168},    {ETIMEDOUT, 1460}, {ECANCELED, 1223},
	{EINTR, 995},         {EOPNOTSUPP, 50}, {ENOSYS, 120},     {ENOEXEC, 4208},
};

static void test_win32_error__every_row(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(etw_win32_from_result(-rows[i].error), rows[i].code);
}

static void test_win32_error__success_and_statuses_are_zero(void **state)
{
	(void)state;
	assert_int_equal(etw_win32_from_result(0), 0);
	assert_int_equal(etw_win32_from_result(1), 0);
	assert_int_equal(etw_win32_from_result(EINVAL), 0);
}

static void test_win32_error__what_is_not_in_the_table_is_a_general_failure(void **state)
{
	(void)state;
	assert_int_equal(etw_win32_from_result(-EXDEV), 31);
	assert_int_equal(etw_win32_from_result(-4095), 31);
}

static void test_win32_error__of_a_start(void **state)
{
	(void)state;
	assert_int_equal(etw_win32_from_start(0), 0);
	assert_int_equal(etw_win32_from_start(-ENOENT), 3);
	assert_int_equal(etw_win32_from_start(-EBUSY), 2402);
	assert_int_equal(etw_win32_from_start(-ETXTBSY), 161);
	assert_int_equal(etw_win32_from_start(-ENOSPC), 112);
	assert_int_equal(etw_win32_from_start(-EEXIST), 183);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_win32_error__every_row),
		cmocka_unit_test(test_win32_error__success_and_statuses_are_zero),
		cmocka_unit_test(test_win32_error__what_is_not_in_the_table_is_a_general_failure),
		cmocka_unit_test(test_win32_error__of_a_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
