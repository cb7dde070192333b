/* SPDX-License-Identifier: MIT */
/* The kernel's manifest providers: each event's bytes, of the classic event's; what is asked for; items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include <evntcons.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "source/kernel/kernel_source.h"
#include "source/kernel/named/named_enabled.h"
#include "source/kernel/named/named_event.h"
#include "wire/etl_event.h"

#define KEY    ((UINT64_C(77) << 32) | 4000)
#define PARENT 70

static struct etw_kernel_named_event event;

/* A payload that is written like a form. */
struct payload {
	uint8_t bytes[256];
	uint32_t used;
};

static void add(struct payload *payload, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		payload->bytes[payload->used++] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
}

static void add_text(struct payload *payload, const char *text, uint32_t unit)
{
	for (size_t i = 0; i <= strlen(text); i++)
		add(payload, (uint8_t)text[i], unit);
}

static struct etw_kernel_named_classic classic(uint8_t group, uint8_t type, uint16_t version,
					       const struct payload *payload)
{
	return (struct etw_kernel_named_classic){
		.group = group,
		.type = type,
		.version = version,
		.has_actor = true,
		.tid = 71,
		.pid = PARENT,
		.moment_ns = 5000,
		.payload = payload->bytes,
		.byte_count = payload->used,
	};
}

static struct etw_kernel_named_maker maker_of(struct etw_kernel_tasks *tasks)
{
	return (struct etw_kernel_named_maker){.tasks = tasks,
					       .realtime_ns = 1000000,
					       .boot_realtime_ns = 2000000,
					       .ns_per_tick = 10000000};
}

static void expect(uint16_t id, uint8_t version, uint8_t opcode, uint16_t task, uint64_t keyword)
{
	assert_int_equal(event.descriptor.Id, id);
	assert_int_equal(event.descriptor.Version, version);
	assert_int_equal(event.descriptor.Opcode, opcode);
	assert_int_equal(event.descriptor.Task, task);
	assert_int_equal(event.descriptor.Level, 4);
	assert_int_equal(event.descriptor.Channel, 16);
	assert_true(event.descriptor.Keyword == (keyword | UINT64_C(0x8000000000000000)));
}

static void expect_bytes(const struct payload *wanted)
{
	assert_int_equal(event.byte_count, wanted->used);
	assert_memory_equal(event.payload, wanted->bytes, wanted->used);
}

/* Process, version 4: of uid 0, called "a.out". */
static struct payload process_payload(void)
{
	struct payload payload = {{0}, 0};

	add(&payload, KEY, 8);
	add(&payload, 77, 4);
	add(&payload, PARENT, 4);
	add(&payload, 3, 4); /* SessionId */
	add(&payload, 9, 4); /* ExitStatus */
	add(&payload, 0, 8);
	add(&payload, 0, 4);
	add(&payload, 1, 8); /* TOKEN_USER */
	add(&payload, 0, 8);
	add(&payload, 0x0201, 2); /* S-1-22-1-0 */
	add(&payload, UINT64_C(0x160000000000), 6);
	add(&payload, 1, 4);
	add(&payload, 0, 4);
	add_text(&payload, "a.out", 1);
	add_text(&payload, "a.out -x", 2);
	add(&payload, 0, 4);
	return payload;
}

static void test_named__process(void **state)
{
	struct etw_kernel_tasks *tasks = calloc(1, sizeof(*tasks));
	struct etw_kernel_named_maker maker = maker_of(tasks);
	const struct payload from = process_payload();
	struct payload wanted = {{0}, 0}, counters = {{0}, 0};
	struct etw_kernel_named_classic one = classic(0x03, 1, 4, &from);

	(void)state;
	etw_kernel_tasks_add(tasks, PARENT)->start_ticks = 100;
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(1, 3, 1, 1, 0x10);
	add(&wanted, 77, 4);
	add(&wanted, UINT64_C(4000) << 22 | 77, 8);
	add(&wanted, 116444736000000000 + (4000 * UINT64_C(10000000) + 2000000) / 100, 8);
	add(&wanted, PARENT, 4);
	add(&wanted, UINT64_C(100) << 22 | PARENT, 8);
	add(&wanted, 3, 4);
	add(&wanted, 0, 4);
	add(&wanted, 1, 4);
	add(&wanted, 1, 4);
	add(&wanted, 0x0101, 2);
	add(&wanted, UINT64_C(0x100000000000), 6);
	add(&wanted, 0x4000, 4);
	add_text(&wanted, "a.out", 2);
	add(&wanted, 0, 12);
	expect_bytes(&wanted);
	/* PerfCtr is kept for the end. */
	add(&counters, 77, 4);
	add(&counters, 0, 4);
	add(&counters, 12, 4); /* HandleCount */
	add(&counters, 0, 4);
	for (int i = 0; i < 10; i++)
		add(&counters, 0, 8);
	add(&counters, 8192, 8);
	one = classic(0x03, 32, 2, &counters);
	assert_false(etw_kernel_named_process.make(&maker, &one, &event));
	one = classic(0x03, 2, 4, &from);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(2, 2, 2, 2, 0x10);
	assert_int_equal(event.byte_count, 4 + 3 * 8 + 3 * 4 + 3 * 8 + 5 * 4 + 6);
	assert_true(etw_load64(event.payload + 20) == 116444736000000000 + 1005000 / 100);
	assert_int_equal(etw_load32(event.payload + 28), 9);
	assert_int_equal(etw_load32(event.payload + 36), 12);
	assert_int_equal(etw_load64(event.payload + 40), 8192);
	assert_string_equal((const char *)event.payload + event.byte_count - 6, "a.out");
	/* A rundown has the fields of a start. */
	one = classic(0x03, 4, 4, &from);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(15, 1, 0, 15, 0x10);
	expect_bytes(&wanted);
	/* What is cut off is none. */
	one.byte_count = 60;
	assert_false(etw_kernel_named_process.make(&maker, &one, &event));
	etw_kernel_tasks_clear(tasks);
	free(tasks);
}

static void test_named__threads_and_images(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload thread = {{0}, 0}, image = {{0}, 0}, wanted = {{0}, 0};
	struct etw_kernel_named_classic one;

	(void)state;
	add(&thread, 77, 4);
	add(&thread, 78, 4);
	for (uint64_t i = 1; i <= 4; i++)
		add(&thread, i, 8); /* stacks */
	wanted = thread;
	add(&thread, 0x3, 8);    /* Affinity */
	add(&thread, 0x4000, 8); /* Win32StartAddr */
	add(&thread, 0, 8);
	add(&thread, 0, 4);
	add(&thread, 0x0802, 4);
	add_text(&thread, "x", 2);
	add(&wanted, 0, 8);
	add(&wanted, 0x4000, 8);
	add(&wanted, 0, 12);
	one = classic(0x05, 1, 3, &thread);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(3, 1, 1, 3, 0x20);
	expect_bytes(&wanted);
	one.type = 2;
	add(&wanted, 0, 8);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(4, 1, 2, 4, 0x20);
	expect_bytes(&wanted);
	add(&image, 0x10000, 8);
	add(&image, 0x2000, 8);
	add(&image, 77, 4);
	add(&image, 5, 4);
	add(&image, 6, 4);
	wanted = image;
	add(&image, 0, 4);
	add(&image, 0x10000, 8);
	add(&image, 0, 8);
	add(&image, 0, 8);
	add_text(&image, "/lib/c", 2);
	add(&wanted, 0x10000, 8);
	add_text(&wanted, "/lib/c", 2);
	one = classic(0x03, 10, 3, &image);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(5, 0, 0, 5, 0x40);
	expect_bytes(&wanted);
	one = classic(0x14, 2, 3, &image);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(6, 0, 0, 6, 0x40);
	expect_bytes(&wanted);
}

static void test_named__priorities(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload from = {{0}, 0}, wanted = {{0}, 0};
	struct etw_kernel_named_classic one;

	(void)state;
	add(&from, 78, 4);
	add(&from, 0x0908, 2);
	add(&from, 0, 2);
	one = classic(0x05, 49, 3, &from);
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(7, 0, 0, 7, 0x80);
	add(&wanted, 0, 4);
	add(&wanted, 78, 4);
	add(&wanted, 0x0908, 2);
	expect_bytes(&wanted);
	one.type = 48;
	assert_true(etw_kernel_named_process.make(&maker, &one, &event));
	expect(8, 0, 0, 8, 0x80);
}

static void test_named__disk(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload from = {{0}, 0}, wanted;
	struct etw_kernel_named_classic one;

	(void)state;
	for (uint64_t i = 1; i <= 4; i++)
		add(&from, i, 4);
	for (uint64_t i = 5; i <= 8; i++)
		add(&from, i, 8);
	wanted = from;
	add(&from, 78, 4);
	one = classic(0x01, 10, 3, &from);
	assert_true(etw_kernel_named_disk.make(&maker, &one, &event));
	expect(10, 0, 0, 0, 0);
	expect_bytes(&wanted);
	assert_int_equal(event.tid, 78);
	from = (struct payload){{0}, 0};
	add(&from, 1, 4);
	add(&from, 2, 4);
	add(&from, 3, 8);
	add(&from, 4, 8);
	wanted = from;
	add(&from, 79, 4);
	one = classic(0x01, 14, 3, &from);
	assert_true(etw_kernel_named_disk.make(&maker, &one, &event));
	expect(14, 0, 0, 0, 0);
	expect_bytes(&wanted);
	one.type = 12; /* ReadInit */
	assert_false(etw_kernel_named_disk.make(&maker, &one, &event));
}

static void test_named__file(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload from = {{0}, 0}, wanted;
	struct etw_kernel_named_classic one;

	(void)state;
	add(&from, 4096, 8); /* ByteOffset */
	add(&from, 1, 8);
	add(&from, 2, 8);
	add(&from, 3, 8);
	add(&from, 78, 4);
	add(&from, 512, 4);
	add(&from, 0, 4);
	wanted = from;
	add(&wanted, 0, 4); /* ExtraFlags */
	one = classic(0x04, 67, 3, &from);
	assert_true(etw_kernel_named_file.make(&maker, &one, &event));
	expect(15, 1, 0, 15, 0x120);
	expect_bytes(&wanted);
	assert_int_equal(event.tid, 78);
	add(&from, 7, 4);
	one = classic(0x04, 68, 3, &from);
	assert_true(etw_kernel_named_file.make(&maker, &one, &event));
	expect(16, 1, 0, 16, 0x220);
	expect_bytes(&from);
	/* Threads were pointers in version 2. */
	one.version = 2;
	assert_false(etw_kernel_named_file.make(&maker, &one, &event));
	from = (struct payload){{0}, 0};
	add(&from, UINT64_C(78) << 32 | 9, 8);
	add(&from, 512, 8);
	add(&from, 0xC0000034, 4);
	one = classic(0x04, 76, 3, &from);
	assert_true(etw_kernel_named_file.make(&maker, &one, &event));
	expect(24, 0, 0, 24, 0x60);
	expect_bytes(&from);
	assert_int_equal(event.tid, 78);
	from = (struct payload){{0}, 0};
	add(&from, 3, 8);
	add_text(&from, "/etc/x", 2);
	one = classic(0x04, 0, 2, &from);
	assert_true(etw_kernel_named_file.make(&maker, &one, &event));
	expect(10, 0, 0, 10, 0x10);
	expect_bytes(&from);
}

static void test_named__network(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload from = {{0}, 0}, wanted;
	struct etw_kernel_named_classic one;

	(void)state;
	add(&from, 77, 4);
	add(&from, 1000, 4);
	add(&from, 0x0100007F, 4);
	add(&from, 0x0200007F, 4);
	add(&from, 0x5000, 2);
	add(&from, 0x5100, 2);
	add(&from, 4, 4);
	add(&from, 5, 4);
	add(&from, 6, 4);
	wanted = from;
	add(&wanted, 7, 4);
	add(&from, UINT64_C(1) << 32 | 7, 8);
	one = classic(0x06, 10, 2, &from);
	assert_true(etw_kernel_named_network.make(&maker, &one, &event));
	expect(10, 0, 10, 10, 0x10);
	expect_bytes(&wanted);
	from = (struct payload){{0}, 0};
	add(&from, 77, 4);
	add(&from, 1000, 4);
	for (uint64_t i = 1; i <= 4; i++)
		add(&from, i, 8);
	add(&from, 0x5000, 2);
	add(&from, 0x5100, 2);
	add(&from, 6, 4);
	wanted = from;
	add(&wanted, 7, 4);
	add(&from, 7, 8);
	one = classic(0x08, 27, 2, &from);
	assert_true(etw_kernel_named_network.make(&maker, &one, &event));
	expect(59, 0, 43, 11, 0x20);
	expect_bytes(&wanted);
	from = (struct payload){{0}, 0};
	add(&from, 0x02360002, 4);
	one = classic(0x08, 17, 2, &from);
	assert_true(etw_kernel_named_network.make(&maker, &one, &event));
	expect(49, 0, 49, 11, 0x30);
	expect_bytes(&from);
}

/* What keywords and levels come to. */
static void test_named__ask(void **state)
{
	static struct etw_source_provider providers[2];
	static struct etw_kernel_named_enabled enabled;
	const struct etw_source_request request = {.provider_count = 2, .providers = providers};
	struct etw_source_request asked;
	struct etw_fault fault = {0};
	bool has_stack;

	(void)state;
	providers[0] = (struct etw_source_provider){.guid = etw_kernel_named_process.guid,
						    .level = 5,
						    .match_any = 0x30,
						    .property = EVENT_ENABLE_PROPERTY_STACK_TRACE};
	providers[1] = (struct etw_source_provider){.guid = etw_kernel_named_disk.guid};
	etw_kernel_named_enabled_set(&enabled, &request);
	assert_int_equal(enabled.count, 2);
	assert_int_equal(etw_kernel_named_enabled_ask(&enabled, &etw_kernel_source, &asked, &fault),
			 0);
	assert_int_equal(asked.group_masks[0], 0x1 | 0x8 | 0x2 | 0x100);
	assert_int_equal(asked.group_masks[1], 0);
	assert_int_equal(asked.stack_hook_count, 6);
	event.descriptor = etw_kernel_named_describe(5, 0, 0, 5, 0x40);
	assert_false(etw_kernel_named_enabled_wants(&enabled.all[0], &event, &has_stack));
	event.descriptor = etw_kernel_named_describe(3, 1, 1, 3, 0x20);
	assert_true(etw_kernel_named_enabled_wants(&enabled.all[0], &event, &has_stack));
	assert_true(has_stack);
	/* Of the network each event that can have a stack is asked for. */
	providers[1] = (struct etw_source_provider){.guid = etw_kernel_named_network.guid,
						    .property = EVENT_ENABLE_PROPERTY_STACK_TRACE};
	etw_kernel_named_enabled_set(&enabled, &request);
	assert_int_equal(etw_kernel_named_enabled_ask(&enabled, &etw_kernel_source, &asked, &fault),
			 0);
	assert_int_equal(asked.stack_hook_count, 6 + 12);
	/* A transfer's end has the stack of who asked for it. */
	providers[1].guid = etw_kernel_named_disk.guid;
	etw_kernel_named_enabled_set(&enabled, &request);
	assert_int_equal(etw_kernel_named_enabled_ask(&enabled, &etw_kernel_source, &asked, &fault),
			 0);
	assert_int_equal(asked.stack_hook_count, 6 + 3);
	/* Nobody acts where memory is measured. */
	providers[1].guid = etw_kernel_named_memory.guid;
	/* Nothing has a level below 4. */
	providers[0].level = 3;
	etw_kernel_named_enabled_set(&enabled, &request);
	assert_int_equal(etw_kernel_named_enabled_ask(&enabled, &etw_kernel_source, &asked, &fault),
			 -EOPNOTSUPP);
	assert_string_equal(fault.field, "Microsoft-Windows-Kernel-Memory");
	assert_int_equal(asked.group_masks[0], 0);
	assert_int_equal(asked.group_masks[1], 0x80000 | 0x800000);
}

static void put_filter(struct etw_source_provider *provider, uint32_t type, const void *data,
		       uint32_t bytes)
{
	const struct wire_filter filter = {type, {data, bytes}};

	provider->filter_bytes = (uint32_t)wire_filter_put(provider->filters,
							   sizeof(provider->filters), &filter);
	assert_int_not_equal(provider->filter_bytes, 0);
}

/* Ids are applied here; what nobody can apply is refused with a sentence. */
static void test_named__filters(void **state)
{
	static struct etw_source_provider provider;
	static struct etw_kernel_named_enabled enabled;
	static const uint8_t ids[] = {1, 0, 1, 0, 2, 0}; /* only 2 */
	const struct etw_source_request request = {.provider_count = 1, .providers = &provider};
	struct etw_fault fault = {0};
	bool has_stack;

	(void)state;
	provider = (struct etw_source_provider){.guid = etw_kernel_named_process.guid};
	put_filter(&provider, EVENT_FILTER_TYPE_EVENT_ID, ids, sizeof(ids));
	assert_int_equal(etw_kernel_named_check(&provider, &fault), 0);
	etw_kernel_named_enabled_set(&enabled, &request);
	event.descriptor = etw_kernel_named_describe(1, 3, 1, 1, 0x10);
	assert_false(etw_kernel_named_enabled_wants(&enabled.all[0], &event, &has_stack));
	event.descriptor = etw_kernel_named_describe(2, 2, 2, 2, 0x10);
	assert_true(etw_kernel_named_enabled_wants(&enabled.all[0], &event, &has_stack));
	assert_false(has_stack);
	put_filter(&provider, EVENT_FILTER_TYPE_EXECUTABLE_NAME, u"x", 4);
	assert_int_equal(etw_kernel_named_check(&provider, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.sentence, "the kernel writes its events"));
	provider.filter_bytes = 0;
	provider.property = EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING;
	assert_int_equal(etw_kernel_named_check(&provider, &fault), -EOPNOTSUPP);
}

static void test_named__items(void **state)
{
	static uint8_t bytes[ETW_KERNEL_NAMED_EVENT_MAX];
	const uint64_t frames[2] = {0x1111, 0x2222};
	struct etw_kernel_named_items items = {
		.property = EVENT_ENABLE_PROPERTY_SID | EVENT_ENABLE_PROPERTY_TS_ID,
		.uid = 1000,
		.session_id = 3,
		.start_key = 5,
		.frames = (const uint8_t *)frames,
		.frame_count = 2,
	};

	(void)state;
	event.descriptor = etw_kernel_named_describe(3, 1, 1, 3, 0x20);
	event.tid = 71;
	event.pid = 70;
	event.byte_count = 4;
	memcpy(event.payload, "abcd", 4);
	assert_int_equal(
		etw_kernel_named_write(&etw_kernel_named_process.guid, &event, &items, 99, bytes),
		80 + 24 + 16 + 32 + 4);
	assert_int_equal(bytes[2], WIRE_HEADER_EVENT64);
	assert_int_equal(etw_load16(bytes + 4), WIRE_EVENT_EXTENDED_INFO);
	assert_int_equal(etw_load32(bytes + 8), 71);
	assert_int_equal(etw_load32(bytes + 12), 70);
	assert_int_equal(etw_load64(bytes + 16), 99);
	assert_memory_equal(bytes + 24, &etw_kernel_named_process.guid, 16);
	assert_int_equal(etw_load16(bytes + 40), 3);
	/* SID, session, stack: only the last has no other behind it. */
	assert_int_equal(etw_load16(bytes + 80 + 2), EVENT_HEADER_EXT_TYPE_SID);
	assert_int_equal(etw_load16(bytes + 80 + 4), 1);
	assert_int_equal(etw_load16(bytes + 104 + 2), EVENT_HEADER_EXT_TYPE_TS_ID);
	assert_int_equal(etw_load32(bytes + 112), 3);
	assert_int_equal(etw_load16(bytes + 120 + 2), EVENT_HEADER_EXT_TYPE_STACK_TRACE64);
	assert_int_equal(etw_load16(bytes + 120 + 4), 0);
	assert_int_equal(etw_load16(bytes + 120 + 6), 24);
	assert_int_equal(etw_load64(bytes + 136), 0x1111);
	assert_memory_equal(bytes + 152, "abcd", 4);
	items = (struct etw_kernel_named_items){0};
	assert_int_equal(
		etw_kernel_named_write(&etw_kernel_named_process.guid, &event, &items, 99, bytes),
		84);
	assert_int_equal(etw_load16(bytes + 4), 0);
}

static void test_named__memory(void **state)
{
	struct etw_kernel_named_maker maker = maker_of(NULL);
	struct payload from = {{0}, 0}, wanted = {{0}, 0};
	struct etw_kernel_named_classic one;

	(void)state;
	add(&from, 2, 1); /* priorities */
	for (uint64_t i = 1; i <= 5 + 2 * 2 + 1; i++)
		add(&from, i, 8);
	wanted = from;
	for (int i = 0; i < 4; i++)
		add(&wanted, 0, 8);
	one = classic(0x02, 112, 2, &from);
	assert_true(etw_kernel_named_memory.make(&maker, &one, &event));
	expect(1, 1, 0, 1, 0x20);
	expect_bytes(&wanted);
	one.byte_count--;
	assert_false(etw_kernel_named_memory.make(&maker, &one, &event));
	from = wanted = (struct payload){{0}, 0};
	add(&from, 2, 4);
	add(&wanted, 2, 4);
	for (uint32_t pid = 70; pid < 72; pid++) {
		add(&from, pid, 4);
		add(&wanted, pid, 4);
		for (uint64_t i = 1; i <= 8; i++) {
			add(&from, i, 8);
			if (i <= 4)
				add(&wanted, i, 8);
		}
	}
	one = classic(0x02, 125, 2, &from);
	assert_true(etw_kernel_named_memory.make(&maker, &one, &event));
	expect(2, 0, 0, 2, 0x40);
	expect_bytes(&wanted);
	one.byte_count--;
	assert_false(etw_kernel_named_memory.make(&maker, &one, &event));
	one.type = 98;
	assert_false(etw_kernel_named_memory.make(&maker, &one, &event));
}

static void test_named__owns_its_providers(void **state)
{
	static const GUID other = {1, 2, 3, {4}};

	(void)state;
	assert_non_null(etw_kernel_named_find(&etw_kernel_named_network.guid));
	assert_null(etw_kernel_named_find(&other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named__process),
		cmocka_unit_test(test_named__threads_and_images),
		cmocka_unit_test(test_named__priorities),
		cmocka_unit_test(test_named__disk),
		cmocka_unit_test(test_named__file),
		cmocka_unit_test(test_named__network),
		cmocka_unit_test(test_named__memory),
		cmocka_unit_test(test_named__ask),
		cmocka_unit_test(test_named__filters),
		cmocka_unit_test(test_named__items),
		cmocka_unit_test(test_named__owns_its_providers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
