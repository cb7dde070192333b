/* SPDX-License-Identifier: MIT */
/* The bytes of each class, field by field, at the places that docs/format/etl.md and Windows give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <evntrace.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "fake_source_host.h"
#include "source/kernel/events/events.h"
#include "wire/group_masks.h"

struct fixture {
	struct fake_source_host fake;
	struct etw_kernel_out out;
	struct etw_kernel_process process;
	struct etw_kernel_image image;
};

static const struct etw_kernel_actor actor = {.tid = 0x1111, .pid = 0x2222};

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fake_source_host_init(&fixture.fake);
	assert_int_equal(etw_kernel_out_init(&fixture.out, &fixture.fake.host, NULL), 0);
	etw_kernel_out_begin(&fixture.out, 77, 0, NULL);
	fixture.process = (struct etw_kernel_process){
		.name = etw_kernel_text_new("bash", 4),
		.command_line = etw_kernel_text_new_wide("bash -l"),
		.start_ticks = 0x1234,
		.pid = 42,
		.parent_pid = 41,
		.uid = 1000,
		.session_id = 3,
	};
	fixture.image = (struct etw_kernel_image){
		.base = 0x7f0000000000,
		.end = 0x7f0000010000,
		.path = etw_kernel_text_new("/lib/\xC3\xA4.so", 10),
		.wide = etw_kernel_text_new_wide("/lib/\xC3\xA4.so"),
	};
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	etw_kernel_text_unref(fixture->process.name);
	etw_kernel_text_unref(fixture->process.command_line);
	etw_kernel_text_unref(fixture->image.path);
	etw_kernel_text_unref(fixture->image.wide);
	etw_kernel_out_done(&fixture->out);
	return 0;
}

/* The next event's bytes; they stay until the next call. */
static const uint8_t *next(struct fixture *fixture, uint32_t *ret_bytes)
{
	static uint8_t bytes[4096];
	struct etw_source_event event;
	struct etw_source_mark mark;

	assert_true(etw_kernel_out_peek(&fixture->out, 0, &event));
	assert_true(event.byte_count <= sizeof(bytes));
	memcpy(bytes, event.bytes, event.byte_count);
	*ret_bytes = event.byte_count;
	etw_kernel_out_pop(&fixture->out, 0, &mark);
	return bytes;
}

static void expect_system(const uint8_t *at, uint32_t bytes, uint16_t version, uint16_t hook)
{
	assert_int_equal(etw_load16(at), version);
	assert_int_equal(at[2], 2);
	assert_int_equal(at[3], 0xC0);
	assert_int_equal(etw_load16(at + 4), bytes);
	assert_int_equal(etw_load16(at + 6), hook);
	assert_int_equal(etw_load32(at + 8), actor.tid);
	assert_int_equal(etw_load32(at + 12), actor.pid);
	assert_int_equal(etw_load64(at + 16), 770);
	assert_int_equal(etw_load64(at + 24), 0);
}

static void expect_process(const uint8_t *at, uint32_t bytes, uint32_t status)
{
	static const uint8_t sid[16] = {1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xE8, 3, 0, 0};
	static const uint8_t texts[] = "bash\0b\0a\0s\0h\0 \0-\0l\0\0\0\0\0\0"; /* the NUL too */

	assert_int_equal(etw_load64(at), UINT64_C(42) << 32 | 0x1234);
	assert_int_equal(etw_load32(at + 8), 42);
	assert_int_equal(etw_load32(at + 12), 41);
	assert_int_equal(etw_load32(at + 16), 3);
	assert_int_equal(etw_load32(at + 20), status);
	assert_int_equal(etw_load64(at + 24), 0);
	assert_int_equal(etw_load32(at + 32), 0);
	assert_int_not_equal(etw_load32(at + 36), 0); /* else there is no SID */
	assert_memory_equal(at + 52, sid, sizeof(sid));
	assert_int_equal(bytes, 68 + sizeof(texts));
	assert_memory_equal(at + 68, texts, sizeof(texts));
}

/* The bytes of diaghub.kernel.1.etl (build 19041) but for the time: 0020, 0005 and 0008. */
static void test_events__mask_bookkeeping_is_that_of_windows(void **state)
{
	static const uint8_t old_head[8] = {0x02, 0x00, 0x11, 0xC0, 0x34, 0x00, 0x20, 0x00};
	static const uint8_t new_head[8] = {0x02, 0x00, 0x11, 0xC0, 0x34, 0x00, 0x05, 0x00};
	static const uint8_t complete[8] = {0x02, 0x00, 0x11, 0xC0, 0x10, 0x00, 0x08, 0x00};
	static const uint8_t zeros[36] = {[32] = 0x50};
	static const uint8_t five[36] = {[0] = 0x05, [32] = 0x50};
	static const uint8_t profile[36] = {[0] = 0x0F, [1] = 0x27, [2] = 1, [4] = 2, [32] = 0x50};
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;
	uint32_t words[WIRE_GROUP_MASKS_WORDS] = {0};

	etw_kernel_write_masks(&fixture->out, WIRE_HOOK_GROUP_MASKS_OLD, words);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 52);
	assert_memory_equal(at, old_head, sizeof(old_head));
	assert_int_equal(etw_load64(at + 8), 770);
	assert_memory_equal(at + 16, zeros, sizeof(zeros));
	words[0] = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_IMAGE_LOAD;
	etw_kernel_write_masks(&fixture->out, WIRE_HOOK_GROUP_MASKS_NEW, words);
	at = next(fixture, &bytes);
	assert_memory_equal(at, new_head, sizeof(new_head));
	assert_memory_equal(at + 16, five, sizeof(five));
	/* PerfView's flags, as net.4.5.2.x86.etl shows them */
	etw_group_masks_of_flags(0x0101270F, words);
	etw_kernel_write_masks(&fixture->out, WIRE_HOOK_GROUP_MASKS_NEW, words);
	at = next(fixture, &bytes);
	assert_memory_equal(at + 16, profile, sizeof(profile));
	etw_kernel_write_rundown_complete(&fixture->out);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 16);
	assert_memory_equal(at, complete, sizeof(complete));
	assert_int_equal(etw_load64(at + 8), 770);
}

static void test_events__interval_is_of_its_source(void **state)
{
	static const uint8_t name[22] = "P\0a\0g\0e\0F\0a\0u\0l\0t\0s\0";
	struct fixture *fixture = *state;
	const uint8_t *at;
	uint32_t bytes, place;

	assert_true(etw_profile_source_named("PageFaults", 10, &place));
	etw_kernel_write_interval(&fixture->out, ETW_KERNEL_INTERVAL_START, place, 100, 100);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 16 + 12 + sizeof(name));
	assert_int_equal(etw_load16(at + 6), 0x0F49);
	assert_int_equal(etw_load32(at + 16), 0x1002);
	assert_int_equal(etw_load32(at + 20), 100);
	assert_memory_equal(at + 28, name, sizeof(name));
}

static void test_events__interval_is_of_the_timer(void **state)
{
	static const uint8_t head[8] = {0x03, 0x00, 0x11, 0xC0, 0x28, 0x00, 0x48, 0x0F};
	static const uint8_t name[12] = "T\0i\0m\0e\0r\0";
	struct fixture *fixture = *state;
	const uint8_t *at;
	uint32_t bytes;

	etw_kernel_write_interval(&fixture->out, ETW_KERNEL_INTERVAL_SET, 0, 1221, 10000);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 16 + 24);
	assert_memory_equal(at, head, sizeof(head));
	assert_int_equal(etw_load32(at + 16), 0);
	assert_int_equal(etw_load32(at + 20), 1221);
	assert_int_equal(etw_load32(at + 24), 10000);
	assert_memory_equal(at + 28, name, sizeof(name));
}

/* Header and numbers of diaghub.kernel.1.etl, with other names. */
static void test_events__config_is_that_of_windows(void **state)
{
	static const uint8_t head[8] = {0x03, 0x00, 0x02, 0xC0, 0x5C, 0x03, 0x0A, 0x0B};
	static const uint8_t numbers[20] = {0xF7, 0x08, 0, 0,    4, 0, 0, 0,    0, 0x40,
					    0,    0,    0, 0x10, 0, 0, 0, 0x10, 0, 0};
	static const uint8_t tail[28] = {0x0F, 0,    0,    0,    0, 0, 0, 0, 0xFF, 0xFF,
					 0xFE, 0xFF, 0xFF, 0x7F, 0, 0, 9, 0, 6,    0,
					 0x01, 0x4F, 1,    1,    0, 0, 0, 0};
	static const uint8_t zeros[780];
	struct etw_kernel_config config = {
		.mhz = 2295,
		.processors = 4,
		.memory_mib = 16384,
		.page_bytes = 4096,
		.sibling_mask = 0xF,
		.highest_user_address = 0x7FFFFFFEFFFF,
		.architecture = 9,
		.level = 6,
		.revision = 0x4F01,
		.computer = u"pc",
	};
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	for (size_t i = 0; i + 1 < ETW_KERNEL_HOST_UNITS; i++)
		config.domain[i] = 'd'; /* longer than its field */
	etw_kernel_write_config(&fixture->out, actor, &config);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 0x20 + 828);
	assert_memory_equal(at, head, sizeof(head));
	assert_int_equal(etw_load32(at + 8), actor.tid);
	assert_int_equal(etw_load32(at + 12), actor.pid);
	assert_memory_equal(at + 0x20, numbers, sizeof(numbers));
	assert_memory_equal(at + 0x34, u"pc", 4);
	assert_memory_equal(at + 0x38, zeros, 508);
	assert_int_equal(etw_load16(at + 0x234), 'd');
	assert_int_equal(etw_load16(at + 0x234 + 2 * 132), 'd');
	assert_int_equal(etw_load16(at + 0x234 + 2 * 133), 0);
	assert_memory_equal(at + 0x20 + 800, tail, sizeof(tail));
}

static void test_events__process(void **state)
{
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_process(&fixture->out, ETW_KERNEL_OPCODE_END, actor, &fixture->process,
				 0x8B);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 4, 0x0302);
	expect_process(at + 0x20, bytes - 0x20, 0x8B);
}

static void test_events__process_rundown_has_the_short_header(void **state)
{
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_process(&fixture->out, ETW_KERNEL_OPCODE_DC_START, actor,
				 &fixture->process, 0);
	at = next(fixture, &bytes);
	assert_int_equal(etw_load16(at), 4);
	assert_int_equal(at[2], 17);
	assert_int_equal(at[3], 0xC0);
	assert_int_equal(etw_load16(at + 4), bytes);
	assert_int_equal(etw_load16(at + 6), 0x0303);
	assert_int_equal(etw_load64(at + 8), 770);
	expect_process(at + 0x10, bytes - 0x10, 0);
}

static void test_events__process_without_texts(void **state)
{
	struct etw_kernel_process process = {.pid = 2};
	struct fixture *fixture = *state;
	static const uint8_t empty[7];
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_process(&fixture->out, ETW_KERNEL_OPCODE_START, actor, &process, 0);
	at = next(fixture, &bytes);
	assert_int_equal(bytes, 0x20 + 68 + sizeof(empty));
	assert_memory_equal(at + 0x20 + 68, empty, sizeof(empty));
}

static void test_events__thread(void **state)
{
	static const uint8_t name[] =
		"w\0\xE4\0\x3D\xD8\x00\xDE\xFD\xFF\0"; /* and the literal's NUL */
	/* a letter of each length of UTF-8, and a byte that is none */
	static const struct etw_kernel_thread thread = {
		.tid = 43,
		.name = "w\xC3\xA4\xF0\x9F\x98\x80\xFF",
		.facts = {.affinity = 0x5,
			  .user_stack = 0x7FFE00001000,
			  .entry = 0x401000,
			  .priority = 8,
			  .io_priority = 2},
	};
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_thread(&fixture->out, ETW_KERNEL_OPCODE_START, actor, 42, &thread);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 3, 0x0501);
	assert_int_equal(etw_load32(at + 0x20), 42);
	assert_int_equal(etw_load32(at + 0x24), 43);
	assert_int_equal(etw_load64(at + 0x28), 0);
	assert_int_equal(etw_load64(at + 0x30), 0);
	assert_int_equal(etw_load64(at + 0x38), 0x7FFE00001000);
	assert_int_equal(etw_load64(at + 0x40), 0);
	assert_int_equal(etw_load64(at + 0x48), 0x5);
	assert_int_equal(etw_load64(at + 0x50), 0x401000);
	assert_int_equal(etw_load64(at + 0x58), 0);
	assert_int_equal(etw_load32(at + 0x60), 0);
	assert_int_equal(etw_load32(at + 0x64), 0x00020008);
	assert_int_equal(bytes, 0x20 + 72 + sizeof(name));
	assert_memory_equal(at + 0x20 + 72, name, sizeof(name));
}

static void test_events__thread_name(void **state)
{
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_name(&fixture->out, actor, 42, 43, "worker");
	at = next(fixture, &bytes);
	expect_system(at, bytes, 2, 0x0548);
	assert_int_equal(bytes, 0x20 + 8 + sizeof(u"worker"));
	assert_int_equal(etw_load32(at + 0x20), 42);
	assert_int_equal(etw_load32(at + 0x24), 43);
	assert_memory_equal(at + 0x28, u"worker", sizeof(u"worker"));
}

static void test_events__counters(void **state)
{
	static const struct etw_kernel_counters counters = {
		.virtual_pages = 5,
		.peak_virtual_pages = 6,
		.resident_pages = 3,
		.peak_resident_pages = 4,
		.private_pages = 1,
		.writable_pages = 2,
		.fault_count = UINT64_C(1) << 40,
		.file_count = 7,
	};
	/* In the order of the fields behind the four of 32 bits. */
	static const uint8_t pages[] = {6, 4, 0, 0, 0, 5, 3, 2, 0, 0, 1};
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	for (int is_rundown = 0; is_rundown < 2; is_rundown++) {
		etw_kernel_write_counters(&fixture->out, is_rundown, 42, &counters);
		at = next(fixture, &bytes);
		assert_int_equal(bytes, 0x10 + 104);
		assert_int_equal(etw_load16(at), 2);
		assert_int_equal(at[2], 17);
		assert_int_equal(etw_load16(at + 6), 0x0320 + is_rundown);
		assert_int_equal(etw_load32(at + 0x10), 42);
		assert_int_equal(etw_load32(at + 0x14), UINT32_MAX);
		assert_int_equal(etw_load32(at + 0x18), 7);
		assert_int_equal(etw_load32(at + 0x1C), 0);
		for (size_t i = 0; i < sizeof(pages); i++)
			assert_int_equal(etw_load64(at + 0x20 + 8 * i), pages[i] * page_bytes);
	}
}

static void test_events__a_32_bit_process(void **state)
{
	const struct etw_kernel_process process = {.pid = 2, .is_32_bit = true};
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_process(&fixture->out, ETW_KERNEL_OPCODE_START, actor, &process, 0);
	at = next(fixture, &bytes);
	assert_int_equal(etw_load32(at + 0x20 + 32), 2);
}

static void expect_image(const struct fixture *fixture, const uint8_t *at, uint32_t bytes)
{
	assert_int_equal(etw_load64(at), fixture->image.base);
	assert_int_equal(etw_load64(at + 8), 0x10000);
	assert_int_equal(etw_load32(at + 16), 42);
	assert_int_equal(etw_load64(at + 20), 0);
	assert_int_equal(etw_load32(at + 28), 0);
	assert_int_equal(etw_load64(at + 32), fixture->image.base);
	assert_int_equal(etw_load64(at + 40), 0);
	assert_int_equal(etw_load64(at + 48), 0);
	assert_int_equal(bytes, 56 + fixture->image.wide->byte_count);
	assert_memory_equal(at + 56, fixture->image.wide->at, fixture->image.wide->byte_count);
}

static void test_events__image(void **state)
{
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;

	etw_kernel_write_image(&fixture->out, ETW_KERNEL_OPCODE_LOAD, actor, 42, &fixture->image);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 3, 0x030A);
	expect_image(fixture, at + 0x20, bytes - 0x20);
	etw_kernel_write_image(&fixture->out, ETW_KERNEL_OPCODE_END, actor, 42, &fixture->image);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 3, 0x1402);
	expect_image(fixture, at + 0x20, bytes - 0x20);
	etw_kernel_write_image(&fixture->out, ETW_KERNEL_OPCODE_DC_END, actor, 42, &fixture->image);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 3, 0x1404);
	assert_int_equal(fixture->out.held_bytes, 0); /* no identity without a build id */
}

static void test_events__image_identity(void **state)
{
	static const GUID class_guid = {
		0xb3e675d7, 0x2554, 0x4f18, {0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde}};
	struct fixture *fixture = *state;
	uint32_t bytes;
	const uint8_t *at;
	GUID guid;

	fixture->image.build_id_bytes = 20;
	for (uint8_t i = 0; i < 20; i++)
		fixture->image.build_id[i] = (uint8_t)(0xA0 + i);
	etw_kernel_write_image(&fixture->out, ETW_KERNEL_OPCODE_DC_START, actor, 42,
			       &fixture->image);
	at = next(fixture, &bytes);
	expect_system(at, bytes, 3, 0x1403);
	at = next(fixture, &bytes);
	assert_int_equal(etw_load16(at), bytes);
	assert_int_equal(at[2], 20);
	assert_int_equal(at[3], 0xC0);
	assert_int_equal(at[4], 36);
	assert_int_equal(etw_load16(at + 6), 2);
	assert_int_equal(etw_load32(at + 8), UINT32_MAX);
	assert_int_equal(etw_load32(at + 12), 42);
	assert_int_equal(etw_load64(at + 16), 770);
	guid = etw_guid_read(at + 24);
	assert_true(etw_guid_equal(&guid, &class_guid));
	assert_int_equal(etw_load64(at + 48), fixture->image.base);
	assert_int_equal(etw_load32(at + 56), 42);
	assert_memory_equal(at + 60, fixture->image.build_id, 16);
	assert_int_equal(etw_load32(at + 76), 1);
	assert_string_equal((const char *)at + 80, "/lib/\xC3\xA4.so");
	assert_int_equal(bytes, 80 + 11);
	/* An unload needs no identity. */
	etw_kernel_write_image(&fixture->out, ETW_KERNEL_OPCODE_END, actor, 42, &fixture->image);
	(void)next(fixture, &bytes);
	assert_int_equal(fixture->out.held_bytes, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_events__mask_bookkeeping_is_that_of_windows),
		TEST(test_events__interval_is_of_the_timer),
		TEST(test_events__interval_is_of_its_source),
		TEST(test_events__config_is_that_of_windows),
		TEST(test_events__process),
		TEST(test_events__process_rundown_has_the_short_header),
		TEST(test_events__process_without_texts),
		TEST(test_events__thread),
		TEST(test_events__thread_name),
		TEST(test_events__counters),
		TEST(test_events__a_32_bit_process),
		TEST(test_events__image),
		TEST(test_events__image_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
