/* SPDX-License-Identifier: MIT */
/* perf's records of tracepoints, the order of events, which tracepoints are wanted, and what the kernel is told of filters. */
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <evntrace.h>
#include <tdh.h>

#include "base/guid_name.h"
#include "source/tracepoints/kernel_filter.h"
#include "source/tracepoints/point_event.h"
#include "source/tracepoints/queue.h"
#include "source/tracepoints/sample.h"
#include "source/tracepoints/wanted.h"
#include "unit/source/fake_source_host.h"
#include "wire/etl_event.h"
#include "wire/payload_filter.h"

/* --- Records */

struct record {
	uint8_t at[256] __attribute__((aligned(8)));
	uint32_t bytes;
};

static void put(struct record *record, const void *at, size_t bytes)
{
	memcpy(record->at + record->bytes, at, bytes);
	record->bytes += (uint32_t)bytes;
}

static void put32(struct record *record, uint32_t value)
{
	put(record, &value, sizeof(value));
}

static void put64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

static void begin_record(struct record *record, uint32_t type)
{
	const struct perf_event_header header = {.type = type};

	record->bytes = 0;
	put(record, &header, sizeof(header));
}

static void begin_sample(struct record *record)
{
	begin_record(record, PERF_RECORD_SAMPLE);
	put32(record, 11);
	put32(record, 12);
	put64(record, 1000);
	put64(record, 1);
	put64(record, 1);
}

static void test_sample__with_stack(void **state)
{
	struct etw_tracepoint_sample sample;
	struct record record;

	(void)state;
	begin_sample(&record);
	put64(&record, 4);
	put64(&record, (uint64_t)PERF_CONTEXT_KERNEL);
	put64(&record, 0xffffffff81000000);
	put64(&record, (uint64_t)PERF_CONTEXT_USER);
	put64(&record, 0x401000);
	put32(&record, 4);
	put32(&record, 0x00010203);
	assert_int_equal(etw_tracepoint_sample_parse(record.at, record.bytes, true, &sample), 1);
	assert_int_equal(sample.pid, 11);
	assert_int_equal(sample.tid, 12);
	assert_int_equal(sample.time_ns, 1000);
	assert_int_equal(sample.frame_count, 2);
	assert_int_equal(sample.frames[1], 0x401000);
	assert_int_equal(sample.record.left, 4);
	/* Cut anywhere, it is no sample. */
	for (uint32_t i = 0; i < record.bytes; i++)
		assert_int_equal(etw_tracepoint_sample_parse(record.at, i, true, &sample),
				 -EBADMSG);
}

static void test_sample__stack_larger_than_the_record(void **state)
{
	struct etw_tracepoint_sample sample;
	struct record record;

	(void)state;
	begin_sample(&record);
	put64(&record, UINT64_MAX / 8);
	put64(&record, 0);
	assert_int_equal(etw_tracepoint_sample_parse(record.at, record.bytes, true, &sample),
			 -EBADMSG);
}

static void test_sample__lost_and_others(void **state)
{
	struct etw_tracepoint_sample sample;
	struct record record;

	(void)state;
	begin_record(&record, PERF_RECORD_LOST);
	put64(&record, 7);
	put64(&record, 99);
	assert_int_equal(etw_tracepoint_sample_parse(record.at, record.bytes, false, &sample), 1);
	assert_true(sample.is_lost);
	assert_int_equal(sample.lost_count, 99);
	assert_int_equal(etw_tracepoint_sample_parse(record.at, record.bytes - 1, false, &sample),
			 -EBADMSG);
	begin_record(&record, PERF_RECORD_THROTTLE);
	assert_int_equal(etw_tracepoint_sample_parse(record.at, record.bytes, false, &sample), 0);
}

/* --- Order */

static void add(struct etw_tracepoint_queue *queue, uint64_t time_ns, uint8_t mark)
{
	struct etw_tracepoint_item *item = etw_tracepoint_item_new(64);

	assert_non_null(item);
	memset(item->bytes, 0, 64);
	item->time_ns = time_ns;
	item->bytes[0] = mark;
	etw_tracepoint_queue_add(queue, item);
}

static void take(struct etw_tracepoint_queue *queue, const struct fake_source_host *fake,
		 uint8_t mark, uint64_t time_ns)
{
	struct etw_source_event event;

	assert_true(etw_tracepoint_queue_peek(queue, &fake->host, &event));
	assert_int_equal(event.bytes[0], mark);
	assert_int_equal(event.time_raw, time_ns * FAKE_TICKS_PER_NS);
	assert_int_equal(etw_load64(event.bytes + 0x10), event.time_raw);
	free(etw_tracepoint_queue_pop(queue));
}

static void test_queue__order(void **state)
{
	struct etw_tracepoint_queue queue = {0};
	struct etw_source_event event;
	struct fake_source_host fake;

	(void)state;
	fake_source_host_init(&fake);
	add(&queue, 200, 'b');
	add(&queue, 100, 'a'); /* the interrupted one */
	add(&queue, 200, 'c');
	add(&queue, 300, 'd');
	take(&queue, &fake, 'a', 100);
	take(&queue, &fake, 'b', 200);
	add(&queue, 150, 'e'); /* too late: it comes now */
	take(&queue, &fake, 'c', 200);
	take(&queue, &fake, 'e', 200);
	fake.sample_ns = 250;
	assert_false(etw_tracepoint_queue_peek(&queue, &fake.host, &event));
	etw_tracepoint_queue_done(&queue);
	assert_false(etw_tracepoint_queue_peek(&queue, &fake.host, &event));
}

/* --- What is wanted */

static const EVENT_DESCRIPTOR third = {.Id = 3, .Level = 4, .Keyword = 4};

static struct etw_tracepoint_wish *make_wish(uint32_t type, const void *data, size_t bytes)
{
	struct etw_tracepoint_wish *wish = calloc(1, sizeof(*wish));
	const struct wire_filter filter = {type, {data, bytes}};

	assert_non_null(wish);
	if (type)
		wish->provider.filter_bytes = (uint32_t)wire_filter_put(
			wish->provider.filters, sizeof(wish->provider.filters), &filter);
	assert_int_equal(etw_tracepoint_wish_read(wish), 0);
	return wish;
}

static void test_wish__level_and_keywords(void **state)
{
	struct etw_tracepoint_wish *wish = make_wish(0, NULL, 0);

	(void)state;
	assert_true(etw_tracepoint_wish_takes(wish, "a", &third));
	wish->provider.match_any = 4;
	assert_true(etw_tracepoint_wish_takes(wish, "a", &third));
	wish->provider.match_any = 3;
	assert_false(etw_tracepoint_wish_takes(wish, "a", &third));
	wish->provider.match_any = 0;
	wish->provider.match_all = 5;
	assert_false(etw_tracepoint_wish_takes(wish, "a", &third));
	wish->provider.match_all = 0;
	wish->provider.level = 3;
	assert_false(etw_tracepoint_wish_takes(wish, "a", &third));
	assert_false(etw_tracepoint_wish_takes_stack(wish, "a", &third));
	wish->provider.property = EVENT_ENABLE_PROPERTY_STACK_TRACE;
	assert_true(etw_tracepoint_wish_takes_stack(wish, "a", &third));
	free(wish);
}

static void test_wish__ids(void **state)
{
	const uint8_t in[] = {1, 0, 2, 0, 3, 0, 9, 0}, out[] = {0, 0, 1, 0, 3, 0};
	struct etw_tracepoint_wish *wish = make_wish(EVENT_FILTER_TYPE_EVENT_ID, in, sizeof(in));

	(void)state;
	assert_true(etw_tracepoint_wish_takes(wish, "a", &third));
	free(wish);
	wish = make_wish(EVENT_FILTER_TYPE_EVENT_ID, out, sizeof(out));
	assert_false(etw_tracepoint_wish_takes(wish, "a", &third));
	free(wish);
}

static void test_wish__names_with_stars(void **state)
{
	uint8_t data[20 + 8] = {0};
	struct etw_tracepoint_wish *wish;

	(void)state;
	data[17] = 1; /* FilterIn, behind any, all and level */
	data[18] = 1;
	memcpy(data + 20, "sched_*", 8);
	wish = make_wish(EVENT_FILTER_TYPE_EVENT_NAME, data, sizeof(data));
	assert_true(etw_tracepoint_wish_takes(wish, "sched_switch", &third));
	assert_false(etw_tracepoint_wish_takes(wish, "switch", &third));
	assert_int_equal(wish->rest.kinds, 0);
	free(wish);
}

/* --- Filters of the kernel */

static struct etw_arena arena;

#define FORMAT                                                                 \
	"name: wake\nID: 372\nformat:\n"                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"             \
	"\tfield:int prio;\toffset:24;\tsize:4;\tsigned:1;\n"                  \
	"\tfield:int other;\toffset:28;\tsize:4;\tsigned:1;\n"                 \
	"\tfield:u64 bytes;\toffset:32;\tsize:8;\tsigned:0;\n"

/* Text, then `prio`, then `other`, then `bytes`. */
struct filter_blob {
	struct wire_payload_filter head;
	struct wire_payload_event event;
	struct wire_payload_step steps[4];
	struct {
		struct wire_payload_predicate predicate;
		uint8_t operands[16];
	} predicates[2];
} __attribute__((packed));

static struct filter_blob make_blob(uint8_t flags)
{
	struct filter_blob blob = {
		.head = {.magic = "ETPF",
			 .version = le16_of(1),
			 .filter_count = le16_of(1),
			 .bytes = le32_of(sizeof(blob))},
		.event = {.bytes = le32_of(sizeof(blob) - sizeof(blob.head)),
			  .id = le16_of(7),
			  .flags = flags,
			  .step_count = 4,
			  .predicate_count = 2},
		.steps = {{.extent = WIRE_PAYLOAD_NUL8, .unit = le16_of(1), .count = le16_of(1)},
			  {.extent = WIRE_PAYLOAD_FIXED, .unit = le16_of(4), .count = le16_of(1)},
			  {.extent = WIRE_PAYLOAD_FIXED, .unit = le16_of(4), .count = le16_of(1)},
			  {.extent = WIRE_PAYLOAD_FIXED, .unit = le16_of(8), .count = le16_of(1)}},
	};

	for (int i = 0; i < 2; i++)
		blob.predicates[i].predicate = (struct wire_payload_predicate){
			.bytes = le16_of(sizeof(blob.predicates[0])),
			.operation = PAYLOADFIELD_LT,
			.kind = i ? WIRE_PAYLOAD_UNSIGNED : WIRE_PAYLOAD_SIGNED,
			.step = i ? 3 : 1,
			.operand_bytes = le16_of(8)};
	etw_store64(blob.predicates[0].operands, (uint64_t)-5);
	etw_store64(blob.predicates[1].operands, UINT64_MAX);
	return blob;
}

static char *filter_of(const struct filter_blob *blob)
{
	const struct etw_tracepoint_identity identity = {.provider_name = "linux:x", .id = 7};
	struct etw_tracepoint_format *format;
	struct etw_tracepoint_layout *layout;
	char *text;

	etw_arena_init(&arena);
	assert_int_equal(etw_tracepoint_format_parse(&arena, FORMAT, strlen(FORMAT), &format, NULL),
			 0);
	assert_int_equal(etw_tracepoint_layout_make(&arena, format, &identity, &layout), 0);
	assert_int_equal(wire_payload_filter_check(blob, sizeof(*blob), NULL), 0);
	text = etw_tracepoint_kernel_filter(format, layout, (const uint8_t *)blob);
	etw_arena_done(&arena);
	return text;
}

static void check_filter(const struct filter_blob *blob, const char *expected)
{
	char *text = filter_of(blob);

	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static void test_kernel_filter__numbers(void **state)
{
	struct filter_blob blob = make_blob(0);

	(void)state;
	check_filter(&blob, "(prio < -5 && bytes < 18446744073709551615)");
	blob.event.flags = WIRE_PAYLOAD_ANY;
	check_filter(&blob, "(prio < -5 || bytes < 18446744073709551615)");
	blob.predicates[0].predicate.operation = PAYLOADFIELD_BETWEEN;
	blob.predicates[0].predicate.operand_bytes = le16_of(16);
	etw_store64(blob.predicates[0].operands + 8, 9);
	check_filter(&blob, "((prio >= -5 && prio <= 9) || bytes < 18446744073709551615)");
}

static void test_kernel_filter__what_cannot_be_said(void **state)
{
	struct filter_blob blob = make_blob(0);

	(void)state;
	/* Of those that must all hold, the others are enough. */
	blob.predicates[0].predicate.operation = PAYLOADFIELD_MODULO;
	check_filter(&blob, "(bytes < 18446744073709551615)");
	blob.event.flags = WIRE_PAYLOAD_ANY;
	check_filter(&blob, NULL);
	blob = make_blob(0);
	blob.event.id = le16_of(8); /* of another event */
	check_filter(&blob, NULL);
	blob = make_blob(0);
	blob.steps[1].unit = le16_of(8); /* both numbers at once */
	blob.steps[2].unit = le16_of(8);
	blob.predicates[1].predicate.step = 2;
	blob.event.step_count = 4;
	check_filter(&blob, NULL);
}

static void test_notes__provider_name(void **state)
{
	const GUID provider = ETW_TRACEPOINT_NOTES_PROVIDER;
	GUID expected;

	(void)state;
	assert_int_equal(etw_guid_of_name(ETW_TRACEPOINT_NOTES_NAME, &expected), 0);
	assert_memory_equal(&provider, &expected, sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample__with_stack),
		cmocka_unit_test(test_sample__stack_larger_than_the_record),
		cmocka_unit_test(test_sample__lost_and_others),
		cmocka_unit_test(test_queue__order),
		cmocka_unit_test(test_wish__level_and_keywords),
		cmocka_unit_test(test_wish__ids),
		cmocka_unit_test(test_wish__names_with_stars),
		cmocka_unit_test(test_kernel_filter__numbers),
		cmocka_unit_test(test_kernel_filter__what_cannot_be_said),
		cmocka_unit_test(test_notes__provider_name),
	};

	return cmocka_run_group_tests_name("unit.source.tracepoints", tests, NULL, NULL);
}
