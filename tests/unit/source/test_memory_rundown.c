/* SPDX-License-Identifier: MIT */
/* What is mapped at the start and at the end, and how memory is used: bytes, and how procfs is read. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "fake_procfs.h"
#include "fake_source_host.h"
#include "source/kernel/events/memory_rundown.h"
#include "source/kernel/procfs/memory_use.h"

#define MOMENT_NS 77
#define KEY       UINT64_C(0xffff888812345678)
#define ADDRESS   UINT64_C(0x7f0011223000)

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_out out;
	char root[32];
	int root_fd;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	assert_int_equal(etw_kernel_out_init(&fixture.out, &fixture.fake.host, NULL), 0);
	etw_kernel_out_begin(&fixture.out, MOMENT_NS, 0, NULL);
	strcpy(fixture.root, "/tmp/etw-memory-XXXXXX");
	fake_begin(fixture.root);
	fixture.root_fd = open(fixture.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture.root_fd >= 0);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->root_fd);
	fake_end(fixture->root);
	etw_kernel_out_done(&fixture->out);
	return 0;
}

/* The payload of the next event, which stays until the next call. */
static const uint8_t *next(struct fixture *fixture, uint16_t hook, uint32_t payload_bytes)
{
	static uint8_t bytes[65536];
	struct etw_source_event event;
	struct etw_source_mark mark;

	assert_true(etw_kernel_out_peek(&fixture->out, 0, &event));
	assert_int_equal(event.byte_count, 16 + payload_bytes);
	memcpy(bytes, event.bytes, event.byte_count);
	etw_kernel_out_pop(&fixture->out, 0, &mark);
	assert_int_equal(etw_load16(bytes), 2);
	assert_int_equal(bytes[2], 0x11);
	assert_int_equal(etw_load16(bytes + 4), event.byte_count);
	assert_int_equal(etw_load16(bytes + 6), hook);
	assert_int_equal(etw_load64(bytes + 8), MOMENT_NS * FAKE_TICKS_PER_NS);
	return bytes + 16;
}

static void test_mappings__memory_has_its_rights(void **state)
{
	struct etw_kernel_mapped mapped = {
		.base = ADDRESS, .byte_count = 0x3000, .pid = 42, .rights = ETW_KERNEL_VIEW_READ};
	struct fixture *fixture = *state;
	const uint8_t *at;

	etw_kernel_write_mapping(&fixture->out, false, &mapped);
	at = next(fixture, 0x0280, 24);
	assert_int_equal(etw_load64(at), ADDRESS);
	assert_int_equal(etw_load64(at + 8), 0x3000);
	assert_int_equal(etw_load32(at + 16), 42);
	assert_int_equal(etw_load32(at + 20), 0x3000);
	mapped.rights = ETW_KERNEL_VIEW_SHARED;
	etw_kernel_write_mapping(&fixture->out, true, &mapped);
	assert_int_equal(etw_load32(next(fixture, 0x0281, 24) + 20), 0x2000);
}

static void test_mappings__views_have_their_file(void **state)
{
	const struct etw_kernel_mapped mapped = {
		.base = ADDRESS,
		.byte_count = 0x3000,
		.file_key = KEY,
		.page_offset = 7,
		.pid = 42,
		.rights = ETW_KERNEL_VIEW_READ | ETW_KERNEL_VIEW_EXECUTE,
	};
	struct fixture *fixture = *state;
	const uint8_t *at;

	etw_kernel_write_mapping(&fixture->out, false, &mapped);
	at = next(fixture, 0x0427, 36);
	assert_int_equal(etw_load64(at), ADDRESS);
	assert_int_equal(etw_load64(at + 8), KEY);
	assert_int_equal(etw_load64(at + 16), UINT64_C(7) << 32 | 0x20);
	assert_int_equal(etw_load64(at + 24), 0x3000);
	assert_int_equal(etw_load32(at + 32), 42);
	etw_kernel_write_mapping(&fixture->out, true, &mapped);
	(void)next(fixture, 0x0428, 36);
}

static void test_memory_use__is_in_its_places(void **state)
{
	const struct etw_kernel_memory_use use = {.free_pages = 1,
						  .dirty_pages = 2,
						  .cached_pages = 3,
						  .bad_pages = 4,
						  .swap_cached_pages = 5,
						  .reclaimed_pages = 6};
	static const uint64_t wanted[] = {0, 1, 2, 0, 4, 0, 0, 0, 0, 0, 3,
					  0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 5};
	struct fixture *fixture = *state;
	const uint8_t *at;

	etw_kernel_write_memory_use(&fixture->out, &use);
	at = next(fixture, 0x0270, 177);
	assert_int_equal(at[0], 8);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(etw_load64(at + 1 + 8 * i), wanted[i]);
}

static void test_working_sets__one_behind_the_other(void **state)
{
	static struct etw_kernel_working_set sets[ETW_KERNEL_WORKING_SETS_MAX + 1];
	struct fixture *fixture = *state;
	const uint8_t *at;

	sets[1] = (struct etw_kernel_working_set){.pid = 9,
						  .resident_pages = 1,
						  .private_pages = 2,
						  .virtual_pages = 3,
						  .writable_pages = 4};
	etw_kernel_write_working_sets(&fixture->out, sets, 2);
	at = next(fixture, 0x027D, 4 + 2 * 68);
	assert_int_equal(etw_load32(at), 2);
	assert_int_equal(etw_load32(at + 4 + 68), 9);
	assert_int_equal(etw_load64(at + 4 + 68 + 4), 1);
	assert_int_equal(etw_load64(at + 4 + 68 + 12), 4);
	assert_int_equal(etw_load64(at + 4 + 68 + 20), 3);
	assert_int_equal(etw_load64(at + 4 + 68 + 28), 2);
	/* More than one event can have. */
	etw_kernel_write_working_sets(&fixture->out, sets, ETW_KERNEL_WORKING_SETS_MAX + 1);
	at = next(fixture, 0x027D, 4 + ETW_KERNEL_WORKING_SETS_MAX * 68);
	assert_int_equal(etw_load32(at), ETW_KERNEL_WORKING_SETS_MAX);
}

static void test_memory_use__is_read_from_procfs(void **state)
{
	const uint64_t page_kib = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	struct fixture *fixture = *state;
	struct etw_kernel_memory_use use;

	assert_int_equal(etw_kernel_memory_use_read(fixture->root_fd, &use), -EBADMSG);
	fake_text(fixture->root, "meminfo",
		  "MemTotal:  1000000 kB\nMemFree:  4000 kB\nBuffers: 1000 kB\nCached: 9000 kB\n"
		  "SwapCached: 400 kB\nDirty: 600 kB\nWriteback: 200 kB\nMapped: 1200 kB\n"
		  "Shmem: 2000 kB\nWritebackTmp: 77 kB\nHardwareCorrupted: 40 kB\n");
	assert_int_equal(etw_kernel_memory_use_read(fixture->root_fd, &use), 0);
	assert_int_equal(use.free_pages, 4000 / page_kib);
	assert_int_equal(use.dirty_pages, 800 / page_kib);
	assert_int_equal(use.cached_pages, (10000 - 800 - 1200 - 2000) / page_kib);
	assert_int_equal(use.swap_cached_pages, 400 / page_kib);
	assert_int_equal(use.bad_pages, 40 / page_kib);
	assert_int_equal(use.reclaimed_pages, 0);
	fake_text(fixture->root, "vmstat",
		  "xpgsteal_kswapd 9\npgsteal_kswapd 5\npgsteal_direct 6\n");
	assert_int_equal(etw_kernel_memory_use_read(fixture->root_fd, &use), 0);
	assert_int_equal(use.reclaimed_pages, 11);
}

static void test_working_set__is_read_from_procfs(void **state)
{
	struct etw_kernel_working_set set = {.pid = 12};
	struct fixture *fixture = *state;

	assert_int_equal(etw_kernel_working_set_read(fixture->root_fd, &set), -ESRCH);
	fake_text(fixture->root, "12/statm", "100 60 20 3 0 44 0\n");
	assert_int_equal(etw_kernel_working_set_read(fixture->root_fd, &set), 0);
	assert_int_equal(set.virtual_pages, 100);
	assert_int_equal(set.resident_pages, 60);
	assert_int_equal(set.private_pages, 40);
	assert_int_equal(set.writable_pages, 44);
	/* A thread of the kernel, and what makes no sense. */
	fake_text(fixture->root, "12/statm", "0 0 0 0 0 0 0\n");
	assert_int_equal(etw_kernel_working_set_read(fixture->root_fd, &set), -ESRCH);
	fake_text(fixture->root, "12/statm", "100 60\n");
	assert_int_equal(etw_kernel_working_set_read(fixture->root_fd, &set), -ESRCH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mappings__memory_has_its_rights),
		TEST(test_mappings__views_have_their_file),
		TEST(test_memory_use__is_in_its_places),
		TEST(test_working_sets__one_behind_the_other),
		TEST(test_memory_use__is_read_from_procfs),
		TEST(test_working_set__is_read_from_procfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
