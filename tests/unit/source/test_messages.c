/* SPDX-License-Identifier: MIT */
/* Which interrupt lines are messages, on a made-up machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_procfs.h"
#include "source/kernel/events/messages.h"

static char root[] = "/tmp/etw-messages-XXXXXX";
static struct etw_kernel_messages messages;

static int set_up(void **state)
{
	(void)state;
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	fake_begin(root);
	fake_text(root, "24/chip_name", "IO-APIC\n");
	fake_text(root, "24/hwirq", "5\n");
	fake_text(root, "28/chip_name", "PCI-MSIX-0000:00:01.0\n");
	fake_text(root, "28/hwirq", "3\n");
	fake_text(root, "30/chip_name", "IR-PCI-MSI\n");
	fake_text(root, "30/hwirq", "524290\n"); /* device << 11 | 2 */
	fake_text(root, "31/chip_name", "PCI-MSI\n");
	messages = (struct etw_kernel_messages){.root = root};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_end(root);
	return 0;
}

static void test_messages__by_the_controllers_name(void **state)
{
	uint32_t number = 99;

	(void)state;
	assert_false(etw_kernel_messages_find(&messages, 24, &number));
	assert_false(etw_kernel_messages_find(&messages, 25, &number)); /* not there */
	assert_false(etw_kernel_messages_find(&messages, ETW_KERNEL_LINES_MAX, &number));
	assert_int_equal(number, 99);
	assert_true(etw_kernel_messages_find(&messages, 28, &number));
	assert_int_equal(number, 3);
	assert_true(etw_kernel_messages_find(&messages, 30, &number));
	assert_int_equal(number, 2);
	assert_true(etw_kernel_messages_find(&messages, 31, &number)); /* no number to be had */
	assert_int_equal(number, 0);
}

static void test_messages__are_looked_up_once(void **state)
{
	uint32_t number;

	(void)state;
	assert_false(etw_kernel_messages_find(&messages, 24, &number));
	fake_text(root, "24/chip_name", "PCI-MSI\n");
	assert_false(etw_kernel_messages_find(&messages, 24, &number));
	etw_kernel_messages_forget(&messages);
	assert_true(etw_kernel_messages_find(&messages, 24, &number));
	assert_int_equal(number, 5);
	messages.root = NULL;
	etw_kernel_messages_forget(&messages);
	assert_false(etw_kernel_messages_find(&messages, 24, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_messages__by_the_controllers_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_messages__are_looked_up_once, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
